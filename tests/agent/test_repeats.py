"""Going in circles, read off the rows of a transcript."""

import itertools
from collections.abc import Collection, Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from marginalia_tui.agent.repeats import CIRCLES, CIRCLES_STOP, Notice, is_told, judge, wants_words
from marginalia_tui.agent.transcript import Entry
from marginalia_tui.domain.chat import Call, Message

Made = tuple[str, str, str]
"""Name, arguments, result of the one call of a round."""


def _row(message: Message, notice: str | None = None) -> Entry:
    return Entry("", 0, message, notice, 0.0, 0)


def _rows(rounds: Sequence[Made]) -> list[Entry]:
    rows = [_row(Message(role="user", text="Go."))]
    for number, (name, arguments, result) in enumerate(rounds):
        call = Call(f"c{number}", name, arguments)
        rows.append(_row(Message(role="assistant", calls=(call,))))
        rows.append(_row(Message(role="tool", text=result, call_id=call.id)))
    return rows


def _said(rounds: Sequence[Made], changed: Collection[int] = ()) -> list[Notice | None]:
    """What is said after each round; those of `changed` wrote something."""
    ids = {f"c{number}" for number in changed}
    return [judge(_rows(rounds[: n + 1]), lambda calls: ids & set(calls)) for n in range(len(rounds))]


READ = ("get-part", '{"part": "h:m1"}', "One.")
OTHER = ("get-part", '{"part": "h:m2"}', "Two.")


def test_f01_the_third_is_told_and_the_fifth_is_the_last() -> None:
    assert _said([READ] * 5) == [None, None, CIRCLES, None, CIRCLES_STOP]


def test_f01_two_rounds_in_turn_are_a_circle() -> None:
    assert _said([READ, OTHER] * 5)[-2:] == [CIRCLES_STOP, CIRCLES_STOP]


def test_f01_the_order_of_keys_and_blanks_are_no_difference() -> None:
    texts = ('{"a": 1, "b": 2}', '{"b":2,"a":1}', ' {"a":1,"b":2}')
    assert _said([("x", text, "ok") for text in texts])[-1] == CIRCLES


def test_f02_other_arguments_or_other_results_are_progress() -> None:
    assert _said([("get-part", f'{{"offset": {n}}}', "ok") for n in range(8)]) == [None] * 8
    assert _said([("get-part", "{}", f"{n}") for n in range(8)]) == [None] * 8


def test_f02_a_round_that_changed_the_copy_begins_the_count_anew() -> None:
    edit = ("append-to-part", '{"text": "+"}', "ok")
    assert _said([READ, READ, edit, READ, READ], changed=[2]) == [None] * 5
    assert _said([edit] * 6, changed=range(6)) == [None] * 6


def test_f03_a_write_that_changed_nothing_is_no_progress() -> None:
    assert _said([("edit-part", "{}", "unchanged")] * 5)[-1] == CIRCLES_STOP


def test_what_the_author_says_begins_the_count_anew() -> None:
    rows = [*_rows([READ] * 4), _row(Message(role="user", text="Go on.")), *_rows([READ])[1:]]
    assert judge(rows, lambda calls: ()) is None
    noticed = [*_rows([READ] * 4), _row(Message(role="user", text="Hm."), CIRCLES), *_rows([READ])[1:]]
    assert judge(noticed, lambda calls: ()) == CIRCLES_STOP


def test_words_are_wanted_until_they_came_or_the_author_spoke() -> None:
    stopped = [*_rows([READ] * 5), _row(Message(role="user", text="Stop."), CIRCLES_STOP)]
    assert wants_words(stopped)
    assert not is_told(stopped)
    answered = [*stopped, _row(Message(role="assistant", text="I am stuck."))]
    assert is_told(answered)
    assert not wants_words(answered)
    spoken = [*stopped, _row(Message(role="user", text="Part 2."))]
    assert not wants_words(spoken)
    assert not is_told([*spoken, _row(Message(role="assistant", text="Yes."))])
    assert not is_told([])


@settings(max_examples=50)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=24))
def test_a_notice_says_what_counting_says(names: list[int]) -> None:
    rounds = [("read", str(name), "same") for name in names]
    said = judge(_rows(rounds), lambda calls: ())
    alike = sum(name == names[-1] for name in itertools.islice(reversed(names), 15))
    assert said == (CIRCLES_STOP if alike >= 5 else CIRCLES if alike == 3 else None)
