"""What the author decides in a review, by rules alone."""

from hypothesis import given
from hypothesis import strategies as st

from marginalia_tui.agent.merge.choose import choose
from marginalia_tui.agent.merge.model import FieldChange, FieldType, MergeItem, MergePlan, Picks
from marginalia_tui.desk.review import AppliedView
from marginalia_tui.screens.decisions import Decisions
from marginalia_tui.screens.review_words import applied_words, apply_question, change_words, counted, counts, title_of

Change = st.sampled_from(["added", "changed", "deleted"])


def field(name: str = "text", *, conflict: bool = False, needs: tuple[str, ...] = ()) -> FieldChange:
    return FieldChange(
        name=name,
        label=name,
        type=FieldType.TEXT,
        base="base",
        agent="agent",
        book="book" if conflict else "base",
        conflict=conflict,
        depends_on=needs,
    )


def item(uuid: str, *fields: FieldChange, change: str = "changed", **more: object) -> MergeItem:
    values: dict[str, object] = {"id": f"part:{uuid}", "kind": "part", "uuid": uuid, "change": change, **more}
    return MergeItem(**values, fields=fields or (field(),))  # type: ignore[arg-type]


def plan(*items: MergeItem) -> MergePlan:
    return MergePlan(book="book", space_id=2, base=0, position=1, items=items)


def decisions(*items: MergeItem) -> Decisions:
    made = Decisions()
    made.follow(plan(*items))
    return made


def test_what_nobody_has_to_decide_is_picked_at_first() -> None:
    made = decisions(item("a"), item("b", field(conflict=True)), item("c", problem="It is gone."))
    assert made.picks == {"part:a": None}
    assert [made.mark(each) for each in made.items.values()] == ["on", "conflict", "conflict"]
    assert (made.count_ready(), made.count_open()) == (1, 1)


def test_a_pick_brings_what_it_needs_and_drops_with_it() -> None:
    one = item("a", change="added")
    two = item("b", change="added", depends_on=("part:a",))
    three = item("c", change="added", depends_on=("part:b",))
    made = decisions(one, two, three)
    made.pick_none()
    made.pick("part:c")
    assert set(made.picks) == {"part:a", "part:b", "part:c"}
    made.drop("part:a")
    assert made.picks == {}


def test_a_field_that_needs_a_dropped_item_goes_and_the_others_stay() -> None:
    new = item("a", change="added")
    book = item("b", field("leaf", needs=("part:a",)), field("title"))
    made = decisions(new, book)
    made.drop("part:a")
    assert made.picks == {"part:b": frozenset({"title"})}
    made.toggle_field(book, "leaf")
    assert made.picks == {"part:b": None}


def test_a_field_that_is_the_only_one_takes_its_item_along() -> None:
    new, book = item("a", change="added"), item("b", field("leaf", needs=("part:a",)))
    made = decisions(new, book)
    made.drop("part:a")
    assert made.picks == {}


def test_fields_are_picked_one_by_one() -> None:
    one = item("a", field("title"), field("text"))
    made = decisions(one)
    made.toggle_field(one, "text")
    assert made.picks == {"part:a": frozenset({"title"})}
    made.toggle_field(one, "text")
    assert made.picks == {"part:a": None}
    made.toggle_field(one, "text")
    made.toggle_field(one, "title")
    assert made.picks == {}


def test_the_side_of_what_is_taken_whole_holds_for_all_of_its_conflicts() -> None:
    gone = item("a", field("title", conflict=True), field("text", conflict=True), change="deleted")
    made = decisions(gone)
    assert made.mark(gone) == "conflict"
    made.decide(gone, gone.fields[0], "agent")
    assert made.take == {("part:a", "title"): "agent", ("part:a", "text"): "agent"}
    assert made.mark(gone) == "on"
    made.decide(gone, gone.fields[1], "book")
    assert made.mark(gone) == "off"


def test_a_text_takes_the_place_of_a_side_and_the_other_way_round() -> None:
    one = item("a", field(conflict=True))
    made = decisions(one)
    made.decide(one, one.fields[0], "agent")
    made.write(one, one.fields[0], "mine")
    assert (made.take, made.texts) == ({}, {("part:a", "text"): "mine"})
    made.decide(one, one.fields[0], "book")
    assert (made.take, made.texts) == ({("part:a", "text"): "book"}, {})


def test_another_version_of_a_change_forgets_what_was_decided_about_it() -> None:
    one, two = item("a", field(conflict=True), version="1"), item("b", version="1")
    made = decisions(one, two)
    made.decide(one, one.fields[0], "agent")
    made.drop("part:b")
    changed = [item("a", field(conflict=True), version="2"), item("b", version="1"), item("c")]
    assert made.follow(plan(*changed)) == 2
    assert made.take == {}
    # what the author left out stays out, what is new is picked, what is to be decided again is not
    assert made.picks == {"part:c": None}
    assert made.follow(plan(*changed)) == 0


@st.composite
def plans(draw: st.DrawFn) -> MergePlan:
    """Plans in which items need earlier ones, some with conflicts or a problem."""
    made: list[MergeItem] = []
    for number in range(draw(st.integers(1, 6))):
        earlier = [each.id for each in made]
        needs = draw(st.lists(st.sampled_from(earlier), max_size=2, unique=True)) if earlier else []
        of_field = draw(st.lists(st.sampled_from(earlier), max_size=1)) if earlier else []
        fields = (
            field("title", conflict=draw(st.booleans())),
            field("text", conflict=draw(st.booleans()), needs=tuple(of_field)),
        )
        problem = draw(st.sampled_from([None, None, None, "It is gone."]))
        made.append(
            item(str(number), *fields, change=draw(Change), depends_on=tuple(needs), problem=problem, version="1")
        )
    return plan(*made)


Move = tuple[str, int, int]
moves = st.lists(
    st.tuples(
        st.sampled_from(["toggle", "field", "agent", "book", "write", "all", "none"]),
        st.integers(0, 5),
        st.integers(0, 1),
    ),
    max_size=12,
)


@given(plans(), moves)
def test_what_is_ready_is_what_an_apply_takes(made: MergePlan, done: list[Move]) -> None:
    """Whatever keys are pressed, the count of picked changes is the count that is applied, and nothing is invalid."""
    decided = Decisions()
    decided.follow(made)
    for name, place, which in done:
        one = made.items[place % len(made.items)]
        of = one.fields[which]
        if name in ("agent", "book") and of.conflict:
            decided.decide(one, of, "agent" if name == "agent" else "book")
        elif name == "toggle" and one.problem is None:
            decided.toggle(one.id)
        elif name == "field" and one.change == "changed":
            decided.toggle_field(one, of.name)
        elif name == "write" and one.problem is None and (one.change == "changed" or not of.conflict):
            if one.change != "deleted":
                decided.write(one, of, "mine")
        elif name == "all":
            decided.pick_all()
        elif name == "none":
            decided.pick_none()
    taken = choose(made, Picks(items=decided.picks, take=decided.take, texts=decided.texts))
    ready = {each.id for each in made.items if decided.mark(each) == "on"}
    assert set(taken.items) <= ready
    skipped = {each.id for each in taken.skipped}
    for missed in ready - set(taken.items):
        picked = [
            each.name for each in decided.items[missed].fields if decided.has_field(decided.items[missed], each.name)
        ]
        keeps_book = all(decided.take.get((missed, name)) == "book" for name in picked)
        assert missed in skipped or keeps_book, missed


def test_words() -> None:
    moved = MergeItem(id="move:a", kind="part", uuid="a", change="changed", title="The Door", place=3)
    assert (change_words(moved), title_of(moved)) == ("moved", "part 3  The Door")
    assert title_of(item("a")) == "part"
    assert (counted(1, "change"), counted(1_200, "change")) == ("1 change", "1,200 changes")
    made = decisions(item("a"), item("b", field(conflict=True)))
    assert counts(made) == "2 changes, 1 conflict, 1 picked"
    assert "1 conflict is not decided" in apply_question(made)
    made.pick_none()
    assert apply_question(made).startswith("Nothing is picked")
    said = applied_words(AppliedView(1, ("The Door: It needs a part.",), 0), "u", "Esc")
    assert [line for _, line in said] == [
        "1 change applied to the book.",
        "u takes all of it back, as undo does in the book.",
        "Esc goes back.",
        "Left out:",
        "  The Door: It needs a part.",
    ]
