"""The log: one rotating file in the home. It names runs, commands, times and errors, never a text or a key."""

import logging
import sys
import traceback
import warnings
from contextlib import suppress
from logging.handlers import RotatingFileHandler
from pathlib import Path

from marginalia_tui.domain.errors import StoreError

MAX_BYTES = 1_000_000
KEPT = 3
MOST_CAUSES = 10
"""Faults behind a fault that are told."""


_TELLING = (AttributeError, ImportError, NameError, OSError, TypeError)
"""Errors whose words are names of code and of files. Those of others may repeat what they were given."""


class Form(logging.Formatter):
    """The lines of the log. A fault is told by its place in the code and its kind; what it says, only if that is safe.

    An error of a table, a key or a number quotes the value that it did not like, which may be a part of a book.
    """

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s")

    def formatException(self, ei: object) -> str:
        """Logging: the fault, and those that it came from."""
        error = ei[1] if isinstance(ei, tuple) else None
        told: list[str] = []
        while isinstance(error, BaseException) and len(told) < MOST_CAUSES:
            words = f": {error}" if isinstance(error, _TELLING) else ""
            frames = "".join(traceback.format_tb(error.__traceback__)).rstrip("\n")
            told.append(f"{frames}\n{type(error).__name__}{words}".lstrip("\n"))
            error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        return "\nwhich came from:\n".join(told)


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
    handler.setFormatter(Form())
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
