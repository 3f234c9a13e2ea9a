"""The form for what holds for the whole book."""

from dataclasses import asdict
from typing import TYPE_CHECKING

from marginalia_tui.widgets.dialogs import Form
from marginalia_tui.widgets.fields import Field

if TYPE_CHECKING:
    from marginalia_tui.desk.book import BookFacts
    from marginalia_tui.screens.host import Host

LABELS = {
    "title": "Title",
    "author": "Author",
    "language": "Language",
    "pov": "Point of view",
    "tense": "Tense",
    "style": "Style",
    "description": "About",
}


async def ask_facts(host: "Host", facts: "BookFacts") -> dict[str, str]:
    """Asks for the facts of a book; answers those that the author changed."""
    before: dict[str, str] = asdict(facts)
    fields = [
        Field(
            name,
            label,
            "multiline" if name == "description" else "text",
            before[name],
            required=name == "title",
            help="A code such as en or pt-BR." if name == "language" else "",
        )
        for name, label in LABELS.items()
    ]
    answer = await host.ask(Form("The book", fields))
    if answer is None:
        return {}
    return {name: str(value) for name, value in answer.items() if str(value) != before[name]}
