"""Opening a store: where it may lie, which version it has, and the upgrade after a backup."""

import fcntl
import os
import re
import sqlite3
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from sqlalchemy import Engine

from marginalia_tui.domain.errors import StoreError
from marginalia_tui.store import engine as engines
from marginalia_tui.store.engine import as_store_error
from marginalia_tui.store.version import HEAD, KNOWN

BACKUPS_KEPT = 3
_NETWORK = {"nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "ceph", "glusterfs", "fuse.sshfs", "9p", "lustre"}
_MOUNTS = Path("/proc/self/mountinfo")
_ESCAPED = re.compile(r"\\([0-7]{3})")
_MIGRATIONS = Path(__file__).parent / "migrations"


def network_filesystem(folder: Path, mounts: Path = _MOUNTS) -> str | None:
    """The type of the network file system that a folder lies on; None for a local disk or where nobody can tell."""
    if not mounts.exists():
        return None
    best, found = "", ""
    real = os.path.realpath(folder)
    for line in mounts.read_text(encoding="utf-8", errors="surrogateescape").splitlines():
        before, _, after = line.partition(" - ")
        point = _ESCAPED.sub(lambda found: chr(int(found[1], 8)), before.split(" ")[4])
        inside = real == point or real.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(best):
            best, found = point, after.split(" ")[0]
    return found if found in _NETWORK else None


def prepare_home(home: Path) -> None:
    """Makes the folder of the studio, or says why it can't be used.

    Raises:
        StoreError: it can't be made or written, or lies on a network file system.
    """
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        (home / "leases").mkdir(mode=0o700, exist_ok=True)
    except FileExistsError as error:
        raise StoreError(f"{error.filename} is a file where a folder is needed: name another with --home.") from None
    except OSError as error:
        reason = error.strerror or "it can't be made"
        raise StoreError(f"The folder {home} can't be used ({reason}): name another with --home.") from error
    if not os.access(home, os.W_OK | os.X_OK):
        raise StoreError(f"The folder {home} is read-only: make it writable or name another with --home.")
    if kind := network_filesystem(home):
        raise StoreError(
            f"The folder {home} lies on a network disk ({kind}), where a store can be damaged: "
            "name a folder on a local disk with --home."
        )
    # SQLite gives its other files the rights of this one.
    try:
        os.close(os.open(home / "studio.db", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    except OSError as error:
        raise StoreError(
            f"The store {error.filename} can't be opened ({error.strerror}): give yourself the right to write it, "
            "or name another folder with --home."
        ) from error


def stored_version(path: Path) -> str | None:
    """The version of the store at `path`; None when there is none yet.

    Raises:
        StoreError: it is no store, or damaged.
    """
    if not path.exists() or path.stat().st_size == 0:
        return None
    try:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True, timeout=engines.BUSY_SECONDS)
        try:
            tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type='table'")}
            if "alembic_version" not in tables:
                if tables:
                    raise StoreError(f"{path} is a database of another program: name another folder with --home.")
                return None
            row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
            return str(row[0]) if row else None
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise as_store_error(error) or StoreError(f"The store can't be read ({error}).") from error


def check_version(version: str) -> None:
    """Refuses a store that a newer program made.

    Raises:
        StoreError: the version is not known here.
    """
    if version not in KNOWN:
        raise StoreError(
            f"This store was made by a newer Marginalia (schema {version}, this one knows up to {HEAD}): "
            "upgrade the program, or name another folder with --home."
        )


def held_leases(leases: Path) -> Sequence[str]:
    """The names of the lease files that a living process holds."""
    held = []
    for path in sorted(leases.glob("*.lock")):
        fd = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        try:
            fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            held.append(path.stem)
        finally:
            os.close(fd)
    return held


def backup(path: Path, folder: Path, label: str) -> Path:
    """Copies the store with SQLite's own backup, checks the copy, keeps the newest few, and returns the new file.

    Raises:
        StoreError: the disk refuses, or the store is damaged; nothing is left behind and no older one is removed.
    """
    folder.mkdir(mode=0o700, exist_ok=True)
    now = time.time_ns() // 1000
    stamp = f"{time.strftime('%Y%m%d-%H%M%S', time.localtime(now // 1_000_000))}-{now % 1_000_000:06d}"
    target = folder / f"{label}-{stamp}.db"
    try:
        source = sqlite3.connect(path, timeout=engines.BUSY_SECONDS)
        with closing(source), closing(sqlite3.connect(target)) as copy:
            source.backup(copy)
            if (found := copy.execute("PRAGMA quick_check(1)").fetchone()[0]) != "ok":
                raise StoreError(f"The store is damaged ({found}): run `marginalia doctor`, which says what to do.")
    except BaseException as error:
        target.unlink(missing_ok=True)
        if isinstance(error, sqlite3.Error) and (sentence := as_store_error(error)):
            raise sentence from error
        raise
    for old in sorted(folder.glob(f"{label}-*.db"))[:-BACKUPS_KEPT]:
        old.unlink()
    return target


def migrate(engine: Engine, path: Path, version: str | None) -> None:
    """Brings the store to the version of this program, after a backup of one that holds something.

    The caller holds the writer turn.

    Raises:
        StoreError: a run is being worked by another process, or the disk refuses.
    """
    from alembic import command
    from alembic.config import Config

    if version is not None:
        if held := held_leases(path.parent / "leases"):
            raise StoreError(
                f"The store is older than this program, and {len(held)} run(s) still work on it: "
                "pause them in the other studio, close it, then start again."
            )
        backup(path, path.parent / "backups", f"before-upgrade-from-{version}")
    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS))
    config.set_main_option("path_separator", "os")
    with engine.connect() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, HEAD)
        connection.commit()
