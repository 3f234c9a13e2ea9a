"""A book into a file or a folder: one exit for all formats."""

from pathlib import Path

from marginalia_tui.domain.errors import Invalid
from marginalia_tui.services.exchange import files
from marginalia_tui.services.exchange.cardparts import write_card_book
from marginalia_tui.services.exchange.chat_writer import write_chat
from marginalia_tui.services.exchange.docx_writer import write_docx
from marginalia_tui.services.exchange.epub_writer import write_epub
from marginalia_tui.services.exchange.files import shown
from marginalia_tui.services.exchange.folder import write_folder
from marginalia_tui.services.exchange.longform import write_longform
from marginalia_tui.services.exchange.manuscript import Manuscript
from marginalia_tui.services.exchange.markdown import tidy, write_markdown
from marginalia_tui.services.exchange.plaintext import write_plain_text
from marginalia_tui.services.exchange.recognise import ONLY_IN, format_named


def write_manuscript(manuscript: Manuscript, format: str, path: Path, *, force: bool = False) -> int:
    """Writes a book; the target appears whole or not at all.

    Args:
        manuscript: the book.
        format: a format of `recognise.FORMATS` but for those that are only read; `folder` is Markdown with one file
            for each part, `longform` the same with the index note of Longform.
        path: the file or folder to make, in a folder that exists.
        force: replaces what stands there; a folder only when it holds nothing but an export.

    Returns:
        The size of what was written, in bytes.

    Raises:
        Invalid: no such format or folder, or the book has no parts.
        Refused: something stands there and `force` is not given, it is a link, the disk is full or not writable.
    """
    wanted = format_named(format)
    if not manuscript.chapters:
        raise Invalid(f"{manuscript.title!r} has no parts yet, so there is nothing to export: write some first.")
    if wanted in ONLY_IN:
        raise Invalid(f"Books can't be written as {wanted}: choose another format, such as folder.")
    if wanted == "longform":
        return write_longform(manuscript, path, force=force)
    if wanted == "folder":
        return write_folder(manuscript, path, force=force)
    if wanted == "backup":
        raise RuntimeError("a backup is written from the library, which has more than a manuscript")
    files.check_target(path, force)
    if path.is_dir():
        raise Invalid(f"{shown(path)} is a folder: name a file in it.")
    if wanted == "epub":
        data = write_epub(manuscript)
    elif wanted == "docx":
        data = write_docx(manuscript)
    elif wanted == "chat":
        data = write_chat(manuscript).encode()
    elif wanted == "card":
        data = write_card_book(manuscript)
    elif wanted == "text":
        data = write_plain_text(tidy(manuscript)).encode()
    else:
        data = write_markdown(manuscript).encode()
    files.write_file(path, data, force)
    return len(data)
