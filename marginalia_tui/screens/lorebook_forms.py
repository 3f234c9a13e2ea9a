"""What the lorebook screen asks: the fields of an entry or a lorebook, its text, which lorebook or book is meant."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from marginalia_tui.screens.text_editor import TextEditor
from marginalia_tui.widgets.dialogs import BOX, Form, title_text, words
from marginalia_tui.widgets.fields import Field, FieldValue
from marginalia_tui.widgets.rows import RowView
from marginalia_tui.widgets.table import Column, Row, Table

if TYPE_CHECKING:
    from marginalia_tui.domain.items import Entry
    from marginalia_tui.screens.host import Host

Choices = Sequence[tuple[str, str, str]]
"""Key, name, what stands behind it."""

MODES = (("text", "these words, anywhere"), ("regex", "a regular expression"))
PLACES = (("lore", "with the other lore"), ("prompt", "before the prompt of the turn"))


class Choose(ModalScreen[str | None]):
    """A few things by name: Enter answers the key of one, Esc None; f finds by typing.

    Args:
        title: of the box.
        rows: what there is to choose.
        yes: what Enter does, in a word or two.
        key: where the cursor stands first.
    """

    DEFAULT_CSS = f"""
    Choose {{
        {BOX}
        & Table {{ background: $panel; height: auto; max-height: 16; }}
    }}
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Back", id="choose.leave")]

    def __init__(self, title: str, rows: Choices, *, yes: str = "takes it", key: str | None = None) -> None:
        super().__init__()
        self.heading, self.rows, self.yes, self.key = title, tuple(rows), yes, key

    def compose(self) -> ComposeResult:
        """The table and the keys."""
        with Vertical(classes="dialog--box") as box:
            box.border_title = title_text(self.heading)
            yield Table([Column("", grow=2, minimum=12), Column("", grow=1, minimum=6)], header=False, id="choices")
            yield words("")
            yield words(f"Enter {self.yes}   f finds   Esc back", "dialog--keys")

    def on_mount(self) -> None:
        """The cursor stands on the first, or on the one that is wanted."""
        table = self.query_one(Table)
        table.styles.height = min(16, len(self.rows))
        table.show([Row(key, (name, more), tones=((1, "muted"),)) for key, name, more in self.rows], key=self.key)
        table.focus()

    def on_row_view_selected(self, event: RowView.Selected) -> None:
        """Enter."""
        event.stop()
        self.dismiss(event.key)

    def action_leave(self) -> None:
        """Esc."""
        self.dismiss(None)


class LoreText(TextEditor):
    """The text of an entry; what was typed is not dropped without a question."""

    def __init__(self, text: str, *, title: str, saved: str) -> None:
        super().__init__(text, title=title)
        self.saved = saved
        """What the entry has."""
        self.heading = title

    @property
    def changed(self) -> bool:
        """Whether something is not saved."""
        return self.area.content != self.saved

    def action_cancel(self) -> None:
        """Esc: asks when something was typed."""
        if not self.changed:
            self.dismiss(None)
            return
        from marginalia_tui.screens.decide import Decide, Way

        def decided(way: str | None) -> None:
            if way == "save":
                self.action_keep()
            elif way == "drop":
                self.dismiss(None)

        question = "What you changed in this entry is not saved."
        ways = [Way("s", "save it", "save"), Way("d", "drop it", "drop")]
        self.app.push_screen(Decide("Not saved", question, ways, stay="go on writing"), decided)


def entry_fields(now: Mapping[str, Any], lorebooks: Sequence[tuple[str, str]], *, new: bool) -> list[Field]:
    """All fields of an entry; a new one is asked for its lorebook and its text, too."""

    def number(name: str, label: str, help: str) -> Field:
        value = now.get(name)
        return Field(name, label, "number", None if value is None else value, help=help)

    where = [Field("lorebook", "Lorebook", "choice", now.get("lorebook"), tuple(lorebooks))] if new else []
    text = [Field("text", "Text", "multiline", now.get("text", ""), help="What a model is told.")] if new else []
    return [
        Field("name", "Name", "text", now.get("name", ""), required=True),
        *where,
        Field("filter", "Filter", "text", now.get("filter", ""), help="The words that make it active, such as a name."),
        *text,
        Field("constant", "Always active", "boolean", now.get("constant", False)),
        Field("enabled", "Used", "boolean", now.get("enabled", True)),
        Field("mode", "Filter is", "choice", now.get("mode", "text"), MODES),
        number("look_back", "Look back", "How many parts before the turn the filter is looked for in."),
        number("first", "First part", "Empty: from the beginning."),
        number("last", "Last part", "Empty: to the end."),
        Field("tags", "Tags", "text", now.get("tags", ""), help="The book must have one of them. Commas between."),
        Field("negative_tags", "Not with tags", "text", now.get("negative_tags", ""), help="The book may have none."),
        number("order", "Order", "Lower ones are told first."),
        Field("insertion", "Told", "choice", now.get("insertion", "lore"), PLACES),
        Field("comment", "Note", "multiline", now.get("comment", ""), help="For you: no model reads it."),
    ]


def entry_values(entry: "Entry") -> dict[str, Any]:
    """The fields of an entry as a form shows them."""
    return {
        "name": entry.name,
        "filter": entry.filter,
        "constant": entry.constant,
        "enabled": entry.enabled,
        "mode": entry.mode,
        "look_back": entry.look_back,
        "first": entry.first,
        "last": entry.last,
        "tags": ", ".join(entry.tags),
        "negative_tags": ", ".join(entry.negative_tags),
        "order": entry.order,
        "insertion": entry.insertion,
        "comment": entry.comment,
    }


def entry_arguments(answer: Mapping[str, FieldValue], before: Mapping[str, Any] | None) -> dict[str, Any]:
    """The arguments of a command for what a form answered: all of a new entry, else what is another value now.

    An empty text becomes a space, which empties a field, an empty number what it means: no limit, nothing before.
    """
    given: dict[str, Any] = {}
    for name, value in answer.items():
        if before is not None and value == before.get(name):
            continue
        if name in ("look_back", "first", "last"):
            value = value or 0
        elif name == "order":
            value = 100 if value is None else value
        elif isinstance(value, str) and not value.strip():
            value = "" if before is None else " "
        given[_OUTSIDE.get(name, name)] = value
    return given


_OUTSIDE = {"look_back": "lookBack", "negative_tags": "negativeTags", "scan_depth": "scanDepth"}


async def ask_entry(
    host: "Host", title: str, now: Mapping[str, Any], lorebooks: Sequence[tuple[str, str]] = (), *, new: bool
) -> dict[str, FieldValue] | None:
    """Asks for the fields of an entry; None when it was left. Only inside `do`."""
    return await host.ask(Form(title, entry_fields(now, lorebooks, new=new)))


def lorebook_fields(now: Mapping[str, Any], *, root: bool) -> list[Field]:
    """The fields of a lorebook; only that of the root says how often it is looked through."""
    depth = Field(
        "scan_depth",
        "Scan depth",
        "number",
        now.get("scan_depth", 0),
        help="How often what was found makes other entries active. 0: never.",
    )
    return [
        Field("name", "Name", "text", now.get("name", ""), required=True),
        Field("enabled", "Used", "boolean", now.get("enabled", True)),
        *([depth] if root else []),
        Field("tags", "Tags", "text", now.get("tags", ""), help="Its entries need one of them. Commas between."),
    ]
