"""The dialogs that bring a lorebook in from a file and write one out."""

import re
from typing import TYPE_CHECKING

from marginalia_tui.domain.errors import Refused
from marginalia_tui.screens.exchange import tell_all
from marginalia_tui.widgets.dialogs import Ask, Confirm
from marginalia_tui.widgets.filepicker import FilePicker

if TYPE_CHECKING:
    from marginalia_tui.desk.opening import Desk
    from marginalia_tui.screens.host import Host

SUFFIXES = (".json", ".lorebook", ".story", ".png", ".charx")
"""What files of lorebooks and character cards are called."""


async def import_lore(host: "Host", desk: "Desk", book: str | None, above: str | None) -> None:
    """Asks for a file, and puts its lorebook below another one; without one it is below the root."""
    folder = await host.call(desk.library.import_folder)
    path = await host.ask(FilePicker("The lorebook to import", folder, mode="open", suffixes=SUFFIXES))
    if path is not None:
        made = await host.command_on(book, "import-lore", file=str(path), parent=above)
        await tell_all(host, made.sentence, title="Imported")


async def export_lore(host: "Host", desk: "Desk", book: str | None, lorebook: str, name: str) -> None:
    """Asks for a path, and writes a lorebook with those below it as world info."""
    folder = await host.call(desk.library.export_folder)
    plain = re.sub(r"[^\w-]+", "-", name.casefold()).strip("-")[:60] or "lore"
    path = await host.ask(
        Ask(f"Export {name} to", str(folder / f"{plain}.json"), help="World info, as SillyTavern and others read it.")
    )
    if not path or not path.strip():
        return
    try:
        made = await host.command_on(book, "export-lore", file=path.strip(), lorebook=lorebook)
    except Refused as error:
        if not await host.ask(Confirm(f"{error.message} Write over it?", severity="replaces the file")):
            return
        made = await host.command_on(book, "export-lore", file=path.strip(), lorebook=lorebook, replace=True)
    await tell_all(host, made.sentence, title="Exported")
