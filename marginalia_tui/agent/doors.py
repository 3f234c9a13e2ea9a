"""Where the socket of a process that works runs lies, and who may come through it: its owner alone.

The file has the mode 0600 in a folder of the mode 0700, and appears under its name only once it is listened on, so
that whoever finds one that refuses finds a dead process. Its full path stands in the lease of each run.
"""

import hashlib
import os
import secrets
import socket
import stat
import struct
import tempfile
from contextlib import suppress
from pathlib import Path

LONGEST_PATH = 100
"""Bytes of a path that every system takes for a socket."""
LONGEST_NAME = 32
BACKLOG = 16
ENDING = ".sock"


class NoDoor(Exception):
    """A socket can't be made or reached; the rows of the store do without."""


def folder_for(home: Path) -> Path:
    """The folder of the sockets of a home: in it, or in a runtime folder of the system when its path is too long."""
    inside = home / "sockets"
    named = f"marginalia-{os.geteuid()}-{hashlib.blake2s(os.fsencode(home), digest_size=8).hexdigest()}"
    outside = [Path(base) / named for base in (os.environ.get("XDG_RUNTIME_DIR"), tempfile.gettempdir()) if base]
    fitting = [each for each in (inside, *outside) if len(os.fsencode(each)) + LONGEST_NAME <= LONGEST_PATH]
    return fitting[0] if fitting else outside[-1]


def listen(home: Path) -> tuple[socket.socket, Path]:
    """Opens a socket that other processes of this user find; the sockets of dead processes go.

    Returns:
        The listening socket, which does not block, and its path.

    Raises:
        NoDoor: the system refuses.
    """
    folder = folder_for(home)
    name = f"{os.getpid()}-{secrets.token_hex(3)}{ENDING}"
    path, draft = folder / name, folder / f".{name}"
    opened = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        _make_private(folder)
        _sweep(folder)
        opened.bind(str(draft))
        draft.chmod(0o600)
        opened.listen(BACKLOG)
        opened.setblocking(False)
        draft.rename(path)
    except OSError as error:
        opened.close()
        raise NoDoor(f"no socket in {folder}: {error}") from error
    except BaseException:
        opened.close()
        raise
    return opened, path


def _make_private(folder: Path) -> None:
    """Makes the folder, or makes sure that it is ours alone: another user may have put one into a shared place."""
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        raise PermissionError(f"{folder} belongs to somebody else")
    if stat.S_IMODE(found.st_mode) & 0o077:
        folder.chmod(0o700)


def _sweep(folder: Path) -> None:
    """Removes the sockets on which nobody listens any more."""
    for path in folder.glob(f"*{ENDING}"):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as knock:
            knock.setblocking(False)
            try:
                knock.connect(str(path))
            except (ConnectionRefusedError, FileNotFoundError):
                path.unlink(missing_ok=True)
            except OSError:
                continue  # one that does not answer lives


def knock(address: str, seconds: float) -> socket.socket:
    """Connects to the process that listens at an address; what is sent or read may take so many seconds.

    Raises:
        NoDoor: nobody listens there, or somebody else does.
    """
    opened = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        found = os.lstat(address)
        if not stat.S_ISSOCK(found.st_mode) or found.st_uid != os.geteuid():
            raise NoDoor(f"{address} is no socket of this user")
        opened.settimeout(seconds)
        opened.connect(address)
        if not is_ours(opened):
            raise NoDoor(f"{address} is listened on by another user")
    except OSError as error:
        opened.close()
        raise NoDoor(f"nobody answers at {address}: {error}") from error
    except BaseException:
        opened.close()
        raise
    return opened


def is_ours(connection: socket.socket) -> bool:
    """Whether the other end is a process of this user; where the system can't tell, the rights of the file decide."""
    if not hasattr(socket, "SO_PEERCRED"):
        return True
    size = struct.calcsize("3i")
    _, uid, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size))
    return bool(uid == os.geteuid())


def close(home: Path, listener: socket.socket, path: Path) -> None:
    """Listens no more, and takes the file away, with a folder that was made outside of the home when it is empty."""
    listener.close()
    with suppress(OSError):
        path.unlink(missing_ok=True)
        if path.parent.parent != home:
            path.parent.rmdir()
