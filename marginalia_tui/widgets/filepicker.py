"""Choosing a file or a folder by keyboard.

Names are shown as text. A link is shown with `@`, and choosing it answers what it points at, whose path is told
before: nothing is opened under another name. Folders are read off the screen's loop.
"""

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

from marginalia_tui.domain.paths import typed_path
from marginalia_tui.widgets.background import Latest
from marginalia_tui.widgets.dialogs import BOX, show_error, title_text, words
from marginalia_tui.widgets.editor import SubmitArea
from marginalia_tui.widgets.fields import LineInput
from marginalia_tui.widgets.rows import RowView
from marginalia_tui.widgets.table import Column, Row, Table

LIMIT = 20_000
"""Names of one folder that are shown."""


@dataclass(frozen=True, slots=True)
class FolderEntry:
    """A name in a folder. `target` is where a link leads, None for one that leads nowhere or for no link."""

    name: str
    is_folder: bool
    is_link: bool = False
    size: int = 0
    target: Path | None = None


@dataclass(frozen=True, slots=True)
class Listing:
    """What a folder holds, folders first; `error` says why it could not be read."""

    folder: Path
    entries: tuple[FolderEntry, ...] = ()
    error: str = ""
    cut: bool = False


def list_folder(folder: Path, suffixes: Sequence[str] = (), *, hidden: bool = False) -> Listing:
    """Reads a folder.

    Args:
        folder: which.
        suffixes: of the files that are listed, such as `.md`; none lists all.
        hidden: whether names that begin with a dot are listed.

    Returns:
        The entries; devices, sockets and pipes are left out.
    """
    entries: list[FolderEntry] = []
    cut = False
    try:
        with os.scandir(folder) as found:
            for item in found:
                if len(entries) >= LIMIT:
                    cut = True
                    break
                if (hidden or not item.name.startswith(".")) and (entry := _entry(item, suffixes)):
                    entries.append(entry)
    except OSError as error:
        return Listing(folder, error=f"This folder can't be read: {error.strerror or error}.")
    entries.sort(key=lambda entry: (not entry.is_folder, entry.name.casefold(), entry.name))
    return Listing(folder, tuple(entries), cut=cut)


def _entry(item: "os.DirEntry[str]", suffixes: Sequence[str]) -> FolderEntry | None:
    try:
        is_link = item.is_symlink()
        target = Path(item.path).resolve(strict=True) if is_link else None
        mode = os.stat(item.path)
    except (OSError, RuntimeError):
        # A link that leads nowhere or in a circle, or a file that is not ours to look at.
        return None
    if stat.S_ISDIR(mode.st_mode):
        return FolderEntry(item.name, True, is_link, 0, target)
    name = (target or Path(item.name)).name.casefold()
    if not stat.S_ISREG(mode.st_mode) or (suffixes and not name.endswith(tuple(suffixes))):
        return None
    return FolderEntry(item.name, False, is_link, mode.st_size, target)


def readable_size(size: int) -> str:
    """A size in bytes for people."""
    value = float(size)
    for unit in ("B", "kB", "MB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" or value >= 10 else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"


class FilePicker(ModalScreen[Path | None]):
    """A folder to choose from, and a line for a typed path. Esc answers None.

    Args:
        title: what the file is for.
        folder: where to begin.
        mode: `open` answers a file that is there, `folder` a folder, `save` a path that may not be there yet.
        suffixes: of the files that are listed.
        name: what the line proposes for `save`.
    """

    DEFAULT_CSS = f"""
    FilePicker {{
        {BOX}
        & .dialog--box {{ width: 90; height: 30; }}
        & Table {{ background: $panel; }}
        & #picker-folder {{ color: $muted; height: 1; }}
    }}
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "cancel", "Cancel", id="picker.cancel"),
        Binding("backspace,left", "up", "Folder above", show=False, id="picker.up"),
        Binding("full_stop", "hidden", "Hidden names", show=False, id="picker.hidden"),
        Binding("ctrl+s,f2", "take_folder", "This folder", show=False, id="picker.take"),
    ]

    def __init__(
        self,
        title: str,
        folder: Path,
        *,
        mode: Literal["open", "folder", "save"] = "open",
        suffixes: Sequence[str] = (),
        name: str = "",
    ) -> None:
        super().__init__()
        self.heading, self.folder, self.mode, self.suffixes = title, folder, mode, tuple(suffixes)
        self.hidden_names = False
        self._entries: dict[str, FolderEntry] = {}
        self._reader = Latest(self)
        self._where = Static("", id="picker-folder", markup=False)
        self._names = Table(
            [Column("Name", grow=1), Column("Size", "right", width=8, drop=1)], header=False, id="picker-names"
        )
        self._error = words("", "dialog--error")
        self._line = LineInput(name, placeholder="or type a path", id="picker-path")

    def compose(self) -> ComposeResult:
        """The folder, its names, the line."""
        keys = "Enter opens   Backspace folder above   . hidden   Tab path   Esc leaves it"
        if self.mode != "open":
            keys = "Ctrl+S this folder   " + keys if self.mode == "folder" else keys
        with Vertical(classes="dialog--box") as box:
            box.border_title = title_text(self.heading)
            yield self._where
            yield self._names
            yield self._error
            yield self._line
            yield words(keys, "dialog--keys")

    def on_mount(self) -> None:
        """Reads the first folder."""
        self.go(self.folder)
        (self._line if self.mode == "save" else self._names).focus()

    def go(self, folder: Path) -> None:
        """Shows another folder."""
        suffixes, hidden = self.suffixes, self.hidden_names
        self._reader.ask(lambda: list_folder(typed_path(str(folder)).resolve(), suffixes, hidden=hidden), self._show)

    def _show(self, listing: Listing) -> None:
        if listing.error:
            show_error(self._error, listing.error)
            return
        show_error(self._error, f"Only {LIMIT:,} names are shown: type the path." if listing.cut else "")
        self.folder = listing.folder
        self._entries = {entry.name: entry for entry in listing.entries}
        self._where.update(str(listing.folder).translate({10: "␤"}))
        rows = [Row("..", ("..", ""), tone="muted")]
        for entry in listing.entries:
            label = entry.name + ("/" if entry.is_folder else "") + (f" @ {entry.target}" if entry.is_link else "")
            size = "" if entry.is_folder else readable_size(entry.size)
            shown = not entry.is_folder and self.mode == "folder"
            rows.append(Row(entry.name, (label, size), tone="muted" if shown else "plain"))
        self._names.show(rows, key="..")

    def on_row_view_selected(self, event: RowView.Selected) -> None:
        """Enter on a name."""
        event.stop()
        if event.key == "..":
            self.action_up()
            return
        entry = self._entries[event.key]
        path = entry.target or self.folder / entry.name
        if entry.is_folder:
            self.go(path)
        elif self.mode == "open":
            self.dismiss(path)
        elif self.mode == "save":
            self._line.content = entry.name
            self._line.focus()

    def on_submit_area_submitted(self, event: SubmitArea.Submitted) -> None:
        """Enter on a typed path, which counts from the folder that is shown."""
        event.stop()
        text = event.text.strip()
        if not text:
            return
        path = self.folder / typed_path(text)
        wrong = ""
        try:
            if path.is_dir() and self.mode != "folder":
                self.go(path)
                event.area.content = ""
                return
            if self.mode == "save":
                path = path.parent.resolve(strict=True) / path.name
                wrong = "" if not path.is_symlink() else "That is a link: choose another name."
            else:
                path = path.resolve(strict=True)
                fits = path.is_dir() if self.mode == "folder" else path.is_file()
                wrong = "" if fits else "That is neither a file nor a folder that can be opened."
        except (OSError, ValueError, RuntimeError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            wrong = f"That path does not work: {reason}."
        if wrong:
            show_error(self._error, wrong)
        else:
            self.dismiss(path)

    def action_up(self) -> None:
        """The folder above."""
        self.go(self.folder.parent)

    def action_hidden(self) -> None:
        """Shows or hides names that begin with a dot."""
        self.hidden_names = not self.hidden_names
        self.go(self.folder)

    def action_take_folder(self) -> None:
        """Answers the folder that is shown."""
        if self.mode == "folder":
            self.dismiss(self.folder)

    def action_cancel(self) -> None:
        """Esc."""
        self.dismiss(None)
