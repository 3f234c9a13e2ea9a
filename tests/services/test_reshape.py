"""What a move makes of any tree, and what a split keeps of any text."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from marginalia_tui.domain.errors import Invalid
from marginalia_tui.domain.tree import PartRow, StoryTree
from marginalia_tui.services.reshape import halves, new_parents


def without(parents: dict[str, str | None], part: str) -> dict[str, str | None]:
    """The tree from which a part was taken: what followed it follows what it followed."""
    return {each: parents[part] if above == part else above for each, above in parents.items() if each != part}


def parents_of(tree: StoryTree) -> dict[str, str | None]:
    return {uuid: row.parent for uuid, row in tree.rows.items()}


@st.composite
def trees(draw: st.DrawFn) -> StoryTree:
    size = draw(st.integers(2, 9))
    above = [None, *(draw(st.none() | st.integers(0, place - 1)) for place in range(1, size))]
    return StoryTree(
        PartRow(str(place), None if each is None else str(each), place, "", 0, 0, b"")
        for place, each in enumerate(above)
    )


@given(trees(), st.data())
def test_a_part_that_moves_alone_leaves_the_others_as_they_are(tree: StoryTree, data: st.DataObject) -> None:
    part = data.draw(st.sampled_from(list(tree.rows)))
    before = parents_of(tree)
    places = [each for each in (None, *tree.rows) if each not in (part, before[part])]
    after = data.draw(st.sampled_from(places or [part]))
    if after == part:
        return
    now = before | new_parents(tree, part, after)
    rest = without(before, part)
    assert without(now, part) == rest
    assert now[part] == after
    assert {each for each, above in now.items() if above == part} == {
        each for each, above in rest.items() if above == after
    }
    moved = StoryTree(replace(row, parent=now[row.uuid]) for row in tree.rows.values())
    assert {each for leaf in moved.leaves for each in moved.branch(leaf)} == set(tree.rows)


@given(trees(), st.data())
def test_a_part_that_moves_with_all_behind_it_changes_one_place(tree: StoryTree, data: st.DataObject) -> None:
    part = data.draw(st.sampled_from(list(tree.rows)))
    places = [each for each in (None, *tree.rows) if each is None or not (each == part or tree.is_ancestor(part, each))]
    after = data.draw(st.sampled_from(places))
    assert new_parents(tree, part, after, following=True) == {part: after}


@given(st.text(max_size=40), st.integers(0, 40))
def test_halves_lose_no_word(text: str, at: int) -> None:
    try:
        first, second = halves(text, at)
    except Invalid:
        assert not text[:at].strip() or not text[at:].strip()
        return
    assert "".join((first + second).split()) == "".join(text.split())
    assert first and second and first == first.rstrip() and second == second.lstrip()
