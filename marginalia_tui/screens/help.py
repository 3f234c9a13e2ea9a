"""Help: the keys of the screen from which it was asked, and the pages of the manual."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.dom import DOMNode
from textual.screen import Screen

from marginalia_tui.resources import manual_page, manual_pages
from marginalia_tui.screens.base import BaseScreen
from marginalia_tui.widgets.page import Page
from marginalia_tui.widgets.rows import RowView
from marginalia_tui.widgets.table import Column, Row, Table

if TYPE_CHECKING:
    from marginalia_tui.desk.opening import Desk

KEYS = "here"
"""The key of the row of the sheet of keys; no page of the manual has this name."""


@dataclass(frozen=True, slots=True)
class KeyGroup:
    """Keys that hold in one place: pairs of the keys and what they do."""

    place: str
    keys: tuple[tuple[str, str], ...]


def keys_of(screen: Screen[Any]) -> tuple[KeyGroup, ...]:
    """The keys that work on a screen now, by place: the focus, the screen, everywhere."""
    groups: dict[str, dict[tuple[str, str], list[str]]] = {}
    for active in screen.active_bindings.values():
        binding = active.binding
        if not binding.id or not binding.description or not active.enabled:
            continue
        place = _place(active.node, screen)
        shown = screen.app.get_key_display(binding)
        keys = groups.setdefault(place, {}).setdefault((binding.action, binding.description), [])
        if shown not in keys:
            keys.append(shown)
    return tuple(
        KeyGroup(place, tuple((", ".join(keys), words) for (_, words), keys in found.items()))
        for place, found in groups.items()
    )


def _place(node: DOMNode, screen: Screen[Any]) -> str:
    if isinstance(node, App):
        return "Everywhere"
    return "This screen" if node is screen else "Here"


def key_sheet(groups: tuple[KeyGroup, ...]) -> str:
    """The keys as Markdown."""
    parts = ["# Keys"]
    for group in groups:
        lines = [f"- **{_plain(keys)}** {_plain(words)}" for keys, words in group.keys]
        parts.append(f"## {group.place}\n\n" + "\n".join(lines))
    return "\n\n".join(parts)


def _plain(text: str) -> str:
    return "".join(f"\\{sign}" if sign in "\\`*_[]<>#+-!|" else sign for sign in text)


def read_manual() -> dict[str, str]:
    """The pages of the manual by name, the one to begin with first."""
    return {name: manual_page(name) for name in sorted(manual_pages(), key=lambda name: (name != "start", name))}


def page_title(name: str, text: str) -> str:
    """The first heading of a page, else its name."""
    first = text.lstrip().split("\n", 1)[0]
    return first.lstrip("# ").strip() if first.startswith("#") else name


class HelpScreen(BaseScreen):
    """The sheet of keys and the manual.

    Args:
        keys: of the screen from which help was asked.
        mode: the mode whose tab is marked.
        page: the page of the manual that is shown first; empty shows the keys.
    """

    CSS_PATH = "help.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,question_mark,f1", "leave", "back", id="help.leave"),
        Binding("n", "page(1)", "next page", id="help.next"),
        Binding("p", "page(-1)", "page before", show=False, id="help.previous"),
    ]

    def __init__(self, keys: tuple[KeyGroup, ...], mode: str, page: str = "") -> None:
        super().__init__()
        self.mode_name = mode
        self._pages = {KEYS: key_sheet(keys)}
        self._first = page or KEYS
        self._list = Table([Column("Page", grow=1)], header=False, id="pages")
        self._page = Page(id="help-page")

    def body(self) -> ComposeResult:
        """The list of pages and the page."""
        with Horizontal(id="help"):
            yield self._list
            yield self._page

    def on_mount(self) -> None:
        """The list has the focus."""
        super().on_mount()
        self._show_pages()
        self._list.focus()
        self.say_where("Help")
        self.do(self._read())

    async def _read(self) -> None:
        self._pages.update(await self.call(read_manual))
        self._show_pages()

    def _show_pages(self) -> None:
        rows = [
            Row(name, ("Keys here" if name == KEYS else page_title(name, text),)) for name, text in self._pages.items()
        ]
        self._list.show(rows, key=self._first)

    async def read(self, desk: "Desk") -> None:
        """Nothing of the studio is shown here."""

    def on_row_view_highlighted(self, event: RowView.Highlighted) -> None:
        """Another page."""
        event.stop()
        self._first = event.key
        self._page.show(self._pages[event.key])

    def on_row_view_selected(self, event: RowView.Selected) -> None:
        """Enter: to the page."""
        event.stop()
        self._page.focus()

    def action_page(self, step: int) -> None:
        """The next page of the manual, or the one before."""
        self._list.cursor += step

    def action_leave(self) -> None:
        """Back to where help was asked."""
        self.dismiss()
