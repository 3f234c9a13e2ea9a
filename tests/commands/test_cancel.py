"""A command that is stopped leaves the book as it was or as it is meant to be, whenever that happens."""

import random
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from types import FrameType
from typing import Any

import pytest

from marginalia_tui.commands import control
from marginalia_tui.commands.control import Control
from marginalia_tui.commands.running import CommandRun
from marginalia_tui.domain.errors import Cancelled
from marginalia_tui.domain.items import Book, Part
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import Store
from tests.commands.world import DISPATCHER, World

PARTS = 300
MOMENTS = 20
ARGUMENTS = {"pattern": "lamp", "replacement": "lantern"}


@pytest.fixture
def long_book(store: Store) -> World:
    """A book of some hundred parts, each with the word that is replaced."""
    book = store.clock.new_uuid()
    parts: list[Part] = []
    for place in range(1, PARTS + 1):
        parts.append(
            Part(
                uuid=store.clock.new_uuid(),
                book=book,
                parent=parts[-1].uuid if parts else None,
                created=store.clock.now(),
                title=f"Chapter {place}",
                text=f"The lamp of part {place} was lit. A second lamp was not.",
            )
        )
    with store.write(Act(actor="author", label="import", book=book)) as tx:
        tx.space(LIBRARY).put([Book(uuid=book, title="Long", active_leaf=parts[-1].uuid), *parts])
    return World(store, book, [part.uuid for part in parts])


def texts(world: World) -> list[str]:
    with world.store.read() as tx:
        found = tx.space(LIBRARY).texts(world.parts)
    return [found[uuid] for uuid in world.parts]


def replacing(world: World) -> CommandRun:
    command = DISPATCHER.registry.get("search-replace-parts")
    line = Control()
    return CommandRun(command, "", line, lambda: DISPATCHER.run(command, ARGUMENTS, world.author, line))


@contextmanager
def at_calls(hook: Callable[[FrameType], None]) -> Iterator[None]:
    """Has `hook` called at each call of a function on this thread, but for those that hold the lock of a control."""

    def profile(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call" and not _inside(frame, control.__file__):
            hook(frame)

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        yield
    finally:
        sys.setprofile(before)


def _inside(frame: FrameType | None, file: str) -> bool:
    while frame is not None:
        if frame.f_code.co_filename == file:
            return True
        frame = frame.f_back
    return False


def calls_of(world: World) -> int:
    """How many moments there are in a run that nobody stops."""
    count = 0

    def hook(frame: FrameType) -> None:
        nonlocal count
        count += 1

    run = replacing(world)
    with at_calls(hook):
        run.run()
    run.future.result()
    return count


def stopped_at(world: World, moment: int) -> tuple[CommandRun, bool]:
    """A run that is stopped at a moment, and whether the wish was taken."""
    run = replacing(world)
    left = moment
    taken: list[bool] = []

    def hook(frame: FrameType) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            taken.append(run.cancel())

    with at_calls(hook):
        run.run()
    return run, taken == [True]


def test_a_run_that_is_stopped_at_any_moment_leaves_the_book_as_before_or_as_after(long_book: World) -> None:
    before = texts(long_book)
    originals = [long_book.part(place) for place in range(1, PARTS + 1)]
    moments = calls_of(long_book)
    after = texts(long_book)
    assert all("lantern" in text and "lamp" not in text for text in after)
    assert moments > 20 * MOMENTS
    chance = random.Random(7)
    ends: list[str] = []
    for number in range(MOMENTS):
        long_book.put(*originals)
        assert texts(long_book) == before
        position = long_book.journal()
        moment = int(moments * (number + chance.random()) / MOMENTS)
        run, taken = stopped_at(long_book, max(1, moment))
        try:
            run.future.result()
        except (Cancelled, CancelledError):
            ends.append("before")
            assert taken
            assert texts(long_book) == before
            assert long_book.journal() == position
        else:
            ends.append("after")
            assert not taken
            assert texts(long_book) == after
            assert long_book.journal() == position + PARTS
    assert ends == sorted(ends, reverse=True)
    assert {"before", "after"} == set(ends)


def test_a_run_that_is_stopped_as_it_writes_is_finished(long_book: World) -> None:
    """The moments of the second half: the wish is not taken, and nothing is torn."""
    run = replacing(long_book)
    answers: list[bool] = []

    def hook(frame: FrameType) -> None:
        if run.status.uninterruptible:
            answers.append(run.cancel())

    with at_calls(hook):
        run.run()
    run.future.result()
    assert len(answers) > PARTS and not any(answers)
    assert all("lantern" in text for text in texts(long_book))
