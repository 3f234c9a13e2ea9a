"""What the command bar asks of the registry, and how a line is run.

Completion and hints are asked at every key: they answer from what is held in memory. The parts and branches of the
open book are read anew when the book changes.
"""

import json
import logging
import os
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from marginalia_tui.agent.agents import list_agents
from marginalia_tui.commands import completion, hint, render
from marginalia_tui.commands.context import Answers
from marginalia_tui.commands.line import CommandLine
from marginalia_tui.commands.results import to_data
from marginalia_tui.commands.running import Begun, CommandRun
from marginalia_tui.desk.answer import Block, Facts, Rows, Shown, Words
from marginalia_tui.domain.errors import Cancelled
from marginalia_tui.domain.items import Book
from marginalia_tui.resources import manual_pages
from marginalia_tui.services.models import list_models
from marginalia_tui.services.parts import story_tree
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.studio import Studio

log = logging.getLogger(__name__)

HISTORY_FILE = "history.json"
HISTORY = 500
"""Lines that are kept."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A command for the palette."""

    name: str
    title: str
    description: str
    severity: str
    takes_arguments: bool


def shown(run: CommandRun) -> Shown:
    """The answer of a run that has ended.

    Raises:
        MarginaliaError: it was refused or failed; the sentence says why.
    """
    try:
        result = run.future.result()
    except CancelledError:
        raise Cancelled(f"{run.command.name} was stopped before it began: nothing was changed.") from None
    blocks = [_block(block) for block in render.to_blocks(result)]
    return Shown(run.title, result.sentence(), blocks, render.to_plain(result), to_data(result))


def _block(block: render.Block) -> Block:
    match block:
        case render.Facts():
            return Facts(block.pairs)
        case render.Table():
            return Rows(block.label, block.columns, block.rows, block.numeric)
        case render.Text():
            return Words(block.text)


class Bar:
    """Completions, hints and the history of one home."""

    def __init__(self, studio: Studio) -> None:
        self._studio = studio
        self._completers = completion.Completers()
        self._completers.register("command", completion.command_completer(studio.registry))
        topics = [completion.Candidate(name) for name in manual_pages()]
        self._completers.register("topic", completion.choices(topics))
        self._history = History(studio.home / HISTORY_FILE)

    def read_names(self, book: str | None) -> None:
        """Reads what names can be completed: the parts and branches of the open book, models, agents."""
        with self._studio.store.read() as tx:
            space = tx.space(LIBRARY)
            opened = None if book is None else space.find(Book, book)
            tree = None if opened is None else story_tree(space, opened)
            models = [model.name for model in list_models(tx)]
            agents = [agent.name for agent in list_agents(tx)]
        if tree is not None:
            self._completers.register("part", completion.part_completer(tree))
            self._completers.register("branch", completion.branch_completer(tree))
        for kind, names in (("model", models), ("agent", agents)):
            self._completers.register(kind, completion.choices([completion.Candidate(name) for name in names]))

    def complete(self, text: str, cursor: int) -> list[completion.Completion]:
        """What fits at a place of a line, best first."""
        return completion.complete(self._studio.registry, self._completers, text, cursor)

    def hint(self, text: str, cursor: int) -> hint.Hint | None:
        """What is said of a line up to a place; None when it is no command."""
        return hint.hint(self._studio.registry, text[:cursor])

    def offers(self) -> list[Offer]:
        """The commands, for the palette."""
        return [
            Offer(each.name, each.title, each.description, each.severity.word, bool(each.parameters))
            for each in self._studio.registry
        ]

    def history(self) -> Sequence[str]:
        """Lines that were run, the newest last."""
        return self._history.lines()

    def start_line(self, line: str, book: str | None, answers: Answers, begun: Begun) -> CommandRun:
        """Starts a line, which is kept in the history."""
        self._history.add(line)
        return self._studio.commands.start_line(line, self._studio.scope(book, answers), begun=begun)

    def start(
        self, name: str, arguments: Mapping[str, Any], book: str | None, answers: Answers, begun: Begun
    ) -> CommandRun:
        """Starts the command that a key of a screen stands for."""
        return self._studio.commands.start(name, arguments, self._studio.scope(book, answers), begun=begun)


class History:
    """The lines that were run in a home, in a file that only its owner can read. Safe to use from any thread.

    Args:
        path: of the file; one that can't be read is taken for empty, and written anew with the next line.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._lines: list[str] | None = None

    def lines(self) -> list[str]:
        """The lines, the newest last."""
        with self._lock:
            return list(self._read())

    def add(self, line: str) -> None:
        """Keeps a line; the same line again moves to the end."""
        if not CommandLine.parse(line).is_command:
            return
        with self._lock:
            lines = [each for each in self._read() if each != line]
            self._lines = [*lines, line][-HISTORY:]
            self._write(self._lines)

    def _read(self) -> list[str]:
        if self._lines is None:
            try:
                found = json.loads(self._path.read_bytes())
            except (OSError, ValueError, RecursionError):
                found = []
            self._lines = [each for each in found if isinstance(each, str)] if isinstance(found, list) else []
        return self._lines

    def _write(self, lines: list[str]) -> None:
        draft = self._path.with_suffix(".new")
        try:
            handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            with open(handle, "w", encoding="utf-8") as file:
                json.dump(lines, file)
            draft.replace(self._path)
        except (OSError, UnicodeError) as error:
            # A line that is not remembered is no reason to refuse the command.
            log.warning("the history can't be written: %s", error)
