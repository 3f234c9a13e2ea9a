"""Runs whose context is small: what is summarised and when, what goes along, what becomes of a failure."""

import threading
from collections.abc import Sequence
from typing import Any

import pytest

from marginalia_tui.agent import compaction, context, inbox
from marginalia_tui.agent.agents import define_agent
from marginalia_tui.agent.context import Fill
from marginalia_tui.agent.definition import AgentDefinition
from marginalia_tui.agent.pinned import Said, said_text
from marginalia_tui.agent.runs import set_context
from marginalia_tui.agent.setup import with_prompts
from marginalia_tui.agent.transcript import Entry
from marginalia_tui.domain.chat import Message
from marginalia_tui.domain.errors import Invalid
from marginalia_tui.domain.runs import RunStatus
from marginalia_tui.settings import Settings
from marginalia_tui.store.store import Store
from tests.support.replies import Body
from tests.support.runs import Desk, desk, part_texts
from tests.support.scripted_server import Mark, Pause, Reply, ScriptedServer, calls, chunk, error, stream, text

FEW: dict[str, Any] = {"commands": ("get-part", "append-to-part"), "context_cap": 16_000, "auto_compact": 80}
LONG = "The rain fell on the harbour and nobody came. " * 150
"""About 1,650 tokens: the seventh such round fills more than 80 % of the cap."""
ASKS = "Stop working for a moment"
"""How the studio's own prompt for a summary begins."""


def append(number: int, **more: Any) -> Reply:
    """A call that leaves about 1,670 tokens in the conversation."""
    return calls(("append-to-part", {"part": "h:m1", "text": f"{number} {LONG}"}), **more)


def finish() -> Reply:
    return calls(("finish", {"report": "Done."}))


NOT_EXPECTED = error(400, "The test did not expect this request.")


class Story:
    """A script that answers a request for a summary with `summaries`, any other with the next of `replies`."""

    def __init__(self, replies: Sequence[Reply], summaries: Sequence[Reply]) -> None:
        self._replies, self._summaries = list(replies), list(summaries)
        self.asked: list[Body] = []
        """The requests for a summary."""

    def __call__(self, body: dict[str, Any]) -> Reply:
        if ASKS in body["messages"][-1]["content"]:
            self.asked.append(body)
            return self._summaries.pop(0) if self._summaries else NOT_EXPECTED
        return self._replies.pop(0) if self._replies else NOT_EXPECTED


def notices(made: Desk, run: str) -> list[str]:
    return [row.notice for row in made.entries(run) if row.notice and row.notice != "start"]


def summaries(made: Desk, run: str) -> list[Entry]:
    return [row for row in made.entries(run) if row.summary]


def test_a_run_is_summarised_before_the_request_that_would_be_too_large(store: Store) -> None:
    story = Story([*(append(n) for n in range(8)), finish()], [text("I appended seven times.")])
    with (
        ScriptedServer(story) as server,
        desk(store, server.url, ["One."], **FEW) as made,
    ):
        run = made.start(message="Append rain. Never touch the dialect.")
        seen = made.rest(run)
        assert seen.status is RunStatus.DONE
        (summary,) = summaries(made, run)
        told = summary.message.text
        assert "I appended seven times." in told
        assert "Never touch the dialect." in told
        rows = made.entries(run)
        assert [row.compacted for row in rows] == [row.ordinal < summary.ordinal for row in rows]
        assert part_texts(store, made.book, seen.copy)[0].count("\n\n") == 8
        # The request for it is the round's own with one message more, and no call is wanted.
        (asked,) = story.asked
        place = next(at for at, each in enumerate(server.requests) if each.body == asked)
        before, after = server.requests[place - 1].body, server.requests[place + 1].body
        assert asked["messages"][: len(before["messages"])] == before["messages"]
        assert (asked["tools"], asked["tool_choice"]) == (before["tools"], "none")
        assert [message["role"] for message in after["messages"]] == ["system", "user"]
        assert after["messages"][1]["content"] == told
        assert summary.telemetry is not None
        assert summary.telemetry.finish == "stop"
        assert seen.rounds == len(server.requests)


def compact_now(focus: str = "") -> Reply:
    return calls(("request_compaction", {"focus": focus} if focus else {}))


def test_f15_the_agent_asks_for_it_and_what_the_author_says_meanwhile_follows(store: Store) -> None:
    asked, gate = threading.Event(), threading.Event()
    slow = stream(Mark(asked), Pause(gate), chunk({"content": "I read part 1."}), chunk({}, "stop"))
    plan = calls(("update_plan", {"steps": [{"step": "Read it", "status": "in_progress"}]}))
    story = Story(
        [plan, calls(("ask_user", {"question": "British spelling?"})), compact_now("the ferryman"), *[finish()] * 2],
        [slow],
    )
    with ScriptedServer(story) as server, desk(store, server.url, ["One."]) as made:
        run = made.start()
        made.rest(run)
        made.runner.send(run, "Yes, {always}.")
        assert asked.wait(20)
        live = made.runner.live(run)
        assert live is not None
        assert (live.text, live.note) == ("", "The conversation is being summarised.")
        made.runner.send(run, "And no semicolons.")
        with store.read() as tx:
            (waiting,) = inbox.queued(tx, run)
        made.runner.force(run, waiting.id)
        gate.set()
        assert made.rest(run).status is RunStatus.DONE
        (summary,) = summaries(made, run)
        told = summary.message.text
        assert "I read part 1." in told
        assert '(You had said: "British spelling?")\nYes, {always}.' in told
        assert "- in_progress: Read it" in told
        assert "semicolons" not in told
        after = server.requests[4].body["messages"][1:]
        assert after == [{"role": "user", "content": f"{told}\n\nAnd no semicolons."}]
        (body,) = story.asked
        assert "the ferryman" in body["messages"][-1]["content"]


def test_a_pause_in_the_midst_changes_nothing_and_it_is_asked_for_again(store: Store) -> None:
    asked, never = threading.Event(), threading.Event()
    slow = stream(Mark(asked), chunk({"content": "Half"}), Pause(never))
    story = Story([compact_now(), *[finish()] * 2], [slow, text("Nothing yet.")])
    with ScriptedServer(story) as server, desk(store, server.url, ["One."]) as made:
        run = made.start()
        assert asked.wait(20)
        made.runner.pause(run, now=True)
        assert made.rest(run).status is RunStatus.PAUSED
        assert not any(row.compacted or row.summary for row in made.entries(run))
        made.runner.resume(run)
        assert made.rest(run).status is RunStatus.DONE
        assert len(summaries(made, run)) == 1


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (text("  "), "no summary"),
        (calls(("get-part", {"part": "h:m1"})), "called a tool"),
        (text("The first thing was", finish="length"), "cut off"),
        (error(401, "No such key."), "key"),
    ],
)
def test_a_failure_changes_nothing_and_is_told(store: Store, answer: Reply, why: str) -> None:
    story = Story([compact_now(), *[finish()] * 2], [answer] * 2)
    with ScriptedServer(story) as server, desk(store, server.url, ["One."]) as made:
        run = made.start()
        assert made.rest(run).status is RunStatus.DONE
        rows = made.entries(run)
        assert not any(row.compacted or row.summary for row in rows)
        (told,) = [row for row in rows if row.notice == compaction.FAILED]
        assert why in told.message.text
        after = server.requests[1 + len(story.asked)].body
        assert after["messages"][-1]["content"] == told.message.text


def test_a_model_that_goes_on_with_its_work_is_asked_again_without_tools(store: Store) -> None:
    call = text('```json\n{"name": "get-part", "arguments": {"part": "h:m1"}}\n```')
    story = Story([append(0), compact_now(), finish()], [call, text("One addition.")])
    with ScriptedServer(story) as server, desk(store, server.url, ["One."]) as made:
        run = made.start(message="Append rain.")
        assert made.rest(run).status is RunStatus.DONE
        assert "One addition." in summaries(made, run)[0].message.text
        _, plain = story.asked
        assert "tools" not in plain
        (told,) = plain["messages"][1:]
        assert told["content"].startswith("Told to the agent: Append rain.\n\nThe agent calls append-to-part with {")
        assert "\n\nResult: The conversation is summarised now.\n\nStop working" in told["content"]


def test_calls_beside_a_summary_are_dropped_and_a_server_without_a_choice_is_asked_without(store: Store) -> None:
    story = Story(
        [compact_now(), *[finish()] * 2],
        [
            error(400, "This server does not support tool_choice none."),
            text("All of it.", calls=[("append-to-part", {"part": "h:m1", "text": "x"})]),
        ],
    )
    with ScriptedServer(story) as server, desk(store, server.url, ["One."]) as made:
        run = made.start()
        assert made.rest(run).status is RunStatus.DONE
        assert part_texts(store, made.book, made.run(run).copy) == ["One."]
        assert [body.get("tool_choice") for body in story.asked] == ["none", None]
        assert "All of it." in summaries(made, run)[0].message.text


TOO_LONG = error(400, "This model's maximum context length is 4000 tokens.", "context_length_exceeded")


def test_f12_a_request_that_is_refused_as_too_long_is_summarised_in_pieces_and_tried_again(store: Store) -> None:
    summaries_of_pieces = [text("First."), text("Second."), text("Third.")]
    story = Story([append(0), append(1), append(2), TOO_LONG, finish()], summaries_of_pieces)
    with ScriptedServer(story) as server, desk(store, server.url, ["One."], commands=FEW["commands"]) as made:
        run = made.start(message="Append rain.")
        seen = made.rest(run)
        assert seen.status is RunStatus.DONE
        (summary,) = summaries(made, run)
        assert "First.\n\nSecond.\n\nThird." in summary.message.text
        told = [body["messages"][-1]["content"] for body in story.asked]
        assert [f"piece {number} of it" in each for number, each in enumerate(told, 1)] == [True, True, True]
        # The refused ones are not counted.
        assert seen.rounds == 3 + 3 + 1


def test_f13_a_server_that_refuses_every_length_pauses_with_the_reason(store: Store) -> None:
    story = Story([append(0), TOO_LONG, TOO_LONG], [TOO_LONG] * 6)
    with ScriptedServer(story) as server, desk(store, server.url, ["One."], commands=FEW["commands"]) as made:
        run = made.start()
        seen = made.rest(run)
        assert seen.status is RunStatus.PAUSED
        assert "could not be summarised" in seen.reason
        assert "3 requests were refused" in seen.reason
        assert len(story.asked) == 3
        made.runner.resume(run)
        assert made.rest(run).status is RunStatus.PAUSED
        assert len(story.asked) == 6


def test_f13_a_summary_that_is_refused_too_pauses(store: Store) -> None:
    story = Story([append(0), TOO_LONG, TOO_LONG], [text("Short.")] * 2)
    with ScriptedServer(story) as server, desk(store, server.url, ["One."], commands=FEW["commands"]) as made:
        run = made.start()
        seen = made.rest(run)
        assert (seen.status, len(summaries(made, run))) == (RunStatus.PAUSED, 1)
        assert "longer than what" in seen.reason


def test_warnings_come_once_a_round_and_urgent_ones_where_nothing_is_summarised(store: Store) -> None:
    replies = [*(append(n) for n in range(7)), finish()]
    fields = {**FEW, "context_cap": 14_500, "auto_compact": 0}
    with ScriptedServer(replies) as server, desk(store, server.url, ["One."], **fields) as made:
        run = made.start()
        made.rest(run)
        kinds = [row.notice or row.message.role for row in made.entries(run)]
        assert kinds[-8:] == [
            "assistant", "tool", "context-warning", "assistant", "tool", "context-urgent", "assistant", "tool",
        ]  # fmt: skip


def _row(ordinal: int, role: Any = "assistant", notice: str | None = None, **more: Any) -> Entry:
    return Entry(f"u{ordinal}", ordinal, Message(role=role), notice, 0.0, 0, **more)


def test_when_it_is_due() -> None:
    agent = AgentDefinition(uuid="a", book="b", name="A", model="m")
    answered = [_row(0, "user", "start"), _row(1)]
    failed = [*answered, _row(2, "user", compaction.FAILED)]
    later = [*failed, _row(3), _row(4)]
    summed = [_row(9, "user", "summary", summary=True)]
    assert [compaction.due(answered, agent, Fill(1_000, size, 500)) for size in (899, 900)] == [False, True]
    assert not compaction.due(answered, agent, Fill(0))
    assert not compaction.due(answered, agent.model_copy(update={"auto_compact": 0}), Fill(1_000, 2_000, 1_500))
    assert not compaction.due(answered[:1], agent, Fill(1_000, 2_000, 1_500))
    near, full = Fill(1_000, 950, 500), Fill(1_000, 1_000, 500)
    assert [compaction.due(rows, agent, near) for rows in (failed, later, [*later, _row(5)])] == [False, False, True]
    assert compaction.due(failed, agent, full)
    assert not compaction.due(summed, agent, full)
    assert not compaction.due([*summed, _row(10)], agent, near)
    # Tools and instructions fill it, and no summary makes those shorter.
    assert not compaction.due(answered, agent, Fill(1_000, 950, 100))


def test_what_the_model_is_told_about_its_context() -> None:
    rows = [_row(0, "user", "start"), _row(1)]
    assert context.warning(rows, Fill(0)) is None
    assert context.warning(rows, Fill(1_000, 749, 500)) is None
    assert context.warning(rows, Fill(1_000, 950, 100)) is None
    kind, told = context.warning(rows, Fill(1_000, 750, 500)) or ("", "")
    assert (kind, "75 %" in told) == (context.WARNING, True)
    assert (context.warning(rows, Fill(1_000, 900, 500)) or ("",))[0] == context.URGENT
    assert context.warning([*rows, _row(2, "user", context.WARNING)], Fill(1_000, 950, 500)) is None


def test_whose_prompt_asks() -> None:
    agent = AgentDefinition(uuid="a", book="b", name="A", model="m")
    own = agent.model_copy(update={"compaction_prompt": "Mine {x}."})
    wish, settings = compaction.Wish("author"), Settings(agent_system_prompt="Be.", agent_compaction_prompt="Ours.")
    held, ours = with_prompts(own, settings), with_prompts(agent, settings)
    assert compaction.instructions(held, 0, wish).startswith("Mine {x}.")
    assert compaction.instructions(ours, 0, wish).startswith("Ours.")
    assert compaction.instructions(with_prompts(agent, Settings()), 0, wish).startswith(ASKS)
    assert "at most 100 words" in compaction.instructions(agent, 1_000, wish)
    assert "at most 60 words" in compaction.instructions(agent, 1_000, wish, most=180)
    assert (held.system_prompt, with_prompts(agent, Settings()).system_prompt) == ("Be.", "")


@pytest.mark.parametrize(("percent", "good"), [(0, True), (50, True), (99, True), (49, False), (100, False)])
def test_the_percent_is_off_or_50_to_99(percent: int, good: bool) -> None:
    fields = {"uuid": "a", "book": "b", "name": "A", "model": "m", "auto_compact": percent}
    if good:
        assert define_agent(**fields).auto_compact == percent
    else:
        with pytest.raises(Invalid, match="50 to 99"):
            define_agent(**fields)


def test_f16_a_summary_is_there_with_the_marks_of_its_rows_or_not_at_all(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    story = Story([compact_now(), *[finish()] * 2], [text("Lost."), text("Kept.")])
    last_step = "marginalia_tui.agent.compaction.set_context"

    def broken(*_: Any) -> None:
        monkeypatch.setattr(last_step, set_context)
        raise RuntimeError("the process dies here")

    monkeypatch.setattr(last_step, broken)
    with ScriptedServer(story) as server, desk(store, server.url, ["One."]) as made:
        run = made.start()
        assert made.rest(run).status is RunStatus.FAILED
        assert not any(row.compacted or row.summary for row in made.entries(run))
        made.runner.resume(run)
        assert made.rest(run).status is RunStatus.DONE
        (summary,) = summaries(made, run)
        assert "Kept." in summary.message.text
        assert [row.compacted for row in made.entries(run)] == [
            row.ordinal < summary.ordinal for row in made.entries(run)
        ]


def test_f14_what_was_summarised_can_be_read_again_and_is_not_summarised_again_at_once(store: Store) -> None:
    story = Story(
        [
            calls(("read_earlier", {})),
            append(1),
            compact_now(),
            compact_now(),
            calls(("read_earlier", {"find": "HARBOUR"}), ("read_earlier", {"from": 2})),
            calls(("read_earlier", {"find": "100 %"})),
            calls(("read_earlier", {"find": 3})),
            calls(("read_earlier", {"from": 99})),
            finish(),
        ],
        [text("Rain.")],
    )
    with ScriptedServer(story) as server, desk(store, server.url, ["One."]) as made:
        run = made.start(message="Append rain.")
        assert made.rest(run).status is RunStatus.DONE
        answers = made.results(run)
        assert [ok for ok, _ in answers] == [False, True, True, False, True, True, False, False, False, True]
        assert "Nothing was summarised yet" in answers[0][1]
        assert "moment ago" in answers[3][1]
        assert answers[4][1].startswith('4 you: [{"id":"call_3_0","name":"append-to-part"')
        assert "harbour" in answers[4][1]
        assert answers[5][1].startswith("2 you: [")
        assert "1 said to you" not in answers[5][1]
        assert "3 result: Error: Nothing was summarised yet" in answers[5][1]


def test_what_the_author_said_is_bounded_and_the_first_and_the_newest_stay() -> None:
    said = [Said(f"Word {number}. " + "x" * 300) for number in range(20)]
    told = said_text(said, 2_000)
    assert [f"Word {number}." in told for number in (0, 1, 14, 15, 19)] == [True, False, False, True, True]
    assert "14 of the author's messages are left out" in told
    assert len(told) < 2_400
    assert len(said_text([Said("y" * 50_000)] * 3, 2_000)) < 13_000
    assert said_text([], 2_000) == ""


def test_f13_summaries_that_gain_nothing_end_in_a_pause_with_the_reason(store: Store) -> None:
    story = Story([append(n) for n in range(9)], [text("Rain.")] * 20)
    fields = {**FEW, "context_cap": 3_200}
    with ScriptedServer(story) as server, desk(store, server.url, ["One."], **fields) as made:
        run = made.start()
        seen = made.rest(run)
        assert seen.status is RunStatus.PAUSED
        assert "again and again" in seen.reason
        assert len(summaries(made, run)) == 3
