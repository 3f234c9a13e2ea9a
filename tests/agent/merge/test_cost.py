"""The cost of a plan and an apply follows the changes and not the book; the rules on trees pass long chains."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
from sqlalchemy import event

from marginalia_tui.agent.merge import structure
from marginalia_tui.agent.merge.model import Picks
from marginalia_tui.agent.merge.plan import plan_merge
from marginalia_tui.agent.merge.structure import Picked, Standing, Trees
from marginalia_tui.domain.items import Part
from marginalia_tui.store.store import Store
from tests.agent.merge.desk import Desk, chain

LONG = 20_000


@contextmanager
def steps_of_sqlite(store: Store) -> Iterator[list[int]]:
    """Counts what SQLite does, in hundreds of steps of its machine, on the connections of the readers."""
    count = [0]

    def step() -> int:
        count[0] += 1
        return 0

    def checked_out(connection: object, *_: object) -> None:
        connection.set_progress_handler(step, 100)  # type: ignore[attr-defined]

    def checked_in(connection: object, *_: object) -> None:
        connection.set_progress_handler(None, 100)  # type: ignore[attr-defined]

    engine = store._reader
    event.listen(engine, "checkout", checked_out)
    event.listen(engine, "checkin", checked_in)
    try:
        yield count
    finally:
        event.remove(engine, "checkout", checked_out)
        event.remove(engine, "checkin", checked_in)


def work(store: Store, length: int) -> int:
    desk = Desk(store, chain(*(f"{length}.{number}" for number in range(length))))

    def edit(space: object) -> None:
        found = space.get_many(Part, [f"{length}.{number}" for number in range(20, 50)])  # type: ignore[attr-defined]
        space.put([replace(part, text=f"New {part.uuid}") for part in found.values()])  # type: ignore[attr-defined]

    desk.agent.change("edit", edit)
    desk.agent.insert(f"{length}.n", f"{length}.10")
    desk.agent.delete(f"{length}.12")
    with steps_of_sqlite(store) as count, store.read() as tx:
        plan = plan_merge(tx, desk.space)
    assert len(plan.items) == 32
    return count[0]


def test_a_plan_of_a_book_sixty_times_as_long_costs_the_same(store: Store) -> None:
    short = work(store, 60)
    assert short > 5
    assert work(store, 3_600) < 1.3 * short


def test_long_chains_of_inserts_and_deletes_are_one_pass() -> None:
    """20,000 deleted parts in a row, 20,000 new ones in their place."""
    standing: dict[str, Standing] = {"root": dict.fromkeys(structure.TREES)}
    above_old = above_new = "root"
    for number in range(LONG):
        standing[f"old{number}"] = {"base": above_old, "book": above_old}
        standing[f"new{number}"] = {"agent": above_new}
        above_old, above_new = f"old{number}", f"new{number}"
    standing["last"] = {"base": above_old, "agent": above_new, "book": above_old}
    trees = Trees(lambda parts: {part: standing[part] for part in parts}, lambda _: ())
    trees.learn(standing)
    done = structure.operations(trees, standing)
    assert (len(done.added), len(done.deleted), done.moved) == (LONG, LONG, ())
    assert len(done.taken["last"]) == LONG
    children = {f"old{number}": [f"old{number + 1}"] for number in range(LONG - 1)} | {f"old{LONG - 1}": ["last"]}
    picked = Picked(frozenset(done.added), frozenset(done.deleted), frozenset())
    placing = structure.place(trees, done, picked, children=children, parents={})
    assert placing.parents["last"] == f"new{LONG - 1}"
    assert placing.parents["new0"] == "root"
    assert len(placing.parents) == LONG + 1


@pytest.mark.parametrize("moves", [200])
def test_moves_in_a_long_chain_pass_it_once(moves: int) -> None:
    """Each of many moved parts at the end of a chain of 20,000 is told from those that close a circle."""
    parents: dict[str, str | None] = {"p0": None, **{f"p{n}": f"p{n - 1}" for n in range(1, LONG)}}
    targets: dict[str, str | None] = {f"p{LONG - 1 - n}": f"p{n}" for n in range(moves)}
    assert structure.needed_moves(targets, parents) == {}
    back: dict[str, str | None] = {"p1": f"p{LONG - 1}", f"p{LONG - 2}": "p0"}
    assert structure.needed_moves(back, parents) == {"p1": f"p{LONG - 2}"}


def test_an_apply_writes_no_more_than_what_changed(store: Store) -> None:
    desk = Desk(store, chain("a", "b", "c"))
    desk.agent.edit("b", text="New.")
    length = desk.journal_length()
    assert desk.apply(Picks(items={"part:b": None})).changed == ("b",)
    assert desk.journal_length() == length + 1
