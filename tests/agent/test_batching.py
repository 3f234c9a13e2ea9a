"""What an answer is cut to."""

from hypothesis import given
from hypothesis import strategies as st

from marginalia_tui.agent.batching import MAX_CALLS, cut_calls
from marginalia_tui.agent.definition import Batch
from marginalia_tui.domain.chat import Call

SINGLES = {"next"}
READERS = {"get-part"}


def _calls(*names: str) -> list[Call]:
    return [Call(str(number), name, f'{{"n": {number}}}') for number, name in enumerate(names)]


def _kept(mode: Batch, *names: str) -> tuple[list[str], str]:
    kept = cut_calls(_calls(*names), mode, SINGLES, READERS)
    return [call.name for call in kept.calls], kept.notice


def test_one_call_in_each_answer() -> None:
    names, notice = _kept("single", "a", "b", "c")
    assert names == ["a"]
    assert "3" in notice
    assert _kept("single", "a") == (["a"], "")


def test_an_answer_ends_before_a_call_that_is_made_alone() -> None:
    names, notice = _kept("batched", "a", "b", "next", "c")
    assert names == ["a", "b"]
    assert "next" in notice
    assert _kept("batched", "next", "a")[0] == ["next"]
    assert _kept("batched", "next") == (["next"], "")
    assert _kept("free", "a", "next", "b") == (["a", "next", "b"], "")


def test_a_repeated_reading_is_made_once_and_a_repeated_change_is_made() -> None:
    twice = [Call("1", "get-part", "{}"), Call("2", "get-part", "{}"), Call("3", "edit", "{}"), Call("4", "edit", "{}")]
    kept = cut_calls(twice, "batched", SINGLES, READERS)
    assert [call.id for call in kept.calls] == ["1", "3", "4"]
    assert kept.notice


@given(
    st.lists(st.sampled_from(["a", "get-part", "next"]), max_size=80), st.sampled_from(["batched", "single", "free"])
)
def test_what_is_kept_is_a_beginning_in_order_and_bounded(names: list[str], mode: Batch) -> None:
    written = _calls(*names)
    kept = cut_calls(written, mode, SINGLES, READERS)
    assert len(kept.calls) <= MAX_CALLS
    assert list(kept.calls) == written[: len(kept.calls)]
    assert bool(kept.notice) == (len(kept.calls) < len(written))
    assert bool(kept.calls) == bool(written)
