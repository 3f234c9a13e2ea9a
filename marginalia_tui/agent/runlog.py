"""What the log tells of runs: who did what when, and how much of it; never a word of the story.

Everything is named by the uuid of its run. Arguments, results, messages, reasons and reports are told by their
length, and a name that a model made up is not told at all.
"""

import logging
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from marginalia_tui.agent.setup import RunSetup
from marginalia_tui.domain.chat import Usage

if TYPE_CHECKING:
    from marginalia_tui.agent.limits import Limits

log = logging.getLogger(__name__)

MADE_UP = "(a tool that is not there)"


def started(run: str, agent: str, *, interactive: bool) -> None:
    """A run was started."""
    log.info("run %s: started, agent %s%s", run, agent, ", asks first" if interactive else "")


def taken_up(run: str, status: str) -> None:
    """A run that was not worked is worked again."""
    log.info("run %s: taken up, was %s", run, status)


def begins(run: str, setup: RunSetup, limits: "Limits") -> None:
    """A worker begins: its model and its limits, of which 0 is none."""
    agent, model = setup.agent, setup.model
    log.info(
        "run %s: a worker begins, model %s, context %d, answer %d, rounds %d, tokens %d, money %g, minutes %g, "
        "batch %s, destructive %s",
        run,
        model.name,
        limits.context,
        model.max_output,
        limits.rounds,
        limits.tokens,
        limits.money,
        limits.minutes,
        agent.batch,
        agent.destructive,
    )


def answered(run: str, number: int, usage: Usage, cap: int, seconds: float, calls: str) -> None:
    """A round: its tokens, the context against its cap (0: not known), the calls."""
    log.info(
        "run %s: round %d, %d + %d tokens, %d cached, context %d of %d, %.1f s, calls: %s",
        run,
        number,
        usage.prompt,
        usage.completion,
        usage.cached,
        usage.context,
        cap,
        seconds,
        calls or "none",
    )


def called(run: str, name: str, seconds: float, length: int, *, ok: bool) -> None:
    """A call was answered."""
    log.info("run %s: %s %s in %.3f s, %d characters", run, name, "done" if ok else "failed", seconds, length)


def changed(run: str, before: str, after: str) -> None:
    """A status changed."""
    log.info("run %s: %s -> %s", run, before, after)


def said(run: str, kind: str, length: int) -> None:
    """Something of the author came into the queue of a run."""
    log.info("run %s: %s, %d characters", run, "a command" if kind == "command" else "a message", length)


def asked(run: str, call: str, command: str) -> None:
    """A call waits for the author."""
    log.info("run %s: %s (%s) waits for approval", run, call, command)


def decided(run: str, call: str, command: str, decision: str) -> None:
    """The author decided a call."""
    log.info("run %s: %s (%s): %s", run, call, command, decision)


def known(name: str, tools: Collection[str]) -> str:
    """The name of a call as the log may have it."""
    return name if name in tools or name.replace("_", "-") in tools else MADE_UP


def names(calls: Iterable[str], tools: Collection[str]) -> str:
    """The names of calls."""
    return ", ".join(known(name, tools) for name in calls)
