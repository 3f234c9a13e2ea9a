import pytest
from textual.geometry import Offset
from textual.pilot import Pilot
from textual.selection import Selection

from marginalia_tui.widgets.entries import Entry, EntryCall
from marginalia_tui.widgets.folding import summary_of
from marginalia_tui.widgets.live import flush_rate
from marginalia_tui.widgets.transcript import Transcript
from tests.widgets.support import Host, run, seen, until

EDIT = EntryCall("edit-part", '{"part": "h:m3", "old": "the the", "new": "the"}', "Replaced 1 passage.", True, 0.02)
FAILED = EntryCall("find-occurrences", '{"pattern": "[b]x[/b]"}', "No such part.\x1b[2J", False, 1.4)
WAITS = EntryCall("delete-part", '{"part": "h:m4"')


class Source:
    """Rows made from their number, and a count of those that were asked for."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.asked = 0
        self.extra: list[Entry] = []

    def count(self) -> int:
        return self.size + len(self.extra)

    def rows(self, start: int, stop: int) -> list[Entry]:
        self.asked += stop - start
        return [self.row(number) for number in range(start, stop)]

    def row(self, number: int) -> Entry:
        if number >= self.size:
            return self.extra[number - self.size]
        if number % 3 == 0:
            return Entry(str(number), "author", f"Order {number}: correct *only* what is certain.")
        return Entry(str(number), "agent", f"Answer {number}. " * 12, (EDIT, FAILED), "I think so " * 5)


def view(app: Host) -> Transcript:
    return app.query_one(Transcript)


def test_ten_thousand_rows_open_at_the_end_with_a_few_of_them() -> None:
    source = Source(10_000)

    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        view(app).open(source)
        await pilot.pause()
        assert source.asked <= 64
        assert view(app).laid_out < 30
        text = "\n".join(seen(app))
        assert "Order 9999" in text
        laid = view(app).laid_out
        for _ in range(10):
            await pilot.press("pageup")
        assert view(app).laid_out - laid < 150
        assert source.asked < 400
        await pilot.press("home")
        assert "Order 0" in seen(app)[0]
        assert source.asked < 500

    run(lambda: [Transcript()], scenario, (100, 40))


def test_a_row_added_costs_the_same_at_any_length() -> None:
    costs = []
    for size in (100, 10_000):
        source = Source(size)

        async def scenario(app: Host, pilot: Pilot[None], source: Source = source) -> None:
            view(app).open(source)
            await pilot.pause()
            laid, asked = view(app).laid_out, source.asked
            for number in range(20):
                source.extra.append(Entry(f"x{number}", "agent", f"Added {number}", (EDIT,)))
                view(app).refresh_rows()
                await pilot.pause()
            assert "Added 19" in "\n".join(seen(app))
            costs.append((view(app).laid_out - laid, source.asked - asked))

        run(lambda: [Transcript()], scenario, (100, 40))
    assert costs[0] == costs[1]
    assert costs[0][0] < 30


def test_f48_only_the_open_block_of_the_live_answer_is_laid_out_again() -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        shown = view(app)
        shown.open(Source(50))
        await pilot.pause()
        counts = []
        for number in range(400):
            before = shown.laid_out
            shown.live("", f"Some words of sentence {number}. " + ("\n\n" if number % 8 == 7 else ""))
            shown.flush()
            if number % 20 == 0:
                await pilot.pause()
            counts.append(shown.laid_out - before)
        assert max(counts) <= 3
        assert sum(counts[-100:]) <= sum(counts[:100]) + 5
        assert len(shown.live_text) > 10_000
        assert "sentence 399" in "\n".join(seen(app)[-3:])

    run(lambda: [Transcript()], scenario)


def test_the_live_answer_is_flushed_by_its_timer() -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        shown = view(app)
        shown.open(Source(0))
        for word in ["one", "two", "three"]:
            shown.live(text=word + " ")
        assert shown.is_live and not shown.live_text
        await until(pilot, lambda: shown.live_text == "one two three ")
        await pilot.pause()
        assert any("one two three" in row for row in seen(app))
        assert shown.laid_out <= 2

    run(lambda: [Transcript()], scenario)
    assert flush_rate({}) == 20
    assert flush_rate({"SSH_CONNECTION": "1 2 3 4"}) == 10


def test_the_live_answer_becomes_a_row() -> None:
    source = Source(5)

    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        shown = view(app)
        shown.open(source)
        shown.live("I wonder.\n\n", "It is **done**.")
        shown.flush()
        await pilot.pause()
        text = "\n".join(seen(app))
        assert "thinks  I wonder." in text and "agent   It is done." in text
        source.extra.append(Entry("5", "agent", "It is **done**.", (), "I wonder."))
        shown.end_live()
        shown.refresh_rows()
        await pilot.pause()
        rows = [row for row in seen(app) if row.strip()]
        assert sum("It is done." in row for row in rows) == 1
        assert rows[-1] == "agent   It is done."
        assert not shown.is_live and shown.block_count() == 6

    run(lambda: [Transcript()], scenario)


def test_a_reader_who_scrolled_up_is_left_alone() -> None:
    source = Source(60)

    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        shown = view(app)
        shown.open(source)
        shown.focus()
        await pilot.press("pageup")
        rows = seen(app)
        assert rows[-1].endswith("more below: End")
        shown.live("", "New words.\n\nAnd more.")
        shown.flush()
        source.extra.append(Entry("x", "notice", "The run paused."))
        shown.refresh_rows()
        await pilot.pause()
        assert seen(app) == rows
        await pilot.press("end")
        assert "And more." in "\n".join(seen(app)[-2:])
        assert not seen(app)[-1].endswith("more below: End")
        shown.live("", "\n\nThe very end.")
        shown.flush()
        await pilot.pause()
        assert "The very end." in seen(app)[-1]

    run(lambda: [Transcript()], scenario)


def test_a_reader_in_the_live_answer_keeps_their_place_when_its_beginning_goes() -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        shown = view(app)
        shown.open(Source(3))
        shown.live("", "".join(f"Sentence {number} of many.\n\n" for number in range(4_000)))
        shown.flush()
        await pilot.pause()
        shown.action_pages(-3)
        await pilot.pause()
        rows = seen(app)
        shown.live("", "".join(f"Later sentence {number}.\n\n" for number in range(600)))
        shown.flush()
        await pilot.pause()
        assert seen(app) == rows
        assert len(shown.live_text) <= 100_000

    run(lambda: [Transcript()], scenario)


def test_calls_unfold_in_place() -> None:
    source = Source(0)
    source.extra = [Entry("a", "author", "Begin."), Entry("b", "agent", "I begin.", (EDIT, FAILED, WAITS))]

    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        shown = view(app)
        shown.open(source)
        shown.focus()
        await pilot.pause()
        rows = [row for row in seen(app) if row.strip()]
        assert rows[2].split() == ["▸", "edit-part", "h:m3", '"the', 'the"', "the", "ok", "0.02", "s"]
        assert rows[3].split() == ["▸", "find-occurrences", "[b]x[/b]", "error", "1.40", "s"]
        assert rows[4].split() == ["▸", "delete-part", '{"part":', '"h:m4"', "waits"]
        await pilot.press("p", "p", "enter")
        rows = [row for row in seen(app) if row.strip()]
        assert rows[3].lstrip().startswith("▾ find-occurrences")
        assert [row.strip() for row in rows[4:6]] == ["pattern: [b]x[/b]", "No such part.␛[2J"]
        await pilot.press("enter")
        assert len([row for row in seen(app) if row.strip()]) == 5
        y = next(number for number, row in enumerate(seen(app)) if "edit-part" in row)
        await pilot.click(offset=(20, y))
        assert "Replaced 1 passage." in "\n".join(seen(app))
        await pilot.press("x")
        assert "No such part." in "\n".join(seen(app))

    run(lambda: [Transcript()], scenario)


def test_the_cursor_walks_rows_and_calls_and_selects_a_row() -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        shown = view(app)
        shown.open(Source(5))
        shown.focus()
        await pilot.press("p", "p", "p", "p", "enter")
        assert [(message.id, message.call) for message in app.of(Transcript.Highlighted)] == [
            ("4", 1),
            ("4", 0),
            ("4", None),
            ("3", None),
        ]
        assert [message.id for message in app.of(Transcript.Selected)] == ["3"]
        await pilot.press(*"p" * 20)
        assert app.of(Transcript.Highlighted)[-1].id == "0"
        await pilot.press(*"n" * 30)
        assert (app.of(Transcript.Highlighted)[-1].id, app.of(Transcript.Highlighted)[-1].call) == ("4", 1)

    run(lambda: [Transcript()], scenario, (60, 12))


def test_a_rewind_shortens_the_transcript() -> None:
    source = Source(40)

    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        shown = view(app)
        shown.open(source)
        shown.focus()
        await pilot.press("p")
        source.size = 10
        shown.refresh_rows(10)
        await pilot.pause()
        assert "Order 9" in "\n".join(seen(app))
        assert shown.cursor is None
        source.size = 0
        shown.refresh_rows(0)
        await pilot.pause()
        assert seen(app)[0].strip() == "Nothing yet."

    run(lambda: [Transcript(empty="Nothing yet.")], scenario)


def test_thoughts_are_told_and_shown_on_demand() -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        shown = view(app)
        shown.open(Source(5))
        shown.focus()
        await pilot.pause()
        assert "thinks  (15 words of thought)" in "\n".join(seen(app))
        await pilot.press("t")
        assert "thinks  I think so I think so" in "\n".join(seen(app))

    run(lambda: [Transcript()], scenario)


@pytest.mark.parametrize("size", [(40, 12), (200, 60)])
def test_every_row_is_as_wide_as_the_window(size: tuple[int, int]) -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        shown = view(app)
        shown.open(Source(100))
        shown.live("灯台守は海を見ていた。" * 30, "```\n" + "x" * 300 + "\n")
        shown.flush()
        shown.focus()
        for key in ("x", "pageup", "t", "p", "end", "up"):
            await pilot.press(key)
            for strip in app.screen._compositor.render_strips():
                assert strip.cell_length == size[0]
                assert "\x1b" not in strip.text

    run(lambda: [Transcript()], scenario, size)


def test_a_transcript_can_be_copied() -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        shown = view(app)
        shown.open(Source(2))
        taken = shown.get_selection(Selection(Offset(0, 0), Offset(9, 1)))
        assert taken is not None
        assert taken[0].startswith("Order 0: correct only what is certain.\n")

    run(lambda: [Transcript()], scenario)


def test_resizing_keeps_a_pinned_transcript_at_its_end() -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        view(app).open(Source(100))
        for width in (44, 120, 80):
            await pilot.resize_terminal(width, 20)
            await pilot.pause()
            assert "Order 99" in "\n".join(seen(app)[-6:])

    run(lambda: [Transcript()], scenario)


def test_summaries() -> None:
    assert summary_of(EntryCall("x", '{"a": "one two", "b": 3, "c": true, "d": ["x"]}')) == '"one two" 3 true ["x"]'
    assert summary_of(EntryCall("x", "not json")) == "not json"
    assert summary_of(EntryCall("x", "[1]")) == "[1]"
    assert summary_of(EntryCall("x", "")) == ""
    assert summary_of(EntryCall("x", "{}", summary="given")) == "given"


def test_what_stands_above_the_live_answer_is_not_drawn_again() -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        shown = view(app)
        shown.open(Source(2))
        shown.live(text="One line.")
        shown.flush()
        await pilot.pause()
        before, made = seen(app), shown.strips_made
        for _ in range(10):
            shown.live(text=" More.")
            shown.flush()
            await pilot.pause()
        assert shown.strips_made - made <= 12
        after = seen(app)
        assert after[:5] == before[:5]
        assert any("More. More." in line for line in after)

    run(lambda: [Transcript()], scenario)


def test_a_block_that_grows_above_others_moves_them() -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        shown = view(app)
        shown.open(Source(3))
        await pilot.pause()
        before = seen(app)
        shown.toggle(1, 0)
        await pilot.pause()
        shown.toggle(1, 0)
        await pilot.pause()
        assert seen(app) == before

    run(lambda: [Transcript()], scenario)
