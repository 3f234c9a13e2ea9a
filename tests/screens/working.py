"""Agents for tests of the screens: a home with a book, a scripted model, an agent; runs and what they changed."""

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from marginalia_tui.agent.runs import Run, get_run
from marginalia_tui.domain.chat import ModelDefinition
from marginalia_tui.domain.clock import Clock
from marginalia_tui.domain.items import Part
from marginalia_tui.screens.console import ConsoleScreen
from marginalia_tui.services.models import OFFLINE, save_model
from marginalia_tui.services.parts import story_tree
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import Store
from marginalia_tui.studio import Studio
from tests.screens.rig import Rig, add_book
from tests.support.runs import part_texts
from tests.support.scripted_server import Reply, calls

TEXTS = ("There sat teh cat.", "It saw a dog.", "They both ran.")
FIXED = (
    calls(("list-parts", {}), usage=(4_000, 10)),
    calls(("edit-part", {"part": "h:m1", "old": "teh cat", "new": "the cat"}), said="I correct it.", usage=(5_000, 20)),
    calls(("finish", {"report": "One slip corrected."}), usage=(6_000, 50)),
)
"""The answers of a model that corrects one slip."""


def save_scripted(studio: Studio, url: str, **fields: Any) -> str:
    """Stores a model that a scripted server answers for; returns its name."""
    values: dict[str, Any] = {"context": 20_000, "timeout": 20.0, **fields}
    save_model(studio.store, ModelDefinition(name="scripted", base_url=url, model="scripted", **values))
    return "scripted"


def agent_home(
    home: Path, url: str = "", *, texts: Sequence[str] = TEXTS, clock: Clock | None = None, **fields: Any
) -> tuple[str, str]:
    """Puts a book and its agent into a home; answers their uuids. Without `url` the proofreader is its model."""
    with closing(Studio(home, pace=0, clock=clock)) as studio:
        book = add_book(studio.store, "The Cat", [(f"Chapter {n}", text) for n, text in enumerate(texts, start=1)])
        model = save_scripted(studio, url) if url else OFFLINE.name
        values = {"name": "Corrector", "book": book, "model": model, "instructions": "Correct the slips.", **fields}
        return book, studio.add_agent(**values).uuid


def run_of(rig: Rig, run: str) -> Run:
    """A run as it is now."""
    with rig.studio.store.read() as tx:
        return get_run(tx, run)


def texts_of(rig: Rig, book: str, space: int = LIBRARY) -> list[str]:
    """The texts of a book."""
    return part_texts(rig.studio.store, book, space)


async def start(rig: Rig) -> ConsoleScreen:
    """Starts the agent under the cursor by its key, and answers the console of the run."""
    await rig.press("f4", "s")
    return await rig.reach(ConsoleScreen)


async def status(rig: Rig, console: ConsoleScreen, wanted: str) -> None:
    """Waits until the console shows a status."""
    await rig.until(lambda: console.view is not None and console.view.status == wanted, wanted)
    await rig.settle()


def branch(store: Store, book: str, space: int = LIBRARY) -> list[Part]:
    """The parts of a book in order."""
    from marginalia_tui.domain.items import Book

    with store.read() as tx:
        opened = tx.space(space)
        return list(opened.get_many(Part, story_tree(opened, opened.get(Book, book)).active).values())


def change(store: Store, book: str, space: int, actor: str, do: Callable[[Any], None]) -> None:
    """One change of a book or a copy."""
    with store.write(Act(actor=actor, label="edit", book=book)) as tx:
        do(tx.space(space))


def edit(store: Store, book: str, part: str, space: int = LIBRARY, actor: str = "author", **fields: Any) -> None:
    """Changes fields of a part."""
    change(store, book, space, actor, lambda at: at.put([replace(at.get(Part, part), **fields)]))


def reply_of(script: Sequence[Reply]) -> Callable[[dict[str, Any]], Reply]:
    """A script that begins anew with every run: the number of results picks the reply."""
    from tests.support.scripted_server import by_results

    return by_results(list(script))
