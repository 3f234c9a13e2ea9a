"""Every widget in terminals that are far too small, and with text that wants to be obeyed."""

from collections.abc import Callable

import pytest
from textual import events
from textual.pilot import Pilot
from textual.widget import Widget

from marginalia_tui.domain.diff import word_diff
from marginalia_tui.widgets.commandbar import CommandBar
from marginalia_tui.widgets.completion import Choice, Hint, HintPart
from marginalia_tui.widgets.dialogs import Ask, Confirm, Form, Notice
from marginalia_tui.widgets.entries import Entry, EntryCall
from marginalia_tui.widgets.fields import Field
from marginalia_tui.widgets.margin import Mark, MarkKind, Note
from marginalia_tui.widgets.outline import Outline, Part
from marginalia_tui.widgets.page import Page
from marginalia_tui.widgets.prompt import PromptBox
from marginalia_tui.widgets.table import Column, Row, Table
from marginalia_tui.widgets.transcript import Transcript
from marginalia_tui.widgets.worddiff import WordDiff
from tests.widgets.support import Host, run

EVIL = "\x1b[2J\x1b]0;title\x07\x9b31m\r\u202e\ud800 [bold red]x[/] [@click=app.quit]y[/] 👩‍👩‍👧 e\u0301 灯台守 \t\x00"


class EvilRows:
    def count(self) -> int:
        return 3

    def rows(self, start: int, stop: int) -> list[Entry]:
        call = EntryCall(EVIL, '{"a": "\\u001b[2J"}', EVIL, False, 1.0)
        return [Entry(str(number), "agent", EVIL, (call,), EVIL, 0, EVIL) for number in range(start, stop)]


class EvilModel:
    def complete(self, text: str, cursor: int) -> list[Choice]:
        return [Choice(EVIL, EVIL, 0, cursor, EVIL, EVIL, True)] * 20

    def hint(self, text: str, cursor: int) -> Hint:
        return Hint((HintPart(EVIL), HintPart(EVIL, True)), EVIL, EVIL, True, EVIL)

    def searching(self) -> Hint:
        return Hint(description="Words of a line that was run.")

    def history(self) -> list[str]:
        return [EVIL]


def show_page(app: Host) -> None:
    page = app.query_one(Page)
    page.show(EVIL * 20, [Mark(0, 50, MarkKind.CONFLICT, EVIL)], [Note("n", 3, 9, EVIL, EVIL)])
    page.action_next_note(1)
    page.find("x")


def show_transcript(app: Host) -> None:
    shown = app.query_one(Transcript)
    shown.open(EvilRows())
    shown.action_unfold_all()
    shown.action_thoughts()
    shown.live(EVIL, "```\n" + EVIL)
    shown.flush()


def show_table(app: Host) -> None:
    app.query_one(Table).show([Row(EVIL, (EVIL, EVIL), "on")] * 9)


def show_diff(app: Host) -> None:
    app.query_one(WordDiff).show(word_diff(f"one {EVIL}\ntwo", f"one {EVIL}{EVIL}\nthree"))


def show_outline(app: Host) -> None:
    app.query_one(Outline).show([Part("a", 1, EVIL, 3, changed=True)] * 9)


def push(make: Callable[[], object]) -> Callable[[Host], None]:
    def show(app: Host) -> None:
        app.push_screen(make())  # type: ignore[call-overload]

    return show


FORM = [Field("a", EVIL, value=EVIL, help=EVIL), Field("b", "B", "choice", "x", (("x", EVIL),))]
CASES: dict[str, tuple[Callable[[], Widget], Callable[[Host], None]]] = {
    "page": (Page, show_page),
    "transcript": (Transcript, show_transcript),
    "table": (lambda: Table([Column(EVIL, grow=1), Column("B", drop=1)]), show_table),
    "diff": (WordDiff, show_diff),
    "outline": (lambda: Outline(empty=EVIL), show_outline),
    "bar": (lambda: CommandBar(EvilModel()), lambda app: app.query_one(CommandBar).open(EVIL)),
    "prompt": (PromptBox, lambda app: app.query_one(PromptBox).paste(EVIL)),
    "confirm": (Page, push(lambda: Confirm(EVIL, severity=EVIL))),
    "notice": (Page, push(lambda: Notice(EVIL, title=EVIL))),
    "ask": (Page, push(lambda: Ask(EVIL, EVIL, help=EVIL))),
    "form": (Page, push(lambda: Form(EVIL, FORM))),
}


@pytest.mark.parametrize("size", [(10, 3), (20, 5), (40, 12)], ids=str)
@pytest.mark.parametrize("name", CASES)
def test_nothing_breaks_and_no_control_reaches_the_terminal(name: str, size: tuple[int, int]) -> None:
    make, show = CASES[name]

    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        show(app)
        await pilot.pause()
        for key in ("down", "pagedown", "end", "up", "home", "n", "tab"):
            await pilot.press(key)
        for strip in app.screen._compositor.render_strips():
            assert strip.cell_length == size[0]
            for sign in strip.text:
                assert sign >= " " and not "\x7f" <= sign < "\xa0" and sign not in "\u202e\ud800", hex(ord(sign))
        assert app.is_running

    run(lambda: [make()], scenario, size)


def test_the_wheel_scrolls_three_lines_at_once() -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        page = app.query_one(Page)
        page.show("line\n\n" * 200)
        await pilot.pause()
        for event, top in ((events.MouseScrollDown, 3), (events.MouseScrollDown, 6), (events.MouseScrollUp, 3)):
            page.post_message(event(page, 1, 1, 0, 0, 0, False, False, False))
            await pilot.pause()
            assert page.top == top

    run(lambda: [Page()], scenario)
