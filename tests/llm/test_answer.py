import pytest

from marginalia_tui.domain.chat import (
    Answer,
    Call,
    CallArguments,
    CallStarted,
    Finished,
    ReasoningDelta,
    StreamEvent,
    TextDelta,
    Usage,
    UsageReported,
)
from marginalia_tui.llm.answer import Accumulator, broken_calls, is_cut


def gather(*events: StreamEvent, cap: int = 0) -> Answer:
    gathered = Accumulator(cap)
    for event in events:
        gathered.add(event)
    return gathered.answer()


def test_times_count_from_the_last_try() -> None:
    now = [10.0]
    gathered = Accumulator(clock=lambda: now[0])
    now[0] = 20.0
    gathered.restart()
    now[0] = 21.0
    gathered.add(TextDelta("x"))
    now[0] = 24.0
    gathered.add(Finished("stop"))
    assert (gathered.answer().first_token, gathered.answer().seconds) == (1.0, 4.0)


def test_what_has_come_can_be_asked_at_any_moment() -> None:
    gathered = Accumulator()
    assert (gathered.begun, gathered.answer().complete) == (False, False)
    gathered.add(ReasoningDelta("hm", "reasoning"))
    assert (gathered.begun, gathered.answer().reasoning_field) == (True, "reasoning")


def test_f31_calls_decide_against_stop() -> None:
    answer = gather(CallStarted(0, "x", "f"), CallArguments(0, "{}"), Finished("stop"))
    assert (answer.finish, answer.calls) == ("calls", (Call("x", "f", "{}"),))


def test_usage_is_the_servers_last_word() -> None:
    answer = gather(UsageReported(Usage(1, 0)), TextDelta("x"), UsageReported(Usage(1, 2)), Finished("stop"))
    assert (answer.usage, answer.usage_estimated) == (Usage(1, 2), False)


WHOLE, BROKEN, BLANK = Call("a", "f", '{"a": 1}'), Call("b", "f", '{"a": '), Call("c", "f", "")


@pytest.mark.parametrize(
    ("calls", "finish", "complete", "broken"),
    [
        ((WHOLE, BLANK), "calls", True, ()),
        ((WHOLE, BROKEN), "calls", True, (BROKEN,)),
        ((WHOLE, BROKEN), "length", True, (BROKEN,)),
        ((BLANK, WHOLE), "length", True, ()),
        ((WHOLE, BLANK), "length", True, (BLANK,)),
        ((WHOLE, BLANK), "other", False, (BLANK,)),
    ],
)
def test_f05_what_was_cut_may_not_be_carried_out(
    calls: tuple[Call, ...], finish: str, complete: bool, broken: tuple[Call, ...]
) -> None:
    answer = Answer(text="", calls=calls, finish=finish, complete=complete)  # type: ignore[arg-type]
    assert broken_calls(answer) == broken
    assert is_cut(answer) == (finish != "calls")


def test_f05_a_blank_call_at_the_limit_was_cut() -> None:
    events = (CallStarted(0, "x", "f"), UsageReported(Usage(9, 22)), Finished("calls"))
    assert gather(*events, cap=22).finish == "length"
    assert gather(*events, cap=23).finish == "calls"
