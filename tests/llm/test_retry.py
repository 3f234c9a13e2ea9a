import random

import pytest

from marginalia_tui.llm.errors import ModelFault, Reason
from marginalia_tui.llm.retry import RETRIED, Retries, waiting


def fault(reason: Reason, retry_after: float | None = None) -> ModelFault:
    return ModelFault(reason, "x", retry_after=retry_after)


RETRIES = Retries(attempts=5, base=1.0, cap=6.0, dice=random.Random(1))


@pytest.mark.parametrize("reason", [reason for reason in Reason if reason not in RETRIED])
def test_f27_what_would_fail_again_is_not_tried_again(reason: Reason) -> None:
    assert RETRIES.wait(fault(reason), 1) is None


def test_f39_silence_is_not_tried_again() -> None:
    assert Reason.TIMEOUT not in RETRIED


def test_f27_waits_grow_to_a_cap_and_end() -> None:
    waits = [RETRIES.wait(fault(Reason.SERVER), attempt) for attempt in range(1, 6)]
    assert waits[-1] is None
    for wait, middle in zip(waits[:-1], [1, 2, 4, 6], strict=True):
        assert wait is not None
        assert 0.75 * middle <= wait <= 1.25 * middle


def test_the_jitter_is_from_the_dice() -> None:
    one, two = (Retries(dice=random.Random(7)).wait(fault(Reason.SERVER), 1) for _ in range(2))
    assert one == two
    assert one != Retries(dice=random.Random(8)).wait(fault(Reason.SERVER), 1)


def test_f27_what_the_server_asks_is_honoured() -> None:
    wait = RETRIES.wait(fault(Reason.RATE_LIMITED, 30.0), 1)
    assert wait is not None
    assert 30.0 <= wait <= 30.25


def test_f27_days_are_not_waited() -> None:
    assert RETRIES.wait(fault(Reason.RATE_LIMITED, 200_000.0), 1) is None


def test_a_server_that_loads_is_given_longer() -> None:
    assert RETRIES.wait(fault(Reason.LOADING), 30) == RETRIES.loading
    assert RETRIES.wait(fault(Reason.LOADING), RETRIES.loading_attempts) is None


def test_what_is_told_while_waiting() -> None:
    told = waiting(fault(Reason.RATE_LIMITED), 12.3, 2)
    assert told.message == "The server limits how often it is asked: try 2 in 12 s."
    assert (told.reason, told.seconds, told.attempt) == (Reason.RATE_LIMITED, 12.3, 2)
