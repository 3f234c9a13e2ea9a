"""Commands that steer the run of an agent: the author's alone."""

from collections.abc import Callable
from typing import Annotated

from pydantic import Field

from marginalia_tui.commands.context import Context, Effect
from marginalia_tui.commands.declare import command
from marginalia_tui.commands.definition import Param, Severity
from marginalia_tui.commands.results import Told
from marginalia_tui.commands.steering import Steered, Steering
from marginalia_tui.domain.errors import Refused
from marginalia_tui.store.store import WriteTx

AgentName = Annotated[
    Annotated[str, Field(max_length=200)],
    Param("the name of the agent; without it that of the open book", names="agent"),
]
Words = Annotated[Annotated[str, Field(max_length=40_000)], Param("what to say to it")]
Note = Annotated[Annotated[str, Field(max_length=40_000)], Param("a word for it")]


class RunSteered(Told):
    """What a run was told."""

    run: str
    agent: str
    done: str

    def sentence(self) -> str:
        """Who was told what."""
        return f"{self.agent}: {self.done}"


def _found(ctx: Context, agent: str) -> tuple[Steering, Steered]:
    if ctx.scope.steering is None:
        raise Refused("Runs are not steered from here: use `marginalia run`, or the screens.")
    steering = ctx.scope.steering()
    with ctx.scope.store.read() as tx:
        return steering, steering.find(tx, agent.strip() or None, ctx.scope.book)


def _effect(of: Steered, done: str, act: Callable[[WriteTx], None]) -> Effect[RunSteered]:
    def apply(tx: WriteTx) -> RunSteered:
        act(tx)
        return RunSteered(run=of.run, agent=of.agent, done=done)

    return Effect(apply)


@command(
    "agent-pause",
    title="Pause an agent",
    severity=Severity.CHANGE,
    returns="what the run was told",
    example="/agent-pause",
)
def agent_pause(
    ctx: Context,
    agent: AgentName = "",
    now: Annotated[bool, Param("whether the request or call that goes on is given up")] = False,
) -> Effect[RunSteered]:
    """Has the run of an agent pause, after what goes on or at once."""
    steering, of = _found(ctx, agent)
    done = "it pauses now." if now else "it pauses when what goes on is done."
    return _effect(of, done, lambda tx: steering.pause(tx, of.run, now=now))


@command(
    "agent-stop",
    title="Stop an agent",
    severity=Severity.CHANGE,
    returns="what the run was told",
    example="/agent-stop",
)
def agent_stop(ctx: Context, agent: AgentName = "") -> Effect[RunSteered]:
    """Ends the run of an agent at once, and keeps what it did for a review."""
    steering, of = _found(ctx, agent)
    return _effect(of, "it is stopped; what it did is kept.", lambda tx: steering.stop(tx, of.run, keep=True))


@command(
    "agent-discard",
    title="Discard the work of an agent",
    severity=Severity.REMOVE,
    destructive=True,
    returns="what the run was told",
    example="/agent-discard",
)
def agent_discard(ctx: Context, agent: AgentName = "") -> Effect[RunSteered]:
    """Ends the run of an agent, if it is not over, and throws away what it did. The book stays as it is."""
    steering, of = _found(ctx, agent)
    ctx.confirm(f"Throw away what {of.agent} changed in its copy?")
    return _effect(of, "its work is thrown away.", lambda tx: steering.stop(tx, of.run, keep=False))


@command(
    "agent-resume",
    title="Let an agent go on",
    severity=Severity.CHANGE,
    returns="what the run was told",
    example='/agent-resume "Leave the dialect."',
)
def agent_resume(ctx: Context, note: Note = "", agent: AgentName = "") -> Effect[RunSteered]:
    """Has a paused, stopped or failed run go on, with a word for the agent if you like."""
    steering, of = _found(ctx, agent)
    return _effect(of, "it goes on.", lambda tx: steering.resume(tx, of.run, note))


@command(
    "agent-finish",
    title="Declare the work of an agent done",
    severity=Severity.CHANGE,
    returns="what the run was told",
    example="/agent-finish",
)
def agent_finish(ctx: Context, agent: AgentName = "") -> Effect[RunSteered]:
    """Declares a run that waits or is paused to be done: it can be reviewed then."""
    steering, of = _found(ctx, agent)
    return _effect(of, "it is done.", lambda tx: steering.finish(tx, of.run))


@command(
    "agent-send",
    title="Say something to an agent",
    severity=Severity.CHANGE,
    returns="what the run was told",
    example='/agent-send "Only chapter 1."',
)
def agent_send(ctx: Context, text: Words, agent: AgentName = "") -> Effect[RunSteered]:
    """Says something to an agent: one that works reads it in its next round, one that rests goes on."""
    steering, of = _found(ctx, agent)
    return _effect(of, "it was told.", lambda tx: steering.send(tx, of.run, text))
