"""The pictures of a folder of Markdown: files beside the texts, which link them.

A link is followed to a regular file inside of the folder that the author named, and to no other; what it leads to is
a picture by its bytes. What is not followed stays the text that it is.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from marginalia_tui.domain.images import SUFFIXES, behind, file_name, redirect, reference
from marginalia_tui.domain.items import Image
from marginalia_tui.services.exchange.encoding import clean
from marginalia_tui.services.exchange.manuscript import Chapter, Manuscript, Picture
from marginalia_tui.services.exchange.pictures import Gathered
from marginalia_tui.services.images import one_caption, read_file


@dataclass(slots=True)
class Listed:
    """What an index of ours says of the pictures beside it, by the name of the file."""

    names: dict[str, str] = field(default_factory=dict)
    captions: dict[tuple[str, str], str] = field(default_factory=dict)
    """File of a part and file of a picture -> caption."""
    cover: str = ""
    cover_caption: str = ""


def read_index(index: Mapping[str, Any], entries: list[dict[str, Any]]) -> Listed:
    """What an index says of pictures; what does not fit is no picture."""
    found = Listed()
    cover = index.get("cover")
    if isinstance(cover, dict) and _is_picture(cover.get("file")):
        found.cover = cover["file"]
        found.cover_caption = _words(cover.get("caption"))
    for entry in entries:
        for row in entry["images"] if isinstance(entry.get("images"), list) else ():
            if isinstance(row, dict) and _is_picture(row.get("file")):
                found.names[row["file"]] = _words(row.get("name"))
                found.captions[str(entry["file"]), row["file"]] = _words(row.get("caption"))
    return found


def _is_picture(name: object) -> bool:
    return isinstance(name, str) and name.lower().endswith(tuple(SUFFIXES.values()))


def _words(value: object) -> str:
    return one_caption(clean(value)) if isinstance(value, str) else ""


def files_of(listed: Listed) -> set[str]:
    """The files of pictures that an index of ours names."""
    return {*listed.names, *([listed.cover] if listed.cover else [])}


class FolderPictures:
    """Gathers the pictures that the texts of a folder link.

    Args:
        folder: what the author named.
        listed: what an index says of them.
    """

    def __init__(self, folder: Path, listed: Listed) -> None:
        self._folder = folder
        self._root = folder.resolve()
        self._listed = listed
        self._gathered = Gathered(lambda where: read_file(self._root / where), listed.names)
        self.taken: set[Path] = set()
        """The files that became pictures."""

    def chapter(self, path: Path, chapter: Chapter) -> Chapter:
        """A part of the file at a path, with the pictures that it links."""
        marked = replace(chapter, text=redirect(chapter.text, self._mark_of(path)))
        found = self._gathered.settle(marked)
        if not found.images:
            return found
        file = self._inside(path)
        captions = {
            self._listed.names.get(picture, picture): caption
            for (part, picture), caption in self._listed.captions.items()
            if part == file
        }
        return replace(
            found,
            images=tuple(
                replace(each, image=replace(each.image, caption=captions.get(each.image.name, each.image.caption)))
                for each in found.images
            ),
        )

    def cover(self) -> Picture | None:
        """The cover that the index names."""
        where = self._where(self._folder, self._listed.cover) if self._listed.cover else ""
        found = self._gathered.cover(where) if where else None
        if found is None:
            return None
        self.taken.add(self._folder / self._listed.cover)
        return replace(found, image=replace(found.image, caption=self._listed.cover_caption))

    def notes(self) -> list[str]:
        """What was left out."""
        return self._gathered.notes()

    def _mark_of(self, path: Path) -> Callable[[str], str | None]:
        def mark(target: str) -> str | None:
            where = self._where(path.parent, unquote(target))
            found = self._gathered.target(where) if where else ""
            if found:
                self.taken.add(self._folder / where)
            return found or None

        return mark

    def _where(self, base: Path, target: str) -> str:
        """The place in the folder of a file that is there; empty for what leads elsewhere, or is a link."""
        if "\0" in target or ":" in target or os.path.isabs(target):
            return ""
        path = base / target
        try:
            real = path.resolve(strict=True)
        except (OSError, RuntimeError, ValueError):
            return ""
        inside = real.is_relative_to(self._root) and real.is_file() and not path.is_symlink()
        return real.relative_to(self._root).as_posix() if inside else ""

    def _inside(self, path: Path) -> str:
        return path.resolve().relative_to(self._root).as_posix()


@dataclass(frozen=True, slots=True)
class Beside:
    """A part with its links, what the index says of its pictures, and their files."""

    chapter: Chapter
    rows: list[dict[str, str]]
    files: list[tuple[str, bytes]]


def write_beside(chapter: Chapter, number: str) -> Beside:
    """The pictures of a part as files whose names begin with its number; those it does not name are linked last."""
    if not chapter.images:
        return Beside(chapter, [], [])
    names = {each.image.name: f"{number}-{each.image.name}" for each in chapter.images}
    last = [reference(replace(image, name=names[image.name])) for image in behind(chapter.text, _images(chapter))]
    text = "\n\n".join(piece for piece in (redirect(chapter.text, names.get), *last) if piece)
    rows = [{"file": names[each.name], "name": each.name, "caption": each.caption} for each in _images(chapter)]
    files = [(names[each.image.name], each.data) for each in chapter.images]
    return Beside(replace(chapter, text=text), rows, files)


def _images(chapter: Chapter) -> Iterator[Image]:
    return (each.image for each in chapter.images)


def write_cover(book: Manuscript) -> tuple[dict[str, Any], list[tuple[str, bytes]]]:
    """What the index says of the cover, and its file."""
    if book.cover is None:
        return {}, []
    name = file_name(book.cover.image)
    return {"cover": {"file": name, "caption": book.cover.image.caption}}, [(name, book.cover.data)]
