"""The diagnosis of a run, on rows that are written by hand."""

import json
import time
from dataclasses import FrozenInstanceError, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marginalia_tui.agent.diagnostics.analyze import analyze
from marginalia_tui.agent.diagnostics.report import to_json, to_markdown
from marginalia_tui.agent.diagnostics.texts import LOOKED_BACK, SAMPLE, Recent, normal_error
from marginalia_tui.agent.diagnostics.values import Report, Totals
from marginalia_tui.agent.transcript import CUT, INTERRUPTED, SKIPPED, Entry
from marginalia_tui.domain.chat import Call, Message, Telemetry

SECOND = 1_000_000
NOON = 1_767_258_000 * SECOND


class Rows:
    """A transcript that is written down row by row; a second passes before each."""

    def __init__(self) -> None:
        self.rows: list[Entry] = []
        self.now = NOON

    def add(self, message: Message, after: float = 1.0, **fields: Any) -> Entry:
        self.now += round(after * SECOND)
        number = len(self.rows)
        fields.setdefault("notice", None)
        entry = Entry(f"row-{number}", number, message, seconds=fields.pop("seconds", 0.0), created=self.now, **fields)
        self.rows.append(entry)
        return entry

    def say(self, text: str, **fields: Any) -> None:
        self.add(Message(role="user", text=text), **fields)

    def round(self, *calls: tuple[Any, ...], text: str = "", thought: str = "", **fields: Any) -> None:
        """An answer with calls: (name, arguments, result, ok, kind of the result), from the right left out."""
        number = len(self.rows)
        made = tuple(
            Call(f"c{number}_{place}", each[0], each[1] if isinstance(each[1], str) else json.dumps(each[1]))
            for place, each in enumerate(calls)
        )
        fields.setdefault("seconds", 2.0)
        self.add(Message(role="assistant", text=text, calls=made, reasoning=thought), **fields)
        for call, each in zip(made, calls, strict=True):
            if len(each) > 2:
                ok = each[3] if len(each) > 3 else True
                result = Message(role="tool", text=each[2], call_id=call.id, ok=ok)
                self.add(result, seconds=0.5, notice=each[4] if len(each) > 4 else None)

    def report(self) -> Report:
        return analyze(self.rows)


def test_totals_and_what_each_tool_did() -> None:
    rows = Rows()
    rows.say("Begin.", notice="start")
    rows.say("Mind the dialect.")
    rows.round(("list-parts", "{}", "one\ntwo"), text="I look.", thought="Hm.")
    rows.round(
        ("read-part", {"part": "h:m1"}, "Text." * 10, True, CUT),
        ("edit-part", {"part": "h:m1", "old": "a"}, "Error: it is not there.", False),
        ("edit-part", {"part": "h:m2"}, "It was not made.", False, SKIPPED),
    )
    rows.round(text="What now?")
    rows.round(("edit-part", {"part": "h:m2"}))
    report = rows.report()
    totals = report.totals
    assert (totals.rounds, totals.calls, totals.errors, totals.interrupted, totals.unanswered) == (4, 5, 1, 1, 1)
    assert (totals.cut_results, totals.alone, totals.silent, totals.author_messages) == (1, 2, 1, 1)
    assert (totals.said, totals.thought) == (len("I look.What now?"), 3)
    assert (totals.model_seconds, totals.call_seconds, totals.idle_seconds) == (8.0, 2.0, 0.0)
    assert (totals.began, totals.ended) == (rows.rows[0].created, rows.rows[-1].created)
    edit, listing, read = report.tools
    assert (edit.name, edit.calls, edit.errors, edit.interrupted, edit.alone) == ("edit-part", 3, 1, 1, 1)
    assert (listing.name, listing.alone, listing.written, listing.returned, listing.seconds) == (
        "list-parts", 1, 2, 7, 0.5,
    )  # fmt: skip
    assert (read.name, read.cut, read.alone, read.returned) == ("read-part", 1, 0, 50)
    assert totals.written == sum(tool.written for tool in report.tools)
    assert report.notices == (("start", 1),)


def test_what_interrupts_is_told_by_its_kind_and_not_by_its_words() -> None:
    rows = Rows()
    rows.round(("a", "{}", "Error: this call was cut off by a pause.", False))
    rows.round(("a", "{}", "Something else entirely.", False, INTERRUPTED))
    totals = rows.report().totals
    assert (totals.errors, totals.interrupted) == (1, 1)


def test_series_of_one_tool_and_whether_a_search_came_before() -> None:
    rows = Rows()
    for _ in range(3):
        rows.round(("edit-part", "{}", "ok"), ("edit-part", "{}", "ok"))
    rows.round(("search-parts", "{}", "hits"), ("list-parts", "{}", "all"))
    for _ in range(4):
        rows.round(("edit-part", "{}", "ok"))
    rows.round(("edit-part", "{}", "ok"), ("read-part", "{}", "ok"))
    for _ in range(2):
        rows.round(("read-part", "{}", "ok"))
    rows.round(("search-replace-parts", "{}", "ok"))
    for _ in range(3):
        rows.round()
    for _ in range(3):
        rows.round(("read-part", "{}", "ok"))
    found = [(each.tool, each.first, each.rounds, each.calls, each.after_search) for each in rows.report().series]
    assert found == [("edit-part", 1, 3, 6, False), ("edit-part", 5, 4, 4, True), ("read-part", 16, 3, 3, False)]


def test_calls_made_again_whatever_the_order_of_their_arguments() -> None:
    rows = Rows()
    rows.round(("read-part", '{"part": "h:m1", "from": 1}', "x"), ("read-part", '{"part": "h:m2"}', "x"))
    rows.round(("read-part", '{"from":1,"part":"h:m1"}', "x"), ("edit-part", '{"part": "h:m2"}', "x"))
    rows.round(("read-part", '{"part": "h:m2', "x"), ("read-part", '{"part": "h:m2', "x"))
    rows.round(("read-part", '{"part": "h:m2"}', "not made", False, SKIPPED))
    found = [(each.tool, each.times, each.first, each.arguments) for each in rows.report().repeats]
    assert found == [
        ("read-part", 2, 1, '{"part": "h:m1", "from": 1}'),
        ("read-part", 2, 3, '{"part": "h:m2'),
    ]


def test_errors_are_the_same_but_for_their_numbers() -> None:
    rows = Rows()
    rows.round(("edit-part", {"part": "h:m3"}, "Error: part 3 has 1,204 words,\nnot 7.5.", False))
    rows.round(("replace-part-text", {"part": "h:m12"}, "Error: part 12 has 9 words, not 80.", False))
    rows.round(("edit-part", {"part": "h:m4"}, "Error: no such part.", False))
    first, second = rows.report().faults
    assert (first.text, first.times, first.first) == ("Error: part N has N words, not N.", 2, 1)
    assert (first.tool, first.arguments) == ("edit-part", '{"part": "h:m3"}')
    assert (second.text, second.times, second.first) == ("Error: no such part.", 1, 3)
    assert normal_error("No 0198c2a4-77aa-7f00-9d3e-0123456789ab here.") == "No N here."


def test_biggest_results_and_slowest_rounds_come_first() -> None:
    rows = Rows()
    for number in range(1, 31):
        rows.round(("read-part", {"n": number}, "x" * number), seconds=float(31 - number))
    report = rows.report()
    assert [each.size for each in report.biggest] == list(range(30, 15, -1))
    assert (report.biggest[0].round, report.biggest[0].arguments) == (30, '{"n": 30}')
    assert [each.round for each in report.slowest] == list(range(1, 16))
    assert report.slowest[0].seconds == 30.5
    assert [each.round for each in report.rounds] == list(range(1, 31))


def test_long_texts_and_those_that_had_just_been_read() -> None:
    read = " ".join(f"word{number}" for number in range(100))
    rows = Rows()
    rows.round(("read-part", "{}", read))
    rows.round(("write", {"a": {"list": [read, "short"]}, "b": "n" * 300}, "ok"), ("write", {"c": "n" * 299}, "ok"))
    report = rows.report()
    assert (report.long_count, report.copies) == (2, 1)
    copied, own = report.long_texts
    assert (copied.argument, copied.size, copied.copied, copied.round) == ("a", len(read), True, 2)
    assert (own.argument, own.size, own.copied, own.start[:3]) == ("b", 300, False, "nnn")


def test_a_text_is_no_copy_of_what_was_read_long_ago() -> None:
    text = "".join(chr(97 + number * 7 % 26) for number in range(400))
    for between, copied in ((LOOKED_BACK - 1, True), (LOOKED_BACK, False)):
        rows = Rows()
        rows.round(("read-part", "{}", text))
        rows.round(*[("read-part", "{}", f"other {number}") for number in range(between)])
        rows.round(("write", {"text": text}, "ok"))
        assert rows.report().copies == int(copied)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.text("ab ", min_size=0, max_size=300), max_size=70), st.text("ab ", min_size=SAMPLE, max_size=SAMPLE)
)
def test_recent_texts_are_found_wherever_a_sample_stands(results: list[str], sample: str) -> None:
    recent = Recent()
    for number, text in enumerate(results):
        recent.add(text[:100] + sample + text[100:] if number % 9 == 4 else text)
        kept = [
            each[:100] + sample + each[100:] if place % 9 == 4 else each
            for place, each in enumerate(results[: number + 1])
        ][-LOOKED_BACK:]
        if number % 3 == 0:
            assert recent.has(sample) == any(sample in each for each in kept)


def test_blocks_compactions_gaps() -> None:
    rows = Rows()
    for number in range(30):
        known = Telemetry(prompt=100 * (number + 1), completion=10)
        rows.round(("write", {"text": "n" * 300}, "Error: no", False), text="abc", telemetry=known)
    rows.add(Message(role="user", text="In short: much."), summary=True, notice="summary", seconds=4.0)
    rows.round(text="On we go.", telemetry=Telemetry(prompt=400, completion=5), after=3_600, seconds=600.0)
    rows.say("Are you there?", after=1_799)
    report = rows.report()
    first, second = report.blocks
    assert (first.first, first.last, first.calls, first.errors, first.said, first.long_texts) == (1, 25, 25, 25, 75, 25)
    assert (second.first, second.last, second.calls, second.long_texts) == (26, 31, 5, 5)
    compaction = report.compactions[0]
    assert (compaction.round, compaction.before, compaction.after, compaction.seconds) == (30, 3_010, 400, 4.0)
    assert compaction.size == len("In short: much.")
    assert [(round(gap.seconds), gap.round) for gap in report.gaps] == [(3_000, 30)]
    assert report.totals.rounds == 31
    assert report.rounds[-1].context == 405


def test_telemetry_is_added_up_and_rows_without_it_left_out() -> None:
    rows = Rows()
    one = Telemetry(
        waited=1.0, first_token=0.5, seconds=2.5, finish="calls", prompt=1_000, completion=100, cached=800,
        reasoning=40, estimate=500, written=5, made=3,
    )  # fmt: skip
    rows.round(telemetry=one)
    rows.round(telemetry=replace(one, seconds=4.5, finish="length", complete=False, prompt=600))
    rows.round(telemetry=replace(one, counted_here=True, prompt=7, first_token=2.5, completion=0))
    rows.round()
    told = rows.report().telemetry
    assert (told.requests, told.incomplete, told.counted_here, told.dropped_calls) == (3, 1, 1, 6)
    assert told.finishes == (("calls", 2), ("length", 1))
    assert (told.prompt, told.completion, told.cached, told.reasoning) == (1_607, 200, 2_400, 120)
    assert (told.first_token.least, told.first_token.median, told.first_token.most) == (0.5, 0.5, 2.5)
    assert (told.last_token.total, told.waited.total) == (9.5, 3.0)
    assert (told.tokens_per_second.least, told.tokens_per_second.most) == (25.0, 50.0)
    assert (told.estimate_ratio.least, told.estimate_ratio.most) == (1.2, 2.0)


def test_nothing_at_all_is_a_report_too() -> None:
    report = analyze([])
    assert report == Report(Totals())
    assert to_markdown(report, "Nobody").startswith("# Nobody\n\n- rounds: 0, ")
    with pytest.raises(FrozenInstanceError):
        report.totals.rounds = 1  # type: ignore[misc]


def test_broken_rows_are_counted_as_they_stand() -> None:
    rows = Rows()
    rows.add(Message(role="tool", text="to no call", call_id="nobody"))
    rows.round(
        ("write", '{"text": "' + "n" * 400, "Error: cut", False, CUT), ("", "[1]", ""), ("big", '{"n": 1e999}', "x")
    )
    rows.round(("deep", "[" * 50_000, "x"), ("half", '{"t": "\\ud800"}', "x"))
    report = rows.report()
    assert (report.totals.calls, report.totals.interrupted, report.long_count) == (5, 1, 0)


def test_the_page_and_the_json_hold_what_was_found() -> None:
    rows = Rows()
    rows.say("Begin.", notice="start")
    for _ in range(3):
        known = Telemetry(prompt=1_204, completion=10, estimate=1_000)
        rows.round(("edit|part", {"old": "`x`\n| y"}, "Error: no | such\npart", False), telemetry=known)
    rows.add(Message(role="user", text="Short."), summary=True)
    rows.round(("write", {"text": "n" * 300}, "ok"), after=9_000)
    page = to_markdown(rows.report(), "Corrector on # A | B")
    titles = [line for line in page.splitlines() if line.startswith("#")]
    assert titles == [
        "# Corrector on # A \\| B", "## Tools", "## Series", "## Calls made again", "## Errors",
        "## Messages of the studio", "## Biggest results", "## Slowest rounds", "## Compactions", "## Long texts",
        "## Blocks of rounds", "## Idle", "## Telemetry",
    ]  # fmt: skip
    for line in page.splitlines():
        if line.startswith("|"):
            assert line.endswith("|")
    told = json.loads(json.dumps(to_json(rows.report())))
    assert told["totals"]["rounds"] == 4
    assert told["faults"][0]["text"] == "Error: no | such part"
    assert told["telemetry"]["estimate_ratio"]["median"] == 1.204


def test_time_grows_with_the_rows_and_no_faster() -> None:
    text = "The quick brown fox jumps over the lazy dog, again and again, and the dog says nothing. " * 4

    def seconds(rounds: int) -> float:
        rows = Rows()
        for number in range(rounds):
            rows.round(
                *[
                    ("edit-part", {"n": number, "k": k, "text": f"{number} {text}"}, f"{text}{number}")
                    for k in range(10)
                ],
                telemetry=Telemetry(prompt=10, completion=5),
            )
        began = time.process_time()
        report = rows.report()
        assert report.totals.calls == 10 * rounds
        return time.process_time() - began

    few, many = seconds(40), seconds(400)
    # Ten times the rows; three times that is left to a busy machine.
    assert many < 30 * max(few, 0.01)
