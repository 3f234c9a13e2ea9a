"""Blocks of summaries against a slow reference that knows only the rules, over arbitrary books, metas and edits."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from hypothesis import given
from hypothesis import strategies as st

from marginalia_tui.domain.summaries import BookSummaries, SummaryRow, hash_covered, newly_outdated


def text(word: str) -> bytes | None:
    return word.encode() or None


@dataclass
class Shelf:
    """A book that is told in words: parts with their texts, summaries by name."""

    parents: dict[str, str | None] = field(default_factory=dict)
    words: dict[str, str] = field(default_factory=dict)
    rows: dict[str, SummaryRow] = field(default_factory=dict)
    covered: dict[str, list[object]] = field(default_factory=dict)
    """Summary -> the texts that it covered when it was written, kept for the reference."""

    def chain(self, *parts: str, after: str | None = None) -> None:
        for part in parts:
            self.parents[part], self.words[part] = after, f"text of {part}"
            after = part

    def look(self) -> BookSummaries:
        return BookSummaries(self.parents, {part: text(word) for part, word in self.words.items()}, self.rows.values())

    def summarise(self, uuid: str, part: str, *, meta: bool = False, until: str | None = None) -> None:
        """Writes a summary as it is right now; a meta one goes over the one of its part."""
        if meta:
            replaced = self.look().heads[part]
            self.rows[replaced] = replace(self.rows[replaced], under=uuid)
        self.rows[uuid] = SummaryRow(
            uuid, part, text(f"words of {uuid}"), until=until, meta=meta, created=len(self.rows)
        )
        self.rows[uuid] = replace(self.rows[uuid], covered=self.look().block(uuid).covered)
        self.covered[uuid] = reference_texts(self, uuid)


def book(*parts: str) -> Shelf:
    shelf = Shelf()
    shelf.chain(*parts)
    return shelf


def shown(shelf: Shelf, leaf: str) -> list[tuple[str, str, str, bool]]:
    return [(b.summary, " ".join(b.parts), " ".join(b.taken_in), b.valid) for b in shelf.look().branch(leaf)]


def test_a_block_reaches_back_to_the_summary_before() -> None:
    shelf = book(*"abcdef")
    assert shown(shelf, "f") == [] and shelf.look().branch(None) == []
    shelf.summarise("S", "b")
    shelf.summarise("T", "e")
    assert shown(shelf, "f") == [("S", "a b", "", True), ("T", "c d e", "", True)]
    assert shelf.look().standing == ("T", "S")
    assert shelf.look().position("e") == 5 and shelf.look().head_above("b") is None


def test_an_edit_outdates_the_block_that_has_the_part_and_the_old_words_bring_it_back() -> None:
    shelf = book(*"abcd")
    shelf.summarise("S", "b")
    shelf.summarise("T", "d")
    before = shelf.look()
    shelf.words["b"] = "other"
    assert [block.summary for block in newly_outdated(before, shelf.look())] == ["S"]
    assert [block.summary for block in shelf.look().outdated()] == ["S"]
    outdated = shelf.look()
    shelf.words["a"] = "other"
    assert newly_outdated(outdated, shelf.look()) == []
    shelf.words.update(a="text of a", b="text of b")
    assert shelf.look().outdated() == []
    assert newly_outdated(None, before) == newly_outdated(before, None) == []


def test_a_new_summary_inside_a_block_takes_parts_from_it() -> None:
    shelf = book(*"abcd")
    shelf.summarise("T", "d")
    before = shelf.look()
    shelf.summarise("S", "b")
    assert shown(shelf, "d") == [("S", "a b", "", True), ("T", "c d", "", False)]
    assert [block.summary for block in newly_outdated(before, shelf.look())] == ["T"]


def test_a_meta_summary_takes_in_those_up_to_until() -> None:
    shelf = book(*"abcdefgh")
    for name, part in (("S", "b"), ("T", "d"), ("U", "f")):
        shelf.summarise(name, part)
    shelf.summarise("M", "f", meta=True, until="S")
    assert shown(shelf, "h") == [("S", "a b", "", True), ("M", "c d e f", "T U", True)]
    look = shelf.look()
    assert look.inner == {"T": "M", "U": "M"} and look.taken_by("d") == "M" and look.taken_by("f") is None
    assert look.block("U").parts == ("e", "f") and look.older("U") == "T"
    # The summaries that it took in count as much as the parts.
    shelf.rows["T"] = replace(shelf.rows["T"], text=b"others")
    assert [block.summary for block in newly_outdated(look, shelf.look())] == ["M"]
    # Its own words do not.
    shelf.rows["T"] = look.rows["T"]
    shelf.rows["M"] = replace(shelf.rows["M"], text=b"others")
    assert shelf.look().outdated() == []


def test_until_is_followed_to_what_was_put_over_it_and_a_lost_one_lets_it_reach_the_first_part() -> None:
    shelf = book(*"abcdef")
    for name, part in (("R", "a"), ("S", "b"), ("T", "d"), ("U", "f")):
        shelf.summarise(name, part)
    shelf.summarise("M", "f", meta=True, until="S")
    shelf.summarise("N", "b", meta=True)
    shelf.summarise("O", "b", meta=True)
    assert shown(shelf, "f") == [("O", "a b", "R N", True), ("M", "c d e f", "T U", True)]
    assert shelf.look().top("S") == "O" and shelf.look().top("gone") is None
    for name in "SNO":
        del shelf.rows[name]
    assert shown(shelf, "f") == [("M", "a b c d e f", "R T U", False)]


def test_a_branch_that_leaves_inside_a_meta_summary_has_the_older_ones() -> None:
    shelf = book(*"abcd")
    shelf.chain("x", "y", after="b")
    shelf.summarise("S", "b")
    shelf.summarise("T", "d")
    shelf.summarise("M", "d", meta=True)
    assert shown(shelf, "d") == [("M", "a b c d", "S T", True)]
    assert shown(shelf, "y") == [("S", "a b", "", True)]
    assert sorted(shelf.look().standing) == ["M", "S"]


def test_what_can_not_be_is_borne() -> None:
    """Two summaries that show on one part, circles of `under`: a merge or a damaged file could leave them."""
    shelf = book(*"ab")
    shelf.rows = {
        "S": SummaryRow("S", "b", b"1", created=1),
        "T": SummaryRow("T", "b", b"2", created=2),
        "C": SummaryRow("C", "a", b"3", under="D"),
        "D": SummaryRow("D", "a", b"4", under="C"),
        "E": SummaryRow("E", "b", b"5", under="C", meta=True, until="C"),
    }
    look = shelf.look()
    assert look.heads == {"b": "T"} and look.top("C") is None
    assert look.branch("b")[0].parts == ("a", "b")
    assert [row.uuid for row in look.on("b")] == ["E", "S", "T"]


# Against a reference


def reference_parts(shelf: Shelf, uuid: str) -> tuple[list[str], list[str]]:
    """The parts of a block in reading order and what it took in, straight from the rules."""
    row = shelf.rows[uuid]
    way = []
    here: str | None = row.part
    while here is not None:
        way.append(here)
        here = shelf.parents[here]
    visible = {each.part: each.uuid for each in shelf.rows.values() if each.under is None}
    stop = row.until
    while stop is not None and stop in shelf.rows and shelf.rows[stop].under is not None:
        stop = shelf.rows[stop].under
    parts, taken = [way[0]], []
    for part in way[1:]:
        if part in visible and (not row.meta or visible[part] == stop):
            break
        if part in visible:
            taken.append(visible[part])
        parts.append(part)
    under = [each.uuid for each in shelf.rows.values() if each.under == uuid]
    return parts[::-1], taken[::-1] + under


def reference_texts(shelf: Shelf, uuid: str) -> list[object]:
    parts, taken = reference_parts(shelf, uuid)
    return [[shelf.words[part] for part in parts], [shelf.rows[each].text for each in taken]]


def reference_standing(shelf: Shelf) -> set[str]:
    visible = {each.part: each.uuid for each in shelf.rows.values() if each.under is None}
    found = set()
    for leaf in set(shelf.parents) - set(shelf.parents.values()):
        here: str | None = leaf
        while here is not None:
            if here in visible:
                found.add(visible[here])
                here = reference_parts(shelf, visible[here])[0][0]
            here = shelf.parents[here]
    return found


Acts = Sequence[tuple[str, int, int]]
ACTS = st.lists(
    st.tuples(
        st.sampled_from(["part", "swipe", "insert", "edit", "back", "summary", "meta", "unwind", "drop", "rewrite"]),
        st.integers(0, 30),
        st.integers(0, 30),
    ),
    max_size=40,
)


def play(shelf: Shelf, step: int, what: str, one: int, two: int) -> None:
    """One act on a book; what does not fit is left out."""
    parts = list(shelf.parents)
    part = parts[one % len(parts)]
    name = f"n{step}"
    look = shelf.look()
    standing = look.standing
    if what == "part":
        shelf.chain(name, after=parts[-1])
    elif what == "swipe":
        shelf.chain(name, after=shelf.parents[part])
    elif what == "insert":
        shelf.parents.update({each: name for each, above in shelf.parents.items() if above == part})
        shelf.chain(name, after=part)
    elif what == "edit":
        shelf.words[part] = f"words {two % 3}" if two % 3 else ""
    elif what == "back":
        shelf.words[part] = f"text of {part}"
    elif what == "summary" and part not in look.heads:
        shelf.summarise(name, part)
    elif what == "meta" and part in look.heads:
        older = [None, *(b.summary for b in look.branch(shelf.parents[part]))]
        shelf.summarise(name, part, meta=True, until=older[two % len(older)])
    elif standing:
        head = standing[one % len(standing)]
        if what == "rewrite":
            shelf.rows[head] = replace(shelf.rows[head], text=f"again {two}".encode())
        elif what == "unwind" and head in look.kept:
            del shelf.rows[head]
            kept = look.kept[head]
            shelf.rows[kept] = replace(shelf.rows[kept], under=None)
        elif what == "drop" and head not in look.kept:
            del shelf.rows[head]


@given(ACTS)
def test_blocks_and_validity_equal_a_recount(acts: Acts) -> None:
    shelf = book("a", "b")
    for step, act in enumerate(acts):
        before = shelf.look()
        was_valid = {uuid for uuid in before.rows if before.block(uuid).valid}
        play(shelf, step, *act)
        look = shelf.look()
        assert set(look.standing) == reference_standing(shelf)
        outdated = set()
        for uuid in shelf.rows:
            parts, taken = reference_parts(shelf, uuid)
            block = look.block(uuid)
            assert (list(block.parts), list(block.taken_in)) == (parts, taken)
            valid = shelf.covered[uuid] == reference_texts(shelf, uuid)
            assert block.valid == valid
            if not valid and uuid in was_valid and uuid in look.standing:
                outdated.add(uuid)
        assert {block.summary for block in newly_outdated(before, look)} == outdated


def test_what_is_covered_is_told_apart() -> None:
    one, two = b"1" * 20, b"2" * 20
    kinds: list[tuple[list[bytes | None], list[bytes | None]]]
    kinds = [([one, two], []), ([two, one], []), ([one], [two]), ([one, None], []), ([one], []), ([], [one]), ([], [])]
    assert len({hash_covered(parts, taken) for parts, taken in kinds}) == len(kinds)
