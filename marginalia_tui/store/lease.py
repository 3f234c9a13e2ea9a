"""The lease of a run: who works it.

It is an OS file lock held by the working process (no clock, so that a laptop that slept can't be fooled) and an
epoch in the row of the run. Every transaction of the run names its epoch and changes nothing once another
process took the run over. Each epoch has a lock file of its own, so that a taken-over owner that still holds the
old file stands in nobody's way. The file says at which address its owner listens, for those who have it hurry.
"""

import fcntl
import os
import socket
from contextlib import suppress
from pathlib import Path

from sqlalchemy import select, update

from marginalia_tui.domain.errors import Busy, NotFound
from marginalia_tui.store import tables
from marginalia_tui.store.store import Store, WriteTx

LONGEST_ADDRESS = 200
"""Bytes."""


class Lease:
    """A run held by this process until `release`."""

    def __init__(self, run: str, epoch: int, fd: int, path: Path) -> None:
        self.run = run
        self.epoch = epoch
        self._fd: int | None = fd
        self._path = path

    def release(self) -> None:
        """Lets go of the run; a second time does nothing."""
        if self._fd is not None:
            self._path.unlink(missing_ok=True)
            os.close(self._fd)
            self._fd = None


def _path(store: Store, run: str, epoch: int) -> Path:
    return store.home / "leases" / f"{run}.{epoch}.lock"


def is_free(store: Store, run: str, epoch: int) -> bool:
    """Whether no living process holds the lease of this epoch."""
    try:
        fd = os.open(_path(store, run, epoch), os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        return True
    try:
        # Shared, so that two that look at the same time don't see each other.
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return True
    except BlockingIOError:
        return False
    finally:
        os.close(fd)


def wait_until_free(store: Store, run: str, epoch: int) -> None:
    """Waits until no living process holds the lease of this epoch, however long that takes."""
    try:
        fd = os.open(_path(store, run, epoch), os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        return
    try:
        fcntl.flock(fd, fcntl.LOCK_SH)
    finally:
        os.close(fd)


def address(store: Store, run: str, epoch: int) -> str:
    """Where the process that holds the lease of this epoch listens; empty when it does not, or nobody holds it."""
    try:
        fd = os.open(_path(store, run, epoch), os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        return ""
    with open(fd, "rb") as file:
        return os.fsdecode(file.read(LONGEST_ADDRESS))


def take(tx: WriteTx, run: str, *, take_over: bool = False, address: str = "") -> Lease:
    """Takes the lease of a run, in the transaction that also writes the status that goes with it.

    When the transaction is undone, so is the lease.

    Args:
        tx: the transaction.
        run: the uuid of the run.
        take_over: take it from a process that still holds it but answers nobody (it was suspended).
        address: where this process listens.

    Raises:
        NotFound: there is no such run.
        Busy: a living process works it.
    """
    row = tx.connection.execute(
        select(tables.run.c.epoch, tables.run.c.worked_by).where(tables.run.c.uuid == run)
    ).first()
    if row is None:
        raise NotFound(f"There is no run {run!r}.")
    if not is_free(tx.store, run, row.epoch):
        if not take_over:
            raise Busy(
                f"The run is worked by another process ({row.worked_by}): "
                "pause it there, or take it over with --take-over when that process hangs."
            )
    else:
        _path(tx.store, run, row.epoch).unlink(missing_ok=True)
    epoch = row.epoch + 1
    path = _path(tx.store, run, epoch)
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    lease = Lease(run, epoch, fd, path)
    tx.if_undone(lease.release)
    fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    with suppress(OSError):
        # A full disk: then nobody has this process hurry.
        os.write(fd, os.fsencode(address)[:LONGEST_ADDRESS])
    tx.connection.execute(
        update(tables.run)
        .where(tables.run.c.uuid == run)
        .values(epoch=epoch, worked_by=f"{os.getpid()}@{socket.gethostname()}")
    )
    tx.touch("run", run)
    return lease
