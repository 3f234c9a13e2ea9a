"""The review of a run: the changes to pick, and what each of them does to the words of the book.

The screen holds what the author decided (picks, sides of conflicts, texts of their own) until it is applied in one
transaction. A change of the book meanwhile is shown by reading the plan anew; decisions about what has not changed
stay.
"""

from typing import TYPE_CHECKING, ClassVar, Literal

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Static

from marginalia_tui.screens.base import BaseScreen
from marginalia_tui.widgets.rows import RowView
from marginalia_tui.widgets.table import Check, Column, Row, Table, Tone
from marginalia_tui.widgets.text import visible_line
from marginalia_tui.widgets.worddiff import WordDiff

if TYPE_CHECKING:
    from marginalia_tui.agent.merge.model import FieldChange, MergeItem
    from marginalia_tui.desk.opening import Desk
    from marginalia_tui.desk.review import ReviewView
    from marginalia_tui.store.bus import Touched

Look = Literal["result", "agent", "book"]
LOOKS: dict[Look, str] = {
    "result": "book now -> text to apply",
    "agent": "base -> agent",
    "book": "base -> book",
}
_TONES: dict[str, Tone] = {"added": "added", "changed": "plain", "deleted": "removed"}


class ReviewScreen(BaseScreen):
    """What one run changed.

    Args:
        run: its uuid.
    """

    CSS_PATH = "review.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "back", id="review.back", key_display="Esc"),
        Binding("space", "toggle_item", "pick", id="review.toggle", key_display="Space"),
        Binding("a", "pick_all", "all", id="review.all"),
        Binding("z", "pick_none", "none", id="review.none"),
        Binding("f", "next_field", "field", id="review.field"),
        Binding("x", "toggle_field", "pick field", id="review.toggle_field"),
        Binding("g", "take('agent')", "agent's", id="review.take_agent"),
        Binding("b", "take('book')", "book's", id="review.take_book"),
        Binding("m", "merged", "both", id="review.merged"),
        Binding("w", "next_look", "compare", id="review.look"),
        Binding("e", "edit", "edit", id="review.edit"),
        Binding("tab", "switch_focus", "text", id="review.focus", show=False, priority=True),
        Binding("A,ctrl+s", "apply", "apply", id="review.apply", key_display="A"),
        Binding("D", "discard", "discard", id="review.discard", show=False),
        Binding("u", "undo", "undo the apply", id="review.undo"),
    ]
    mode_name = "agents"

    def __init__(self, run: str) -> None:
        super().__init__()
        self.run = run
        self._view: ReviewView | None = None
        self._items: dict[str, MergeItem] = {}
        self._picks: dict[str, frozenset[str] | None] = {}
        """Item -> its picked fields, None for all; an item that is not picked is not here."""
        self._take: dict[tuple[str, str], Literal["agent", "book"]] = {}
        self._texts: dict[tuple[str, str], str] = {}
        self._seen: dict[str, str] = {}
        """Item -> the version that was decided about."""
        self._field = 0
        self._look: Look = "result"
        self._shown: tuple[object, ...] = ()
        self._applied = False

    @property
    def table(self) -> Table:
        """The changes."""
        return self.query_one("#items", Table)

    def body(self) -> ComposeResult:
        """The changes beside the words."""
        yield Table(
            [Column("Part", "right", drop=2), Column("Change", drop=3), Column("What", grow=1, minimum=10)],
            empty="Reading what the run changed",
            id="items",
        )
        with Vertical(id="detail"):
            yield Static("", id="about", markup=False)
            yield WordDiff(empty="Nothing differs.", id="diff")

    def on_mount(self) -> None:
        """The list has the focus."""
        super().on_mount()
        self.table.focus()
        self.look_again()

    def wants(self, touched: "Touched") -> bool:
        """The run, and its book."""
        view = self._view
        return bool(
            not self._applied
            and self.run is not None
            and (touched.run(self.run) or (view is not None and touched.book(view.plan.book)))
        )

    async def read(self, desk: "Desk") -> None:
        """The plan."""
        if self._applied or self.run is None:
            return
        view = await self.call(desk.review.view, self.run)
        first = self._view is None
        self._view = view
        self._items = {item.id: item for item in view.plan.items}
        self._forget_changed()
        if first:
            self._picks = {item.id: None for item in view.plan.items if item.problem is None and not item.conflicts}
        self.table.empty = "The run changed nothing that the book does not have.\n\nA  ends it, D  discards it"
        self._show_rows()
        self._show_detail()

    def _forget_changed(self) -> None:
        """Decisions about an item that is another one by now are dropped."""
        for item in [item for item, version in self._seen.items() if self._version(item) != version]:
            self._picks.pop(item, None)
            for key in [key for key in (*self._take, *self._texts) if key[0] == item]:
                self._take.pop(key, None)
                self._texts.pop(key, None)
        self._seen = {item.id: item.version for item in self._items.values()}

    def _version(self, item: str) -> str | None:
        return self._items[item].version if item in self._items else None

    # The list

    def _show_rows(self) -> None:
        view = self._view
        if view is None:
            return
        self.table.show([self._row(item) for item in view.plan.items])
        total, picked = len(view.plan.items), len(self._picks)
        conflicts = sum(1 for key in view.plan.conflicts if not self._is_decided(key))
        facts = f"{total:,} changes" if total != 1 else "1 change"
        facts += f", {conflicts} conflicts" if conflicts else ""
        self.say_where(f"Review: {view.agent}", f"{facts}  {picked:,} picked")
        self.refresh_bindings()

    def _row(self, item: "MergeItem") -> Row:
        open_conflict = any(not self._is_decided((item.id, each.name)) for each in item.conflicts)
        check: Check = "on" if item.id in self._picks else "off"
        if item.problem or (open_conflict and item.id not in self._picks):
            check = "conflict"
        word = "moved" if item.is_move else item.change
        fields = ", ".join(each.label for each in item.fields) if item.change == "changed" else ""
        what = item.title or item.kind
        return Row(
            item.id,
            (str(item.place or ""), word, f"{what}  {fields}" if fields else what),
            check,
            "conflict" if item.problem else _TONES[item.change],
            tones=((0, "muted"), (1, "muted")),
        )

    def _is_decided(self, key: tuple[str, str]) -> bool:
        return key in self._take or key in self._texts

    def _current(self) -> "MergeItem | None":
        return self._items.get(self.table.current_key or "")

    def _current_field(self) -> "FieldChange | None":
        item = self._current()
        if item is None or not item.fields:
            return None
        return item.fields[self._field % len(item.fields)]

    def on_row_view_highlighted(self, event: RowView.Highlighted) -> None:
        """Another change."""
        event.stop()
        self._field = self._best_field()
        self._look = "result"
        self._show_detail()
        self.refresh_bindings()

    def _best_field(self) -> int:
        """The field that is looked at first: a conflict, else a long text."""
        item = self._current()
        fields = item.fields if item else ()
        wanted = [n for n, each in enumerate(fields) if each.conflict] or [
            n for n, each in enumerate(fields) if each.type == "text"
        ]
        return wanted[0] if wanted else 0

    def on_row_view_selected(self, event: RowView.Selected) -> None:
        """Enter goes to the words."""
        event.stop()
        self.query_one(WordDiff).focus()

    # The words

    def _show_detail(self) -> None:
        self.do(self._draw_detail())

    async def _draw_detail(self) -> None:
        from marginalia_tui.desk.review import result_text, value_text

        view, item, field = self._view, self._current(), self._current_field()
        about, diff = self.query_one("#about", Static), self.query_one(WordDiff)
        if view is None or item is None:
            about.update("")
            diff.show(())
            return
        about.update(visible_line(self._about(item, field)).replace("\u2424", "\n"))
        if field is None:
            diff.show(())
            return
        key = (item.id, field.name)
        base = value_text(view.plan, field, field.base)
        agent, book = value_text(view.plan, field, field.agent), value_text(view.plan, field, field.book)
        result = result_text(view.plan, item, field, self._take.get(key), self._texts.get(key))
        before, after = {"result": (book, result), "agent": (base, agent), "book": (base, book)}[self._look]
        if item.change == "deleted" and self._look == "result":
            before, after = book, ""
        shown = (item.id, field.name, before, after)
        if shown == self._shown:
            return
        segments = await self.call(self.desk.review.diff, before, after)
        if self._current() is item and self._current_field() is field:
            self._shown = shown
            diff.show(segments)

    def _about(self, item: "MergeItem", field: "FieldChange | None") -> str:
        assert self._view is not None
        lines = []
        if item.problem:
            lines.append(f"Can't be applied: {item.problem}")
        if item.children:
            count = len(item.children)
            word = "follow it" if item.change == "added" else "move up"
            lines.append(f"{count} part{'s' if count > 1 else ''} will {word}")
        needed = [self._items[each].title or each for each in item.depends_on if each in self._items]
        if needed:
            lines.append(f"Needs: {', '.join(needed)}")
        if field is not None:
            names = []
            for number, each in enumerate(item.fields):
                mark = "x" if self._field_picked(item, each.name) else " "
                here = ">" if number == self._field % len(item.fields) else " "
                names.append(f"{here}[{mark}] {each.label}{' conflict' if each.conflict else ''}")
            lines.append("  ".join(names))
            key = (item.id, field.name)
            side = {"agent": "the agent's", "book": "the book's"}.get(self._take.get(key, ""), "")
            decided = "your text" if key in self._texts else side
            word = f"{LOOKS[self._look]}"
            if field.conflict:
                how = "g takes the agent's, b the book's" + (", m both" if field.proposal else "")
                word += f"   both sides changed it: {decided or how}"
            elif decided:
                word += f"   {decided}"
            lines.append(word)
            if field.problem or field.note:
                lines.append(field.problem or field.note)
        return "\n".join(lines)

    def _field_picked(self, item: "MergeItem", name: str) -> bool:
        if item.id not in self._picks:
            return False
        fields = self._picks[item.id]
        return fields is None or name in fields

    # Keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only what the change under the cursor allows."""
        if self._applied:
            return action in ("back", "undo", "bar", "help", "quit", "mode", "command_palette", "answer")
        item = self._current() if self.is_mounted and self._view else None
        field = self._current_field() if item else None
        several = bool(item and item.change == "changed" and len(item.fields) > 1)
        allowed = {
            "toggle_item": bool(item and item.problem is None),
            "pick_all": bool(self._items),
            "pick_none": bool(self._items),
            "next_field": several,
            "toggle_field": several,
            "take": bool(field and field.conflict),
            "merged": bool(field and field.conflict and field.proposal),
            "next_look": bool(field and item and item.change == "changed"),
            "edit": bool(field and field.type.editable and item and item.change != "deleted"),
            "apply": self._view is not None,
            "discard": self._view is not None,
            "undo": False,
        }
        return allowed.get(action, True)

    def on_table_toggled(self, event: Table.Toggled) -> None:
        """Space on the list."""
        event.stop()
        self.action_toggle_item()

    def action_toggle_item(self) -> None:
        """Picks the change, or not; what it needs comes along, what needs it goes."""
        item = self._current()
        if item is None or item.problem:
            return
        if item.id in self._picks:
            self._unpick(item.id)
        else:
            self._pick(item.id)
        self._show_rows()
        self._show_detail()

    def _pick(self, item: str) -> None:
        waiting = [item]
        while waiting:
            here = waiting.pop()
            found = self._items.get(here)
            if found is not None and found.problem is None and here not in self._picks:
                self._picks[here] = None
                waiting.extend(found.depends_on)

    def _unpick(self, item: str) -> None:
        waiting = [item]
        while waiting:
            here = waiting.pop()
            if here in self._picks:
                del self._picks[here]
                waiting.extend(other.id for other in self._items.values() if here in other.depends_on)

    def action_pick_all(self) -> None:
        """Picks everything that can be applied."""
        self._picks = {item.id: None for item in self._items.values() if item.problem is None}
        self._show_rows()
        self._show_detail()

    def action_pick_none(self) -> None:
        """Picks nothing."""
        self._picks = {}
        self._show_rows()
        self._show_detail()

    def action_next_field(self) -> None:
        """The next field of the change."""
        self._field += 1
        self._show_detail()
        self.refresh_bindings()

    def action_toggle_field(self) -> None:
        """Picks the field, or not."""
        item, field = self._current(), self._current_field()
        if item is None or field is None:
            return
        every = frozenset(each.name for each in item.fields)
        now = self._picks.get(item.id, frozenset()) if item.id in self._picks else frozenset()
        picked = every if now is None else now
        after = picked ^ {field.name}
        if after:
            self._picks[item.id] = None if after == every else after
        else:
            self._unpick(item.id)
        self._show_rows()
        self._show_detail()

    def action_take(self, side: Literal["agent", "book"]) -> None:
        """Decides a conflict."""
        item, field = self._current(), self._current_field()
        if item is None or field is None or not field.conflict:
            return
        self._texts.pop((item.id, field.name), None)
        self._take[item.id, field.name] = side
        self._pick(item.id)
        self._look = "result"
        self._show_rows()
        self._show_detail()

    def action_merged(self) -> None:
        """Takes both sides' words of a conflict, where they fit together."""
        item, field = self._current(), self._current_field()
        if item and field and field.proposal is not None:
            self._set_text(item, field, field.proposal)

    def _set_text(self, item: "MergeItem", field: "FieldChange", text: str) -> None:
        self._take.pop((item.id, field.name), None)
        self._texts[item.id, field.name] = text
        self._pick(item.id)
        self._look = "result"
        self._show_rows()
        self._show_detail()

    def action_next_look(self) -> None:
        """Compares something else: the result, what the agent did, what the book did."""
        looks = list(LOOKS)
        self._look = looks[(looks.index(self._look) + 1) % len(looks)]
        self._show_detail()

    def action_switch_focus(self) -> None:
        """Between the list and the words."""
        diff = self.query_one(WordDiff)
        (self.table if diff.has_focus else diff).focus()

    def action_edit(self) -> None:
        """Writes the text to apply by hand."""
        self.do(self._edit())

    async def _edit(self) -> None:
        from marginalia_tui.desk.review import result_text
        from marginalia_tui.screens.text_editor import TextEditor

        item, field = self._current(), self._current_field()
        if self._view is None or item is None or field is None or not field.type.editable:
            return
        key = (item.id, field.name)
        now = result_text(self._view.plan, item, field, self._take.get(key), self._texts.get(key))
        text = await self.host.ask(TextEditor(now, title=f"{item.title}: {field.label} to apply"))
        if text is not None and text != now:
            self._set_text(item, field, text)

    # The end

    def action_apply(self) -> None:
        """Takes over what is picked, after a question."""
        self.do(self._apply())

    async def _apply(self) -> None:
        from marginalia_tui.widgets.dialogs import Confirm

        if self._view is None:
            return
        left = [key for key in self._view.plan.conflicts if key[0] in self._picks and not self._is_decided(key)]
        question = f"Apply {len(self._picks):,} of {len(self._items):,} changes to the book? The run ends with that."
        if left:
            question += f" {len(left)} conflicts are not decided and stay as the book has them."
        if not await self.host.ask(Confirm(question, severity="can be taken back")):
            return
        done = await self.call(self.desk.review.apply, self._view, self._picks, self._take, self._texts)
        self._applied = True
        self.say_where(f"Review: {self._view.agent}", f"applied {done.applied:,}  u takes it back")
        self.refresh_bindings()
        sentence = f"Applied {done.applied:,} changes. u takes all of them back."
        self.host.tell(sentence if not done.skipped else sentence + " Skipped: " + "; ".join(done.skipped))

    def action_discard(self) -> None:
        """Throws the work away, after a question."""
        self.do(self._discard())

    async def _discard(self) -> None:
        from marginalia_tui.widgets.dialogs import Confirm

        question = f"Throw away all {len(self._items):,} changes? The run and its copy are gone after that."
        if await self.host.ask(Confirm(question, severity="removes")):
            await self.call(self.desk.review.discard, self.run)
            self.dismiss()

    def action_undo(self) -> None:
        """Takes the whole apply back."""
        self.do(self._undo())

    async def _undo(self) -> None:
        assert self._view is not None
        self.host.tell(await self.call(self.desk.review.undo, self._view.plan.book))
        self._applied = False
        self._shown = ()
        self.look_again()

    def action_back(self) -> None:
        """Back to the list, then to where the author came from."""
        if self.query_one(WordDiff).has_focus:
            self.table.focus()
        else:
            self.dismiss()
