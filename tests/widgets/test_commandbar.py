import threading
from collections.abc import Sequence

from textual import events
from textual.pilot import Pilot
from textual.widget import Widget

from marginalia_tui.widgets.commandbar import CommandBar
from marginalia_tui.widgets.completion import Choice, Hint, HintPart
from marginalia_tui.widgets.page import Page
from tests.widgets.support import Host, run, seen, until

NAMES = ("edit-part", "delete-part", "find-occurrences", "list-parts")


class FakeModel:
    """Completes names; answers for a line that begins with /slow only when it is told to."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.asked: list[str] = []
        self.threads: set[str] = set()

    def complete(self, text: str, cursor: int) -> Sequence[Choice]:
        self.asked.append(text)
        self.threads.add(threading.current_thread().name)
        if text.startswith("/slow"):
            assert self.go.wait(5)
        word = text[:cursor]
        if " " in word:
            return ()
        return [
            Choice(f"/{name}", f"/{name} ", 0, cursor, f"About {name}.", "removes" if "delete" in name else "reads")
            for name in NAMES
            if f"/{name}".startswith(word)
        ]

    def hint(self, text: str, cursor: int) -> Hint:
        if text.startswith("/find-occurrences "):
            parts = (HintPart("/find-occurrences"), HintPart("pattern", True), HintPart("maxHits"))
            return Hint(parts, "text or pattern", "reads")
        if text.startswith("/bad"):
            return Hint(error="No command has this name.")
        return Hint(description="Type the name of a command.")

    def searching(self) -> Hint:
        return Hint(description="Words of a line. Enter takes it")

    def history(self) -> Sequence[str]:
        return ["/list-parts", "/get-part 3"]


def make() -> list[Widget]:
    return [Page(id="page"), CommandBar(FakeModel())]


def bar(app: Host) -> CommandBar:
    return app.query_one(CommandBar)


def model(app: Host) -> FakeModel:
    found = bar(app).model
    assert isinstance(found, FakeModel)
    return found


async def opened(app: Host, pilot: Pilot[None], text: str | None = None) -> None:
    app.query_one(Page).show("prose\n\n" * 50)
    app.query_one(Page).focus()
    await pilot.pause()
    bar(app).open(text)
    await until(pilot, lambda: bar(app).choices.choices)


def test_it_completes_hints_and_sends() -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        await opened(app, pilot)
        rows = seen(app)
        assert rows[-1] == "> /edit-part"
        assert rows[-6].startswith("> /edit-part")
        assert rows[-5].endswith("removes")
        await pilot.press("f")
        await until(pilot, lambda: len(bar(app).choices.choices) == 1)
        await pilot.press("tab")
        await until(pilot, lambda: not bar(app).choices.choices)
        assert bar(app).line.content == "/find-occurrences "
        await pilot.pause()
        rows = seen(app)
        assert rows[-3].strip().startswith("/find-occurrences [pattern] maxHits")
        assert rows[-3].endswith("reads")
        assert rows[-2].strip() == "text or pattern"
        await pilot.press(*"garlic", "enter")
        assert [message.line for message in app.of(CommandBar.Submitted)] == ["/find-occurrences garlic"]
        assert not bar(app).is_open and app.query_one(Page).has_focus
        assert bar(app).line.content == ""
        assert model(app).threads == {"marginalia-widget"}

    run(make, scenario)


def test_right_takes_the_ghost() -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        await opened(app, pilot, "/fi")
        await until(pilot, lambda: bar(app).line.suggestion == "nd-occurrences")
        await pilot.press("left", "right")
        assert bar(app).line.content == "/fi"
        await until(pilot, lambda: bar(app).line.suggestion == "nd-occurrences")
        await pilot.press("right")
        assert bar(app).line.content == "/find-occurrences "

    run(make, scenario)


def test_down_chooses_and_enter_takes_it() -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        await opened(app, pilot, "/e")
        await pilot.press("backspace")
        await until(pilot, lambda: len(bar(app).choices.choices) == 4)
        bar(app).choices.move(1)
        bar(app).choices.move(1)
        await pilot.press("enter")
        assert bar(app).line.content == "/find-occurrences "
        assert not app.of(CommandBar.Submitted)

    run(make, scenario)


def test_up_and_down_walk_through_the_history_and_back_to_the_draft() -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        await opened(app, pilot)
        await until(pilot, lambda: bar(app).recall.lines)
        for key, line in (("up", "/get-part 3"), ("up", "/list-parts"), ("up", "/list-parts")):
            await pilot.press(key)
            assert bar(app).line.content == line
        await pilot.press("down", "down")
        assert bar(app).line.content == "/"

    run(make, scenario)


def test_down_in_an_empty_line_chooses_a_command() -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        await opened(app, pilot)
        await pilot.press("down", "down", "up")
        assert bar(app).choices.current == 1 and bar(app).line.content == "/"
        await pilot.press("enter")
        assert bar(app).line.content == "/delete-part "

    run(make, scenario)


def test_a_line_that_was_run_is_proposed_where_no_completion_fits() -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        await opened(app, pilot)
        await pilot.press(*"get-pa")
        await until(pilot, lambda: bar(app).line.suggestion == "rt 3")
        await pilot.press("right")
        assert bar(app).line.content == "/get-part 3"
        await until(pilot, lambda: bar(app).line.suggestion == "")
        await pilot.press(*["backspace"] * 3)
        await until(pilot, lambda: bar(app).line.suggestion == "t 3")
        await pilot.press("tab")
        assert bar(app).line.content == "/get-part 3"

    run(make, scenario)


class LongPast(FakeModel):
    def searching(self) -> Hint:
        return Hint(description="Words of a line. Enter takes it")

    def history(self) -> Sequence[str]:
        return ['/edit-part 1 "the Lamp" oil', "/undo", "/get-part 3", '/find-occurrences "\x1b[2Jlamp"']


async def searching(app: Host, pilot: Pilot[None], words: str = "") -> None:
    await opened(app, pilot, "/ed")
    await pilot.press("ctrl+r", *words)
    await until(pilot, lambda: bar(app).searching and not bar(app)._asked.busy and not bar(app)._past.busy)
    await pilot.pause()


def found(app: Host) -> list[str]:
    return [choice.label for choice in bar(app).choices.choices]


def test_the_past_is_searched_and_the_next_older_line_is_taken() -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        await searching(app, pilot)
        assert len(found(app)) == 4 and found(app)[1] == "/get-part 3"
        await pilot.press(*"lamp")
        await until(pilot, lambda: len(found(app)) == 2)
        assert seen(app)[-1].startswith("find: lamp")
        assert any("Enter takes it" in row for row in seen(app))
        assert not any("\x1b" in row for row in seen(app))
        await pilot.press("ctrl+r", "enter")
        assert bar(app).line.content == '/edit-part 1 "the Lamp" oil'
        assert not bar(app).searching and not app.of(CommandBar.Submitted)
        assert seen(app)[-1].startswith("> /edit-part 1")
        await pilot.press("enter")
        assert [message.line for message in app.of(CommandBar.Submitted)] == ['/edit-part 1 "the Lamp" oil']

    run(lambda: [Page(id="page"), CommandBar(LongPast())], scenario)


def test_escape_leaves_the_search_and_then_the_bar() -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        await searching(app, pilot, "undo")
        await until(pilot, lambda: found(app) == ["/undo"])
        await pilot.press("escape")
        assert bar(app).is_open and bar(app).line.content == "/ed"
        await until(pilot, lambda: found(app) == ["/edit-part"])
        await pilot.press("ctrl+r", *"nothing like it", "enter")
        await until(pilot, lambda: not bar(app)._asked.busy)
        assert bar(app).searching
        bar(app).close()
        assert not bar(app).is_open and bar(app).line.content == "/ed"

    run(lambda: [Page(id="page"), CommandBar(LongPast())], scenario)


def test_what_is_typed_and_what_is_marked_are_asked_about() -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        await opened(app, pilot, "/fi")
        await pilot.press("f1", "ctrl+g", "ctrl+enter")
        asked = [message.lines for message in [*app.of(CommandBar.HelpWanted), *app.of(CommandBar.FormWanted)]]
        assert asked == [("/fi", "/find-occurrences ")] * 3
        assert bar(app).is_open and bar(app).line.content == "/fi"

    run(make, scenario)


class Wordy(FakeModel):
    def hint(self, text: str, cursor: int) -> Hint:
        form = (HintPart("/aim"), HintPart("side", True))
        if "x" in text:
            return Hint(form, "", "reads", error="a sentence that goes on for longer than there is room " * 4)
        return Hint(form, "words that need more than one row in a small terminal", "reads", count="form 2 of 3")


def test_words_and_errors_take_the_rows_that_they_need() -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        bar(app).open("/aim ")
        await until(pilot, lambda: any("side" in row for row in seen(app)))
        rows = seen(app)
        assert rows[-4].strip().startswith("/aim [side]") and "form 2" not in rows[-4]
        assert [row.strip() for row in rows[-3:-1]] == ["words that need more than one row in a", "small terminal"]
        await pilot.press("x")
        await until(pilot, lambda: any("error:" in row for row in seen(app)))
        rows = seen(app)
        assert rows[-5].strip().startswith("/aim [side]") and rows[-4].strip().startswith("error: a sentence")
        # The bar's last column is left out of what is seen here: the sign that there is more stands before it.
        assert len(rows[-2].rstrip("\u2026")) <= 39
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: "form" not in seen(app)[-5])

    run(lambda: [Page(id="page"), CommandBar(Wordy())], scenario, (40, 16))


def test_escape_keeps_what_was_typed() -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        await opened(app, pilot, "/ed")
        await pilot.press("escape")
        assert len(app.of(CommandBar.Closed)) == 1
        assert not bar(app).is_open and app.query_one(Page).has_focus
        assert seen(app)[-1].strip() in ("prose", "")
        bar(app).open()
        assert bar(app).line.content == "/ed"

    run(make, scenario)


def test_a_slow_model_does_not_hold_the_keys_and_its_late_answer_is_dropped() -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        await opened(app, pilot)
        await pilot.press("backspace", *"/slow")
        await pilot.press("x", "y")
        assert bar(app).line.content == "/slowxy"
        await pilot.press(*["backspace"] * 6, "d")
        assert bar(app).line.content == "/d"
        model(app).go.set()
        await until(pilot, lambda: [choice.label for choice in bar(app).choices.choices] == ["/delete-part"])
        # Of the lines typed while it was busy, the model was asked about the newest only.
        slow = [text for text in model(app).asked if text.startswith("/slow")]
        assert len(slow) == 1 and model(app).asked[-1] == "/d"

    run(make, scenario)


def test_f49_a_paste_of_many_lines_is_one_event_and_sends_nothing() -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        await opened(app, pilot, '/append-to-part 3 "')
        text = "\n".join(f"line {number}" for number in range(200))
        bar(app).line.post_message(events.Paste(text))
        await pilot.pause()
        assert bar(app).line.content == '/append-to-part 3 "' + text
        assert not app.of(CommandBar.Submitted)
        assert bar(app).size.height <= 8
        await pilot.press("ctrl+z")
        assert bar(app).line.content == '/append-to-part 3 "'

    async def opened(app: Host, pilot: Pilot[None], text: str) -> None:
        bar(app).open(text)
        await pilot.pause()

    run(make, scenario)


def test_an_error_is_said() -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        bar(app).open("/bad")
        await until(pilot, lambda: any("error: No command has this name." in row for row in seen(app)))

    run(make, scenario, (40, 12))
