"""A zip file read with distrust: by name only, nothing is ever unpacked to a disk.

What it says about its sizes is checked before anything is read, and again while it is read. Names that lead outside
make the whole file suspect, though nothing would be written there.
"""

import posixpath
import stat
import zipfile
import zlib
from pathlib import Path
from types import TracebackType

from marginalia_tui.domain.errors import Invalid, Refused
from marginalia_tui.services.exchange import files
from marginalia_tui.services.exchange.files import shown

MAX_ENTRIES = 20_000
MAX_ENTRY = 32 * 1024 * 1024
"""Bytes of one entry that is read."""
MAX_READ = 256 * 1024 * 1024
"""Bytes that are read of all entries together."""
MAX_RATIO = 150
"""How much larger than packed an entry may be; prose packs to a third."""
_SMALL = 8 * 1024 * 1024
"""Bytes up to which the ratio is of no matter: a long part may say the same again and again."""


class Archive:
    """An open zip file. Close it, or use it as a context.

    Args:
        path: the file.
        kind: what it is meant to be, as a sentence names it.

    Raises (when opened):
        Invalid: it is no zip, or damaged.
        Refused: it is encrypted, or built like an attack: too many or too large entries, names that lead outside.
    """

    def __init__(self, path: Path, kind: str = "EPUB") -> None:
        files.size_of_file(path, files.MAX_ARCHIVE_BYTES)
        self._name, self._kind = shown(path), kind
        try:
            self._zip = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, zipfile.LargeZipFile, OSError, ValueError, NotImplementedError) as error:
            raise Invalid(f"{self._name} is no {kind} (not a whole zip file): export or download it again.") from error
        self._read = 0
        try:
            self._entries = self._checked()
            self._folded = {name.casefold(): name for name in self._entries}
        except BaseException:
            self._zip.close()
            raise

    def _checked(self) -> dict[str, zipfile.ZipInfo]:
        entries = self._zip.infolist()
        if len(entries) > MAX_ENTRIES:
            raise Refused(f"{self._name} holds {len(entries):,} entries, too many for a book: it was not opened.")
        for entry in entries:
            name = entry.filename
            if not name:
                raise Invalid(f"{self._name} is damaged (an entry has no name): export or download it again.")
            parts = name.replace("\\", "/").split("/")
            link = stat.S_ISLNK(entry.external_attr >> 16)
            if ".." in parts or name.startswith(("/", "\\")) or ":" in parts[0] or link:
                raise Refused(
                    f"{self._name} holds an entry that leads outside of it ({name[:80]!r}): nothing was imported."
                )
            if entry.flag_bits & 0x1:
                raise Refused(f"{self._name} is protected by a password: export it again without one.")
        return {entry.filename: entry for entry in entries if not entry.is_dir()}

    def __enter__(self) -> "Archive":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the file."""
        self._zip.close()

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    def names(self) -> list[str]:
        """The names of the entries."""
        return list(self._entries)

    def written_as(self, name: str) -> str:
        """The name as the archive writes it, which may differ in case."""
        return name if name in self._entries else self._folded.get(name.casefold(), name)

    def size(self, name: str) -> int:
        """The size of an entry, as the archive declares it."""
        return self._entries[name].file_size

    def read(self, name: str) -> bytes:
        """The bytes of an entry.

        Raises:
            Invalid: there is none of that name, or it is damaged.
            Refused: it is too large, or unpacks to far more than what is packed.
        """
        entry = self._entries.get(name)
        if entry is None:
            raise Invalid(f"{self._name} lacks {name[:80]!r}, which it names itself: export or download it again.")
        bomb = Refused(f"{self._name} unpacks to far more than a book ({name[:80]!r}): it was not imported.")
        if entry.file_size > MAX_ENTRY or self._read + entry.file_size > MAX_READ:
            raise bomb
        if entry.file_size > _SMALL and entry.file_size > MAX_RATIO * max(entry.compress_size, 1):
            raise bomb
        if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise Invalid(f"{self._name} is packed in a way that {self._kind} does not allow: export it again.")
        try:
            with self._zip.open(entry) as file:
                data = file.read(MAX_ENTRY + 1)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError) as error:
            raise Invalid(f"{self._name} is damaged at {name[:80]!r}: export or download it again.") from error
        self._read += len(data)
        if len(data) > MAX_ENTRY or self._read > MAX_READ:
            raise bomb
        return data

    def inside(self, base: str, reference: str) -> str:
        """The name of the entry that a reference in the entry `base` means.

        Raises:
            Refused: it leads outside of the archive.
        """
        joined = posixpath.normpath(posixpath.join(posixpath.dirname(base), reference))
        if joined.startswith(("../", "/")) or joined == "..":
            raise Refused(f"{self._name} names a file outside of it ({reference[:80]!r}): nothing was imported.")
        return joined
