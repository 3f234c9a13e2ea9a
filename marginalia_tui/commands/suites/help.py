"""Help: the registry, read aloud, and the pages of the manual.

The pages of commands can't be out of date, since the same definitions check the arguments.
"""

from typing import Annotated

from pydantic import Field

from marginalia_tui.commands.context import Context
from marginalia_tui.commands.declare import command
from marginalia_tui.commands.definition import CommandDefinition, Param, Parameter, Severity
from marginalia_tui.commands.results import Prose, Result
from marginalia_tui.resources import manual_page, manual_pages


class CommandRow(Result):
    """A command in the list."""

    command: str
    does: str
    description: str


class CommandHelp(Result):
    """The commands there are."""

    hint: Prose
    topics: list[str]
    commands: list[CommandRow]


class HelpPage(Result):
    """A page, as Markdown: of a command, or of the manual."""

    topic: str
    page: Prose

    def untold(self) -> frozenset[str]:
        """The page names its topic."""
        return frozenset({"topic"})


@command(
    "help",
    title="Help",
    severity=Severity.READ,
    returns="the commands and topics, or the page of one",
    example="/help edit-part",
)
def help_on(
    ctx: Context,
    name: Annotated[
        Annotated[str | None, Field(max_length=200)],
        Param("the command or topic to explain; without it all are listed", names="command"),
    ] = None,
) -> CommandHelp | HelpPage:
    """Lists the commands and the topics of the manual, or explains one of them."""
    topics = manual_pages()
    if name is not None:
        wanted = name.strip().removeprefix("/")
        if wanted in topics and wanted not in ctx.registry:
            return HelpPage(topic=wanted, page=manual_page(wanted))
        definition = ctx.registry.get(wanted)
        return HelpPage(topic=definition.name, page=page_of_command(definition))
    rows = [
        CommandRow(command=f"/{each.name}", does=mark_of(each), description=each.description) for each in ctx.registry
    ]
    return CommandHelp(commands=rows, topics=list(topics), hint="`/help NAME` explains a command or a topic.")


def mark_of(definition: CommandDefinition) -> str:
    """The severity in a word or two."""
    return definition.severity.word + (", asks first" if definition.destructive else "")


def page_of_command(definition: CommandDefinition) -> str:
    """The manual page of a command, as Markdown."""
    lines = [
        f"## /{definition.name}",
        "",
        definition.description,
        "",
        *(f"    {form.usage(definition.name)}" for form in definition.forms),
        "",
    ]
    for parameter in definition.parameters:
        lines.append(f"- `{parameter.name}`: {parameter.description} ({_facts(parameter)})")
    if definition.parameters:
        lines.append("")
    lines += [
        f"It {definition.severity.word}"
        + (" and asks before it does." if definition.destructive else ".")
        + f" It answers {definition.returns}.",
        "",
        f"For example: `{definition.example}`",
    ]
    return "\n".join(lines)


def _facts(parameter: Parameter) -> str:
    facts = [parameter.fits if parameter.type in ("integer", "number", "boolean", "choice") else parameter.type]
    if parameter.required:
        facts.append("needed")
    elif parameter.default not in (None, ""):
        shown = str(parameter.default).lower() if isinstance(parameter.default, bool) else parameter.default
        facts.append(f"without it {shown}")
    return ", ".join(facts)
