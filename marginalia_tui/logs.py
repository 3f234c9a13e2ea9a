"""The log: one rotating file in the home. It names runs, commands, times and errors, never a text or a key."""

import logging
import sys
import warnings
from contextlib import suppress
from logging.handlers import RotatingFileHandler
from pathlib import Path

from marginalia_tui.domain.errors import StoreError

MAX_BYTES = 1_000_000
KEPT = 3


class _Log(RotatingFileHandler):
    """The file of the log. A disk that takes no more of it is told by what it refuses, not by a fault on the screen."""

    def handleError(self, record: logging.LogRecord) -> None:
        """Logging: something went wrong."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handleError(record)

    def close(self) -> None:
        """Logging: the end; what a full disk did not take is dropped."""
        with suppress(OSError):
            super().close()


def start_log(home: Path) -> None:
    """Sends what the studio logs, and warnings of libraries, to `logs/studio.log` in the home.

    Raises:
        StoreError: the folder can't be written.
    """
    folder = home / "logs"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        handler = _Log(folder / "studio.log", maxBytes=MAX_BYTES, backupCount=KEPT, encoding="utf-8")
    except OSError as error:
        raise StoreError(f"The log can't be written to {folder}: {error.strerror}. Name another --home.") from error
    handler.setFormatter(logging.Formatter("%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s"))
    root = logging.getLogger("marginalia_tui")
    for old in list(root.handlers):
        root.removeHandler(old)
        old.close()
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    root.propagate = False
    logging.captureWarnings(True)
    library = logging.getLogger("py.warnings")
    library.handlers[:] = [handler]
    library.propagate = False
    warnings.simplefilter("default")
