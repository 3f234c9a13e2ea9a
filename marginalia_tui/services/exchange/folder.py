"""A book in a folder: one Markdown or text file for each part.

The order is that of an index where there is one (a `book.json` with a tree of files, as we write it), else the
natural order of the names (2 before 10). An index names files inside of the folder only; links are not followed.
What is not taken is counted and told.
"""

import itertools
import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from marginalia_tui.domain.errors import Invalid, Occupied, Refused
from marginalia_tui.services.exchange import files
from marginalia_tui.services.exchange.chapterlines import chapter_line
from marginalia_tui.services.exchange.encoding import clean, decode
from marginalia_tui.services.exchange.files import shown
from marginalia_tui.services.exchange.folder_pictures import (
    FolderPictures,
    Listed,
    files_of,
    read_index,
    write_beside,
    write_cover,
)
from marginalia_tui.services.exchange.frontmatter import part_front_matter
from marginalia_tui.services.exchange.manuscript import Chapter, Manuscript, one_line, trim_blank_lines
from marginalia_tui.services.exchange.markdown import FRONT_MATTER, LEVEL, read_part, read_parts, tidy, write_part

INDEX = "book.json"
MARKDOWN = frozenset((".md", ".markdown", ".mdown", ".mkd"))
TEXT = frozenset((".txt", ".text"))
MAX_FILES = 20_000
MOST_NAMED = 20
"""Files that are named in a sentence."""

_RUNS = re.compile(r"(\d+)")
_PREFIX = re.compile(r"[\s._-]*\d*[\s._-]*")


@dataclass(slots=True)
class Source:
    """What a folder says about the book, and its files in order: path, and the title that an index gives."""

    files: list[tuple[Path, str | None]]
    levels: dict[Path, int] = field(default_factory=dict)
    """The level that an index gives the part of a file, where it is not 1."""
    title: str = ""
    author: str = ""
    language: str = ""
    description: str = ""
    front_matter: str = ""
    pictures: Listed = field(default_factory=Listed)
    notes: list[str] = field(default_factory=list)


def read_folder(folder: Path, level: int | None = None) -> tuple[Manuscript, tuple[str, ...]]:
    """Reads a book from a folder; also what the author should know about it.

    Args:
        folder: an existing folder.
        level: None takes each file as one part; a level parts the files at their headings too.

    Raises:
        Invalid: it holds no texts, too many, or an index that names what is not there.
        Refused: an index names a file outside of the folder, or something may not be read.
    """
    found, others = walk(folder)
    return read_source(folder, _by_book_json(folder) or _by_name(found), [*found, *others], level)


def read_source(
    folder: Path, source: Source, present: list[Path], level: int | None
) -> tuple[Manuscript, tuple[str, ...]]:
    """Reads the files of a source; `present` are all files of the folder, of which the others are told.

    Raises:
        Invalid, Refused: as in `read_folder`.
    """
    if not source.files:
        raise Invalid(f"The folder {shown(folder)} holds no Markdown or text files: give the folder of a book.")
    pictures = FolderPictures(folder, source.pictures)
    chapters: list[Chapter] = []
    encodings: set[str] = set()
    size = 0
    for path, title in source.files:
        data = files.read_file(path, empty=True)
        size += len(data)
        if size > files.MAX_TEXT_BYTES:
            raise Invalid(f"The texts in {shown(folder)} are larger than {files.megabytes(files.MAX_TEXT_BYTES)}.")
        decoded = decode(data, shown(path))
        encodings.update(decoded.notes)
        found = [pictures.chapter(path, chapter) for chapter in _chapters(path, decoded.text, title, level)]
        chapters += _levelled(found, source.levels.get(path, 1))
    cover = pictures.cover()
    taken = {path for path, _ in source.files} | pictures.taken
    if left := [path for path in present if path not in taken]:
        source.notes.append(left_files(left, folder, "other file(s)"))
    source.notes += [*pictures.notes(), *sorted(encodings)]
    manuscript = Manuscript(
        title=one_line(source.title or clean(folder.absolute().name)),
        author=one_line(source.author),
        language=one_line(source.language),
        description=source.description.strip(),
        chapters=tuple(chapters),
        cover=cover,
        attributes={FRONT_MATTER: source.front_matter} if source.front_matter else {},
    )
    return manuscript, tuple(source.notes)


def left_files(left: Sequence[Path], folder: Path, what: str) -> str:
    """A sentence that names files which were left out, the first of them when they are many."""
    names = ", ".join(shown(path.relative_to(folder)) for path in sorted(left)[:MOST_NAMED])
    more = f" and {len(left) - MOST_NAMED:,} more" if len(left) > MOST_NAMED else ""
    return f"Left out: {len(left):,} {what}: {names}{more}."


def _levelled(chapters: list[Chapter], level: int) -> list[Chapter]:
    """The parts of a file at the level that an index gives it, where their headings do not say another."""
    return [
        replace(each, attributes={**each.attributes, LEVEL: level})
        if level > 1 and LEVEL not in each.attributes
        else each
        for each in chapters
    ]


def _chapters(path: Path, text: str, title: str | None, level: int | None) -> list[Chapter]:
    if level is not None and path.suffix.lower() in MARKDOWN:
        return list(read_parts(text, level))
    if path.suffix.lower() in TEXT:
        first, _, rest = trim_blank_lines(text).partition("\n")
        named = chapter_line(first) is not None
        chapter = (
            Chapter(title=one_line(first), text=trim_blank_lines(rest)) if named else Chapter(text=text.strip("\n"))
        )
    elif title == "":
        # An index says that the part has no title: a heading that it begins with is text.
        chapter = read_part(text)
        text = trim_blank_lines(part_front_matter(text)[1])
        if chapter.title:
            chapter = Chapter(text=text, attributes=chapter.attributes)
    else:
        chapter = read_part(text)
    if not chapter.title and title is None:
        title = _PREFIX.sub("", path.stem, count=1).replace("_", " ")
        title = title if " " in title else title.replace("-", " ")
    return [chapter if chapter.title else replace(chapter, title=one_line(clean(title or "")))]


def walk(folder: Path) -> tuple[list[Path], list[Path]]:
    """The Markdown files below a folder in natural order (the text files when there are none), and the others."""
    waiting = [folder]
    found: list[Path] = []
    others: list[Path] = []
    while waiting:
        for entry in files.list_folder(waiting.pop()):
            path = Path(entry.path)
            if entry.name.startswith("."):
                continue
            if entry.is_symlink():
                others.append(path)
            elif entry.is_dir():
                waiting.append(path)
            elif entry.is_file():
                known = path.suffix.lower() in MARKDOWN | TEXT
                (found if known else others).append(path)
            if len(found) + len(others) + len(waiting) > MAX_FILES:
                raise Invalid(f"The folder {shown(folder)} holds more than {MAX_FILES:,} files: give that of one book.")
    markdown = [path for path in found if path.suffix.lower() in MARKDOWN]
    if markdown:
        others += [path for path in found if path.suffix.lower() not in MARKDOWN]
    others = [path for path in others if path.name != INDEX]
    return sorted(markdown or found, key=lambda path: natural(path.relative_to(folder))), others


def natural(path: Path) -> list[list[tuple[int, int, str]]]:
    """A key that sorts 2 before 10 in each name of a path."""
    return [
        [(0, int(run), "") if run.isdecimal() else (1, 0, run.casefold()) for run in _RUNS.split(name) if run]
        for name in path.parts
    ]


def _by_name(found: list[Path]) -> Source:
    return Source([(path, None) for path in found])


def _by_book_json(folder: Path) -> Source | None:
    path = folder / INDEX
    if path.is_symlink() or not path.is_file():
        return None
    try:
        index = json.loads(decode(files.read_file(path), shown(path)).text)
    except (ValueError, RecursionError) as error:
        raise Invalid(f"{shown(path)} is no JSON: mend it, or take it away to import the files by name.") from error
    if not isinstance(index, dict) or not isinstance(index.get("tree"), list):
        return None
    source = Source([])
    for name in ("title", "author", "language", "description", "front_matter"):
        if isinstance(value := index.get(name), str):
            setattr(source, name, clean(value))
    entries = list(itertools.islice(_entries(index["tree"]), MAX_FILES + 1))
    source.pictures = read_index(index, entries)
    for entry in entries:
        title = entry.get("title")
        source.files.append((inside(folder, entry["file"]), title if isinstance(title, str) else None))
        if len(source.files) > MAX_FILES:
            raise Invalid(f"{shown(path)} names more than {MAX_FILES:,} files: give the index of one book.")
    return source if source.files else None


def _entries(tree: list[Any]) -> Iterator[dict[str, Any]]:
    """The entries of a tree that name a file, parents before their children."""
    waiting = list(reversed(tree))
    while waiting:
        entry = waiting.pop()
        if not isinstance(entry, dict):
            continue
        if isinstance(entry.get("file"), str):
            yield entry
        if isinstance(children := entry.get("children"), list):
            waiting += reversed(children)


def inside(folder: Path, name: str) -> Path:
    """The regular file that an index names, which must be inside of the folder and no link.

    Raises:
        Refused: it leads outside.
        Invalid: it is not there.
    """
    path = folder / name
    outside = Refused(
        f"The index of {shown(folder)} names {name!r}, which leads outside of the folder: take that entry out."
    )
    if "\0" in name or os.path.isabs(name) or ".." in Path(name).parts:
        raise outside
    try:
        real = path.resolve(strict=True)
    except (OSError, RuntimeError, ValueError) as error:
        raise Invalid(f"The index of {shown(folder)} names {name!r}, which is not there: mend the index.") from error
    if not real.is_relative_to(folder.resolve()) or path.is_symlink():
        raise outside
    if not real.is_file():
        raise Invalid(f"The index of {shown(folder)} names {name!r}, which is no file: mend the index.")
    return path


def write_folder(manuscript: Manuscript, path: Path, *, force: bool) -> int:
    """Writes a book as a folder with one Markdown file for each part, and the index; returns its size in bytes.

    Raises:
        Invalid, Refused: as in `files.write_folder`; also refused when it would replace what is no export.
    """
    book = tidy(manuscript)
    replacing = may_replace(path, force, lambda: _written(path))
    written: list[tuple[str, bytes]] = []
    tree = []
    digits = max(3, len(str(len(book.chapters))))
    for place, chapter in enumerate(book.chapters, start=1):
        number = f"{place:0{digits}d}"
        name = f"{number}{_slug(chapter.title)}.md"
        beside = write_beside(chapter, number)
        tree.append({"title": chapter.title, "file": name} | ({"images": beside.rows} if beside.rows else {}))
        written += [(name, write_part(beside.chapter).encode()), *beside.files]
    cover, files_of_cover = write_cover(book)
    written += files_of_cover
    index: dict[str, Any] = {
        "title": book.title,
        "author": book.author,
        "language": book.language,
        "description": book.description,
    }
    kept = book.attributes.get(FRONT_MATTER)
    index |= {FRONT_MATTER: clean(kept)} if isinstance(kept, str) else {}
    document = json.dumps({**index, **cover, "tree": tree}, ensure_ascii=False, indent=1) + "\n"
    written.append((INDEX, document.encode()))
    files.write_folder(path, written, replacing)
    return sum(len(data) for _, data in written)


def _slug(title: str) -> str:
    """The end of a file name that tells the title: letters and digits of any script, at most 40."""
    words = re.findall(r"[^\W_]+", title.casefold())
    slug = "-".join(words)[:40].rstrip("-")
    while len(slug.encode()) > 120:
        slug = slug[:-1]
    return f"-{slug}" if slug else ""


def may_replace(path: Path, force: bool, written: Callable[[], set[str]]) -> bool:
    """Whether something that stands there is to be replaced.

    Args:
        path: where a folder is to be written.
        force: what stands there may be replaced if it is an export.
        written: gives the names of the files that an export in the folder consists of.

    Raises:
        Refused: it is there without `force`, or holds something else than an export.
    """
    files.check_target(path, force=True)
    if not path.exists():
        return False
    if not path.is_dir():
        raise Refused(f"{shown(path)} is a file: choose another name for the folder.")
    present = {entry.name for entry in files.list_folder(path)}
    if not present:
        return False
    if not force:
        raise Occupied(shown(path))
    if strangers := present - written():
        raise Refused(f"{shown(path)} holds {min(strangers)!r}, which is not from an export: choose another folder.")
    return True


def _written(path: Path) -> set[str]:
    source = _by_book_json(path)
    if source is None:
        return {INDEX}
    return {INDEX, *files_of(source.pictures)} | {file.name for file, _ in source.files if file.parent == path}
