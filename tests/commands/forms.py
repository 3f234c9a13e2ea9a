"""Commands of several forms, for what is said and proposed of a line that is typed."""

import sys
from datetime import date
from typing import Annotated, Any, Literal

from pydantic import Field

from marginalia_tui.commands.context import Context
from marginalia_tui.commands.declare import command, form
from marginalia_tui.commands.definition import Param, Severity
from marginalia_tui.commands.registry import Registry
from marginalia_tui.commands.results import Result


class Done(Result):
    """Nothing to tell."""


@command("aim", title="Aim", severity=Severity.READ, returns="nothing", example="/aim 3")
def aim_at_part(
    ctx: Context,
    part: Annotated[int, Field(ge=10, le=19), Param("the number of a part")],
    how: Annotated[Literal["near", "far"], Param("how far")] = "near",
) -> Done:
    """Aims at a part."""
    return Done()


@form(aim_at_part)
def aim_at_side(
    ctx: Context,
    side: Annotated[Literal["left", "right"], Param("which side")],
    firmly: Annotated[bool, Param("whether it is meant")] = False,
) -> Done:
    """Aims at a side."""
    return Done()


@form(aim_at_part)
def aim_on_day(
    ctx: Context,
    day: Annotated[date, Param("the day")],
    weight: Annotated[float, Param("how heavy")] = 0.5,
    words: Annotated[str, Field(max_length=5), Param("what is said")] = "go",
) -> Done:
    """Aims on a day."""
    return Done()


@command("gather", title="Gather", severity=Severity.READ, returns="nothing", example="/gather a b")
def gather(ctx: Context, *things: Annotated[Any, Param("what is gathered")]) -> Done:
    """Gathers things."""
    return Done()


def forms_registry() -> Registry:
    """The two commands."""
    registry = Registry()
    registry.register(sys.modules[__name__])
    return registry
