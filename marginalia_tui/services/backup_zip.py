"""A backup with images as a zip file: `book.json`, and each image once under its hash, `images/<hash>.png`.

Written and read piece by piece, so that many images are never in memory together. Nothing is unpacked to a disk: what
is read is asked for by a name that was made here, and is believed only when its bytes have the hash that they stand
under. A file in which any name leads outside is refused whole.
"""

import stat
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from marginalia_tui.domain.errors import Invalid, Refused
from marginalia_tui.domain.images import SUFFIXES
from marginalia_tui.domain.items import Image
from marginalia_tui.services import images
from marginalia_tui.services.exchange import files
from marginalia_tui.services.exchange.files import megabytes, shown
from marginalia_tui.store import blobs
from marginalia_tui.store.space import WritableSpace
from marginalia_tui.store.store import Store

MEMBER = "book.json"
"""The name of the backup inside a zip file."""
MAX_JSON = 256 * 1024 * 1024
"""Bytes of a backup without its images, unpacked: some hundred long novels."""
MAX_FILE = 4 * 1024 * 1024 * 1024
"""Bytes of a zip file with images."""
MAX_RATIO = 200
"""How much larger than packed a backup may be; prose packs to a third."""
MAX_ENTRIES = 100_000

_OLDEST = (1980, 1, 1, 0, 0, 0)
"""The time of each entry, so that the same book gives the same bytes."""
_BROKEN = (zipfile.BadZipFile, zlib.error, KeyError, EOFError, OSError, ValueError, NotImplementedError, RuntimeError)


def is_zip(path: Path) -> bool:
    """Whether a file begins as a zip file does."""
    return files.read_start(path, 4).startswith(b"PK")


def name_of(image: Image) -> str:
    """The name of the entry of an image."""
    return f"images/{image.hash}{SUFFIXES[image.type]}"


def write_zip(file: BinaryIO, data: bytes, named: Iterable[Image], store: Store) -> None:
    """Writes a backup as a zip file; each image is read in a transaction of its own.

    Raises:
        StoreError: the bytes of an image are gone.
        Refused: the images are larger than a backup may be.
    """
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(_entry(MEMBER), data, zipfile.ZIP_DEFLATED)
        for name, image in {name_of(image): image for image in named}.items():
            with store.read() as tx:
                body = blobs.get(tx.connection, image.hash)
            # Pictures are packed already.
            archive.writestr(_entry(name), body, zipfile.ZIP_STORED)
            if file.tell() > MAX_FILE:
                raise Refused(f"The images of the book are larger than {megabytes(MAX_FILE)}: remove some first.")


def _entry(name: str) -> zipfile.ZipInfo:
    """An entry that its owner may read when another program unpacks it."""
    entry = zipfile.ZipInfo(name, _OLDEST)
    entry.external_attr = (stat.S_IFREG | 0o600) << 16
    return entry


def read_json(path: Path, limit: int | None = None) -> bytes:
    """The backup in a zip file without its images: all of it, or its first bytes.

    Raises:
        Invalid: it is no whole zip file with a backup.
        Refused: it is protected, too large, or built like an attack.
    """
    files.size_of_file(path, MAX_FILE)
    with _opened(path) as archive:
        entry = archive.getinfo(MEMBER)
        _check(path, entry, MAX_JSON)
        with archive.open(entry) as file:
            return file.read(MAX_JSON + 1 if limit is None else limit)


@contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile]:
    """The file as a zip file; what goes wrong in the block becomes a sentence."""
    try:
        with zipfile.ZipFile(path) as archive:
            _check_names(path, archive.infolist())
            yield archive
    except _BROKEN as error:
        raise Invalid(f"{shown(path)} is no whole zip file with a backup: choose another one.") from error


def _check_names(path: Path, entries: list[zipfile.ZipInfo]) -> None:
    if len(entries) > MAX_ENTRIES:
        raise Refused(f"{shown(path)} holds {len(entries):,} entries, too many for a book: it was not opened.")
    for entry in entries:
        parts = entry.filename.replace("\\", "/").split("/")
        link = stat.S_ISLNK(entry.external_attr >> 16)
        if ".." in parts or not parts[0] or ":" in parts[0] or link:
            raise Refused(
                f"{shown(path)} holds an entry that leads outside of it ({entry.filename[:80]!r}): it was not opened."
            )


def _check(path: Path, entry: zipfile.ZipInfo, most: int) -> None:
    if entry.flag_bits & 0x1:
        raise Refused(f"{shown(path)} is protected by a password: give a backup without one.")
    large = entry.file_size > most or entry.file_size > 1_000_000 + MAX_RATIO * entry.compress_size
    if large or entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise Refused(f"{shown(path)} unpacks to far more than a book: it was not opened.")


class BackupImages:
    """The images that a backup names, in the zip file that holds them.

    Args:
        path: the file.
        named: the images.
    """

    def __init__(self, path: Path, named: Iterable[Image]) -> None:
        self._path = path
        self._named = tuple(named)

    def check(self) -> None:
        """Reads each once, and holds it to what the backup says of it.

        Raises:
            Invalid: one is missing, damaged, or another than the backup says.
            Refused: one is larger than an image may be.
        """
        for image, body in self._bodies(self._named):
            if images.inspect(body, shown(image.name), whole=False) != (image.type, image.width, image.height):
                raise Invalid(
                    f"The image {shown(image.name)} in {shown(self._path)} is not what the backup says of it: "
                    "choose another backup."
                )

    def put(self, space: WritableSpace, wanted: Iterable[Image]) -> None:
        """Stores the bytes of some of them that the store does not have.

        Raises:
            Invalid: the file is another one than was checked.
        """
        keys = {image.hash: image for image in wanted}
        there = blobs.sizes(space.connection, (bytes.fromhex(key) for key in keys))
        for _, body in self._bodies([image for key, image in keys.items() if bytes.fromhex(key) not in there]):
            space.put_blob(body)

    def _bodies(self, wanted: Sequence[Image]) -> Iterator[tuple[Image, bytes]]:
        if not wanted:
            return
        with _opened(self._path) as archive:
            there = set(archive.namelist())
            for image in wanted:
                name = name_of(image)
                if name not in there:
                    raise Invalid(
                        f"{shown(self._path)} lacks the image {shown(image.name)}, which the backup names: nothing of "
                        "it was taken. Choose another backup."
                    )
                _check(self._path, archive.getinfo(name), images.MAX_BYTES)
                with archive.open(name) as file:
                    body = file.read(images.MAX_BYTES + 1)
                if blobs.hash_blob(body).hex() != image.hash:
                    raise Invalid(
                        f"The image {shown(image.name)} in {shown(self._path)} is damaged: nothing of it was taken. "
                        "Choose another backup."
                    )
                yield image, body
