"""Operations on trees, without a store: thousands of small random merges."""

from collections.abc import Iterable, Mapping
from random import Random

import pytest

from marginalia_tui.agent.merge import structure
from marginalia_tui.agent.merge.structure import Operations, Picked, Standing, Tree, Trees
from tests.agent.merge.desk import Parents, tree_is_valid

CASES = 3_000


def above(tree: Parents, part: str) -> list[str]:
    way = []
    here = tree[part]
    while here is not None:
        way.append(here)
        here = tree[here]
    return way


def place(part: str, tree: Parents, other: Iterable[str]) -> str | None:
    return next((each for each in above(tree, part) if each in other), None)


def same_place(part: str, one: Parents, two: Parents) -> bool:
    return place(part, one, two) == place(part, two, one)


def changed(random: Random, tree: Parents, name: str) -> Parents:
    """The tree after a few inserts, deletes and moves; new parts are called after who made them."""
    tree = dict(tree)
    for number in range(random.randint(0, 7)):
        order = random.choice(["create", "insert", "insert", "delete", "delete", "move", "move"])
        other = random.choice([None, *sorted(tree)])
        part = random.choice(sorted(tree)) if tree else ""
        if order == "create":
            tree[f"{name}{number}"] = other
        elif order == "insert":
            tree.update(dict.fromkeys([each for each in tree if tree[each] == other], f"{name}{number}"))
            tree[f"{name}{number}"] = other
        elif part and order == "delete":
            up = tree.pop(part)
            tree.update(dict.fromkeys([each for each in tree if tree[each] == part], up))
        elif part and (other is None or part not in (other, *above(tree, other))):
            tree[part] = other
    return tree


class Merge:
    """Three random trees, the operations of the agent on them, and some of them done."""

    def __init__(self, seed: int, *, everything: bool) -> None:
        random = Random(seed)
        self.base: Parents = {}
        for number in range(random.randint(1, 7)):
            self.base[f"p{number}"] = random.choice([None, *self.base]) if random.random() < 0.3 else self._last()
        self.agent = changed(random, self.base, "a")
        self.book = dict(self.base) if random.random() < 0.2 else changed(random, self.base, "b")
        self.done = structure.operations(self.trees(self.book), self.touched())
        self.picked = self._pick(random, everything)
        self.after, self.refused = self._place()

    def _last(self) -> str | None:
        return next(reversed(self.base), None)

    def trees(self, book: Parents) -> Trees:
        three: Mapping[Tree, Parents] = {"base": self.base, "agent": self.agent, "book": book}

        def standing(part: str) -> Standing:
            return {name: tree[part] for name, tree in three.items() if part in tree}

        return Trees(
            lambda parts: {part: standing(part) for part in parts},
            lambda part: [child for child, parent in self.agent.items() if parent == part],
        )

    def touched(self) -> list[str]:
        every = sorted({*self.base, *self.agent})
        return [part for part in every if self.base.get(part, part) != self.agent.get(part, part)]

    def _pick(self, random: Random, everything: bool) -> Picked:
        def some(parts: Iterable[str]) -> list[str]:
            return [part for part in parts if everything or random.random() < 0.6]

        added: set[str] = set()
        wanted = some(self.done.added)
        for part in self.done.added:
            if part in wanted and (self.agent[part] not in self.done.added or self.agent[part] in added):
                added.add(part)
        left_out = set(self.done.added) - added
        moved = [part for part in some(self.done.moved) if part in self.book and self.agent[part] not in left_out]
        return Picked(frozenset(added), frozenset(some(self.done.deleted)), frozenset(moved))

    def _place(self) -> tuple[Parents, frozenset[str]]:
        children = {gone: [each for each in self.book if self.book[each] == gone] for gone in self.done.deleted}
        placing = structure.place(self.trees(self.book), self.done, self.picked, children=children, parents=self.book)
        after = {**self.book, **placing.parents}
        assert not placing.parents.keys() & self.picked.deleted
        return {part: up for part, up in after.items() if part not in self.picked.deleted}, placing.refused

    def __repr__(self) -> str:
        names = ("base", "agent", "book", "done", "picked", "after", "refused")
        return "\n".join(f"{name}: {getattr(self, name)}" for name in names)


@pytest.mark.parametrize("everything", [True, False])
def test_the_tree_is_a_tree_and_every_part_stands_where_somebody_put_it(everything: bool) -> None:
    for seed in range(CASES):
        merge = Merge(seed, everything=everything)
        assert tree_is_valid(merge.after), merge
        assert set(merge.after) == (set(merge.book) - merge.picked.deleted) | merge.picked.added, merge
        for part in merge.after:
            if part in merge.picked.moved - merge.refused or part in merge.picked.added:
                assert not everything or same_place(part, merge.agent, merge.after), (seed, part, merge)
            else:
                assert same_place(part, merge.book, merge.after), (seed, part, merge)


def test_what_the_agent_put_above_a_part_that_the_author_left_alone_stands_above_it() -> None:
    for seed in range(CASES):
        merge = Merge(seed, everything=True)
        for part in set(merge.after) & set(merge.agent) & set(merge.book) - set(merge.done.moved):
            anchor = place(part, merge.agent, merge.book)
            if place(part, merge.book, merge.agent) != anchor:
                continue
            way = above(merge.book, part)
            between = way[: way.index(anchor)] if anchor else way
            # Below a part that the author put above two branches one may be carried along with the other.
            if all(each in merge.base for each in between):
                assert same_place(part, merge.agent, merge.after), (seed, part, merge)


def test_without_the_author_the_tree_becomes_the_agents() -> None:
    for seed in range(CASES):
        merge = Merge(seed, everything=True)
        if merge.book == merge.base:
            assert merge.after == merge.agent, (seed, merge)
            assert not merge.refused, (seed, merge)


def test_what_is_done_is_not_to_be_done_again() -> None:
    for seed in range(CASES):
        merge = Merge(seed, everything=True)
        left: Operations = structure.operations(merge.trees(merge.after), merge.touched())
        assert (left.added, left.deleted) == ((), ()), (seed, merge)
        carried = {part for part in merge.book if any(each not in merge.base for each in above(merge.book, part))}
        lost = {part for part in merge.done.moved if part not in merge.book}
        assert set(left.moved) <= merge.refused | lost | carried, (seed, left, merge)
