"""Help: the registry, read aloud, and the pages of the manual.

The pages of commands can't be out of date, since the same definitions check the arguments.
"""

from typing import Annotated

from pydantic import Field

from marginalia_tui.commands.context import Context
from marginalia_tui.commands.declare import command
from marginalia_tui.commands.definition import CommandDefinition, Param, Parameter, Severity
from marginalia_tui.commands.registry import nearest
from marginalia_tui.commands.results import Prose, Result
from marginalia_tui.domain.errors import NotFound
from marginalia_tui.domain.sentences import counted, either, quoted
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
    lines = [f"## /{definition.name}", "", definition.description, ""]
    for form in definition.forms:
        lines.append(f"    {form.usage(definition.name)}")
        if form.description != definition.description:
            lines += ["", form.description, ""]
    lines.append("")
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
    facts = [parameter.fits if parameter.type in _FACTUAL else parameter.type]
    if parameter.required:
        facts.append("needed")
    elif parameter.default not in (None, ""):
        shown = str(parameter.default).lower() if isinstance(parameter.default, bool) else parameter.default
        facts.append(f"without it {shown}")
    return ", ".join(facts)


_FACTUAL = ("integer", "number", "boolean", "choice", "date", "any")


class ManualPageRow(Result):
    """A page in the list."""

    topic: str
    about: str


class ManualTopics(Result):
    """The pages there are."""

    hint: Prose
    topics: list[ManualPageRow]


class ManualHit(Result):
    """A place of the manual that has the words."""

    topic: str
    heading: str
    line: str


class ManualHits(Result):
    """The places of the manual, and of the pages of commands, that have some words."""

    hint: Prose
    hits: list[ManualHit]

    def sentence(self) -> str:
        """How many."""
        return f"{counted(len(self.hits), 'place')}."


MANUAL_HITS = 40


@command(
    "manual",
    title="Manual",
    severity=Severity.READ,
    returns="the pages, one page, or the places that have your words",
    example="/manual review",
)
def manual(
    ctx: Context,
    topic: Annotated[
        Annotated[str | None, Field(max_length=200)],
        Param("a page of the manual, or words to look for; without it the pages are listed", names="topic"),
    ] = None,
) -> ManualTopics | HelpPage | ManualHits:
    """Shows a page of the manual, or looks words up in all of them."""
    if topic is None:
        rows = [ManualPageRow(topic=name, about=_about(manual_page(name))) for name in manual_pages()]
        return ManualTopics(topics=rows, hint='`/manual TOPIC` shows a page, `/manual "some words"` looks them up.')
    wanted = topic.strip().casefold()
    if wanted in manual_pages():
        return HelpPage(topic=wanted, page=manual_page(wanted))
    pages = {name: manual_page(name) for name in manual_pages()}
    pages.update({f"/{each.name}": page_of_command(each) for each in ctx.registry})
    hits = [hit for name, page in pages.items() for hit in hits_in(name, page, wanted.split())]
    if not hits:
        near = nearest(wanted, pages)
        hint = f"Did you mean {either(near)}?" if near else "/manual lists the pages."
        raise NotFound(f"Nothing in the manual has {quoted(topic)}. {hint}")
    hits.sort(key=lambda hit: wanted not in hit.line.casefold())
    return ManualHits(
        hits=hits[:MANUAL_HITS], hint="`/manual TOPIC` shows the page of a hit, `/help NAME` that of a command."
    )


def _about(page: str) -> str:
    """The first sentence of a page."""
    paragraphs = [block for block in page.split("\n\n") if block and not block.startswith("#")]
    first = " ".join(paragraphs[0].split()) if paragraphs else ""
    return first.split(". ")[0].rstrip(".")


def hits_in(topic: str, page: str, words: list[str]) -> list[ManualHit]:
    """The paragraphs and list items that have all the words."""
    found: list[ManualHit] = []
    heading = ""
    for block in _blocks(page):
        if block.startswith("#"):
            heading = block.lstrip("# ")
        if all(word in block.casefold() for word in words):
            found.append(ManualHit(topic=topic, heading=heading, line=block.lstrip("#- ")))
    return found


def _blocks(page: str) -> list[str]:
    """Headings, paragraphs and items, each as one line."""
    blocks: list[str] = []
    going = False
    for line in page.splitlines():
        begins = line.startswith(("#", "- ", "```"))
        if not line.strip() or line.startswith("```"):
            going = False
        elif begins or not going:
            blocks.append(line.strip())
            going = not line.startswith("#")
        else:
            blocks[-1] += " " + line.strip()
    return blocks
