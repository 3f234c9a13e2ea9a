from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widget import Widget

from marginalia_tui.domain.diff import word_diff
from marginalia_tui.widgets.commandbar import CommandBar
from marginalia_tui.widgets.completion import Choice, Hint, HintPart
from marginalia_tui.widgets.dialogs import Confirm, Form
from marginalia_tui.widgets.entries import Entry, EntryCall
from marginalia_tui.widgets.fields import Field
from marginalia_tui.widgets.filepicker import FilePicker
from marginalia_tui.widgets.margin import Mark, MarkKind, Note
from marginalia_tui.widgets.outline import Outline, Part
from marginalia_tui.widgets.page import Page
from marginalia_tui.widgets.prompt import PromptBox
from marginalia_tui.widgets.table import Column, Row, Table
from marginalia_tui.widgets.transcript import Transcript
from marginalia_tui.widgets.worddiff import WordDiff
from tests.widgets.support import Host, until

Compare = Callable[..., bool]
Play = Callable[[Host, Pilot[None]], Any]

STORY = """# The Keeper

The lamp went out *twice* before the keeper climbed the stair, and each time he thought he heard the sea say
his name. He had been alone on the rock since **October**.

"You said the boat would come," the girl told him. "You said it on Monday."

***

She wrote the wind down in the ledger, in the column where her mother had written the price of oil.
灯台守は海を見ていた。

> Nobody asks a lighthouse what it wants.

- one rope, long
- two lanterns, `brass`
"""


def compare(
    snap_compare: Compare,
    widgets: Callable[[], Iterable[Widget]],
    play: Play,
    *,
    size: tuple[int, int] = (80, 24),
    theme: str = "ink",
) -> None:
    app = Host(widgets, theme)

    async def before(pilot: Pilot[None]) -> None:
        await pilot.pause()
        await play(app, pilot)
        await pilot.pause()

    assert snap_compare(app, terminal_size=size, run_before=before)


def place(words: str) -> tuple[int, int]:
    start = STORY.index(words)
    return start, start + len(words)


NOTES = [
    Note("a", *place("the sea say"), "Does the sea say it, or does he? Keep it so in chapter nine.", "open"),
    Note("b", *place("Monday"), "It was Tuesday in chapter two.", "conflict"),
]
MARKS = [
    Mark(*place("She wrote"), MarkKind.CHANGED),
    Mark(*place("one rope"), MarkKind.ADDED),
    Mark(*place("the price of oil"), MarkKind.AGENT),
]


@pytest.mark.parametrize(
    ("size", "theme"),
    [((120, 24), "ink"), ((80, 24), "paper"), ((40, 12), "ansi-dark")],
    ids=["wide", "paper", "small"],
)
def test_page(snap_compare: Compare, size: tuple[int, int], theme: str) -> None:
    async def play(app: Host, pilot: Pilot[None]) -> None:
        page = app.query_one(Page)
        page.show(STORY, MARKS, NOTES)
        page.focus()
        page.find("the")
        await pilot.press("right_square_bracket")

    compare(snap_compare, lambda: [Page()], play, size=size, theme=theme)


@pytest.mark.parametrize("theme", ["ink", "paper"])
def test_lists(snap_compare: Compare, theme: str) -> None:
    columns = [Column("Title", grow=1), Column("Kind", drop=1), Column("Fields", drop=2), Column("Words", "right")]
    rows = [
        Row("a", ("Chapter III", "part", "text, pov", "4,871"), "on"),
        Row("b", ("Renfield", "lore", "text", "120"), "conflict", "conflict"),
        Row("c", ("Chapter IX", "part", "title", "0"), "off", "muted"),
    ]

    async def play(app: Host, pilot: Pilot[None]) -> None:
        outline, picks, empty = app.query_one(Outline), *app.query(Table)
        outline.show(
            [
                Part(str(at), at, f"Chapter {at}", at * 97, 2, 3 if at == 3 else 1, at % 4 == 0, "!" if at == 6 else "")
                for at in range(1, 400)
            ]
        )
        outline.focus()
        picks.show(rows)
        empty.show([])
        await pilot.press("3")

    def widgets() -> list[Widget]:
        empty = "No books yet.\nPress n for a new one, i to import one."
        return [Outline(), Table(columns), Table(columns, empty=empty)]

    compare(snap_compare, widgets, play, theme=theme)


class Rows:
    def __init__(self) -> None:
        edit = EntryCall("edit-part", '{"part": "h:m3", "old": "the the", "new": "the"}', "Replaced 1.", True, 0.02)
        fault = EntryCall(
            "find-occurrences", '{"pattern": "garlic"}', "No such part: list-parts shows them.", False, 1.4
        )
        self.entries = [
            Entry("1", "author", "Correct the typography, chapter by chapter. *Only* what is certain."),
            Entry("2", "agent", "I begin with chapter I.", (edit, fault), "There may be more."),
            Entry("3", "notice", "The run paused: the limit of 200 rounds is reached."),
        ]

    def count(self) -> int:
        return len(self.entries)

    def rows(self, start: int, stop: int) -> list[Entry]:
        return self.entries[start:stop]


def test_transcript(snap_compare: Compare) -> None:
    async def play(app: Host, pilot: Pilot[None]) -> None:
        shown = app.query_one(Transcript)
        shown.open(Rows())
        shown.focus()
        shown.live(
            "Which words are doubled?\n", "Chapter II has **four** doubled words:\n\n- the the\n- had had\n\nI will"
        )
        shown.flush()
        shown.toggle(1, 1)
        await pilot.press("p", "p")

    compare(snap_compare, lambda: [Transcript(), PromptBox(placeholder="Write to the agent.")], play)


def test_word_diff(snap_compare: Compare) -> None:
    before = [f"Paragraph {number} stands here and stays." for number in range(30)]
    after = [line.replace("stands", "stood") if number == 9 else line for number, line in enumerate(before)]
    after[20:20] = ["A new paragraph, written by the agent."]

    async def play(app: Host, pilot: Pilot[None]) -> None:
        app.query_one(WordDiff).show(word_diff("\n".join(before), "\n".join(after)))
        app.query_one(WordDiff).focus()
        await pilot.press("n")

    compare(snap_compare, lambda: [WordDiff()], play, size=(80, 24))


class Model:
    def complete(self, text: str, cursor: int) -> list[Choice]:
        names = [
            ("edit-part", "changes", False),
            ("delete-part", "removes", True),
            ("find-occurrences", "reads", False),
        ]
        return [
            Choice(f"/{name}", f"/{name} ", 0, cursor, f"What {name} does.", severity, danger)
            for name, severity, danger in names
            if f"/{name}".startswith(text)
        ]

    def hint(self, text: str, cursor: int) -> Hint:
        form = (HintPart("/find-occurrences"), HintPart("pattern", True), HintPart("maxHits"))
        if text.startswith("/find"):
            return Hint(form, "a text or a pattern", "reads")
        return Hint(description="Type a name.")

    def searching(self) -> Hint:
        return Hint(description="Words of a line that was run.")

    def history(self) -> list[str]:
        return []


@pytest.mark.parametrize("text", ["/", "/find-occurrences garlic"], ids=["names", "parameter"])
def test_command_bar(snap_compare: Compare, text: str) -> None:
    async def play(app: Host, pilot: Pilot[None]) -> None:
        bar = app.query_one(CommandBar)
        app.query_one(Page).show(STORY)
        bar.open(text)
        await until(pilot, lambda: not bar._asked.busy)

    compare(snap_compare, lambda: [Page(), CommandBar(Model())], play)


def test_confirm(snap_compare: Compare) -> None:
    async def play(app: Host, pilot: Pilot[None]) -> None:
        app.query_one(Page).show(STORY)
        app.push_screen(Confirm("Delete the part Chapter IV? Its 3 children move up.", severity="removes"))

    compare(snap_compare, lambda: [Page()], play)


@pytest.mark.parametrize("size", [(80, 24), (40, 12)], ids=["usual", "small"])
def test_form(snap_compare: Compare, size: tuple[int, int]) -> None:
    fields = [
        Field("name", "Name", value="qwen", required=True),
        Field("kind", "Provider", "choice", "a", (("a", "OpenAI-compatible"), ("b", "Offline proofreader"))),
        Field("context", "Context", "number", 8192, help="Tokens that fit; empty when not known."),
        Field("images", "Images", "boolean", True),
        Field("note", "Note", "multiline", "Some text\nof two lines"),
    ]

    async def play(app: Host, pilot: Pilot[None]) -> None:
        app.push_screen(Form("A model", fields))
        await pilot.pause()
        await pilot.press("tab", "tab", "x", "ctrl+s")

    compare(snap_compare, lambda: [Page()], play, size=size, theme="paper")


def test_file_picker(snap_compare: Compare, tmp_path: Path) -> None:
    (tmp_path / "drafts").mkdir()
    (tmp_path / "book.md").write_text("x" * 2_100)
    (tmp_path / "[b]odd\x1b[2J.md").write_text("odd")
    (tmp_path / "link.md").symlink_to("book.md")

    async def play(app: Host, pilot: Pilot[None]) -> None:
        picker = FilePicker("Import a book", tmp_path)
        app.push_screen(picker)
        await until(pilot, lambda: picker._entries)
        # The folder of a test has another name each time.
        table = picker.query_one(Table)
        table.show([Row(row.key, (row.cells[0].split(" @")[0], row.cells[1])) for row in table.rows])
        picker.query_one("#picker-folder", Widget).display = False
        await pilot.press("down")

    compare(snap_compare, lambda: [Page()], play)
