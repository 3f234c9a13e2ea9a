"""What a call that waits would change: told from its effect, of which nothing is kept."""

from typing import Any

from marginalia_tui.agent import approvals
from marginalia_tui.agent.foresight import Foresight, argument_words, foresee
from marginalia_tui.agent.runs import Run
from marginalia_tui.commands.dispatch import Dispatcher
from marginalia_tui.desk.waiting import lines_of, segments_of
from marginalia_tui.domain.diff import Kind
from marginalia_tui.domain.items import Book
from marginalia_tui.domain.runs import RunStatus
from marginalia_tui.services.parts import story_tree
from marginalia_tui.store.store import Store
from tests.support.runs import Desk, desk, part_texts
from tests.support.scripted_server import ScriptedServer, calls

ASK: dict[str, Any] = {"commands": "all", "destructive": "ask"}
FINISH = calls(("finish", {"report": "Done."}))


def _foreseen(made: Desk, run: Run) -> Foresight:
    with made.store.read() as tx:
        (asked,) = approvals.pending(tx, run.uuid)
    return foresee(made.store, Dispatcher(made.registry), run, asked.command, asked.arguments)


def _journal(store: Store) -> tuple[Any, ...]:
    with store.read() as tx:
        tables = ("journal", "change", "text", "state")
        return tuple(tx.connection.exec_driver_sql(f"SELECT count(*) FROM {name}").scalar() for name in tables)


def test_f20_what_is_told_is_what_would_happen_and_nothing_of_it_lasts(store: Store) -> None:
    """And several calls of one answer are asked one after the other: allowing one allows no other."""
    both = calls(
        ("replace-part-text", {"part": "h:m1", "text": "One and two."}),
        ("delete-part", {"part": "h:m2"}),
    )
    with ScriptedServer([both, FINISH]) as server, desk(store, server.url, ["One.", "Two.", "Three."], **ASK) as made:
        run = made.start()
        seen = made.rest(run)
        before = _journal(store)
        first = _foreseen(made, seen)
        assert _journal(store) == before
        (change,) = first.changes
        assert (change.kind, change.title, change.change) == ("part", "Chapter 1", "changed")
        assert [(each.label, each.before, each.after) for each in change.fields] == [("text", "One.", "One and two.")]
        assert lines_of(first) == ["changes part Chapter 1: text One{+ and two+}."]
        assert {each.kind for each in segments_of(first)} == {Kind.SAME, Kind.ADDED}
        assert part_texts(store, made.book, seen.copy) == ["One.", "Two.", "Three."]

        made.runner.decide(run, "call_1_0", "approve")
        seen = made.rest(run)
        assert seen.status is RunStatus.WAITING_APPROVAL
        told = {
            (each.title, each.change): [(of.label, of.before, of.after) for of in each.fields]
            for each in _foreseen(made, seen).changes
        }
        assert told["Chapter 2", "deleted"] == [("text", "Two.", "")]
        assert told["Chapter 3", "changed"] == [("place", "Chapter 2", "Chapter 1")]
        with store.read() as tx:
            (asked,) = approvals.pending(tx, run)
            assert argument_words(tx, seen, asked.arguments) == (("part", "Chapter 2"),)
        made.runner.decide(run, asked.call, "deny", why="No.")
        assert made.rest(run).status is RunStatus.DONE
        assert part_texts(store, made.book, seen.copy) == ["One and two.", "Two.", "Three."]


def test_a_call_that_would_change_nothing_or_fail_says_so(store: Store) -> None:
    with ScriptedServer([FINISH, FINISH]) as server, desk(store, server.url, ["One."], **ASK) as made:
        seen = made.rest(made.start())
        with store.read() as tx:
            space = tx.space(seen.copy)
            (part,) = story_tree(space, space.get(Book, made.book)).active
        dispatcher = Dispatcher(made.registry)
        same = foresee(store, dispatcher, seen, "replace-part-text", {"part": part, "text": "One."})
        assert lines_of(same) == ["changes nothing in the copy"]
        gone = foresee(store, dispatcher, seen, "delete-part", {"part": made.book})
        assert (lines_of(gone), "part" in gone.problem) == ([], True)
