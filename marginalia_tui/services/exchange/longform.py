"""A book as the Longform plugin of Obsidian keeps it: an index note whose `scenes` list names the files in order.

Scenes below others become parts of a deeper level, and the other way round. Of several projects in a folder one is
taken and the others are told; an index names files inside of its folder only.
"""

import json
import re
from dataclasses import replace
from pathlib import Path

from marginalia_tui.domain.errors import Invalid
from marginalia_tui.services.exchange import files
from marginalia_tui.services.exchange.encoding import clean, decode
from marginalia_tui.services.exchange.files import shown
from marginalia_tui.services.exchange.folder import Source, inside, left_files, may_replace, read_source, walk
from marginalia_tui.services.exchange.frontmatter import FrontMatter, part_front_matter
from marginalia_tui.services.exchange.manuscript import Chapter, Manuscript, one_line, trim_blank_lines
from marginalia_tui.services.exchange.markdown import FRONT_MATTER, LEVEL, read_markdown, tidy, write_part

INDEX = "Index.md"
"""The name of the index note that we write; any note may be one."""
KEPT = "longform"
"""The attribute of a book that holds what its index says beside the scenes, such as the workflow."""

_OWN = ("format", "title", "scenes", "scenefolder")
"""The fields of an index that are written anew."""
_UNFIT = re.compile(r"[\\/:*?\"<>|#^\[\]\x00-\x1f]+")
"""What the name of a note may not have."""


def find_index(folder: Path) -> Path | None:
    """The index note of a folder: in the folder itself before those below it, else None."""
    found, _ = walk(folder)
    notes = sorted(found, key=lambda path: (len(path.parts), str(path)))
    return next((path for path in notes if _is_index(path)), None)


def _is_index(path: Path) -> bool:
    if path.suffix.lower() != ".md" or b"longform:" not in files.read_start(path):
        return False
    front, _ = _read(path)
    return bool(front.nested_items("longform", "scenes")) or front.nested_value("longform", "format") == "single"


def _read(path: Path) -> tuple[FrontMatter, str]:
    return part_front_matter(decode(files.read_file(path), shown(path)).text)


def read_longform(folder: Path, level: int | None = None) -> tuple[Manuscript, tuple[str, ...]]:
    """Reads a book from a folder with an index note; also what the author should know about it.

    Args:
        folder: the folder of the project, or one above it.
        level: None takes each scene as one part; a level parts them at their headings too.

    Raises:
        Invalid: it holds no index note, or one that names a scene which is not there.
        Refused: an index names a file outside of its folder.
    """
    index = find_index(folder)
    if index is None:
        raise Invalid(f"{shown(folder)} holds no note with a list of scenes: give the folder of a Longform project.")
    front, body = _read(index)
    title = one_line(front.nested_value("longform", "title")) or index.stem
    author, language = front.take("author"), front.take("language", "lang")
    kept = _kept(front)
    rest = "\n".join(line for entry in front.entries if entry.key != "longform" for line in entry.lines)
    scenes = front.nested_items("longform", "scenes")
    if not scenes:
        book = read_markdown(body, level)
        return replace(book, title=title, author=one_line(author), language=one_line(language)), ()
    source = Source(
        [], title=title, author=author, language=language, description=trim_blank_lines(body), front_matter=rest
    )
    where = front.nested_value("longform", "sceneFolder").strip("/")
    for depth, name in scenes:
        path = inside(index.parent, f"{where}/{name}.md" if where else f"{name}.md")
        source.files.append((path, None))
        source.levels[path] = min(depth + 1, 6)
    found, others = walk(folder)
    drafts = [path for path in found if path != index and _is_index(path)]
    if drafts:
        source.notes.append(left_files(drafts, folder, "other project(s) or draft(s)"))
    scenes_of_it = {path for path, _ in source.files}
    notes_beside = [path for path in found if path != index and path not in drafts and path not in scenes_of_it]
    if notes_beside:
        source.notes.append(left_files(notes_beside, folder, "note(s) beside the scenes"))
    present = [path for path in (*found, *others) if path in scenes_of_it or path in others]
    book, notes = read_source(folder, source, present, level)
    return (replace(book, attributes={**book.attributes, KEPT: kept}) if kept else book), notes


def _kept(front: FrontMatter) -> str:
    """The lines of an index below `longform` that are not written anew, as they stand."""
    made: list[str] = []
    taken = False
    indent = -1
    for line in front.lines_of("longform"):
        column = len(line) - len(line.lstrip())
        indent = column if indent < 0 else indent
        if column <= indent and not line.lstrip().startswith("-"):
            taken = line.strip().partition(":")[0].lower() in _OWN
        if not taken:
            made.append(line)
    return "\n".join(made).rstrip()


def write_longform(manuscript: Manuscript, path: Path, *, force: bool) -> int:
    """Writes a book as a folder with a note for each part and the index note; returns its size in bytes.

    Raises:
        Invalid, Refused: as in `files.write_folder`; also refused when it would replace what is no export.
    """
    book = tidy(manuscript)
    replacing = may_replace(path, force, lambda: _written(path))
    names = _names(book.chapters)
    written = [(f"{name}.md", write_part(chapter).encode()) for name, chapter in zip(names, book.chapters, strict=True)]
    written.append((INDEX, _index(book, names).encode()))
    files.write_folder(path, written, replacing)
    return sum(len(data) for _, data in written)


def _written(path: Path) -> set[str]:
    index = path / INDEX
    if not index.is_file():
        return set()
    return {INDEX} | {f"{name}.md" for _, name in _read(index)[0].nested_items("longform", "scenes")}


def _names(chapters: tuple[Chapter, ...]) -> list[str]:
    """A name for the note of each part: its number, which keeps names apart, and its title."""
    digits = max(3, len(str(len(chapters))))
    names = []
    for number, chapter in enumerate(chapters, start=1):
        title = one_line(_UNFIT.sub(" ", chapter.title))[:60].rstrip(". ")
        while len(title.encode()) > 120:
            title = title[:-1]
        names.append(f"{number:0{digits}d} {title}".rstrip())
    return names


def _index(book: Manuscript, names: list[str]) -> str:
    lines = ["---"]
    lines += [f"{key}: {_quoted(text)}" for key, text in (("author", book.author), ("language", book.language)) if text]
    rest = book.attributes.get(FRONT_MATTER)
    if isinstance(rest, str) and rest.strip():
        lines.append(clean(rest))
    lines += ["longform:", "  format: scenes", f"  title: {_quoted(book.title)}"]
    kept = book.attributes.get(KEPT)
    if isinstance(kept, str) and kept.strip():
        lines.append(clean(kept))
    lines += ["  sceneFolder: /", "  scenes:"]
    before = 0
    for name, chapter in zip(names, book.chapters, strict=True):
        level = chapter.attributes.get(LEVEL, 1)
        depth = min(level - 1 if isinstance(level, int) and 1 <= level <= 6 else 0, before + 1)
        depth = 0 if name == names[0] else depth
        deeper = depth > before
        lines.append(f"{'  ' * (depth + 2 - deeper)}{'- ' * (1 + deeper)}{_quoted(name)}")
        before = depth
    lines += ["---", ""]
    return "\n".join(lines) + (f"\n{book.description}\n" if book.description else "")


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
