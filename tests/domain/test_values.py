"""Items, errors, time, the guard, the life of a run."""

import threading
from dataclasses import FrozenInstanceError, fields
from typing import Any

import pytest

from marginalia_tui.domain import errors, guard
from marginalia_tui.domain.clock import SystemClock
from marginalia_tui.domain.errors import Locked, MarginaliaError, ModelError
from marginalia_tui.domain.items import KINDS, Book, Part, Plan, Role, Shape, item_fields, state_fields
from marginalia_tui.domain.runs import ACTIVE, HOLDING, UNFINISHED, RunStatus

# Items


def test_every_field_of_an_item_but_its_uuid_says_what_it_is() -> None:
    for kind, cls in KINDS.items():
        assert [each.name for each in item_fields(kind)] == [each.name for each in fields(cls)][1:]
        assert fields(cls)[0].name == "uuid"
        assert kind == cls.KIND


def test_letters_are_one_for_each_kind() -> None:
    assert len({cls.LETTER for cls in KINDS.values()}) == len(KINDS)


def test_the_state_holds_what_is_authored_and_what_is_of_the_run() -> None:
    roles = {each.name: each.role for each in item_fields("part")} | {
        each.name: each.role for each in item_fields("book")
    }
    assert roles["words"] is roles["chars"] is Role.DERIVED
    assert roles["opened"] is Role.VIEW
    assert roles["model"] is Role.RUN_LOCAL
    assert {each.name for each in state_fields("part")} == {
        "book", "parent", "created", "title", "text", "instructions", "scene", "pov", "present", "model", "images",
        "attributes",
    }  # fmt: skip
    assert "opened" not in {each.name for each in state_fields("book")}


def test_nothing_of_a_plan_is_merged() -> None:
    assert {each.role for each in item_fields(Plan.KIND)} == {Role.RUN_LOCAL}


def test_labels_and_defaults_are_read_from_the_annotation() -> None:
    found = {each.name: each for each in item_fields("part")}
    assert found["pov"].label == "point of view"
    assert found["text"].shape is Shape.LONG
    assert found["attributes"].default == {}
    assert found["parent"].default is None


def test_items_are_values() -> None:
    book: Any = Book(uuid="b", title="B")
    with pytest.raises(FrozenInstanceError):
        book.title = "other"
    assert Part(uuid="p", book="b") == Part(uuid="p", book="b")
    assert Book(uuid="b", title="B").attributes is not Book(uuid="b", title="B").attributes


# Errors


def test_every_error_has_a_word_of_its_own() -> None:
    found = [cls for cls in vars(errors).values() if isinstance(cls, type) and issubclass(cls, MarginaliaError)]
    kinds = [cls.kind for cls in found]
    assert len(set(kinds)) == len(kinds)
    assert all(kind.replace("_", "").isalpha() and kind.islower() for kind in kinds)


def test_an_error_is_its_sentence() -> None:
    assert errors.NotFound("There is no such book.").message == "There is no such book."
    error = ModelError("overloaded", "The server has too much to do.")
    assert (error.reason, error.message) == ("overloaded", "The server has too much to do.")


def test_a_lock_names_the_agent_and_the_book() -> None:
    locked = Locked("Copyeditor", "Dracula")
    assert "Copyeditor" in locked.message
    assert "Dracula" in locked.message
    assert isinstance(locked, errors.Refused)


# Time


def test_times_rise_strictly_over_threads() -> None:
    clock = SystemClock()
    times: list[int] = []

    def take() -> None:
        mine = [clock.now() for _ in range(2_000)]
        assert mine == sorted(set(mine))
        times.extend(mine)

    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(times)) == 8_000


def test_a_clock_that_is_set_back_does_not_take_time_back(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SystemClock()
    before = clock.now()
    monkeypatch.setattr("time.time_ns", lambda: 1_000)
    assert clock.now() == before + 1


def test_uuids_are_new() -> None:
    clock = SystemClock()
    assert len({clock.new_uuid() for _ in range(100)}) == 100


# The guard


def test_the_guard_names_what_would_be_waited_for() -> None:
    with guard.writing():
        with pytest.raises(RuntimeError, match="a language model"):
            guard.may_wait("a language model")
        with pytest.raises(RuntimeError, match="a write transaction"), guard.writing():
            pass
    guard.may_wait("a language model")


def test_the_guard_names_the_command_that_writes_where_it_reads() -> None:
    with guard.reading_only("outer"):
        with guard.reading_only("inner"), pytest.raises(RuntimeError, match="inner"):
            guard.may_write()
        with pytest.raises(RuntimeError, match="outer"):
            guard.may_write()
    guard.may_write()


def test_the_guard_is_lifted_after_an_error() -> None:
    with pytest.raises(ZeroDivisionError), guard.writing(), guard.reading_only("x"):
        raise ZeroDivisionError
    guard.may_wait("anything")
    guard.may_write()


# The life of a run


def test_every_status_has_a_way_on_or_is_an_end() -> None:
    for status in RunStatus:
        assert status not in status.next()
        assert bool(status.next()) == (status is not RunStatus.STOPPED_DISCARDED)


def test_every_status_is_reached_from_running() -> None:
    reached = {RunStatus.RUNNING}
    while more := {to for status in reached for to in status.next()} - reached:
        reached |= more
    assert reached == set(RunStatus)


def test_what_works_holds_the_book_and_what_has_ended_does_not() -> None:
    assert set(ACTIVE) < set(HOLDING)
    assert set(HOLDING) == {*ACTIVE, RunStatus.IDLE}
    for status in RunStatus:
        assert not (status.ended and status.holds_book)
        assert not (status.active and status.rests) or status is RunStatus.WAITING_APPROVAL


def test_an_unfinished_run_blocks_a_second() -> None:
    assert set(UNFINISHED) == {*HOLDING, RunStatus.PAUSED, RunStatus.STOPPED_KEPT}


def test_failed_work_can_still_be_taken_over_or_resumed() -> None:
    assert {RunStatus.RUNNING, RunStatus.APPLIED} <= RunStatus.FAILED.next()


def test_an_apply_that_is_undone_gives_the_review_back() -> None:
    reviewed = {status for status in RunStatus if RunStatus.APPLIED in status.next()}
    assert RunStatus.APPLIED.next() == reviewed


@pytest.mark.parametrize(
    ("status", "reason", "needs"),
    [
        (RunStatus.PAUSED, "", False),
        (RunStatus.PAUSED, "the limit of rounds", True),
        (RunStatus.RUNNING, "anything", False),
        (RunStatus.IDLE, "", True),
        (RunStatus.WAITING_APPROVAL, "", True),
        (RunStatus.DONE, "", True),
        (RunStatus.FAILED, "", True),
        (RunStatus.APPLIED, "", False),
        (RunStatus.STOPPED_KEPT, "", False),
    ],
)
def test_the_author_is_called_where_they_are_needed(status: RunStatus, reason: str, needs: bool) -> None:
    assert status.needs_attention(reason) is needs
