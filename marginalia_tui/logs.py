"""The log: one rotating file in the home. It names runs, commands, times and errors, never a text or a key."""

import logging
import warnings
from logging.handlers import RotatingFileHandler
from pathlib import Path

from marginalia_tui.domain.errors import StoreError

MAX_BYTES = 1_000_000
KEPT = 3


def start_log(home: Path) -> None:
    """Sends what the studio logs, and warnings of libraries, to `logs/studio.log` in the home.

    Raises:
        StoreError: the folder can't be written.
    """
    folder = home / "logs"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        handler = RotatingFileHandler(folder / "studio.log", maxBytes=MAX_BYTES, backupCount=KEPT, encoding="utf-8")
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
