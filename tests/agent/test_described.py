"""The next request of a run in parts, against the request that its model then gets."""

import re
from dataclasses import replace

from marginalia_tui.agent import described, transcript
from marginalia_tui.agent.described import Described, Part, Point
from marginalia_tui.agent.export import fenced
from marginalia_tui.agent.transcript import Entry
from marginalia_tui.domain.chat import Answer, Message, Telemetry, Usage
from marginalia_tui.domain.runs import RunStatus
from marginalia_tui.store.journal import Act
from marginalia_tui.store.store import Store
from tests.agent.test_runner import FIXED
from tests.support.runs import Desk, desk
from tests.support.scripted_server import ScriptedServer, calls, text


def look(made: Desk, run: str) -> Described:
    with made.store.read() as tx:
        return described.describe(tx, made.run(run), made.runner)


def test_the_parts_are_the_request_that_the_model_gets(store: Store) -> None:
    script = [FIXED[0], calls(("ask_user", {"question": "Which?"}), usage=(120, 5)), *FIXED[1:]]
    task = {"instructions": "Correct `the` slips.\n````\nAll of them."}
    with ScriptedServer(script) as server, desk(store, server.url, ["There sat teh cat."], **task) as made:
        run = made.start(interactive=True)
        assert made.rest(run).status is RunStatus.IDLE
        before = look(made, run)
        made.runner.send(run, "The first.")
        made.rest(run)
        sent = server.chats[2]
        after = look(made, run)
    by_kind: dict[str, list[Part]] = {}
    for part in before.parts:
        by_kind.setdefault(part.kind, []).append(part)
    system = [part for part in before.parts if part.kind in ("system prompt", "task") or part.kind == "note"][:-1]
    joined = "\n\n".join(part.text for part in system)
    assert sent.messages[0] == {"role": "system", "content": joined} and before.request.system == joined
    assert [part.title for part in by_kind["tool"]] == [each["function"]["name"] for each in sent.body["tools"]]
    for part, each in zip(by_kind["tool"], sent.body["tools"], strict=True):
        assert each["function"]["description"] in part.text
    said = [part for part in before.parts if part.kind in ("answer", "result", "author")]
    assert [part.kind for part in said] == ["answer", "result", "answer", "result"]
    assert [part.title for part in said] == ["1: list-parts", "2: list-parts", "3: ask_user", "4: ask_user"]
    # The first words are the studio's, the last are what was said after the look.
    for part, message in zip(said, sent.messages[2:-1], strict=True):
        assert (message["content"] or "") in part.text
        for call in message.get("tool_calls", ()):
            assert f"{call['function']['name']} {call['function']['arguments']}" in part.text
    assert sent.messages[-1]["content"] == "The first."
    assert before.tokens == sum(part.tokens for part in before.parts) > 100
    assert [each.reported for each in after.history] == [110, 125, 170, 205]
    assert dict(before.by_kind)["tool"] == sum(part.tokens for part in by_kind["tool"])
    page = described.to_markdown(before, "Corrector on The Book")
    for part in before.parts:
        assert fenced(part.text) in page
    assert "`````\n" in page and "| 1 | 110 |" in page
    told = described.to_json(before)
    assert isinstance(told["parts"], list) and len(told["parts"]) == len(before.parts)


def test_a_run_without_its_model_and_copy_is_described_and_nothing_is_written(store: Store) -> None:
    with ScriptedServer([text("Hello.")]) as server, desk(store, server.url, ["One."]) as made:
        run = made.start(interactive=True)
        made.rest(run)
        made.runner.stop(run, keep=False)
        with store.write(Act(actor="author", label="model")) as tx:
            tx.connection.exec_driver_sql("DELETE FROM model")
        with store.read() as tx:
            changes = tx.connection.exec_driver_sql("SELECT total_changes(), (SELECT max(id) FROM change)").one()
        found = look(made, run)
        with store.read() as tx:
            assert (
                changes == tx.connection.exec_driver_sql("SELECT total_changes(), (SELECT max(id) FROM change)").one()
            )
    assert "scripted" in found.problem
    assert [part.kind for part in found.parts][-1] == "answer"
    assert any(part.kind == "tool" for part in found.parts)


def test_a_summary_is_read_instead_of_what_it_stands_for_and_shows_as_a_drop(store: Store) -> None:
    with ScriptedServer([text("Hello.")]) as server, desk(store, server.url, ["One."]) as made:
        run = made.start(interactive=True)
        made.rest(run)
        with store.write(Act(actor="studio", label="compaction", run=run)) as tx:
            tx.connection.exec_driver_sql("UPDATE message SET compacted = 1")
            transcript.append(tx, run, Message(role="user", text="In short."), notice="compacted", summary=True)
            answer = Answer(text="On.", usage=Usage(40, 2))
            transcript.append_answer(tx, run, answer, (), estimate=38)
        found = look(made, run)
    assert [(part.kind, part.text) for part in found.parts[-2:]] == [("summary", "In short."), ("answer", "On.")]
    assert found.history[1] == Point(2, 42, 38)
    assert len(found.history) == 2


def test_tokens_that_the_studio_counted_itself_are_not_reported_ones() -> None:
    row = Entry("u", 0, Message(role="assistant", text="x"), None, 0.0, 0)
    known = Telemetry(prompt=10, completion=1, counted_here=True, estimate=9)
    assert described.points([row, replace(row, telemetry=known)]) == (Point(1, 0, 0), Point(2, 0, 9))


def test_reasoning_is_listed_where_it_is_sent() -> None:
    message = Message(role="assistant", text="So.", reasoning="Hm.")
    assert described.message_text(message) == "So."
    assert described.message_text(replace(message, reasoning_field="reasoning")) == "Hm.\n\nSo."


def test_a_fence_is_longer_than_what_it_holds() -> None:
    assert fenced("a") == "```\na\n```"
    for run in range(1, 9):
        made = fenced(f"x {'`' * run}\n{'`' * run}\ny")
        fence = re.match("`+", made)
        assert fence is not None and len(fence[0]) > run
    assert "\x1b" not in fenced("\x1b[31m")
