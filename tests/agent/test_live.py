"""The live answer: what a screen may know of it while it is written."""

import threading

from marginalia_tui.agent.live import LiveBuffer
from marginalia_tui.store.store import Store
from tests.support.runs import desk
from tests.support.scripted_server import Mark, Pause, ScriptedServer, call_chunks, calls, chunk, error, stream


def test_a_call_that_is_written_is_told_by_its_name_and_size() -> None:
    live = LiveBuffer()
    live.begin(3)
    live.add_call("edit-part")
    live.add_call(arguments='{"part":')
    live.add_call(arguments=' "h:m1"}')
    seen = live.look()
    assert seen is not None
    assert (seen.place, seen.call, seen.call_size) == (3, "edit-part", 16)
    live.add_call("finish")
    seen = live.look()
    assert seen is not None
    assert (seen.call, seen.call_size) == ("finish", 0)
    live.begin(5)
    seen = live.look()
    assert seen is not None
    assert (seen.place, seen.call, seen.call_size) == (5, "", 0)


def test_what_is_waited_for_is_forgotten_when_something_arrives() -> None:
    live = LiveBuffer()
    live.begin(1)
    live.wait("The server is busy.")
    seen = live.look()
    assert seen is not None and seen.note == "The server is busy."
    live.add(text="Now.")
    seen = live.look()
    assert seen is not None and seen.note == ""


def test_no_number_and_no_version_comes_twice_though_a_run_that_goes_on_has_another_buffer() -> None:
    seen = []
    for _ in range(3):
        live = LiveBuffer()
        live.begin(1)
        live.add(text="a")
        look = live.look()
        assert look is not None
        seen.append(look)
    assert len({look.number for look in seen}) == 3
    assert len({look.version for look in seen}) == 3


def test_the_place_is_the_row_that_the_answer_becomes(store: Store) -> None:
    there, go = threading.Event(), threading.Event()
    asking = stream(
        chunk({"content": "Well."}),
        Mark(there),
        Pause(go),
        *call_chunks(0, "ask_user", {"question": "More?"}),
        chunk({}, "tool_calls"),
    )
    with ScriptedServer([calls(("list-parts", {})), asking]) as server, desk(store, server.url, ["One."]) as made:
        run = made.start()
        assert there.wait(20)
        live = made.runner.live(run)
        assert live is not None
        go.set()
        made.rest(run)
        row = made.entries(run)[live.place]
        assert (row.ordinal, row.message.role, row.message.text) == (live.place, "assistant", "Well.")


def test_the_wait_for_another_try_is_told(store: Store) -> None:
    there, go = threading.Event(), threading.Event()
    busy = error(429, "slow down", headers=[("Retry-After", "0")])
    held = calls(("ask_user", {"question": "More?"})).after(Mark(there), Pause(go))
    with ScriptedServer([busy, held]) as server, desk(store, server.url, ["One."]) as made:
        run = made.start()
        assert there.wait(20)
        live = made.runner.live(run)
        assert live is not None
        assert live.note.startswith("The server limits how often it is asked: try 2 in")
        go.set()
        made.rest(run)


def test_the_seconds_of_a_call_are_stored(store: Store) -> None:
    script = [calls(("list-parts", {})), calls(("edit-part", {"part": "h:m9", "old": "a", "new": "b"}))]
    script.append(calls(("ask_user", {"question": "More?"})))
    with ScriptedServer(script) as server, desk(store, server.url, ["One."]) as made:
        run = made.start()
        made.rest(run)
        listed, failed, _ = [entry for entry in made.entries(run) if entry.message.role == "tool"]
        assert 0 < listed.seconds < 20
        assert not failed.message.ok
        assert failed.seconds >= 0
