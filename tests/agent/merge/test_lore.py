"""Lore, notes and summaries in a review: sets by what each side did, what stands on something else, what goes along."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marginalia_tui.agent.merge.fields import merge_sets
from marginalia_tui.agent.merge.model import FieldType, Picks, value_words
from marginalia_tui.domain.errors import Refused
from marginalia_tui.domain.items import Annotation, Book, Entry, Item, Lorebook, Part, Summary
from marginalia_tui.store.space import WritableSpace
from marginalia_tui.store.spaces import copy_book
from marginalia_tui.store.store import Store
from tests.agent.merge.desk import Desk, Hand, chain


def lore_desk(store: Store) -> Desk:
    """A book with a lorebook of one entry, a note and a summary."""
    desk = Desk(store, chain("a", "b"))
    desk.author.change("lore", lambda space: _put(space, desk.book))
    with store.write(desk.act("copy")) as tx:
        desk.space = copy_book(tx, desk.book)
    desk.agent = Hand(store, desk.space, desk.book, "agent")
    return desk


def _put(space: WritableSpace, book: str) -> None:
    space.put(
        [
            Lorebook(uuid="lore", name="The harbour", tags=("sea", "night"), created=1),
            Entry(uuid="lamp", lorebook="lore", name="The lamp", text="It burns oil.", created=2),
            replace(space.get(Book, book), lorebook="lore"),
            Annotation(
                uuid="note", book=book, part="a", text="Which?", quote="Text", start=0, end=4, basis="Text of a."
            ),
            Summary(uuid="short", book=book, part="b", text="Two parts.", covered="00"),
        ]
    )


def write(hand: Hand, *items: Item) -> None:
    hand.change("write", lambda space: _put_items(space, items))


def _put_items(space: WritableSpace, items: tuple[Item, ...]) -> None:
    space.put(items)


def lorebook(hand: Hand) -> Lorebook:
    with hand.store.read() as tx:
        return tx.space(hand.space).get(Lorebook, "lore")


LINES = st.sets(st.sampled_from("abcdef"))


@given(LINES, LINES, LINES)
def test_sets_are_merged_by_what_each_side_put_in_and_took_out(base: set[str], agent: set[str], book: set[str]) -> None:
    merged = set(merge_sets("\n".join(base), "\n".join(agent), "\n".join(book)).splitlines())
    for each in set("abcdef"):
        if (each in base) == (each in agent):
            assert (each in merged) == (each in book)  # the agent left it alone
        else:
            assert (each in merged) == (each in agent)


def test_tags_of_both_sides_are_no_conflict(store: Store) -> None:
    desk = lore_desk(store)
    write(desk.agent, replace(lorebook(desk.agent), tags=("sea", "storm")))
    write(desk.author, replace(lorebook(desk.author), tags=("sea", "night", "port")))
    item = desk.item("lorebook:lore")
    assert item.title == "The harbour"
    [field] = item.fields
    assert (field.type, field.conflict, field.proposal) == (FieldType.SET, False, "port\nsea\nstorm")
    assert (field.base, field.agent, field.book) == ("night\nsea", "sea\nstorm", "night\nport\nsea")
    desk.apply_all()
    assert lorebook(desk.author).tags == ("port", "sea", "storm")


def test_a_set_can_be_written_by_the_author(store: Store) -> None:
    desk = lore_desk(store)
    write(desk.agent, replace(lorebook(desk.agent), tags=()))
    desk.apply(Picks(items={"lorebook:lore": None}, texts={("lorebook:lore", "tags"): " calm\n\nsea \n"}))
    assert lorebook(desk.author).tags == ("calm", "sea")


def test_flags_and_prompts_are_fields_like_others(store: Store) -> None:
    desk = lore_desk(store)
    write(desk.agent, replace(lorebook(desk.agent), enabled=False))
    desk.agent.set_book(prompts={"master": "You are calm.", "turn": "Go on."})
    desk.author.set_book(prompts={"turn": "Write."})
    assert [(each.name, each.agent, each.conflict) for each in desk.item("lorebook:lore").fields] == [
        ("enabled", 0, False)
    ]
    fields = {each.name: (each.label, each.conflict) for each in desk.item(f"book:{desk.book}").fields}
    assert fields == {"prompts.master": ("prompt master", False), "prompts.turn": ("prompt turn", True)}
    desk.apply_all("book")
    assert desk.author.read_book().prompts == {"master": "You are calm.", "turn": "Write."}
    assert not lorebook(desk.author).enabled


def test_flags_and_lorebooks_below_are_told_in_words(store: Store) -> None:
    desk = lore_desk(store)
    write(desk.agent, Lorebook(uuid="deep", name="The deep", created=5))
    write(desk.agent, replace(lorebook(desk.agent), subbooks=("deep",), enabled=False))
    plan = desk.plan()
    item = plan.item("lorebook:lore")
    assert item is not None
    assert [
        (each.label, value_words(plan.names, each, each.book), value_words(plan.names, each, each.agent))
        for each in item.fields
    ] == [("enabled", "yes", "no"), ("lorebooks below", "", "The deep")]


def test_an_entry_of_a_new_lorebook_needs_it(store: Store) -> None:
    desk = lore_desk(store)
    new = Lorebook(uuid="deep", name="The deep", created=5)
    write(desk.agent, new, replace(lorebook(desk.agent), subbooks=("deep",)))
    write(desk.agent, Entry(uuid="kraken", lorebook="deep", name="Kraken", text="Old.", created=6))
    assert desk.item("entry:kraken").depends_on == ("lorebook:deep",)
    assert desk.item("entry:kraken").title == "Kraken"
    alone = desk.apply(Picks(items={"entry:kraken": None}))
    assert alone.applied == () and "The deep" in alone.skipped[0].reason
    assert set(desk.apply_all().applied) == {"lorebook:deep", "entry:kraken", "lorebook:lore"}


def test_what_stands_on_something_that_is_gone_is_a_problem(store: Store) -> None:
    desk = lore_desk(store)
    write(desk.agent, Entry(uuid="kraken", lorebook="lore", name="Kraken", created=6))
    write(desk.agent, Annotation(uuid="why", book=desk.book, part="b", text="Why so?", created=7))
    desk.author.set_book(lorebook=None)
    desk.author.change("delete", lambda space: _delete(space))
    assert "lorebook" in (desk.item("entry:kraken").problem or "")
    assert "part" in (desk.item("annotation:why").problem or "")
    assert desk.item("annotation:why").title == "Why so?"
    assert desk.apply_all().applied == ()


def _delete(space: WritableSpace) -> None:
    space.delete(Lorebook, ["lore"])
    space.delete(Part, ["b"])


def test_a_note_on_a_new_part_needs_the_part(store: Store) -> None:
    desk = lore_desk(store)
    desk.agent.create("c", "b")
    write(desk.agent, Annotation(uuid="why", book=desk.book, part="c", text="Why?", created=7))
    assert desk.item("annotation:why").depends_on == ("part:c",)
    desk.apply_all()
    with store.read() as tx:
        assert tx.space(1).get(Annotation, "why").part == "c"


def test_where_a_passage_stands_goes_with_the_passage(store: Store) -> None:
    desk = lore_desk(store)
    with store.read() as tx:
        note = tx.space(desk.space).get(Annotation, "note")
    write(desk.agent, replace(note, quote="of", start=5, end=7))
    assert [each.name for each in desk.item("annotation:note").fields] == ["quote"]
    desk.apply_all()
    with store.read() as tx:
        assert tx.space(1).get(Annotation, "note") == replace(note, quote="of", start=5, end=7)


def test_a_summary_that_was_only_validated_is_shown(store: Store) -> None:
    desk = lore_desk(store)
    with store.read() as tx:
        summary = tx.space(desk.space).get(Summary, "short")
    write(desk.agent, replace(summary, covered="11"))
    item = desk.item("summary:short")
    assert ([each.name for each in item.fields], item.title) == (["covered"], "Two parts.")
    desk.apply_all()
    with store.read() as tx:
        assert tx.space(1).get(Summary, "short").covered == "11"


def test_a_part_that_is_deleted_takes_what_the_author_noted_on_it(store: Store) -> None:
    desk = lore_desk(store)
    desk.agent.delete("b")
    write(desk.author, Annotation(uuid="late", book=desk.book, part="b", text="Keep this?", created=9))
    assert "part:b" in desk.apply_all().applied
    with store.read() as tx:
        assert tx.space(1).find(Annotation, "late") is None


def test_half_of_a_turned_order_of_lorebooks_closes_no_circle(store: Store) -> None:
    """What stood above another lorebook stands below it: both changes or none, and the whole is no circle."""
    desk = Desk(store, chain("a"))
    above, below = (Lorebook(uuid=name, name=name, created=1) for name in ("above", "below"))
    write(desk.author, replace(above, subbooks=("below",)), below, replace(desk.author.read_book(), lorebook="above"))
    desk.start_again()
    write(desk.agent, above, replace(below, subbooks=("above",)))
    before = desk.journal_length()
    with pytest.raises(Refused, match="'below' would stand below itself"):
        desk.pick("lorebook:below")
    assert desk.journal_length() == before
    assert len(desk.apply_all().applied) == 2
