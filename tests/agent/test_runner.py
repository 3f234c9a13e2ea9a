"""Whole runs against a scripted server: what is done, where they rest, how they are steered."""

import threading
from collections.abc import Callable
from typing import Any

import orjson
import pytest

from marginalia_tui.agent import inbox
from marginalia_tui.agent.events import CallAnswered, CallMade, Rested, RoundBegan, TextArrived
from marginalia_tui.agent.setbacks import CUT_REASON
from marginalia_tui.domain.chat import ModelDefinition
from marginalia_tui.domain.errors import Invalid, Locked, NotFound, Refused, StatusConflict
from marginalia_tui.domain.items import Book, Part, Plan
from marginalia_tui.domain.runs import RunStatus
from marginalia_tui.services.models import save_model
from marginalia_tui.services.parts import story_tree
from marginalia_tui.settings import Settings
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import Store
from tests.support.runs import desk, part_texts
from tests.support.scripted_server import (
    Mark,
    Pause,
    Reply,
    ScriptedServer,
    calls,
    chunk,
    cut,
    data,
    error,
    hang,
    stream,
    text,
    whole,
)


def _finish(report: str) -> list[Reply]:
    """A finish, made again when the first is refused because nothing was changed."""
    return [calls(("finish", {"report": report}))] * 2


FIXED = [
    calls(("list-parts", {}), usage=(100, 10)),
    calls(("edit-part", {"part": "h:m1", "old": "teh cat", "new": "the cat"}), said="I correct it.", usage=(150, 20)),
    calls(("finish", {"report": "One slip corrected."}), usage=(200, 5)),
]


def _first_part(store: Store, book: str) -> Part:
    with store.read() as tx:
        space = tx.space(LIBRARY)
        return space.get(Part, story_tree(space, space.get(Book, book)).active[0])


def test_a_run_works_on_the_copy_and_is_done(store: Store) -> None:
    with ScriptedServer(FIXED) as server, desk(store, server.url, ["There sat teh cat.", "Two."]) as made:
        run = made.start()
        seen = made.rest(run)
        assert (seen.status, seen.reason) == (RunStatus.DONE, "One slip corrected.")
        assert part_texts(store, made.book) == ["There sat teh cat.", "Two."]
        assert part_texts(store, made.book, seen.copy) == ["There sat the cat.", "Two."]
        assert (seen.rounds, seen.usage.prompt, seen.usage.completion) == (3, 450, 35)
        # What the server counted, and the result since.
        assert 205 < seen.context_tokens < 230
        assert seen.attention
        roles = [entry.message.role for entry in made.entries(run)]
        assert roles == ["user", "assistant", "tool", "assistant", "tool", "assistant", "tool"]
        kinds = {type(event) for event in made.events}
        assert {RoundBegan, TextArrived, CallMade, CallAnswered, Rested} <= kinds


def test_requests_keep_their_beginning_byte_for_byte(store: Store) -> None:
    with ScriptedServer(FIXED) as server, desk(store, server.url, ["There sat teh cat."]) as made:
        made.rest(made.start())
        bodies = [each.body for each in server.requests]
        for before, after in zip(bodies, bodies[1:], strict=False):
            assert after["messages"][: len(before["messages"])] == before["messages"]
            assert after["tools"] == before["tools"]


def test_a_run_names_itself_to_its_server_and_speaks_its_language(store: Store) -> None:
    """The same name in every request of a run, also after a rest; another one for another run."""
    script = [text("Hm?"), text("Hm?"), calls(("ask_user", {"question": "Ja?"})), text("Hm?")]
    with ScriptedServer(script) as server, desk(store, server.url, ["One."], language="de") as made:
        run = made.start(interactive=True)
        made.rest(run)
        made.runner.send(run, "Go on.")
        made.rest(run)
        made.runner.stop(run, keep=False)
        made.rest(other := made.start(interactive=True))
        assert [each.headers["x-session-id"] for each in server.requests] == [run, run, other]
        assert "the code de" in server.requests[0].body["messages"][0]["content"]


def test_every_change_names_run_and_call(store: Store) -> None:
    with ScriptedServer(FIXED) as server, desk(store, server.url, ["There sat teh cat."]) as made:
        run = made.start()
        copy = made.rest(run).copy
        with store.read() as tx:
            rows = tx.connection.exec_driver_sql(
                "SELECT c.actor, c.run, c.call FROM journal j JOIN change c ON c.id = j.change_id WHERE j.space_id = ?",
                (copy,),
            ).all()
        assert [tuple(row) for row in rows] == [("agent", run, "call_3_0")]


def test_the_book_is_held_while_it_works_and_free_afterwards(store: Store) -> None:
    gate, asked = threading.Event(), threading.Event()
    slow = stream(Mark(asked), Pause(gate), chunk({"content": "Done."}), chunk({}, "stop"))
    with ScriptedServer([slow, text("Done.")]) as server, desk(store, server.url, ["One."]) as made:
        run = made.start()
        assert asked.wait(20)
        part = _first_part(store, made.book)
        with pytest.raises(Locked, match="Corrector"), store.write(Act(actor="author", label="edit")) as tx:
            tx.space(LIBRARY).delete(Part, [part.uuid])
        gate.set()
        assert made.rest(run).status is RunStatus.IDLE
        with pytest.raises(Locked), store.write(Act(actor="author", label="edit")) as tx:
            tx.space(LIBRARY).delete(Part, [part.uuid])
        made.runner.finish(run)
        with store.write(Act(actor="author", label="edit", book=made.book)) as tx:
            book = tx.space(LIBRARY).get(Book, made.book)
            assert tx.space(LIBRARY).put([Book(uuid=book.uuid, title="Free", active_leaf=book.active_leaf)])


def test_a_failed_call_skips_the_rest_of_the_answer(store: Store) -> None:
    script = [
        calls(
            ("list-parts", {}),
            ("edit-part", {"part": "h:m1", "old": "not there at all", "new": "x"}),
            ("append-to-part", {"part": "h:m1", "text": " More."}),
        ),
        *_finish("Done."),
    ]
    with ScriptedServer(script) as server, desk(store, server.url, ["One."]) as made:
        run = made.start()
        seen = made.rest(run)
        good, failed, skipped, _, done = made.results(run)
        assert (good[0], failed[0], skipped[0], done[0]) == (True, False, False, True)
        assert failed[1].startswith("Error: ")
        assert "not made" in skipped[1]
        assert part_texts(store, made.book, seen.copy) == ["One."]


def _one_call(name: str, written: Any) -> list[Reply]:
    return [calls((name, written)), *_finish("Done.")]


@pytest.mark.parametrize(
    ("name", "written", "says"),
    [
        ("list_prats", {}, "list-parts"),
        ("edit-part", '{"part": "h:m1", "old', "JSON"),
        ("edit-part", {"part": "h:m99", "old": "a", "new": "b"}, "h:m99"),
        ("list-parts", {"limit": 5000}, "limit"),
        ("update_plan", {"steps": "all"}, "list"),
        ("finish", {}, "report"),
    ],
)
def test_a_wrong_call_is_answered_with_what_to_change(store: Store, name: str, written: Any, says: str) -> None:
    with ScriptedServer(_one_call(name, written)) as server, desk(store, server.url, ["One."]) as made:
        run = made.start()
        assert made.rest(run).status is RunStatus.DONE
        ok, answer = made.results(run)[0]
        assert not ok
        assert answer.startswith("Error: ")
        assert says in answer


def test_f05_a_call_that_was_cut_off_is_not_made(store: Store) -> None:
    script = [
        text("I append.", calls=[("append-to-part", '{"part": "h:m1", "text": "and th')], finish="length"),
        *_finish("Done."),
    ]
    with ScriptedServer(script) as server, desk(store, server.url, ["One."]) as made:
        run = made.start()
        seen = made.rest(run)
        ok, answer = made.results(run)[0]
        assert not ok
        assert "cut off" in answer
        assert part_texts(store, made.book, seen.copy) == ["One."]
        assert server.requests[1].body["messages"][2]["tool_calls"][0]["function"]["arguments"] == "{}"


def test_f05_calls_that_are_cut_off_again_and_again_pause_with_the_reason(store: Store) -> None:
    """It is the server, or its limit, and no circle of the model's; an answer of which a call was made is progress."""
    cut = text("I append.", calls=[("append-to-part", '{"part": "h:m1", "text": "and th')], finish="length")
    some = text(
        calls=[("append-to-part", '{"part": "h:m1", "text": "+"}'), ("append-to-part", '{"part": "h:m1", "te')],
        finish="length",
    )
    with (
        ScriptedServer([cut, some, cut, cut, cut, cut, *_finish("Done.")]) as server,
        desk(store, server.url, ["One."]) as made,
    ):
        run = made.start()
        seen = made.rest(run)
        assert (seen.status, seen.reason) == (RunStatus.PAUSED, CUT_REASON)
        assert seen.rounds == 6
        assert not [row for row in made.entries(run) if row.notice == "circles"]
        made.runner.resume(run)
        assert made.rest(run).status is RunStatus.DONE


def test_f04_a_broken_call_is_kept_as_written_and_sent_as_empty(store: Store) -> None:
    """Double-encoded arguments are read, an array and half an object are none; the run recovers by itself."""
    broken = ('{"part": "h:m1", "old": "On', '["h:m1"]')
    twice = orjson.dumps('{"part": "h:m1", "old": "One", "new": "Two"}').decode()
    script = [*(calls(("edit-part", each)) for each in broken), calls(("edit-part", twice)), *_finish("Done.")]
    with ScriptedServer(script) as server, desk(store, server.url, ["One."]) as made:
        run = made.start()
        seen = made.rest(run)
        assert seen.status is RunStatus.DONE
        assert part_texts(store, made.book, seen.copy) == ["Two."]
        written = [call.arguments for row in made.entries(run) for call in row.message.calls]
        assert written[:3] == [*broken, twice]
        sent = [each for each in server.requests[-1].body["messages"] if "tool_calls" in each]
        assert [each["tool_calls"][0]["function"]["arguments"] for each in sent[:2]] == ["{}", "{}"]
        assert [ok for ok, _ in made.results(run)] == [False, False, True, True]


@pytest.mark.parametrize("status", [400, 500])
def test_f04_a_server_that_can_not_read_a_call_is_asked_again(store: Store, status: int) -> None:
    refusal = error(status, "litellm.APIError: Failed to parse tool call arguments as JSON: parse_error.101")
    with ScriptedServer([refusal, refusal, *FIXED]) as server, desk(store, server.url, ["There sat teh cat."]) as made:
        run = made.start()
        assert made.rest(run).status is RunStatus.DONE
        notices = [row.notice for row in made.entries(run) if row.message.role == "user"]
        assert notices == ["start", "unreadable-answer", "unreadable-answer"]
        assert "could not read" in server.requests[1].body["messages"][-1]["content"]


def test_f04_a_server_that_never_reads_a_call_pauses_with_the_reason(store: Store) -> None:
    refusal = error(500, "Failed to parse tool call arguments as JSON")
    with ScriptedServer(lambda _: refusal) as server, desk(store, server.url, ["One."]) as made:
        run = made.start()
        seen = made.rest(run)
        assert (seen.status, seen.attention, len(server.requests)) == (RunStatus.PAUSED, True, 4)
        assert "could not read the call" in seen.reason
        made.runner.resume(run, observers=[made.events.append])
        made.rest(run)
        assert len(server.requests) == 5


def test_f32_an_answer_that_breaks_off_is_kept_and_goes_on(store: Store) -> None:
    script = [cut("I will "), text("and", finish="length"), *FIXED]
    with ScriptedServer(script) as server, desk(store, server.url, ["There sat teh cat."]) as made:
        run = made.start()
        assert made.rest(run).status is RunStatus.DONE
        rows = made.entries(run)[1:5]
        assert [(row.message.text, row.notice) for row in rows[::2]] == [("I will ", "cut"), ("and", "cut")]
        assert [row.notice for row in rows[1::2]] == ["cut-answer", "cut-answer"]


def test_f32_answers_that_always_break_off_pause(store: Store) -> None:
    with ScriptedServer(lambda _: cut("I")) as server, desk(store, server.url, ["One."]) as made:
        seen = made.rest(made.start())
        assert (seen.status, len(server.requests)) == (RunStatus.PAUSED, 4)
        assert "broke off" in seen.reason


def test_f33_an_error_inside_of_an_answer_pauses_with_the_servers_words_and_keeps_the_text(store: Store) -> None:
    failed = stream(chunk({"content": "I have seen"}), data({"error": {"code": 503, "message": "worker lost"}}))
    with ScriptedServer([failed, *FIXED]) as server, desk(store, server.url, ["There sat teh cat."]) as made:
        run = made.start()
        seen = made.rest(run)
        assert seen.status is RunStatus.PAUSED
        assert "worker lost" in seen.reason
        assert (made.entries(run)[-1].message.text, made.entries(run)[-1].notice) == ("I have seen", "cut")
        made.runner.resume(run, observers=[made.events.append])
        assert made.rest(run).status is RunStatus.DONE


def _set_model(store: Store, url: str, **fields: Any) -> None:
    save_model(store, ModelDefinition(name="scripted", base_url=url, model="scripted", **fields))


def test_a_model_is_told_to_answer_with_a_call_where_its_server_can_be_told(store: Store) -> None:
    def strict(body: dict[str, Any]) -> Reply:
        if "tool_choice" in body:
            return error(400, "tool_choice must be auto")
        results = len([each for each in body["messages"] if each["role"] == "tool"])
        return FIXED[results]

    with ScriptedServer(FIXED) as server, desk(store, server.url, ["There sat teh cat."]) as made:
        _set_model(store, server.url, answers_with_call=True)
        assert made.rest(run := made.start()).status is RunStatus.DONE
        assert {each.body["tool_choice"] for each in server.requests} == {"required"}
        made.runner.stop(run, keep=False)
        with ScriptedServer(strict) as other:
            _set_model(store, other.url, answers_with_call=True)
            assert made.rest(run := made.start()).status is RunStatus.DONE
            assert ["tool_choice" in each.body for each in other.requests] == [True, False, False, False]
            assert [row.notice for row in made.entries(run)].count("choice-required") == 1


def test_f29_answers_are_asked_for_whole_where_a_stream_loses_calls(store: Store) -> None:
    call = {"id": "", "type": "function", "function": {"name": "list-parts", "arguments": {}}}
    script = [whole({"role": "assistant", "tool_calls": [call]}, "tool_calls"), *FIXED[1:]]
    with ScriptedServer(script) as server, desk(store, server.url, ["There sat teh cat."]) as made:
        _set_model(store, server.url, streams=False)
        assert made.rest(made.start()).status is RunStatus.DONE
        assert "stream" not in server.requests[0].body


def test_f10_ids_that_a_server_gives_twice_are_told_apart(store: Store) -> None:
    script = [calls(("list-parts", {})), calls(("list-parts", {})), *_finish("Done.")]
    with ScriptedServer(script) as server, desk(store, server.url, ["One."]) as made:
        run = made.start()
        assert made.rest(run).status is RunStatus.DONE
        ids = [call.id for entry in made.entries(run) for call in entry.message.calls]
        assert len(ids) == len(set(ids)) == 4


def test_a_reply_without_a_call_ends_the_turn_and_the_author_goes_on(store: Store) -> None:
    script = [text("Hm."), text("Shall I?"), *_finish("As you say.")]
    with ScriptedServer(script) as server, desk(store, server.url, ["One."]) as made:
        run = made.start()
        seen = made.rest(run)
        assert (seen.status, seen.reason, seen.attention) == (RunStatus.IDLE, "Shall I?", True)
        made.runner.acknowledge(run)
        assert not made.run(run).attention
        made.runner.send(run, "Yes, please.")
        assert made.rest(run).status is RunStatus.DONE
        assert server.requests[2].body["messages"][-1] == {"role": "user", "content": "Yes, please."}


def test_a_model_that_only_talks_is_nudged_once_and_may_go_on(store: Store) -> None:
    script = [text("I will correct it."), calls(("list-parts", {})), text("Hm."), text("Hm."), text("never asked")]
    with ScriptedServer(script) as server, desk(store, server.url, ["One."]) as made:
        run = made.start()
        assert made.rest(run).status is RunStatus.IDLE
        assert [entry.notice for entry in made.entries(run) if entry.message.role == "user"] == [
            "start", "nudge", "nudge",
        ]  # fmt: skip
        assert len(server.requests) == 4


def test_f01_going_in_circles_is_told_then_asked_about_and_pauses(store: Store) -> None:
    """The answer in words is asked for with the same beginning of the request; calls in it are not made."""

    def script(body: dict[str, Any]) -> Reply:
        stubborn = calls(("list-parts", {}))
        return calls(("list-parts", {}), said=" I am stuck. ") if body.get("tool_choice") == "none" else stubborn

    with ScriptedServer(script) as server, desk(store, server.url, ["One."]) as made:
        run = made.start()
        seen = made.rest(run)
        assert (seen.status, seen.rounds, seen.attention) == (RunStatus.PAUSED, 6, True)
        assert "circles" in seen.reason
        rows = made.entries(run)
        assert [row.notice for row in rows if row.message.role == "user"] == ["start", "circles", "circles-stop"]
        assert (rows[-1].message.text, rows[-1].message.calls, len(made.results(run))) == ("I am stuck.", (), 5)
        before, last = server.requests[-2].body, server.requests[-1].body
        assert last["tools"] == before["tools"]
        assert last["messages"][: len(before["messages"])] == before["messages"]
        made.runner.resume(run, "Read part 1.", observers=[made.events.append])
        assert made.rest(run).rounds == 12


def test_f03_unchanged_writes_are_no_progress_and_silence_becomes_a_sentence(store: Store) -> None:
    same = calls(("edit-part", {"part": "h:m1", "old": "One.", "new": "One."}))
    with ScriptedServer(lambda _: same) as server, desk(store, server.url, ["One."]) as made:
        run = made.start()
        assert "circles" in made.rest(run).reason
        assert "wrote nothing" in made.entries(run)[-1].message.text


def test_f02_other_arguments_are_no_circle(store: Store) -> None:
    script = [*(calls(("append-to-part", {"part": "h:m1", "text": f"{n}"})) for n in range(8)), *_finish("Done.")]
    with ScriptedServer(script) as server, desk(store, server.url, ["One."]) as made:
        assert made.rest(made.start()).status is RunStatus.DONE


def test_nudges_are_bounded(store: Store) -> None:
    def script(body: dict[str, Any]) -> Reply:
        spoken = body["messages"][-1]["role"] == "user"
        return calls(("list-parts", {"limit": len(body["messages"])})) if spoken else text("I think about it.")

    with ScriptedServer(script) as server, desk(store, server.url, ["One."]) as made:
        run = made.start()
        assert made.rest(run).status is RunStatus.IDLE
        assert sum(entry.notice == "nudge" for entry in made.entries(run)) == 3


def test_a_finish_that_changed_nothing_is_refused_once(store: Store) -> None:
    script = [calls(("list-parts", {})), calls(("finish", {"report": "All done!"})), *FIXED[1:]]
    with ScriptedServer(script) as server, desk(store, server.url, ["There sat teh cat."]) as made:
        run = made.start()
        seen = made.rest(run)
        assert seen.status is RunStatus.DONE
        ok, answer = made.results(run)[1]
        assert not ok
        assert "Nothing in the book was changed" in answer
        assert part_texts(store, made.book, seen.copy) == ["There sat the cat."]


def test_an_agent_that_can_only_read_may_finish(store: Store) -> None:
    script = [calls(("finish", {"report": "Read."}))]
    with ScriptedServer(script) as server, desk(store, server.url, ["One."], commands=("get-part",)) as made:
        assert made.rest(made.start()).status is RunStatus.DONE


def test_a_conversation_is_not_nudged(store: Store) -> None:
    with ScriptedServer([text("What shall I do?")]) as server, desk(store, server.url, ["One."]) as made:
        run = made.start(interactive=True)
        assert made.rest(run).status is RunStatus.IDLE
        assert len(server.requests) == 1


def test_the_parts_have_the_handles_of_their_places_from_the_start(store: Store) -> None:
    script = [calls(("append-to-part", {"part": "h:m2", "text": "More."})), *_finish("Done.")]
    with ScriptedServer(script) as server, desk(store, server.url, ["One.", "Two."]) as made:
        run = made.start()
        seen = made.rest(run)
        assert part_texts(store, made.book, seen.copy) == ["One.", "Two.\n\nMore."]


def test_ask_user_waits_with_the_question(store: Store) -> None:
    script = [calls(("ask_user", {"question": "British or American?"})), *_finish("Done.")]
    with ScriptedServer(script) as server, desk(store, server.url, ["One."]) as made:
        run = made.start()
        seen = made.rest(run)
        assert (seen.status, seen.reason) == (RunStatus.IDLE, "British or American?")
        made.runner.send(run, "British.")
        assert made.rest(run).status is RunStatus.DONE


def test_a_message_to_a_working_run_is_read_in_the_next_round(store: Store) -> None:
    gate, asked = threading.Event(), threading.Event()
    slow = calls(("list-parts", {}))
    slow = Reply(headers=slow.headers, steps=(slow.steps[0], Mark(asked), Pause(gate), *slow.steps[1:]))
    with (
        ScriptedServer([slow, *_finish("Done.")]) as server,
        desk(store, server.url, ["One."]) as made,
    ):
        run = made.start()
        assert asked.wait(20)
        made.runner.send(run, "Only chapter 1.")
        made.runner.send(run, "And be brief.")
        gate.set()
        assert made.rest(run).status is RunStatus.DONE
        said = server.requests[1].body["messages"][-1]["content"]
        assert said.index("Only chapter 1.") < said.index("And be brief.")


def test_a_message_in_the_moment_of_the_end_is_not_lost(store: Store) -> None:
    """The end of a turn and a message are decided by one transaction."""
    gate, asked = threading.Event(), threading.Event()
    first = stream(Mark(asked), Pause(gate), chunk({"content": "I am done."}), chunk({}, "stop"))
    script = [first, *_finish("Heard.")]
    with ScriptedServer(script) as server, desk(store, server.url, ["One."]) as made:
        run = made.start()
        assert asked.wait(20)
        made.runner.send(run, "One more thing.")
        gate.set()
        assert made.rest(run).status is RunStatus.DONE
        with store.read() as tx:
            assert inbox.queued(tx, run) == []


def test_the_plan_is_kept_in_the_copy(store: Store) -> None:
    steps = [{"step": "Read", "status": "completed"}, {"step": "Correct", "status": "In progress"}]
    script = [calls(("update_plan", {"steps": steps})), *_finish("Done.")]
    with ScriptedServer(script) as server, desk(store, server.url, ["One."]) as made:
        run = made.start()
        seen = made.rest(run)
        with store.read() as tx:
            plan = tx.space(seen.copy).get(Plan, run)
        assert '"done"' in plan.steps
        assert '"in_progress"' in plan.steps


def test_limits_pause_with_their_reason(store: Store) -> None:
    script: Callable[[dict[str, Any]], Reply] = lambda body: calls(("list-parts", {}), usage=(100, 10))  # noqa: E731
    with ScriptedServer(script) as server, desk(store, server.url, ["One."], max_rounds=3) as made:
        run = made.start()
        seen = made.rest(run)
        assert (seen.status, seen.rounds, seen.attention) == (RunStatus.PAUSED, 3, True)
        assert "3 rounds" in seen.reason


def test_a_limit_is_raised_for_this_run_when_it_goes_on(store: Store) -> None:
    script = [*(calls(("append-to-part", {"part": "h:m1", "text": "+"}), usage=(1000, 0)) for _ in range(4)), FIXED[2]]
    with ScriptedServer(script) as server, desk(store, server.url, ["One."], max_cost=0.002) as made:
        _set_model(store, server.url, price_in=1.0)
        made.settings = Settings(max_minutes=1_000)
        run = made.start()
        seen = made.rest(run)
        assert (seen.status, seen.rounds) == (RunStatus.PAUSED, 2)
        assert "0.002" in seen.reason
        assert seen.worked > 0
        with pytest.raises(Invalid, match="used 2 rounds"):
            made.runner.resume(run, raised={"rounds": 2})
        assert made.run(run).status is RunStatus.PAUSED
        made.runner.resume(run, raised={"money": 1, "rounds": 4}, observers=[made.events.append])
        seen = made.rest(run)
        assert (seen.rounds, seen.limits) == (4, {"money": 1, "rounds": 4})
        assert "4 rounds" in seen.reason
        made.runner.raise_limits(run, {"rounds": 0})
        made.runner.resume(run, observers=[made.events.append])
        assert made.rest(run).status is RunStatus.DONE


def test_results_are_counted_before_the_next_request_and_share_the_room(store: Store) -> None:
    long = "The rain fell on the roof, and nobody was there to see it. " * 300
    reading = [("get-part", {"part": part, "length": 20_000}) for part in ("h:m1", "h:m2", "h:m3")]
    script = [calls(*reading, usage=(6_000, 100)), calls(("get_run_status", {}), usage=(9_000, 10)), *_finish("Read.")]
    options: dict[str, Any] = {"context_cap": 10_000, "auto_compact": 0}
    with ScriptedServer(script) as server, desk(store, server.url, ["One.", long, long], **options) as made:
        seen = made.rest(run := made.start())
        assert seen.status is RunStatus.DONE
        (_, small), (_, first), (_, second), (_, status) = made.results(run)[:4]
        assert "Cut here" not in small
        assert all("the context has no room for more" in each for each in (first, second))
        assert len(first) > 3_000
        told = orjson.loads(status)
        assert (told["contextCap"], told["contextTokens"], told["tokens"]) == (10_000, 9_010, 15_110)


def test_the_token_budget_pauses(store: Store) -> None:
    script: Callable[[dict[str, Any]], Reply] = lambda body: calls(("list-parts", {}), usage=(100, 10))  # noqa: E731
    with ScriptedServer(script) as server, desk(store, server.url, ["One."], token_budget=200) as made:
        seen = made.rest(made.start())
        assert (seen.status, seen.rounds) == (RunStatus.PAUSED, 2)
        assert "200 tokens" in seen.reason


def test_the_context_cap_pauses_before_the_request(store: Store) -> None:
    with ScriptedServer([text("never asked")]) as server, desk(store, server.url, ["One."], context_cap=50) as made:
        seen = made.rest(made.start())
        assert seen.status is RunStatus.PAUSED
        assert "50 tokens" in seen.reason
        assert server.requests == []


def test_a_model_that_fails_pauses_in_plain_words_and_a_resume_goes_on(store: Store) -> None:
    script = [error(401, "Invalid API Key", "authentication_error"), *FIXED]
    with ScriptedServer(script) as server, desk(store, server.url, ["There sat teh cat."]) as made:
        run = made.start()
        seen = made.rest(run)
        assert seen.status is RunStatus.PAUSED
        assert "key" in seen.reason
        assert seen.rounds == 0
        made.runner.resume(run, "The key is right now.", observers=[made.events.append])
        assert made.rest(run).status is RunStatus.DONE
        last = server.requests[1].body["messages"][-1]["content"]
        assert "The key is right now." in last


def test_pause_waits_for_the_round_and_resume_goes_on(store: Store) -> None:
    gate, asked = threading.Event(), threading.Event()
    first = calls(("list-parts", {}))
    first = Reply(headers=first.headers, steps=(Mark(asked), Pause(gate), *first.steps))
    with ScriptedServer([first, *FIXED[1:]]) as server, desk(store, server.url, ["There sat teh cat."]) as made:
        run = made.start()
        assert asked.wait(20)
        made.runner.pause(run)
        assert made.run(run).status is RunStatus.PAUSING
        gate.set()
        seen = made.rest(run)
        assert (seen.status, seen.attention) == (RunStatus.PAUSED, False)
        made.runner.resume(run)
        assert made.rest(run).status is RunStatus.DONE
        assert len(server.requests) == 3


def test_pause_now_gives_the_request_up(store: Store) -> None:
    with ScriptedServer([hang(), *FIXED]) as server, desk(store, server.url, ["There sat teh cat."]) as made:
        run = made.start()
        server.wait_for(1)
        made.runner.pause(run, now=True)
        seen = made.rest(run)
        assert (seen.status, seen.rounds) == (RunStatus.PAUSED, 0)
        assert server.requests[0].gone.wait(20)
        made.runner.resume(run)
        assert made.rest(run).status is RunStatus.DONE


@pytest.mark.parametrize("keep", [True, False])
def test_stop_gives_the_request_up_and_keeps_or_drops_the_copy(store: Store, keep: bool) -> None:
    with ScriptedServer([hang()]) as server, desk(store, server.url, ["One."]) as made:
        run = made.start()
        server.wait_for(1)
        made.runner.stop(run, keep=keep)
        seen = made.rest(run)
        assert seen.status is (RunStatus.STOPPED_KEPT if keep else RunStatus.STOPPED_DISCARDED)
        assert (seen.space is not None) == keep


def test_a_kept_run_goes_on_from_where_it_was(store: Store) -> None:
    script = [text("Hm."), text("Shall I?"), *_finish("Done.")]
    with ScriptedServer(script) as server, desk(store, server.url, ["One."]) as made:
        run = made.start()
        made.rest(run)
        made.runner.stop(run, keep=True)
        assert made.run(run).status is RunStatus.STOPPED_KEPT
        made.runner.resume(run)
        assert made.rest(run).status is RunStatus.DONE
        assert server.requests[2].body["messages"][-1]["role"] == "user"


def test_a_destructive_call_waits_as_a_row_and_is_made_when_it_is_approved(store: Store) -> None:
    script = [
        calls(("list-parts", {})),
        calls(("replace-part-text", {"part": "h:m1", "text": "All new."})),
        *_finish("Done."),
    ]
    options: dict[str, Any] = {"destructive": "ask", "commands": "all"}
    with ScriptedServer(script) as server, desk(store, server.url, ["One."], **options) as made:
        run = made.start()
        seen = made.rest(run)
        assert (seen.status, seen.attention) == (RunStatus.WAITING_APPROVAL, True)
        from marginalia_tui.agent import approvals

        with store.read() as tx:
            (waiting,) = approvals.pending(tx, run)
        assert waiting.command == "replace-part-text"
        assert waiting.arguments["part"] == _first_part(store, made.book).uuid
        with pytest.raises(NotFound, match=waiting.call):
            made.runner.decide(run, "call_99_9", "approve")
        made.runner.decide(run, waiting.call, "approve")
        assert made.rest(run).status is RunStatus.DONE
        assert part_texts(store, made.book, seen.copy) == ["All new."]


def test_a_denied_call_is_told_with_the_reason(store: Store) -> None:
    script = [
        calls(("list-parts", {})),
        calls(("replace-part-text", {"part": "h:m1", "text": "All new."})),
        *_finish("Done."),
    ]
    options: dict[str, Any] = {"destructive": "ask", "commands": "all"}
    with ScriptedServer(script) as server, desk(store, server.url, ["One."], **options) as made:
        run = made.start()
        copy = made.rest(run).copy
        made.runner.decide(run, "call_3_0", "deny", why="Keep my words.")
        assert made.rest(run).status is RunStatus.DONE
        ok, answer = made.results(run)[1]
        assert not ok
        assert "Keep my words." in answer
        assert part_texts(store, made.book, copy) == ["One."]


def test_always_is_for_the_command_and_the_run(store: Store) -> None:
    script = [
        calls(("list-parts", {})),
        calls(("replace-part-text", {"part": "h:m1", "text": "New."})),
        calls(("replace-part-text", {"part": "h:m1", "text": "Newer."})),
        *_finish("Done."),
    ]
    options: dict[str, Any] = {"destructive": "ask", "commands": "all"}
    with ScriptedServer(script) as server, desk(store, server.url, ["One."], **options) as made:
        run = made.start()
        copy = made.rest(run).copy
        made.runner.decide(run, "call_3_0", "approve", always=True)
        assert made.rest(run).status is RunStatus.DONE
        assert part_texts(store, made.book, copy) == ["Newer."]


def test_a_pause_while_a_call_waits_is_no_denial(store: Store) -> None:
    script = [
        calls(("list-parts", {})),
        calls(("replace-part-text", {"part": "h:m1", "text": "New."})),
        *_finish("Done."),
    ]
    options: dict[str, Any] = {"destructive": "ask", "commands": "all"}
    with ScriptedServer(script) as server, desk(store, server.url, ["One."], **options) as made:
        run = made.start()
        made.rest(run)
        made.runner.pause(run)
        assert made.run(run).status is RunStatus.PAUSED
        made.runner.resume(run)
        assert made.rest(run).status is RunStatus.WAITING_APPROVAL
        made.runner.decide(run, "call_3_0", "approve")
        assert made.rest(run).status is RunStatus.DONE


def test_deny_mode_leaves_destructive_tools_out(store: Store) -> None:
    with (
        ScriptedServer([text("Hm."), text("Hm.")]) as server,
        desk(store, server.url, ["One."], commands="all") as made,
    ):
        made.rest(made.start())
        names = {tool["function"]["name"] for tool in server.requests[0].body["tools"]}
        assert "edit-part" in names
        assert "delete-part" not in names
        assert {"finish", "ask_user", "update_plan", "get_run_status"} <= names


def test_a_conversation_asks_first(store: Store) -> None:
    with (
        ScriptedServer([calls(("ask_user", {"question": "What shall I do?"}))]) as server,
        desk(store, server.url, ["One."]) as made,
    ):
        run = made.start(interactive=True)
        assert made.rest(run).status is RunStatus.IDLE
        first = server.requests[0].body["messages"]
        assert "ask_user" in first[1]["content"]


def test_an_unfinished_run_blocks_a_second(store: Store) -> None:
    with ScriptedServer([text("Hm."), text("Hm.")]) as server, desk(store, server.url, ["One."]) as made:
        made.rest(made.start())
        with pytest.raises(Refused, match="IDLE"):
            made.start()


def test_limits_of_the_settings_refuse_a_start(store: Store) -> None:
    with ScriptedServer([text("Hm."), text("Hm.")]) as server, desk(store, server.url, ["One."]) as made:
        made.settings = Settings(max_copies=1)
        run = made.start()
        made.rest(run)
        made.runner.finish(run)
        with pytest.raises(Refused, match="max_copies"):
            made.start()


def test_a_disabled_agent_does_not_start(store: Store) -> None:
    with ScriptedServer([]) as server, desk(store, server.url, ["One."], enabled=False) as made:
        with pytest.raises(Refused, match="disabled"):
            made.start()
        with store.read() as tx:
            assert tx.connection.exec_driver_sql("SELECT count(*) FROM space").scalar() == 1


def test_a_run_that_is_over_takes_no_message(store: Store) -> None:
    with ScriptedServer(FIXED) as server, desk(store, server.url, ["There sat teh cat."]) as made:
        run = made.start()
        made.rest(run)
        with pytest.raises(StatusConflict, match="DONE"):
            made.runner.send(run, "More?")
        with pytest.raises(Invalid):
            made.runner.send(run, "  ")


def test_a_fault_of_a_command_fails_the_run_and_keeps_the_copy(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    from marginalia_tui.commands import dispatch

    real = dispatch.Dispatcher.prepare

    def broken(self: dispatch.Dispatcher, name: str, *rest: Any) -> Any:
        if name == "edit-part":
            raise KeyError("a fault")
        return real(self, name, *rest)

    with ScriptedServer(FIXED[:2]) as server, desk(store, server.url, ["There sat teh cat."]) as made:
        monkeypatch.setattr(dispatch.Dispatcher, "prepare", broken)
        run = made.start()
        seen = made.rest(run)
        assert seen.status is RunStatus.FAILED
        assert seen.space is not None
        assert "KeyError" in seen.reason


def test_parking_pauses_and_the_next_studio_goes_on(store: Store) -> None:
    with ScriptedServer([hang(), *FIXED]) as server, desk(store, server.url, ["There sat teh cat."]) as made:
        run = made.start()
        server.wait_for(1)
        made.runner.park()
        seen = made.run(run)
        assert (seen.status, seen.wish) == (RunStatus.PAUSED, "parked")
        again = type(made.runner)(made.runner._parts)
        again.work(run)
        worker = again.worker(run)
        assert worker is None or worker.done.wait(20)
        assert made.run(run).status is RunStatus.DONE


def test_cost_is_counted_at_the_prices_of_the_model(store: Store) -> None:
    from marginalia_tui.services.models import save_model

    with ScriptedServer(FIXED) as server, desk(store, server.url, ["There sat teh cat."]) as made:
        priced = ModelDefinition(name="scripted", base_url=server.url, model="x", price_in=2.0, price_out=10.0)
        save_model(store, priced)
        seen = made.rest(made.start())
        assert seen.cost == pytest.approx((450 * 2 + 35 * 10) / 1_000_000)


def test_the_live_answer_is_there_while_it_streams(store: Store) -> None:
    gate, asked = threading.Event(), threading.Event()
    slow = stream(
        chunk({"reasoning_content": "Hm."}), chunk({"content": "I beg"}), Mark(asked), Pause(gate), chunk({}, "stop")
    )
    with ScriptedServer([slow, text("Hm.")]) as server, desk(store, server.url, ["One."]) as made:
        seen = threading.Event()

        def heard(event: object) -> None:
            if isinstance(event, TextArrived):
                seen.set()

        run = made.runner.start(made.agent.uuid, observers=[heard])
        assert seen.wait(20)
        live = made.runner.live(run)
        assert live is not None
        assert (live.text, live.reasoning) == ("I beg", "Hm.")
        assert made.runner.live(run, live.version) is None
        gate.set()
        made.rest(run)
        assert made.runner.live(run) is None
