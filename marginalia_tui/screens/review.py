"""The review of a run: the changes to pick, and what each of them does to the words of the book.

What the author decided is kept (`decisions`) until it is applied in one transaction. A change of the book meanwhile
is shown by reading the plan anew; decisions about what has not changed stay.
"""

from typing import TYPE_CHECKING, ClassVar, Literal

from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from marginalia_tui.screens.base import BaseScreen
from marginalia_tui.screens.chrome import SMALLEST
from marginalia_tui.screens.decisions import Decisions, Side, is_whole
from marginalia_tui.screens.review_detail import ReviewDetail
from marginalia_tui.screens.review_words import (
    about,
    applied_words,
    apply_question,
    change_words,
    counted,
    counts,
    discard_question,
    title_of,
)
from marginalia_tui.screens.runwords import key_of
from marginalia_tui.widgets.rows import RowView
from marginalia_tui.widgets.table import Column, Row, Table, Tone
from marginalia_tui.widgets.worddiff import WordDiff

if TYPE_CHECKING:
    from marginalia_tui.agent.merge.model import FieldChange, MergeItem
    from marginalia_tui.desk.opening import Desk
    from marginalia_tui.desk.review import AppliedView, ReviewView
    from marginalia_tui.store.bus import Touched

_TONES: dict[str, Tone] = {"added": "added", "changed": "plain", "deleted": "removed"}


class ReviewScreen(BaseScreen):
    """What one run changed.

    Args:
        run: its uuid.
    """

    CSS_PATH = "review.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        # Space belongs to the table; Insert is the key under which the line of keys can name it.
        Binding("space,insert", "toggle_item", "pick", id="review.toggle", key_display="Space"),
        Binding("g", "take('agent')", "agent's", id="review.take_agent"),
        Binding("b", "take('book')", "book's", id="review.take_book"),
        Binding("m", "merged", "both", id="review.merged"),
        Binding("right", "next_field(1)", "field", id="review.field", key_display="Right"),
        Binding("left", "next_field(-1)", "field before", id="review.field_before", show=False),
        Binding("x", "toggle_field", "pick field", id="review.toggle_field"),
        Binding("n", "step(1)", "next", id="review.next"),
        Binding("p", "step(-1)", "change before", id="review.previous", show=False),
        Binding("u", "undo", "take it back", id="review.undo", priority=True),
        Binding("A,ctrl+s", "apply", "apply", id="review.apply", key_display="A"),
        Binding("e", "edit", "edit", id="review.edit"),
        Binding("escape", "back", "back", id="review.back", key_display="Esc"),
        Binding("w", "other_look", "compare", id="review.look"),
        Binding("a", "pick_all", "all", id="review.all"),
        Binding("z", "pick_none", "none", id="review.none"),
        Binding("D", "discard", "discard", id="review.discard"),
        Binding("tab", "switch_focus", "words", id="review.focus", show=False, priority=True),
    ]
    VERTICAL_BREAKPOINTS = [(0, "-flat"), (SMALLEST[1], "-tiny"), (18, "-low"), (30, "-high")]
    HORIZONTAL_BREAKPOINTS = [*BaseScreen.HORIZONTAL_BREAKPOINTS, (170, "-vast")]
    mode_name = "agents"
    run: str

    def __init__(self, run: str) -> None:
        super().__init__()
        self.run = run
        self.decisions = Decisions()
        self.view: ReviewView | None = None
        """The plan as it was last read."""
        self._field = 0
        self._sides = False
        """Whether what both sides made of the base is shown instead of what is applied."""
        self._shown: object = None
        columns = [Column("Part", "right", drop=2), Column("What", grow=1, minimum=10), Column("Change", drop=1)]
        self.table = Table(columns, empty="Reading what the run changed", id="items")
        """The changes."""
        self.detail = ReviewDetail(id="detail")
        """The words of the change."""
        self._over = False
        """Whether it is applied, or about to be: the plan is not read any more."""

    def body(self) -> ComposeResult:
        """The changes beside the words."""
        yield self.table
        yield self.detail

    def on_mount(self) -> None:
        """The list has the focus."""
        super().on_mount()
        self.table.focus()
        self.look_again()

    @property
    def is_open(self) -> bool:
        """Whether something is still to be decided: it is not applied."""
        return not self._over

    def wants(self, touched: "Touched") -> bool:
        """The run, and its book."""
        view = self.view
        return not self._over and (touched.run(self.run) or (view is not None and touched.book(view.plan.book)))

    async def read(self, desk: "Desk") -> None:
        """The plan."""
        view = await self.call(desk.review.view, self.run)
        if self._over or not self.is_attached:
            return
        first, self.view = self.view is None, view
        others = self.decisions.follow(view.plan)
        if others and not first:
            words = "is another one" if others == 1 else "are others"
            self.host.tell(f"The book changed meanwhile: {counted(others, 'change')} {words} now.")
        self.table.empty = (
            "The run changed nothing that the book does not have.\n\n"
            f"{key_of(self, 'review.apply')}  ends the run\n{key_of(self, 'review.back')}  goes back"
        )
        self._show_rows()
        if first:
            self._field = self._best_field()
        self._show_detail()
        if self.app.screen is self:
            await self.call(desk.runs.acknowledge, self.run)

    # The list

    def _show_rows(self) -> None:
        view = self.view
        if view is None:
            return
        self.table.show([self._row(item) for item in view.plan.items])
        self.say_where(f"Review: {view.agent}", counts(self.decisions))
        self.refresh_bindings()

    def _row(self, item: "MergeItem") -> Row:
        mark = self.decisions.mark(item)
        return Row(
            item.id,
            (str(item.place or item.kind), item.title or title_of(item), change_words(item)),
            mark,
            "conflict" if mark == "conflict" else _TONES[item.change],
            tones=((0, "muted"), (2, "muted")),
        )

    def _current(self) -> "MergeItem | None":
        return self.decisions.items.get(self.table.current_key or "")

    def _current_field(self) -> "FieldChange | None":
        item = self._current()
        return item.fields[self._field % len(item.fields)] if item is not None and item.fields else None

    def _best_field(self) -> int:
        """The field that is looked at first: a conflict, else a long text."""
        item = self._current()
        fields = item.fields if item else ()
        wanted = [n for n, each in enumerate(fields) if each.conflict] or [
            n for n, each in enumerate(fields) if each.type == "text"
        ]
        return wanted[0] if wanted else 0

    def on_row_view_highlighted(self, event: RowView.Highlighted) -> None:
        """Another change."""
        event.stop()
        self._field = self._best_field()
        self._sides = False
        self._show_detail()
        self.refresh_bindings()

    def on_row_view_selected(self, event: RowView.Selected) -> None:
        """Enter goes to the words."""
        event.stop()
        self.detail.panes[0].focus()

    # The words

    def _show_detail(self) -> None:
        self.do(self._draw_detail())

    async def _draw_detail(self) -> None:
        view, item, field = self.view, self._current(), self._current_field()
        if self._over:
            return
        if view is None or item is None:
            self._shown = None
            self.detail.say([])
            self.detail.compare(())
            return
        self.detail.say(about(self.decisions, view.plan, item, field, self._ways(field)))
        if field is None:
            self.detail.compare(())
            return
        key = (item.id, field.name)
        take, text = self.decisions.take.get(key), self.decisions.texts.get(key)
        wanted = (item.id, item.version, field.name, take, text, self._shows_sides(item, field))
        if wanted != self._shown:
            compared = await self.call(
                self.desk.review.compare, view.plan, item, field, take, text, self._shows_sides(item, field)
            )
            if self.is_attached and self._current() is item and self._current_field() is field and self.is_open:
                self._shown = wanted
                self.detail.compare(compared)

    def _ways(self, field: "FieldChange | None") -> str:
        """How a conflict is decided, with the keys."""
        ways = [f"{key_of(self, 'review.take_agent')} the agent's", f"{key_of(self, 'review.take_book')} the book's"]
        if field is not None and field.proposal is not None:
            ways.append(f"{key_of(self, 'review.merged')} both")
        return ", ".join(ways)

    def _shows_sides(self, item: "MergeItem", field: "FieldChange") -> bool:
        undecided = field.conflict and not self.decisions.is_decided(item.id, field.name)
        return undecided or (self._sides and field.base != field.book)

    def on_word_diff_stepped(self, event: WordDiff.Stepped) -> None:
        """Where the author is among the changes."""
        event.stop()
        self.say_where(f"Review: {self.view.agent if self.view else ''}", f"change {event.current} of {event.count}")

    # Keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only what the change under the cursor allows."""
        if self._over:
            return action in ("back", "undo")
        item = self._current() if self.is_mounted and self.view else None
        field = self._current_field() if item else None
        several = bool(item and not is_whole(item) and len(item.fields) > 1)
        allowed = {
            "toggle_item": bool(item and item.problem is None),
            "pick_all": bool(self.decisions.items),
            "pick_none": bool(self.decisions.items),
            "next_field": bool(item and len(item.fields) > 1),
            "toggle_field": several,
            "take": bool(field and field.conflict),
            "merged": bool(field and field.conflict and field.proposal is not None),
            "other_look": bool(field and field.base != field.book and item and item.change == "changed"),
            "edit": bool(field and field.type.editable and item and item.change != "deleted" and not item.problem),
            "step": item is not None,
            "apply": self.view is not None,
            "discard": self.view is not None,
            "undo": False,
        }
        return allowed.get(action, True)

    def _decided(self) -> None:
        self._sides = False
        self._show_rows()
        self._show_detail()

    def on_table_toggled(self, event: Table.Toggled) -> None:
        """Space on the list."""
        event.stop()
        self.action_toggle_item()

    def action_toggle_item(self) -> None:
        """Picks the change, or not; what it needs comes along, what needs it goes."""
        item = self._current()
        if item is not None and item.problem is None:
            self.decisions.toggle(item.id)
            self._decided()

    def action_pick_all(self) -> None:
        """Picks everything that can be applied."""
        self.decisions.pick_all()
        self._decided()

    def action_pick_none(self) -> None:
        """Picks nothing."""
        self.decisions.pick_none()
        self._decided()

    def action_next_field(self, step: int) -> None:
        """The next field of the change, or the one before."""
        self._field += step
        self._sides = False
        self._show_detail()
        self.refresh_bindings()

    def action_toggle_field(self) -> None:
        """Picks the field, or not."""
        item, field = self._current(), self._current_field()
        if item is not None and field is not None and not is_whole(item):
            self.decisions.toggle_field(item, field.name)
            self._decided()

    def action_take(self, side: Side) -> None:
        """Decides a conflict."""
        item, field = self._current(), self._current_field()
        if item is not None and field is not None and field.conflict:
            self.decisions.decide(item, field, side)
            self._decided()

    def action_merged(self) -> None:
        """Takes both sides' words of a conflict, where they fit together."""
        item, field = self._current(), self._current_field()
        if item is not None and field is not None and field.proposal is not None:
            self.decisions.write(item, field, field.proposal)
            self._decided()

    def action_other_look(self) -> None:
        """Shows what both sides made of the base, or again what is applied."""
        self._sides = not self._sides
        self._show_detail()

    def action_step(self, step: Literal[1, -1]) -> None:
        """Goes to the next change of the words, or the one before."""
        self.detail.panes[0].action_step(step)

    def action_switch_focus(self) -> None:
        """From the list to the words, from these to the other ones when there are two, and back."""
        places = [self.table, *self.detail.panes]
        here = next((number for number, each in enumerate(places) if each.has_focus), 0)
        places[(here + 1) % len(places)].focus()

    def action_edit(self) -> None:
        """Writes the text to apply by hand."""
        self.do(self._edit())

    async def _edit(self) -> None:
        from marginalia_tui.desk.review import result_text
        from marginalia_tui.screens.text_editor import TextEditor

        item, field = self._current(), self._current_field()
        if self.view is None or item is None or field is None or not field.type.editable:
            return
        key = (item.id, field.name)
        take, own = self.decisions.take.get(key), self.decisions.texts.get(key)
        now = result_text(self.view.plan, field, take, own)
        text = await self.host.ask(TextEditor(now, title=f"{title_of(item)}: {field.label} to apply"))
        if text is not None and text != now:
            self.decisions.write(item, field, text)
            self._decided()

    # The end

    def action_apply(self) -> None:
        """Takes over what is picked, after a question."""
        self.do(self._apply())

    async def _apply(self) -> None:
        from marginalia_tui.widgets.dialogs import Confirm

        view = self.view
        if view is None:
            return
        if not await self.host.ask(Confirm(apply_question(self.decisions), severity="changes the book")):
            return
        decisions = self.decisions
        picks, take, texts = dict(decisions.picks), dict(decisions.take), dict(decisions.texts)
        # Before the commit is told: from here on the plan is what was decided about.
        self._over = True
        try:
            done = await self.call(self.desk.review.apply, view, picks, take, texts)
        except BaseException:
            self._over = False
            raise
        if picks and not done.applied:
            self._over = False
            why = "; ".join(done.skipped) or "what is picked is in conflict: decide it first"
            self.host.tell(f"Nothing was applied, so the review goes on: {why}.")
            self.look_again()
            return
        self._show_applied(done)

    def _show_applied(self, done: "AppliedView") -> None:
        assert self.view is not None
        self.table.focus()
        self.refresh_bindings()
        self.say_where(f"Review: {self.view.agent}", f"applied {counted(done.applied, 'change')}")
        self._shown = None
        self.detail.compare(())
        self.detail.say(applied_words(done, key_of(self, "review.undo"), key_of(self, "review.back")))

    def action_discard(self) -> None:
        """Throws the work away, after a question."""
        self.do(self._discard())

    async def _discard(self) -> None:
        from marginalia_tui.widgets.dialogs import Confirm

        if await self.host.ask(Confirm(discard_question(self.decisions), severity="removes")):
            await self.call(self.desk.review.discard, self.run)
            self.dismiss()

    def action_undo(self) -> None:
        """Takes the whole apply back."""
        if self._over:
            self.do(self._undo())

    async def _undo(self) -> None:
        self.host.tell(await self.call(self.desk.review.undo, self.run))
        self._over = False
        self._shown = None
        self.look_again()

    def action_back(self) -> None:
        """Back to the list, then to where the author came from."""
        if self.table.has_focus or self._over:
            self.dismiss()
        else:
            self.table.focus()
