"""The form for what holds for the whole book: what it says itself, and what it inherits."""

from typing import TYPE_CHECKING, Literal

from marginalia_tui.widgets.dialogs import Form
from marginalia_tui.widgets.fields import Field

if TYPE_CHECKING:
    from marginalia_tui.desk.book import BookFacts, Fact
    from marginalia_tui.screens.host import Host

INHERITED = {"language": "Language", "pov": "Point of view", "tense": "Tense", "style": "Style"}
"""Facts that a book may inherit, with their labels."""


async def ask_facts(host: "Host", facts: "BookFacts") -> dict[str, str]:
    """Asks for the facts of a book; answers those that the author changed, a space for what is inherited again."""
    before = {name: fact.value for name, fact in _inherited(facts).items()}
    before |= {"title": facts.title, "author": facts.author, "description": facts.description}
    fields = [
        Field("title", "Title", value=facts.title, required=True),
        Field("author", "Author", value=facts.author),
        *(_field(name, fact) for name, fact in _inherited(facts).items()),
        Field("description", "About", "multiline", facts.description),
    ]
    answer = await host.ask(Form("The book", fields))
    if answer is None:
        return {}
    changed = {name: str(value) for name, value in answer.items() if str(value) != before[name]}
    return {name: value if value.strip() or name not in INHERITED else " " for name, value in changed.items()}


def _inherited(facts: "BookFacts") -> dict[str, "Fact"]:
    return {"language": facts.language, "pov": facts.pov, "tense": facts.tense, "style": facts.style}


def _field(name: str, fact: "Fact") -> Field:
    # A line would make spaces of its line feeds, and so change it.
    kind: Literal["multiline", "text"] = "multiline" if "\n" in fact.value else "text"
    return Field(name, INHERITED[name], kind, fact.value, help=_help(name, fact))


def _help(name: str, fact: "Fact") -> str:
    code = "A code such as en or pt-BR. " if name == "language" else ""
    if fact.value and not fact.own:
        return f"{code}Inherited: {fact.where}."
    return f"{code}Empty: {' '.join(fact.above.split())!r} ({fact.above_where})." if fact.above else code
