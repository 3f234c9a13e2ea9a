"""Files of the author, read and written with care.

A source is looked at before it is read (kind, size) and is never changed. A target appears whole or not at all:
a new file beside it, synced, then moved into its place. Links are not written through.
"""

import errno
import os
import secrets
import stat
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import BinaryIO

from marginalia_tui.domain.errors import Invalid, NotFound, Occupied, Refused

MAX_TEXT_BYTES = 64 * 1024 * 1024
"""The largest text that is read: some forty long novels."""

MAX_ARCHIVE_BYTES = 160 * 1024 * 1024
"""The largest EPUB that is opened; its pictures are not read."""


def shown(path: Path | str) -> str:
    """A path as it may stand in a sentence: quoted, not too long, with control characters and broken names visible."""
    text = repr(str(path))
    return text if len(text) <= 250 else f"{text[:60]}\u2026{text[-150:]}"


def megabytes(size: int) -> str:
    """A size in bytes as a person reads it."""
    return f"{size / 1_000_000:,.0f} MB"


def _reading_failed(path: Path, error: OSError) -> Exception:
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return NotFound(f"There is no file or folder {shown(path)}: check the path.")
    if isinstance(error, PermissionError):
        return Refused(f"{shown(path)} may not be read by you: change its permissions, then import it again.")
    return Invalid(f"{shown(path)} can't be read ({error.strerror or error}): check the path and the disk.")


def _check_path(path: Path) -> None:
    if "\0" in str(path):
        raise Invalid(f"{shown(path)} is no path: take the NUL character out of it.")


def size_of_file(path: Path, limit: int, *, empty: bool = False) -> int:
    """The size in bytes of a regular file.

    Raises:
        NotFound: there is nothing at the path.
        Invalid: it is no regular file, larger than `limit`, or empty where that is not allowed.
        Refused: it may not be read.
    """
    _check_path(path)
    try:
        found = path.stat()
    except OSError as error:
        raise _reading_failed(path, error) from error
    if not stat.S_ISREG(found.st_mode):
        raise Invalid(f"{shown(path)} is neither a file nor a folder: give the file of a book.")
    if found.st_size > limit:
        raise Invalid(
            f"{shown(path)} is too large for a book ({megabytes(found.st_size)}, at most {megabytes(limit)}): "
            "part it into several files."
        )
    if found.st_size == 0 and not empty:
        raise Invalid(f"{shown(path)} is empty: there is nothing to import.")
    return found.st_size


def read_file(path: Path, limit: int = MAX_TEXT_BYTES, *, empty: bool = False) -> bytes:
    """The bytes of a regular file of at most `limit` bytes; errors as in `size_of_file`."""
    size_of_file(path, limit, empty=empty)
    try:
        with path.open("rb") as file:
            data = file.read(limit + 1)
    except OSError as error:
        raise _reading_failed(path, error) from error
    if len(data) > limit:
        raise Invalid(f"{shown(path)} grew beyond {megabytes(limit)} while it was read: import it when it is done.")
    return data


def read_start(path: Path, count: int = 1 << 16) -> bytes:
    """The first bytes of a file, at most `count`; errors as in `read_file`."""
    try:
        with path.open("rb") as file:
            return file.read(count)
    except OSError as error:
        raise _reading_failed(path, error) from error
    except ValueError as error:  # a zero in the path
        raise Invalid(f"{shown(path)} is no path: check it.") from error


def list_folder(folder: Path) -> list[os.DirEntry[str]]:
    """The entries of a folder, in no order; errors as in `read_file`."""
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError as error:
        raise _reading_failed(folder, error) from error


def _writing_failed(path: Path, error: OSError) -> Exception:
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return Refused(
            f"The disk is too full to write {shown(path)}: free some space or choose another disk. Nothing was written."
        )
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return Refused(
            f"The folder {shown(path.parent)} may not be written to: choose another one. Nothing was written."
        )
    return Invalid(
        f"{shown(path)} can't be written ({error.strerror or error}): choose another place. Nothing was written."
    )


def check_target(path: Path, force: bool) -> None:
    """Checks that something may be written at a path.

    Raises:
        Invalid: its folder does not exist, or it is no path.
        Refused: it is a link, or it exists and `force` is not given.
    """
    _check_path(path)
    try:
        if not path.parent.is_dir():
            raise Invalid(f"There is no folder {shown(path.parent)}: make it first, or choose another one.")
        if path.is_symlink():
            raise Refused(f"{shown(path)} is a link: name the file that it stands for.")
        exists = path.exists()
        if exists and not (path.is_file() or path.is_dir()):
            raise Refused(f"{shown(path)} is a device or a pipe, which nothing is put in the place of: name a file.")
    except OSError as error:
        raise _writing_failed(path, error) from error
    if exists and not force:
        raise Occupied(shown(path))


def _write(data: bytes, file: BinaryIO) -> None:
    file.write(data)


def _new_file(path: Path, fill: Callable[[BinaryIO], object]) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    with os.fdopen(handle, "wb") as file:
        fill(file)


def _sync(path: Path) -> None:
    """Waits until a file or folder is on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _settle(folder: Path) -> None:
    """Waits until a move in a folder is on the disk. The target stands already: where that can't be had, so be it."""
    with suppress(OSError):
        _sync(folder)


def _beside(path: Path) -> Path:
    return path.with_name(f".{path.name[:40]}.{secrets.token_hex(6)}.part")


def _move(made: Path, path: Path, force: bool) -> None:
    """Moves a file into its place. Without `force` it never replaces one that came up meanwhile."""
    if force:
        made.replace(path)
        return
    try:
        os.link(made, path, follow_symlinks=False)
    except FileExistsError as error:
        raise Occupied(shown(path)) from error
    except OSError:
        # A disk without hard links: the check and the move are two steps there.
        check_target(path, force)
        made.replace(path)
        return
    made.unlink()


def write_file(path: Path, data: bytes, force: bool) -> None:
    """Writes a file whole or not at all.

    Raises:
        Invalid: the folder does not exist, the path is a folder, or the name can't be used.
        Refused: it exists and `force` is not given; it is a link; the disk is full or may not be written to.
    """
    write_stream(path, partial(_write, data), force)


def write_stream(path: Path, fill: Callable[[BinaryIO], object], force: bool) -> int:
    """Writes a file whole or not at all, by a function that is given the open file; returns its size in bytes.

    Raises:
        Invalid, Refused: as `write_file`; also what `fill` raises, and nothing is written then.
    """
    check_target(path, force)
    if path.is_dir():
        raise Invalid(f"{shown(path)} is a folder: name a file in it.")
    made = _beside(path)

    def make() -> None:
        _new_file(made, fill)
        _sync(made)
        _move(made, path, force)
        _settle(path.parent)

    _all_or_nothing(path, make, lambda: made.unlink(missing_ok=True))
    return path.stat().st_size


def _remove(folder: Path) -> None:
    """Removes a folder that holds files only, when it is there."""
    if folder.is_dir():
        for each in list(folder.iterdir()):
            each.unlink()
        folder.rmdir()


def write_folder(path: Path, files: Iterable[tuple[str, bytes]], replace: bool) -> None:
    """Writes a folder of files whole or not at all; the names are plain names of ours.

    Args:
        path: the folder, which must not exist, be empty, or hold nothing else than may go (see `replace`).
        files: name and bytes of each.
        replace: the folder that stands there may be replaced. The caller has made sure of what it holds.

    Raises:
        Invalid, Refused: as in `write_file`.
    """
    check_target(path, force=True)
    made, old = _beside(path), _beside(path)

    def make() -> None:
        made.mkdir()
        for name, data in files:
            _new_file(made / name, partial(_write, data))
        # All at once: to wait for each of 5,000 files takes a hundred times as long.
        os.sync()
        if replace:
            path.rename(old)
            try:
                made.rename(path)
            except OSError:
                old.rename(path)
                raise
            # The new folder stands; what can't be removed of the old one stays beside it.
            with suppress(OSError):
                _remove(old)
        else:
            made.rename(path)
        _settle(path.parent)

    _all_or_nothing(path, make, lambda: _remove(made))


def _all_or_nothing(path: Path, make: Callable[[], None], clean: Callable[[], object]) -> None:
    try:
        make()
    except OSError as error:
        clean()
        raise _writing_failed(path, error) from error
    except BaseException:
        clean()
        raise
