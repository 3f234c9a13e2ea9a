"""The program with some commands more, which take as long as they are let: for tests of waiting and stopping.

`/wait-here` tells its status and ends when it is stopped, or when the file that it is given is there; `/wait-short`
does so on the thread of its caller; `/wait-asking` asks when the file is there.
"""

from pathlib import Path
from typing import Annotated

from marginalia_tui import cli, studio
from marginalia_tui.commands.builtin import builtin_registry
from marginalia_tui.commands.context import Context
from marginalia_tui.commands.declare import command
from marginalia_tui.commands.definition import Param, Severity, Work
from marginalia_tui.commands.registry import Registry
from marginalia_tui.commands.results import Result


class Waited(Result):
    """That it is over."""

    note: str


def _wait(ctx: Context, file: str) -> Waited:
    ctx.status("Waiting for a file", "\x1b[31mred\x1b[0m")
    while not Path(file).exists():
        if ctx.control.wait(0.05):
            ctx.check()
    return Waited(note="The file is there.")


@command(
    "wait-here", title="Wait", severity=Severity.READ, returns="that it is over", example="/wait-here x", work=Work.LONG
)
def wait_here(ctx: Context, file: Annotated[str, Param("a file to wait for")]) -> Waited:
    """Waits for a file."""
    return _wait(ctx, file)


@command("wait-short", title="Wait", severity=Severity.READ, returns="that it is over", example="/wait-short x")
def wait_short(ctx: Context, file: Annotated[str, Param("a file to wait for")]) -> Waited:
    """Waits for a file, as a command that should be short."""
    return _wait(ctx, file)


@command("wait-asking", title="Wait", severity=Severity.READ, returns="that it is over", example="/wait-asking x")
def wait_asking(ctx: Context, file: Annotated[str, Param("a file to wait for")]) -> Waited:
    """Waits for a file, and asks then."""
    waited = _wait(ctx, file)
    ctx.confirm("Is it there?", ["first \x1b[31mline", "second line"])
    return waited


def _registry() -> Registry:
    registry = builtin_registry()
    registry.register(wait_here, wait_short, wait_asking)
    return registry


if __name__ == "__main__":
    vars(studio)["builtin_registry"] = _registry
    cli.main()
