"""The dialogs of import and export."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from marginalia_tui.domain.errors import Occupied
from marginalia_tui.domain.paths import typed_path
from marginalia_tui.widgets.dialogs import Confirm, Form, Notice
from marginalia_tui.widgets.fields import Field
from marginalia_tui.widgets.filepicker import FilePicker

if TYPE_CHECKING:
    from marginalia_tui.desk.opening import Desk
    from marginalia_tui.screens.host import Host

SUFFIXES = (".md", ".markdown", ".txt", ".text", ".epub", ".docx", ".docm", ".jsonl", ".json", ".png", ".charx", ".nwx")
LONG = 160
"""Characters of an answer that nobody reads before a notice is gone."""
LEVELS = (("", "recognise"), *((str(level), "#" * level) for level in range(1, 7)))


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is imported, and how."""

    path: Path
    title: str
    format: str
    level: int | None


async def ask_import(host: "Host", desk: "Desk") -> Wanted | None:
    """Asks what to import; None when the author left it."""
    kind = await host.ask(
        Form(
            "Import",
            [
                Field("kind", "What", "choice", "open", (("open", "one file"), ("folder", "a folder of files"))),
                Field("title", "Title", help="Left empty, it is taken from the file."),
                Field(
                    "level",
                    "Headings",
                    "choice",
                    "",
                    LEVELS,
                    help="Of Markdown: a part begins at headings of this level.",
                ),
            ],
            does="chooses the file",
        )
    )
    if kind is None:
        return None
    mode: Literal["open", "folder"] = "folder" if kind["kind"] == "folder" else "open"
    folder = await host.call(desk.library.import_folder)
    title = "The folder to import" if mode == "folder" else "The file to import"
    path = await host.ask(FilePicker(title, folder, mode=mode, suffixes=SUFFIXES))
    if path is None:
        return None
    level = str(kind["level"])
    return Wanted(path, str(kind["title"]), "", int(level) if level else None)


async def tell_all(host: "Host", sentence: str, *, title: str) -> None:
    """Tells what came in or went out: a long answer, with what was left out, stays until it is closed."""
    if len(sentence) > LONG:
        await host.ask(Notice(sentence, title=title))
    else:
        host.tell(sentence)


async def export_book(host: "Host", desk: "Desk", book: str, title: str) -> None:
    """Asks for a format and a path, writes the book, and says where."""
    formats = await host.call(desk.library.formats)
    answer = await host.ask(
        Form(
            f"Export {title}",
            [
                Field("format", "Format", "choice", formats[0][0], formats),
                Field(
                    "path",
                    "Path",
                    required=True,
                    value=_proposal(desk, title),
                    help="A suffix that is missing is added.",
                ),
            ],
            does="writes it",
        )
    )
    if answer is None:
        return
    format, path = str(answer["format"]), typed_path(str(answer["path"]))
    try:
        told = await host.call(lambda: desk.library.take_out(book, path, format=format, force=False))
    except Occupied as error:
        if not await host.ask(Confirm(f"{error.place} exists already. Write over it?", severity="replaces the file")):
            return
        told = await host.call(lambda: desk.library.take_out(book, path, format=format, force=True))
    await tell_all(host, told, title="Exported")


def _proposal(desk: "Desk", title: str) -> str:
    name = re.sub(r"[^\w-]+", "-", title.casefold()).strip("-")[:60] or "book"
    return str(desk.library.export_folder() / name)
