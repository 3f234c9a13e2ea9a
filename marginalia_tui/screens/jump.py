"""Going to a part by typing its number or words of its title."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import TextArea

from marginalia_tui.widgets.dialogs import BOX, words
from marginalia_tui.widgets.editor import SubmitArea
from marginalia_tui.widgets.fields import LineInput
from marginalia_tui.widgets.outline import Outline, Part
from marginalia_tui.widgets.rows import RowView

MOST = 12
"""Rows that are seen at once."""


class PartFinder:
    """The parts of a branch, ready to be looked through at each key.

    Args:
        parts: in reading order.
    """

    def __init__(self, parts: Sequence[Part]) -> None:
        self.parts = parts
        self._titles = [part.title.casefold() for part in parts]
        self._last: tuple[str, list[int]] = ("", list(range(len(parts))))

    def find(self, query: str) -> list[Part]:
        """The parts that fit, the likeliest first.

        A number stands for the part with it, then for those whose number begins so, then for titles that have it;
        other words must all be in the title, in any order, and titles that begin with the first stand first.
        """
        sought = query.casefold().split()
        if not sought:
            return list(self.parts)
        number = sought[0] if len(sought) == 1 and sought[0].isdecimal() else ""
        ranked: list[tuple[int, int]] = []
        for place, title in enumerate(self._titles):
            rank = self._rank(place, title, sought, number)
            if rank is not None:
                ranked.append((rank, place))
        ranked.sort()
        return [self.parts[place] for _, place in ranked]

    def _rank(self, place: int, title: str, sought: Sequence[str], number: str) -> int | None:
        if number:
            own = str(self.parts[place].number)
            if own == number:
                return 0
            if own.startswith(number):
                return 1
        if all(word in title for word in sought):
            return 2 if title.startswith(sought[0]) else 3
        return None


class JumpScreen(ModalScreen[str | None]):
    """A line and the parts that fit it; Enter answers the uuid of one, Esc None.

    Args:
        parts: in reading order.
        here: the uuid of the part that is read.
    """

    DEFAULT_CSS = f"""
    JumpScreen {{
        {BOX}
        & Outline {{ background: $panel; height: {MOST}; }}
        & #jump-words {{ margin: 0 0 1 0; }}
    }}
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "move(1)", "next", id="jump.next", priority=True),
        Binding("up", "move(-1)", "before", id="jump.previous", priority=True),
        Binding("escape", "leave", "back", id="jump.leave"),
    ]

    def __init__(self, parts: Sequence[Part], here: str | None = None) -> None:
        super().__init__()
        self._finder = PartFinder(parts)
        self._here = here
        self.line = LineInput(placeholder="a number, or words of a title", id="jump-words")
        """What is looked for."""
        self.outline = Outline(empty="No part fits.", id="jump-parts")
        """The parts that fit."""

    def compose(self) -> ComposeResult:
        """The line, the parts, the keys."""
        with Vertical(classes="dialog--box") as box:
            box.border_title = "Go to a part"
            yield self.line
            yield self.outline
            yield words("")
            yield words("Up and Down choose   Enter goes there   Esc back", "dialog--keys")

    def on_mount(self) -> None:
        """All parts, with the one that is read chosen."""
        self.outline.can_focus = False
        self.outline.show(self._finder.parts, key=self._here)
        self.line.focus()

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """A key: the parts that fit."""
        event.stop()
        found = self._finder.find(self.line.content)
        query = self.line.content.strip()
        self.outline.show(found, key=self._here if not query else found[0].key if found else None)

    def on_submit_area_submitted(self, event: SubmitArea.Submitted) -> None:
        """Enter."""
        event.stop()
        if (key := self.outline.current_key) is not None:
            self.dismiss(key)

    def on_row_view_selected(self, event: RowView.Selected) -> None:
        """A double click."""
        event.stop()
        self.dismiss(event.key)

    def action_move(self, step: int) -> None:
        """Up and down."""
        self.outline.cursor += step

    def action_leave(self) -> None:
        """Esc."""
        self.dismiss(None)
