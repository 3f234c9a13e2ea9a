"""The signals that end the program: each is raised in the main thread, and makes the exit code."""

import signal


class Interrupted(BaseException):
    """A signal that ends the program: raised in the main thread, exit 128 + its number."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def catch_signals() -> None:
    """Has SIGINT, SIGTERM and SIGHUP raise `Interrupted`."""
    came: set[int] = set()

    def caught(number: int, _frame: object) -> None:
        # A terminal that closes sends its signal twice, which is no reason to leave a run half parked; a person who
        # presses Ctrl+C again has one.
        if number in came and number != signal.SIGINT:
            return
        came.add(number)
        raise Interrupted(number)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, caught)


def signal_behind(fault: BaseException | None) -> int | None:
    """The signal that ended the program: what it was raised in may have wrapped it, as the making of a class does."""
    while fault is not None:
        if isinstance(fault, Interrupted):
            return fault.number
        if isinstance(fault, KeyboardInterrupt):
            return signal.SIGINT
        fault = fault.__cause__
    return None
