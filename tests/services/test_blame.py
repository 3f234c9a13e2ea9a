import time

from marginalia_tui.services import blame
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.spaces import drop_space
from marginalia_tui.store.store import Store
from tests.services.histories import Hands


def told(hands: Hands, space: int = LIBRARY) -> list[tuple[str, str, str | None]]:
    """The stretches of the text: what it says, who wrote it, in which call."""
    with hands.store.read() as tx:
        (found,) = blame.histories(tx.space(space), [hands.part])
    text = found.text
    return [
        (text[each.start : each.end], each.owner.act.who, each.owner.act.call or each.owner.act.run)
        for each in found.stretches()
    ]


def run_of_two_calls(hands: Hands) -> int:
    copy = hands.start("r1", "Copyeditor")
    hands.call("r1", copy, "c1", "The lamp was lit at dusk. It was red.")
    hands.call("r1", copy, "c2", "The lamp was lit at dusk. It was red. Rain fell.")
    return copy


def test_what_was_applied_is_traced_to_the_calls(store: Store) -> None:
    hands = Hands(store, "The lamp was lit at dusk.")
    run_of_two_calls(hands)
    hands.apply("r1", "The lamp was lit at dusk. It was red. Rain fell.")
    hands.write("The lamp was lit at dusk. It was red. Rain fell. Nobody came.")
    assert told(hands) == [
        ("The lamp was lit at dusk.", "author", None),
        (" It was red.", "Copyeditor", "c1"),
        (" Rain fell.", "Copyeditor", "c2"),
        (" Nobody came.", "author", None),
    ]


def test_what_the_author_wrote_into_an_apply_is_the_runs(store: Store) -> None:
    hands = Hands(store, "The lamp was lit at dusk.")
    run_of_two_calls(hands)
    hands.apply("r1", "The lamp was lit at dusk. It was red. Rain fell.\n\nNobody saw it burn.")
    assert told(hands) == [
        ("The lamp was lit at dusk.", "author", None),
        (" It was red.", "Copyeditor", "c1"),
        (" Rain fell.", "Copyeditor", "c2"),
        ("\n\nNobody saw it burn.", "Copyeditor", "r1"),
    ]


def test_the_journal_of_a_dropped_copy_still_tells_the_calls_and_without_it_the_run_is_told(store: Store) -> None:
    hands = Hands(store, "The lamp was lit at dusk.")
    copy = run_of_two_calls(hands)
    hands.apply("r1", "The lamp was lit at dusk. It was red. Rain fell.")
    with store.write(Act(actor="studio", label="drop a copy")) as tx:
        drop_space(tx, copy, keep_journal=True)
    assert [call for _, _, call in told(hands)] == [None, "c1", "c2"]
    with store.write(Act(actor="studio", label="drop a copy")) as tx:
        drop_space(tx, copy)
    assert told(hands)[1:] == [(" It was red. Rain fell.", "Copyeditor", "r1")]


def test_the_stretches_of_a_copy_tell_the_author_from_the_agent(store: Store) -> None:
    hands = Hands(store, "The lamp was lit at dusk.")
    copy = run_of_two_calls(hands)
    assert [(who, call) for _, who, call in told(hands, copy)] == [
        ("author", None),
        ("Copyeditor", "c1"),
        ("Copyeditor", "c2"),
    ]


def test_what_a_run_did_after_an_apply_is_not_in_that_apply(store: Store) -> None:
    hands = Hands(store, "The lamp was lit at dusk.")
    copy = run_of_two_calls(hands)
    hands.apply("r1", "The lamp was lit at dusk. It was red. Rain fell.")
    hands.call("r1", copy, "c3", "Everything is another text now.")
    assert [call for _, _, call in told(hands)] == [None, "c1", "c2"]


def test_shares_count_the_words_of_each(store: Store) -> None:
    hands = Hands(store, "The lamp was lit at dusk.", "Four words are here.")
    run_of_two_calls(hands)
    hands.apply("r1", "The lamp was lit at dusk. It was red. Rain fell.")
    with store.read() as tx:
        space = tx.space(LIBRARY)
        words = {row.uuid: row.words for row in space.outline(hands.book)}
        found = blame.histories(space, hands.parts, compared=True)
    shares = blame.ranked(blame.count_words(found, words))
    assert [(each.who, each.kind, each.words) for each in shares] == [
        ("author", "author", 10),
        ("Copyeditor", "agent", 5),
    ]


def test_a_book_of_two_thousand_parts_is_told_within_a_second(store: Store) -> None:
    paragraph = "The lamp stood in the window, and nobody knew who had lit it, or when, or why it was red. "
    hands = Hands(store, *(f"Part {number}. {paragraph * 6}\n\n{paragraph * 6}" for number in range(2_000)))
    for turn in range(2):
        for part in hands.parts[:: 4 + turn]:
            with store.read() as tx:
                text = tx.space(LIBRARY).texts([part])[part]
            hands.write(text.replace("red", "blue", 1) + " And more.", part=part)
    spent = []
    for _ in range(2):
        began = time.process_time()
        counts: dict[tuple[str, str], int] = {}
        with store.read() as tx:
            space = tx.space(LIBRARY)
            words = {row.uuid: row.words for row in space.outline(hands.book)}
            for start in range(0, 2_000, 200):
                found = blame.histories(space, hands.parts[start : start + 200], compared=True)
                for key, number in blame.count_words(found, words).items():
                    counts[key] = counts.get(key, 0) + number
        spent.append(time.process_time() - began)
    assert counts == {("author", "author"): sum(words.values())}
    assert min(spent) < 1
