"""What was meant by a word that is not in the dictionary."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from marginalia_tui.widgets.dialogs import BOX, title_text, words
from marginalia_tui.widgets.rows import RowView
from marginalia_tui.widgets.table import Column, Row, Table

MOST = 10
"""Rows that are seen at once."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What the author chose: another word, or the word onto the list of the book or off it."""

    kind: Literal["word", "add", "remove"]
    word: str


class SpellingScreen(ModalScreen[Choice | None]):
    """Suggestions for a word; Enter takes one, a and d change the list of the book, Esc leaves all as it is.

    Args:
        word: as it stands.
        suggestions: the likeliest first.
        right: whether the word is right as it stands.
        own: whether it is so by the list of the book.
    """

    DEFAULT_CSS = f"""
    SpellingScreen {{
        {BOX}
        & .dialog--box {{ width: 50; }}
        & Table {{ background: $panel; }}
    }}
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "add", "Add to the list of the book", id="spelling.add"),
        Binding("d,delete", "remove", "Take off the list", id="spelling.remove"),
        Binding("escape", "leave", "Back", id="spelling.leave"),
    ]

    def __init__(self, word: str, suggestions: Sequence[str], *, right: bool, own: bool) -> None:
        super().__init__()
        self.word, self.suggestions, self.right, self.own = word, tuple(suggestions), right, own

    def compose(self) -> ComposeResult:
        """What is said of the word, the suggestions, the keys."""
        said = "It is on the list of this book." if self.own else "It is right." if self.right else ""
        with Vertical(classes="dialog--box") as box:
            box.border_title = title_text(self.word)
            if said or not self.suggestions:
                yield words(said or "Nothing like it is in the dictionary.")
            table = Table([Column("", grow=1, minimum=10)], header=False, id="suggestions")
            table.styles.height = max(1, min(MOST, len(self.suggestions)))
            table.display = bool(self.suggestions)
            yield table
            keys = ["Enter takes it"] if self.suggestions else []
            keys += ["d takes it off the list"] if self.own else [] if self.right else ["a adds the word"]
            yield words("")
            yield words("   ".join([*keys, "Esc back"]), "dialog--keys")

    def on_mount(self) -> None:
        """The first suggestion is chosen."""
        table = self.query_one(Table)
        table.show([Row(each, (each,)) for each in self.suggestions])
        if self.suggestions:
            table.focus()

    def on_row_view_selected(self, event: RowView.Selected) -> None:
        """Enter."""
        event.stop()
        self.dismiss(Choice("word", event.key))

    def action_add(self) -> None:
        """The word is right in this book."""
        if not self.right:
            self.dismiss(Choice("add", self.word))

    def action_remove(self) -> None:
        """It is not any more."""
        if self.own:
            self.dismiss(Choice("remove", self.word))

    def action_leave(self) -> None:
        """Esc."""
        self.dismiss(None)
