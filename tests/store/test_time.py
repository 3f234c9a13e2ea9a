"""Any sequence of edits, then a restore to any position, gives exactly the state that was there."""

from contextlib import ExitStack
from dataclasses import dataclass, replace

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from marginalia_tui.domain.items import Book, Item, Part, Plan
from marginalia_tui.store import history
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.spaces import copy_book, drop_space
from marginalia_tui.store.store import WriteTx
from tests.conftest import NewStore
from tests.store.worlds import World, act, counted, look

BOOK = "the-book"

words = st.text(st.characters(codec="utf-8", exclude_characters=""), max_size=12)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=5,
)
picks = st.integers(0, 10_000)


@dataclass(frozen=True)
class Moment:
    """What a space held at a position."""

    space: int
    position: int
    world: World


class RolledBack(Exception):
    pass


class Journey(RuleBasedStateMachine):
    """Edits the library and a copy of a book, beside a model of plain dicts."""

    new_store: NewStore

    def __init__(self) -> None:
        super().__init__()
        self.stack = ExitStack()
        self.store = self.stack.enter_context(self.new_store())
        self.spaces: dict[int, World] = {LIBRARY: {}}
        self.moments: list[Moment] = []
        self.made = 0
        self.highest = 0
        self.copies: set[int] = set()

    def teardown(self) -> None:
        self.stack.close()

    # The model

    def pick_space(self, pick: int) -> int:
        return sorted(self.spaces)[pick % len(self.spaces)]

    def parts(self, space: int) -> list[Part]:
        return [item for item in self.spaces[space].values() if isinstance(item, Part)]

    def pick_part(self, space: int, pick: int) -> Part | None:
        parts = self.parts(space)
        return parts[pick % len(parts)] if parts else None

    def below(self, space: int, uuid: str) -> set[str]:
        found = {uuid}
        while more := {part.uuid for part in self.parts(space) if part.parent in found} - found:
            found |= more
        return found

    def new_part(self, space: int, pick: int, text: str) -> Part:
        self.made += 1
        parent = self.pick_part(space, pick)
        use = parent is not None and pick % 7
        return Part(
            uuid=f"part-{self.made}",
            book=BOOK,
            parent=parent.uuid if parent and use else None,
            created=self.made,
            text=text,
        )

    def commit(self, space: int, puts: list[Item], gone: list[Part] | None = None) -> None:
        world = self.spaces[space]
        after: World = dict(world)
        for item in puts:
            after[item.KIND, item.uuid] = counted(item)
        for part in gone or []:
            del after["part", part.uuid]
        changed = {key for key in {*world, *after} if world.get(key) != after.get(key)}
        with self.store.write(act(book=BOOK)) as tx:
            told = tx.space(space).put(puts) + tx.space(space).delete(Part, [part.uuid for part in gone or []])
            assert {uuid for _, uuid in changed} == set(told)
            assert (tx.changed(space) is None) == (not changed)
            self.note(tx, space, after, moved=bool(changed))

    def note(self, tx: WriteTx, space: int, world: World, *, moved: bool) -> None:
        position = tx.position()
        assert position > self.highest if moved else position == self.highest
        self.highest = position
        self.spaces[space] = world
        self.moments.append(Moment(space, position, world))

    # What happens

    @initialize(text=words)
    def begin(self, text: str) -> None:
        part = Part(uuid="part-0", book=BOOK, created=0, text=text)
        self.commit(LIBRARY, [Book(uuid=BOOK, title="A book", active_leaf="part-0"), part])

    @precondition(lambda self: len(self.spaces) < 3)
    @rule()
    def copy(self) -> None:
        with self.store.write(act("copy")) as tx:
            space = copy_book(tx, BOOK)
            assert space not in self.copies, "the number of a space is used again"
            world = dict(self.spaces[LIBRARY])
            for key in [key for key in world if key[0] == "plan"]:
                del world[key]
            self.note(tx, space, world, moved=False)
        self.copies.add(space)

    @precondition(lambda self: len(self.spaces) > 1)
    @rule(pick=picks)
    def drop(self, pick: int) -> None:
        space = sorted(self.spaces)[1:][pick % (len(self.spaces) - 1)]
        with self.store.write(act("drop")) as tx:
            drop_space(tx, space)
            assert tx.position() == self.highest
        del self.spaces[space]
        self.moments = [moment for moment in self.moments if moment.space != space]

    @rule(at=picks, pick=picks, text=words)
    def create(self, at: int, pick: int, text: str) -> None:
        space = self.pick_space(at)
        self.commit(space, [self.new_part(space, pick, text)])

    @rule(at=picks, pick=picks, text=words, title=words)
    def edit(self, at: int, pick: int, text: str, title: str) -> None:
        space = self.pick_space(at)
        if part := self.pick_part(space, pick):
            self.commit(space, [replace(part, text=text, title=title)])

    @rule(at=picks, pick=picks, key=words, value=json_values)
    def set_attribute(self, at: int, pick: int, key: str, value: object) -> None:
        space = self.pick_space(at)
        book = self.spaces[space]["book", BOOK]
        assert isinstance(book, Book)
        attributes = dict(book.attributes)
        if key in attributes:
            del attributes[key]
        else:
            attributes[key] = value  # type: ignore[assignment]
        items: list[Item] = [replace(book, attributes=attributes)]
        if part := self.pick_part(space, pick):
            items.append(replace(part, attributes=attributes, pov=key))
        self.commit(space, items)

    @rule(at=picks, pick=picks, other=picks, created=st.integers(0, 1000))
    def move(self, at: int, pick: int, other: int, created: int) -> None:
        space = self.pick_space(at)
        part, parent = self.pick_part(space, pick), self.pick_part(space, other)
        if part and parent and parent.uuid not in self.below(space, part.uuid):
            self.commit(space, [replace(part, parent=parent.uuid, created=created)])

    @rule(at=picks, pick=picks)
    def delete(self, at: int, pick: int) -> None:
        space = self.pick_space(at)
        part = self.pick_part(space, pick)
        if part is None:
            return
        puts: list[Item] = [replace(each, parent=part.parent) for each in self.parts(space) if each.parent == part.uuid]
        book = self.spaces[space]["book", BOOK]
        assert isinstance(book, Book)
        if book.active_leaf == part.uuid:
            puts.append(replace(book, active_leaf=None))
        self.commit(space, puts, [part])

    @rule(at=picks, texts=st.lists(words, max_size=4), pick=picks, steps=words)
    def several(self, at: int, texts: list[str], pick: int, steps: str) -> None:
        space = self.pick_space(at)
        items: dict[str, Item] = {"plan": Plan(uuid="plan", book=BOOK, steps=steps)}
        for place, text in enumerate(texts):
            if part := self.pick_part(space, pick + place):
                items[part.uuid] = replace(part, text=text, scene=text)
        items["new"] = self.new_part(space, pick, steps)
        self.commit(space, list(items.values()))

    @rule(at=picks, pick=picks)
    def write_the_same(self, at: int, pick: int) -> None:
        space = self.pick_space(at)
        part = self.pick_part(space, pick)
        self.commit(space, [self.spaces[space]["book", BOOK], *([part] if part else [])])

    @rule(at=picks, pick=picks, text=words)
    def change_twice_in_one_change(self, at: int, pick: int, text: str) -> None:
        space = self.pick_space(at)
        if (part := self.pick_part(space, pick)) is None:
            return
        between = replace(part, text=f"{text} {part.text}!")
        after = replace(part, text=text)
        with self.store.write(act(book=BOOK)) as tx:
            tx.space(space).put([between])
            tx.space(space).put([after])
            self.note(tx, space, {**self.spaces[space], ("part", part.uuid): counted(after)}, moved=True)

    @rule(at=picks, text=words)
    def fail(self, at: int, text: str) -> None:
        space = self.pick_space(at)
        with pytest.raises(RolledBack), self.store.write(act(book=BOOK)) as tx:
            tx.space(space).put([self.new_part(space, 1, text)])
            raise RolledBack

    @precondition(lambda self: self.moments)
    @rule(pick=picks)
    def restore(self, pick: int) -> None:
        moment = self.moments[pick % len(self.moments)]
        now = self.spaces[moment.space]
        changed = {key for key in {*now, *moment.world} if now.get(key) != moment.world.get(key)}
        with self.store.write(act("restore", actor="restore", book=BOOK)) as tx:
            assert {uuid for _, uuid in changed} == set(history.restore(tx, moment.space, moment.position))
            assert look(tx, moment.space) == moment.world
            self.note(tx, moment.space, moment.world, moved=bool(changed))

    @invariant()
    def every_space_is_as_the_model_says(self) -> None:
        with self.store.read() as tx:
            for space, world in self.spaces.items():
                assert look(tx, space) == world
                rows = tx.space(space).outline(BOOK)
                assert {(row.uuid, row.parent, row.created) for row in rows} == {
                    (part.uuid, part.parent, part.created) for part in self.parts(space)
                }


def test_a_restore_gives_exactly_what_was_there(new_store: NewStore) -> None:
    class Here(Journey):
        pass

    Here.new_store = staticmethod(new_store)
    run_state_machine_as_test(Here, settings=settings(max_examples=60, stateful_step_count=25, deadline=None))
