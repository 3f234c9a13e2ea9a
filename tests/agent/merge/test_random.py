"""Whatever both hands did: what one alone changed is in the book, the tree is a tree, and an undo restores exactly."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import count
from typing import Any

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from marginalia_tui.agent.merge.model import MergePlan, Picks, Side
from marginalia_tui.domain.items import Book, Part
from marginalia_tui.store.store import Store
from tests.agent.merge.desk import Desk, Hand, Parents, tree_is_valid
from tests.conftest import NewStore

_cases = count(1)

FIELDS = ("title", "text", "instructions", "scene", "pov", "present")
BOOK_FIELDS = ("title", "author", "description", "language", "pov", "tense", "style")
ORDERS = ("edit", "edit", "data", "book", "create", "insert", "insert", "delete", "delete", "move", "move", "leaf")

orders = st.lists(
    st.tuples(st.sampled_from(ORDERS), st.integers(0, 50), st.integers(0, 50), st.integers(0, 3)), max_size=9
)
trees = st.lists(st.integers(-1, 6), min_size=1, max_size=8)


def shape(case: int, numbers: list[int]) -> Parents:
    """A tree of the parts p0, p1...: each number names the parent among those before."""
    return {
        f"{case}.p{place}": f"{case}.p{number % place}" if number >= 0 and place else None
        for place, number in enumerate(numbers)
    }


@pytest.fixture(scope="module")
def shared(new_store: NewStore) -> Iterator[Store]:
    with new_store() as store:
        yield store


class Doer:
    """Does orders with one hand; a new part is called after the hand and its number."""

    def __init__(self, hand: Hand, case: int) -> None:
        self.hand = hand
        self.case = case
        self.made = 0

    def do(self, order: tuple[str, int, int, int]) -> None:
        name, one, two, value = order
        parents = self.hand.parents()
        parts = sorted(parents)
        part = parts[one % len(parts)] if parts else None
        other = None if two % 7 == 0 or not parts else parts[two % len(parts)]
        field = FIELDS[two % len(FIELDS)]
        if name == "book":
            self.hand.set_book(**{BOOK_FIELDS[one % len(BOOK_FIELDS)]: f"value {value}"})
        elif name == "create":
            self.hand.create(self.name(), other, activate=value > 1, **{field: f"value {value}"})
        elif name == "insert":
            self.hand.insert(self.name(), other, **{field: f"value {value}"})
        elif part is None:
            return
        elif name == "edit":
            self.hand.edit(part, **{field: f"value {value}"})
        elif name == "data":
            self.hand.set_data(part, f"key{two % 2}", {"a": value, "b": [one % 2]})
        elif name == "delete":
            self.hand.delete(part)
        elif name == "leaf":
            self.hand.set_book(active_leaf=part)
        elif other is None or part != other and part not in above(parents, other):
            self.hand.move(part, other)

    def name(self) -> str:
        self.made += 1
        return f"{self.case}.{self.hand.actor}{self.made}"


def above(parents: Mapping[str, str | None], part: str) -> list[str]:
    """The parts above one, nearest first."""
    way: list[str] = []
    here = parents[part]
    while here is not None:
        way.append(here)
        here = parents[here]
    return way


def place(part: str, tree: Parents, other: Iterable[str]) -> str | None:
    """The nearest part above that the other tree has too."""
    return next((each for each in above(tree, part) if each in other), None)


def same_place(part: str, one: Parents, two: Parents) -> bool:
    return place(part, one, two) == place(part, two, one)


class Case:
    """Two hands that did their orders, and what each side looks like before the merge."""

    def __init__(self, store: Store, numbers: list[int], agent: list[Any], author: list[Any]) -> None:
        # Every case has a book and parts of its own in the one store of a test.
        number = next(_cases)
        self.desk = desk = Desk(store, shape(number, numbers))
        self.base_book, self.base = desk.library()
        for hand, done in ((desk.agent, agent), (desk.author, author)):
            doer = Doer(hand, number)
            for order in done:
                doer.do(order)
        self.book, self.ours = desk.library()
        self.agent_book, self.theirs = desk.agent.read_book(), desk.agent.parts()
        self.plan = desk.plan()
        note(f"base   {parents(self.base)}\nagent  {parents(self.theirs)}\nauthor {parents(self.ours)}")
        note("\n".join(f"{each.id} {each.change} {[f.name for f in each.fields]}" for each in self.plan.items))


def parents(parts: Mapping[str, Part]) -> Parents:
    return {uuid: part.parent for uuid, part in parts.items()}


@settings(max_examples=50)
@given(trees, orders, orders)
def test_everything_applied_has_what_each_side_alone_changed(
    shared: Store, numbers: list[int], agent: list[Any], author: list[Any]
) -> None:
    check_all_applied(Case(shared, numbers, agent, author))


def check_all_applied(case: Case) -> None:
    desk = case.desk
    done = desk.apply_all("agent")
    book, after = desk.library()
    note(f"after  {parents(after)}  skipped {done.skipped}")
    assert done.conflicts == ()
    assert tree_is_valid(parents(after))
    assert set(after) == (set(case.ours) - (set(case.base) - set(case.theirs))) | (set(case.theirs) - set(case.base))
    impossible = {item.id for item in case.plan.items if item.problem is not None}
    skipped = {each.id for each in done.skipped} | impossible
    for uuid, part in after.items():
        check_part(case, uuid, part)
        check_place(case, uuid, parents(after), moved=f"move:{uuid}" not in skipped)
    check_book(case, book)
    assert book.active_leaf is None or book.active_leaf in after
    left = desk.plan()
    # What the author put above two branches may have been taken along with one of them.
    carried = {
        f"move:{part}" for part in case.ours if any(up not in case.base for up in above(parents(case.ours), part))
    }
    assert {item.id for item in left.items} <= skipped | carried
    if done.changed:
        desk.undo()
    assert desk.library() == (case.book, case.ours)


def check_part(case: Case, uuid: str, part: Part) -> None:
    base, theirs, ours = case.base.get(uuid), case.theirs.get(uuid), case.ours.get(uuid)
    if theirs is None or ours is None:
        made = theirs or ours
        assert made is not None
        assert [getattr(part, name) for name in FIELDS] == [getattr(made, name) for name in FIELDS]
        assert part.attributes == made.attributes
        assert part.created == made.created
        return
    assert base is not None
    for name in FIELDS:
        was, agent, book = (getattr(each, name) for each in (base, theirs, ours))
        assert getattr(part, name) == (book if agent == was else agent)
    for key in base.attributes.keys() | theirs.attributes.keys() | ours.attributes.keys():
        was, agent, book = (each.attributes.get(key) for each in (base, theirs, ours))
        if agent == was:
            assert part.attributes.get(key) == book
        elif book == was:
            assert part.attributes.get(key) == agent


def check_place(case: Case, uuid: str, after: Parents, *, moved: bool) -> None:
    base, theirs, ours = parents(case.base), parents(case.theirs), parents(case.ours)
    if uuid not in theirs:
        assert same_place(uuid, ours, after), uuid
        return
    if uuid in base and same_place(uuid, base, theirs):
        # The agent did not move it: it stands where the author has it.
        assert same_place(uuid, ours, after), uuid
        anchor = place(uuid, theirs, base)
        if place(uuid, ours, theirs) == anchor:
            # Nor did the author, nor what the agent deleted above it: what the agent put above it stands above it.
            assert same_place(uuid, theirs, after), uuid
    elif moved:
        assert same_place(uuid, theirs, after), uuid


def check_book(case: Case, book: Book) -> None:
    for name in BOOK_FIELDS:
        was, agent, ours = (getattr(each, name) for each in (case.base_book, case.agent_book, case.book))
        assert getattr(book, name) == (ours if agent == was else agent)


@settings(max_examples=50)
@given(trees, orders, orders, st.data())
def test_some_applied_change_nothing_else(
    shared: Store, numbers: list[int], agent: list[Any], author: list[Any], data: st.DataObject
) -> None:
    case = Case(shared, numbers, agent, author)
    check_some_applied(case, data.draw(picks_of(case.plan)))


@st.composite
def picks_of(draw: st.DrawFn, plan: MergePlan) -> Picks:
    items: dict[str, frozenset[str] | None] = {}
    for item in plan.items:
        if draw(st.booleans()):
            some = item.change == "changed" and not item.is_move and draw(st.booleans())
            names = draw(st.sets(st.sampled_from([each.name for each in item.fields]))) if some else None
            items[item.id] = None if names is None else frozenset(names)
    sides: list[Side | None] = ["agent", "book", None]
    take = {each: side for each in plan.conflicts if (side := draw(st.sampled_from(sides)))}
    return Picks(items=items, take=take)


def check_some_applied(case: Case, picks: Picks) -> None:
    desk = case.desk
    note(f"picks {dict(picks.items)} take {dict(picks.take)}")
    done = desk.apply(picks)
    _, after = desk.library()
    note(f"after  {parents(after)} applied {done.applied} skipped {done.skipped}")
    assert set(done.applied) <= set(picks.items)
    assert tree_is_valid(parents(after))
    deleted = {item.uuid for item in case.plan.items if item.change == "deleted" and item.id in done.applied}
    added = {item.uuid for item in case.plan.items if item.change == "added" and item.id in done.applied}
    assert set(after) == (set(case.ours) - deleted) | added
    for item in case.plan.items:
        if item.change != "changed" or item.is_move or item.kind != "part" or item.uuid not in after:
            continue
        names = picks.items.get(item.id, frozenset())
        for each in item.fields:
            picked = item.id in picks.items and (names is None or each.name in names)
            named = picks.take.get((item.id, each.name)) == "agent"
            if each.name in FIELDS:
                wanted = case.theirs if picked and (named or not each.conflict) else case.ours
                assert getattr(after[item.uuid], each.name) == getattr(wanted[item.uuid], each.name)
    moved = {item.uuid for item in case.plan.items if item.is_move and item.id in done.applied}
    for uuid in set(after) & set(case.ours) - moved:
        assert same_place(uuid, parents(case.ours), parents(after)), uuid
    if done.changed:
        desk.undo()
    assert desk.library() == (case.book, case.ours)


@settings(max_examples=40)
@given(trees, orders, orders)
def test_nothing_picked_changes_nothing(shared: Store, numbers: list[int], agent: list[Any], author: list[Any]) -> None:
    def check(case: Case) -> None:
        length = case.desk.journal_length()
        assert case.desk.apply(Picks()).changed == ()
        assert case.desk.library() == (case.book, case.ours)
        assert case.desk.journal_length() == length

    check(Case(shared, numbers, agent, author))


@settings(max_examples=50)
@given(trees, orders)
def test_without_the_author_the_book_becomes_the_copy(shared: Store, numbers: list[int], agent: list[Any]) -> None:
    def check(case: Case) -> None:
        assert case.plan.conflicts == ()
        done = case.desk.apply_all()
        assert done.skipped == ()
        book, after = case.desk.library()
        assert after == case.theirs
        assert book == case.agent_book
        assert case.desk.plan().items == ()

    check(Case(shared, numbers, agent, []))
