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
    "language": "Language, as a code such as en",
    "pov": "Point of view",
    "tense": "Tense",
    "style": "Style",
    "description": "What it is about",
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
        )
        for name, label in LABELS.items()
    ]
    answer = await host.ask(Form("The book", fields))
    if answer is None:
        return {}
    return {name: str(value) for name, value in answer.items() if str(value) != before[name]}
