"""The tree of a book: branches, swipes, places; by a plain walk for any tree."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marginalia_tui.domain.errors import NotFound
from marginalia_tui.domain.tree import PartRow, StoryTree


def row(uuid: str, parent: str | None, created: int) -> PartRow:
    return PartRow(uuid, parent, created, title=uuid, words=1, chars=1, hash=b"")


#   a - b - c
#       \\ d - e        (d is the newer swipe of c)
#   f                   (a swipe of a, newest of all)
ROWS = [
    row("a", None, 1),
    row("b", "a", 2),
    row("c", "b", 3),
    row("d", "b", 4),
    row("e", "d", 5),
    row("f", None, 6),
]


def test_the_active_branch_is_read_from_its_leaf() -> None:
    tree = StoryTree(ROWS, "c")
    assert tree.active == ["a", "b", "c"]
    assert tree.branch("e") == ["a", "b", "d", "e"]
    assert tree.positions == {"a": 1, "b": 2, "c": 3}
    assert tree.position("e") == 4


def test_swipes_are_the_siblings_oldest_first() -> None:
    tree = StoryTree(ROWS)
    assert tree.swipes("d") == ["c", "d"]
    assert tree.swipes("a") == ["a", "f"]
    assert tree.children("b") == ["c", "d"]
    assert list(tree.children("c")) == []


def test_branches_are_numbered_by_the_age_of_their_leaf() -> None:
    tree = StoryTree(ROWS)
    assert tree.leaves == ["c", "e", "f"]
    assert [tree.branch_number(leaf) for leaf in ("c", "e", "f")] == [1, 2, 3]


def test_a_leaf_that_is_gone_gives_the_newest() -> None:
    assert StoryTree(ROWS, "gone").active == ["f"]
    assert StoryTree(ROWS, None).active == ["f"]
    assert StoryTree([], "gone").active == []
    assert StoryTree([], None).active_leaf is None


def test_an_active_part_that_got_followers_is_followed_to_its_newest_end() -> None:
    assert StoryTree(ROWS, "b").active == ["a", "b", "d", "e"]


def test_the_branch_that_shows_a_part_is_the_active_one_if_it_can() -> None:
    tree = StoryTree(ROWS, "c")
    assert tree.branch_showing("b") == "c"
    assert tree.branch_showing("d") == "e"


def test_a_part_is_not_its_own_ancestor() -> None:
    tree = StoryTree(ROWS)
    assert tree.is_ancestor("a", "e")
    assert not tree.is_ancestor("e", "a")
    assert not tree.is_ancestor("e", "e")
    assert not tree.is_ancestor("c", "e")


def test_a_part_of_another_book_is_not_found() -> None:
    tree = StoryTree(ROWS)
    for look in (tree.row, tree.swipes, tree.position, tree.branch_showing):
        with pytest.raises(NotFound, match="list-parts"):
            look("elsewhere")


def test_the_order_of_the_rows_does_not_matter() -> None:
    assert StoryTree(reversed(ROWS), "c").leaves == StoryTree(ROWS, "c").leaves


def test_of_two_of_one_moment_the_uuid_decides() -> None:
    rows = [row("root", None, 1), row("y", "root", 2), row("x", "root", 2)]
    assert StoryTree(rows).swipes("x") == ["x", "y"]


trees = st.lists(st.integers(0, 1_000), min_size=1, max_size=40).map(
    lambda picks: [
        row(f"p{place:02}", f"p{pick % place:02}" if place and pick % 5 else None, place)
        for place, pick in enumerate(picks)
    ]
)


@given(rows=trees, pick=st.integers(0, 1_000))
def test_every_branch_is_a_way_from_a_root_to_a_leaf(rows: list[PartRow], pick: int) -> None:
    parents = {each.uuid: each.parent for each in rows}
    tree = StoryTree(rows, rows[pick % len(rows)].uuid)
    assert set(tree.leaves) == set(parents) - set(parents.values())
    assert rows[pick % len(rows)].uuid in tree.active
    for leaf in tree.leaves:
        branch = tree.branch(leaf)
        assert parents[branch[0]] is None
        assert branch[-1] == leaf
        assert all(parents[child] == part for part, child in zip(branch, branch[1:], strict=False))
        assert [tree.position(part) for part in branch] == list(range(1, len(branch) + 1))
        for part in branch[:-1]:
            assert tree.is_ancestor(part, leaf)
    for part in parents:
        assert part in tree.branch(tree.branch_showing(part))
        assert part in tree.swipes(part)


def test_a_chain_of_20000_parts_needs_no_recursion() -> None:
    length = 20_000
    rows = [row(f"p{place}", f"p{place - 1}" if place else None, place) for place in range(length)]
    tree = StoryTree(rows)
    assert len(tree.active) == length
    assert tree.leaf_below("p0") == f"p{length - 1}"
    assert tree.is_ancestor("p0", f"p{length - 1}")
    assert tree.position(f"p{length - 1}") == length
