"""What the command bar asks of the registry, and how a line is run.

Completion and hints are asked at every key: they answer from what is held in memory. The parts, branches, lore and
notes of the open book are read anew when the book changes.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass
from typing import Any

from marginalia_tui.agent.agents import list_agents
from marginalia_tui.commands import completion, hint, render
from marginalia_tui.commands.context import Answers, NobodyToAsk
from marginalia_tui.commands.line import CommandLine
from marginalia_tui.commands.results import to_data
from marginalia_tui.commands.running import Begun, CommandRun
from marginalia_tui.desk.answer import Block, Facts, Rows, Shown, Words
from marginalia_tui.desk.folders import Folders
from marginalia_tui.desk.history import HISTORY_FILE, History
from marginalia_tui.desk.names import backup_names, book_names, folder_names, gone_names
from marginalia_tui.desk.sheet import Sheet
from marginalia_tui.domain.errors import Cancelled
from marginalia_tui.domain.items import Book
from marginalia_tui.domain.tree import StoryTree
from marginalia_tui.resources import manual_pages
from marginalia_tui.services import lore
from marginalia_tui.services.annotations import note_beginnings
from marginalia_tui.services.images import images_of_book
from marginalia_tui.services.models import list_models
from marginalia_tui.services.parts import story_tree
from marginalia_tui.store.space import LIBRARY, Space
from marginalia_tui.store.store import ReadTx
from marginalia_tui.studio import Studio

BEGINNING = 60
"""Characters of a part, or of a note, by which it can be named."""
BEGINNINGS = 20_000
"""Parts of a book whose first words are read."""
PAGE = "commands"
"""The page of the manual about the bar."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A command for the palette."""

    name: str
    title: str
    description: str
    severity: str
    takes_arguments: bool
    asks: bool = False
    """Whether it asks before it does."""


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


def register_names(completers: completion.Completers, space: Space, book: str) -> None:
    """Has what a book of a space holds completed: parts, branches, lore, notes, images."""
    opened = space.get(Book, book)
    tree = story_tree(space, opened)
    completers.register("part", completion.part_completer(tree, _beginnings(space, opened, tree)))
    completers.register("branch", completion.branch_completer(tree))
    lorebooks = lore.read_tree(space, opened)
    rows = lore.entry_rows(space, lorebooks.lorebooks)
    completers.register("lorebook", completion.lorebook_completer(lorebooks))
    completers.register("entry", completion.entry_completer(lorebooks, rows))
    notes = note_beginnings(space, opened.uuid, BEGINNING)
    completers.register("annotation", completion.annotation_completer(notes))
    images = {each.image.name: each.image.caption for each in images_of_book(space, opened.uuid)}
    completers.register("image", completion.image_completer(images))


class Bar:
    """The bar of one studio. `completers` is open: whoever has another kind of thing registers for it."""

    def __init__(self, studio: Studio) -> None:
        self._studio = studio
        self.completers = completion.Completers()
        self.completers.register("command", completion.command_completer(studio.registry))
        topics = [completion.Candidate(name) for name in manual_pages()]
        self.completers.register("topic", completion.choices(topics))
        self.completers.register("file", Folders().complete)
        self._history = History(studio.home / HISTORY_FILE)
        self._known: tuple[str, int] | None = None
        """The book whose parts are known, and the position of the journal at which they were read."""
        self._library: tuple[str | None, int] | None = None
        """The same for folders and what is gone."""

    # Completing

    def read_names(self, book: str | None) -> None:
        """Reads what names can be completed: the parts and branches of the open book, models, agents."""
        with self._studio.store.read() as tx:
            self._read_book(tx.space(LIBRARY), book)
            self._read_library(tx, book)
            models = [(model.name, model.model) for model in list_models(tx)]
            agents = [agent.name for agent in list_agents(tx)]
        self.completers.register("model", completion.model_completer(models))
        self.completers.register("agent", completion.choices([completion.Candidate(name) for name in agents]))
        self.completers.register("backup", completion.backup_completer(backup_names(self._studio.store, book)))

    def _read_library(self, tx: ReadTx, book: str | None) -> None:
        library = tx.space(LIBRARY)
        here = book, library.position()
        if here != self._library:
            self.completers.register("folder", completion.folder_completer(folder_names(library)))
            self.completers.register("book", completion.book_completer(book_names(library)))
            self.completers.register("gone", completion.gone_completer(gone_names(tx, book)))
            self._library = here

    def _read_book(self, space: Space, book: str | None) -> None:
        here = None if book is None else (book, space.position())
        if here is not None and here == self._known:
            return
        opened = None if book is None else space.find(Book, book)
        if opened is None:
            for kind in ("part", "branch", "lorebook", "entry", "annotation", "image"):
                self.completers.unregister(kind)
        else:
            register_names(self.completers, space, opened.uuid)
        self._known = here

    def complete(self, text: str, cursor: int) -> list[completion.Completion]:
        """What fits at a place of a line, best first."""
        return completion.complete(self._studio.registry, self.completers, text, cursor)

    def hint(self, text: str, cursor: int) -> hint.Hint | None:
        """What is said of a line up to a place; None when it is no command."""
        return hint.hint(self._studio.registry, text[:cursor])

    def offers(self) -> list[Offer]:
        """The commands, for the palette."""
        return [
            Offer(
                each.name,
                each.title,
                each.description,
                each.severity.word,
                each.takes_something,
                each.destructive,
            )
            for each in self._studio.registry
        ]

    def history(self, book: str | None = None) -> Sequence[str]:
        """Lines that were run, the newest last; those of a book behind all others."""
        return self._history.lines(book)

    # More about what is typed

    def page(self, *lines: str) -> Shown:
        """The manual page of the command that is typed: of the first line whose command there is.

        Without one it is the page about the bar.
        """
        names = [CommandLine.parse(line).name for line in lines]
        name = next((name for name in names if name in self._studio.registry), PAGE)
        scope = self._studio.scope(None, NobodyToAsk())
        return shown(self._studio.commands.start("help", {"name": name}, scope, title=f"/help {name}"))

    def asks_for_sheet(self, line: str) -> bool:
        """Whether a line is `/name ?` of a command that there is."""
        read = CommandLine.parse(line)
        return read.name in self._studio.registry and hint.wants_form(read)

    def sheet(self, *lines: str) -> Sheet | None:
        """The command that is typed as a sheet to fill in; None when none of the lines has a command."""
        for line in map(CommandLine.parse, lines):
            if definition := self._studio.registry.find(line.name):
                return Sheet(definition, line, self.completers)
        return None

    # Running

    def start_line(self, line: str, book: str | None, answers: Answers, begun: Begun) -> CommandRun:
        """Starts a line, which is kept in the history."""
        self._history.add(line, book)
        return self._studio.commands.start_line(line, self._studio.scope(book, answers), begun=begun)

    def start(
        self, name: str, arguments: Mapping[str, Any], book: str | None, answers: Answers, begun: Begun
    ) -> CommandRun:
        """Starts the command that a key of a screen stands for."""
        return self._studio.commands.start(name, arguments, self._studio.scope(book, answers), begun=begun)


def _beginnings(space: Space, book: Book, tree: StoryTree) -> dict[str, str]:
    """The first words of the parts."""
    found = space.beginnings(book.uuid, 2 * BEGINNING, BEGINNINGS)
    return {uuid: " ".join(text.split())[:BEGINNING] for uuid, text in found.items() if uuid in tree.positions}
