"""Two promises that hold for a stretch of code, checked where they could be broken.

Inside a write transaction nothing is waited for (a person, a model, another lock): `may_wait` raises there.
While a command prepares it writes nothing: `may_write` raises there. Breaking either is a programming error.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_writing: ContextVar[bool] = ContextVar("writing", default=False)
_reading_only: ContextVar[str] = ContextVar("reading_only", default="")


@contextmanager
def writing() -> Iterator[None]:
    """Marks the stretch in which a write transaction is open."""
    may_wait("a write transaction")
    token = _writing.set(True)
    try:
        yield
    finally:
        _writing.reset(token)


@contextmanager
def reading_only(what: str) -> Iterator[None]:
    """Marks the stretch in which `what` (a command that prepares) must not write."""
    token = _reading_only.set(what)
    try:
        yield
    finally:
        _reading_only.reset(token)


def may_wait(what: str) -> None:
    """Raises where `what` would be waited for inside a write transaction."""
    if _writing.get():
        raise RuntimeError(f"{what} would be waited for inside a write transaction")


def may_write() -> None:
    """Raises where a command that only reads would write."""
    if what := _reading_only.get():
        raise RuntimeError(f"{what} may only read here, but it writes")
