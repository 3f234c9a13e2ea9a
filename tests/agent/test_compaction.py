"""Runs whose context is small: what is summarised and when, what goes along, what becomes of a failure."""

from collections.abc import Sequence
from typing import Any

from marginalia_tui.agent.transcript import Entry
from marginalia_tui.domain.runs import RunStatus
from marginalia_tui.store.store import Store
from tests.support.replies import Body
from tests.support.runs import Desk, desk, part_texts
from tests.support.scripted_server import Reply, ScriptedServer, calls, error, text

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
