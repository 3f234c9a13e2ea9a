"""An example extension: a command, a tool of agents, a way to merge data, a screen."""

from typing import Annotated, Any

from textual.app import ComposeResult
from textual.screen import Screen
from textual.widgets import Static

from marginalia_tui.agent.tools import AddedTool
from marginalia_tui.commands.context import Context, Scope
from marginalia_tui.commands.declare import command
from marginalia_tui.commands.definition import Param, Severity
from marginalia_tui.commands.results import Result
from marginalia_tui.domain.chat import Tool
from marginalia_tui.domain.errors import Invalid
from marginalia_tui.extensions import Extension


class Lit(Result):
    """What the command answers."""

    lit: str


@command(
    "light-lantern",
    title="Light a lantern",
    severity=Severity.READ,
    returns="what was lit",
    example="/light-lantern brass",
    for_model="Lights a lantern. Pass kind, such as brass.",
)
def light_lantern(ctx: Context, kind: Annotated[str, Param("the kind of lantern")]) -> Lit:
    """Lights a lantern."""
    return Lit(lit=kind)


def weather(arguments: Any, scope: Scope) -> str:
    """The tool: tells the weather of a place."""
    if "place" not in arguments:
        raise Invalid("weather needs the argument place: a text.")
    if arguments["place"] == "nowhere":
        raise ZeroDivisionError
    return f"Fog in {arguments['place']}."


WEATHER = Tool(
    "weather",
    "Tells the weather of a place. Pass place.",
    {"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]},
)


def larger(base: Any, agent: Any, book: Any) -> tuple[Any, bool]:
    """Of two numbers that both sides wrote the larger one."""
    return max(agent, book), True


class Lantern(Screen[None]):
    """The screen."""

    def compose(self) -> ComposeResult:
        """One line."""
        yield Static("A lantern burns.")


def load(extension: Extension) -> None:
    """Brings everything."""
    extension.add_suite(light_lantern)
    extension.add_tool(AddedTool(WEATHER, weather))
    extension.add_merge("lumen", larger)
    extension.add_screen("Lantern", Lantern)


def broken(extension: Extension) -> None:
    """Fails after it has added something."""
    extension.add_suite(light_lantern)
    raise RuntimeError("no oil\x1b[2J [red]left[/red]")


def taken(extension: Extension) -> None:
    """Wants a name that is taken."""

    @command("help", title="H", severity=Severity.READ, returns="h", example="/help")
    def other(ctx: Context) -> Lit:
        """Helps."""
        return Lit(lit="")

    extension.add_tool(AddedTool(WEATHER, weather))
    extension.add_suite(other)
