"""A book of two hands: the author's in the library, the agent's in a working copy, with what commands do to both."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import count
from typing import Any

from marginalia_tui.agent.merge.apply import apply_merge
from marginalia_tui.agent.merge.model import Applied, MergeItem, MergePlan, Picks, Side
from marginalia_tui.agent.merge.plan import plan_merge
from marginalia_tui.agent.merge.shown import load_texts
from marginalia_tui.domain.items import Book, Item, Part
from marginalia_tui.store import history
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY, WritableSpace
from marginalia_tui.store.spaces import copy_book
from marginalia_tui.store.store import Store

_numbers = count(1)

Parents = dict[str, str | None]


class Hand:
    """One who writes in a space, a change for each thing that is done, as the commands do them."""

    def __init__(self, store: Store, space: int, book: str, actor: str) -> None:
        self.store = store
        self.space = space
        self.book = book
        self.actor = actor

    def change(self, label: str, do: Callable[[WritableSpace], None]) -> None:
        with self.store.write(Act(actor=self.actor, label=label, book=self.book)) as tx:
            do(tx.space(self.space))

    def find(self, part: str) -> Part | None:
        with self.store.read() as tx:
            return tx.space(self.space).find(Part, part)

    def part(self, part: str) -> Part:
        found = self.find(part)
        assert found is not None
        return found

    def parts(self) -> dict[str, Part]:
        with self.store.read() as tx:
            space = tx.space(self.space)
            return space.get_many(Part, [row.uuid for row in space.outline(self.book)])

    def parents(self) -> Parents:
        return {uuid: part.parent for uuid, part in self.parts().items()}

    def read_book(self) -> Book:
        with self.store.read() as tx:
            return tx.space(self.space).get(Book, self.book)

    def edit(self, part: str, **fields: Any) -> None:
        self.change("edit", lambda space: put(space, replace(space.get(Part, part), **fields)))

    def set_book(self, **fields: Any) -> None:
        self.change("set-book-info", lambda space: put(space, replace(space.get(Book, self.book), **fields)))

    def set_data(self, part: str, key: str, value: Any) -> None:
        def do(space: WritableSpace) -> None:
            found = space.get(Part, part)
            space.put([replace(found, attributes={**found.attributes, key: value})])

        self.change("set-data", do)

    def create(self, part: str, parent: str | None, *, activate: bool = False, **fields: Any) -> None:
        made = Part(uuid=part, book=self.book, parent=parent, created=self.store.clock.now(), **fields)

        def do(space: WritableSpace) -> None:
            book = space.get(Book, self.book)
            space.put([made, replace(book, active_leaf=part) if activate else book])

        self.change("create-part", do)

    def insert(self, part: str, after: str | None, **fields: Any) -> None:
        made = Part(uuid=part, book=self.book, parent=after, created=self.store.clock.now(), **fields)

        def do(space: WritableSpace) -> None:
            children = space.get_many(Part, space.children(after, self.book)).values()
            space.put([made, *(replace(child, parent=part) for child in children)])

        self.change("insert-part", do)

    def delete(self, part: str) -> None:
        def do(space: WritableSpace) -> None:
            gone = space.get(Part, part)
            book = space.get(Book, self.book)
            children = space.get_many(Part, space.children(part, self.book)).values()
            if book.active_leaf == part:
                book = replace(book, active_leaf=gone.parent)
            space.put([*(replace(child, parent=gone.parent) for child in children), book])
            space.delete(Part, [part])

        self.change("delete-part", do)

    def move(self, part: str, parent: str | None) -> None:
        self.change("move", lambda space: put(space, replace(space.get(Part, part), parent=parent)))


def put(space: WritableSpace, *items: Item) -> None:
    space.put(items)


class Desk:
    """A book in the library and its working copy.

    `parents` is the tree at the start: part -> parent; `texts` gives some parts a text of their own.
    """

    def __init__(self, store: Store, parents: Mapping[str, str | None], **texts: str) -> None:
        self.store = store
        self.book = f"book-{next(_numbers)}"
        parts = [
            Part(uuid=part, book=self.book, parent=parent, created=number, text=texts.get(part, f"Text of {part}."))
            for number, (part, parent) in enumerate(parents.items(), start=1)
        ]
        with store.write(self.act("import")) as tx:
            tx.space(LIBRARY).put([Book(uuid=self.book, title="The Lamp"), *parts])
            self.space = copy_book(tx, self.book)
        self.author = Hand(store, LIBRARY, self.book, "author")
        self.agent = Hand(store, self.space, self.book, "agent")

    def plan(self, *, loaded: bool = True) -> MergePlan:
        with self.store.read() as tx:
            plan = plan_merge(tx, self.space)
            return replace(plan, items=load_texts(tx, plan.items)) if loaded else plan

    def item(self, item_id: str) -> MergeItem:
        found = self.plan().item(item_id)
        assert found is not None, [item.id for item in self.plan().items]
        return found

    def apply(self, picks: Picks) -> Applied:
        with self.store.write(Act(actor="apply", label="apply", book=self.book)) as tx:
            return apply_merge(tx, self.space, picks)

    def apply_all(self, take: Side | None = None) -> Applied:
        return self.apply(Picks.of_plan(self.plan(loaded=False), take))

    def pick(self, *items: str, take: Side | None = None) -> Applied:
        plan = self.plan(loaded=False)
        decided = {} if take is None else dict.fromkeys(plan.conflicts, take)
        return self.apply(Picks(items=dict.fromkeys(items), take=decided))

    def act(self, label: str = "start") -> Act:
        return Act(actor="author", label=label, book=self.book)

    def start_again(self) -> "Desk":
        """The same book with a working copy of how it stands now."""
        with self.store.write(self.act()) as tx:
            self.space = copy_book(tx, self.book)
        self.agent = Hand(self.store, self.space, self.book, "agent")
        return self

    def undo(self) -> None:
        with self.store.read() as tx:
            step = history.next_undo(tx, self.book)
        assert step is not None
        with self.store.write(Act(actor="author", label="undo", book=self.book, undoes=step.change)) as tx:
            history.take_back(tx, self.book, step)

    def clear(self) -> None:
        """Takes the parts out of the library, so that another desk can have parts of the same names."""
        with self.store.write(self.act("clear")) as tx:
            space = tx.space(LIBRARY)
            space.put([replace(space.get(Book, self.book), active_leaf=None)])
            space.delete(Part, [row.uuid for row in space.outline(self.book)])

    def library(self) -> tuple[Book, dict[str, Part]]:
        return self.author.read_book(), self.author.parts()

    def journal_length(self) -> int:
        with self.store.read() as tx:
            return int(tx.connection.exec_driver_sql("SELECT count(*) FROM journal").scalar_one())


def chain(*names: str) -> Parents:
    """A tree in which each part follows the one before."""
    return dict(zip(names, (None, *names), strict=False))


def tree_is_valid(parents: Mapping[str, str | None]) -> bool:
    """Whether every parent is there and no way up comes back to where it began."""
    for part in parents:
        seen = {part}
        here = parents[part]
        while here is not None:
            if here in seen or here not in parents:
                return False
            seen.add(here)
            here = parents[here]
    return True
