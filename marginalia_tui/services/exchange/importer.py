"""A book from wherever the author has it: one entrance for all formats."""

import os
from dataclasses import dataclass, replace
from pathlib import Path

from marginalia_tui.domain.errors import Invalid
from marginalia_tui.services.exchange import files
from marginalia_tui.services.exchange.archive import Archive
from marginalia_tui.services.exchange.cardparts import read_card_book
from marginalia_tui.services.exchange.chat_lines import looks_like_chat
from marginalia_tui.services.exchange.chat_reader import read_chat
from marginalia_tui.services.exchange.docx_reader import read_docx
from marginalia_tui.services.exchange.encoding import clean, decode
from marginalia_tui.services.exchange.epub import read_epub
from marginalia_tui.services.exchange.files import shown
from marginalia_tui.services.exchange.folder import INDEX, read_folder
from marginalia_tui.services.exchange.longform import find_index, read_longform
from marginalia_tui.services.exchange.loreimport import may_be_card
from marginalia_tui.services.exchange.manuscript import MAX_TITLE, Manuscript, guess_language, one_line
from marginalia_tui.services.exchange.markdown import read_markdown
from marginalia_tui.services.exchange.novelwriter import PROJECT, read_novelwriter
from marginalia_tui.services.exchange.plaintext import read_plain_text
from marginalia_tui.services.exchange.recognise import FOLDERS, Format, format_named, is_zip, text_format, zip_format

CHATS = (".jsonl",)
"""Suffixes of a chat, where its content leaves it open."""


@dataclass(frozen=True, slots=True)
class Imported:
    """A book as it was read. `notes` are sentences that the author should see."""

    manuscript: Manuscript
    format: Format
    notes: tuple[str, ...] = ()


def read_manuscript(
    path: Path, *, format: str | None = None, level: int | None = None, title: str | None = None
) -> Imported:
    """Reads a book. The source is never changed.

    Args:
        path: a file, or a folder of files.
        format: one of `recognise.FORMATS`; None recognises it from the content.
        level: which headings begin a part: those of Markdown up to this level (1 to 6), or how deep the contents
            of an EPUB part a page; None picks.
        title: the title of the book; None takes the one that it has, or else the name of the file.

    Raises:
        NotFound: there is nothing at the path.
        Invalid: it can't be read as a book; the sentence says why and what to do.
        Refused: it is protected, hostile, or may not be read.
    """
    wanted = format_named(format) if format is not None else None
    if level is not None and not 1 <= level <= 6:
        raise Invalid("The level of a heading is between 1 and 6: choose one of these, or none to have it picked.")
    manuscript, found, notes = _read(path, wanted, level)
    if not any(
        each.text or each.title or each.images for chapter in manuscript.chapters for each in chapter.versions()
    ):
        raise Invalid(f"{shown(path)} holds no text, so there is nothing to import: give the file of a book.")
    own = manuscript.title
    name = one_line(clean(title)) if title is not None else own or one_line(clean(path.absolute().stem))
    if not name:
        raise Invalid("Give the book a title: it may not be empty.")
    if title is not None and own and name != own:
        notes = (*notes, f"Its own title {own!r} was replaced.")
    return Imported(
        replace(
            manuscript,
            title=name[:MAX_TITLE].strip(),
            language=(manuscript.language or guess_language(manuscript))[:35],
        ),
        found,
        notes,
    )


def _read(path: Path, wanted: Format | None, level: int | None) -> tuple[Manuscript, Format, tuple[str, ...]]:
    if os.path.isdir(path):  # false where `Path.is_dir` raises: what follows says why
        return _read_folder(path, wanted, level)
    if path.name == PROJECT and wanted in (None, "novelwriter"):
        return _read_folder(path.absolute().parent, "novelwriter", level)
    if wanted in FOLDERS:
        files.size_of_file(path, files.MAX_ARCHIVE_BYTES)
        raise Invalid(f"{shown(path)} is a file: leave the format out, or give the folder that it is in.")
    if wanted == "card" or (wanted is None and may_be_card(path)):
        if level is not None:
            raise Invalid(f"{shown(path)} is a character card, which has no headings: leave the level out.")
        return _with_format("card", *read_card_book(path))
    container = wanted if wanted in ("epub", "docx") else _container(path) if wanted is None else None
    if container == "epub":
        return _with_format("epub", *read_epub(path, level))
    if container == "docx":
        return _with_format("docx", *read_docx(path, level))
    content = files.read_file(path)
    if wanted == "chat" or (wanted is None and (path.suffix.lower() in CHATS or looks_like_chat(content))):
        if level is not None:
            raise Invalid(f"{shown(path)} is a chat, which has no headings: leave the level out.")
        return _with_format("chat", *read_chat(content, shown(path)))
    decoded = decode(content, shown(path))
    found = wanted or text_format(decoded.text, path.suffix)
    if found == "markdown":
        return read_markdown(decoded.text, level), "markdown", decoded.notes
    if level is not None:
        raise Invalid(f"{shown(path)} is plain text, which has no headings: leave the level out.")
    return read_plain_text(decoded.text), "text", decoded.notes


def _read_folder(path: Path, wanted: Format | None, level: int | None) -> tuple[Manuscript, Format, tuple[str, ...]]:
    if wanted is None:
        if (path / PROJECT).is_file():
            wanted = "novelwriter"
        elif not (path / INDEX).is_file() and find_index(path) is not None:
            wanted = "longform"
    if wanted == "novelwriter":
        return _with_format("novelwriter", *read_novelwriter(path, level))
    if wanted == "longform":
        return _with_format("longform", *read_longform(path, level))
    if wanted in ("epub", "docx", "text", "chat", "card"):
        raise Invalid(f"{shown(path)} is a folder: import it as folder, or give a file in it.")
    return _with_format("folder", *read_folder(path, level))


def _with_format(
    format: Format, manuscript: Manuscript, notes: tuple[str, ...]
) -> tuple[Manuscript, Format, tuple[str, ...]]:
    return manuscript, format, notes


def _container(path: Path) -> Format | None:
    """Which zip file of a book a file is, None for a text."""
    files.size_of_file(path, files.MAX_ARCHIVE_BYTES)
    if not is_zip(files.read_start(path), shown(path)):
        return None
    with Archive(path, "book") as archive:
        return zip_format(archive.names())
