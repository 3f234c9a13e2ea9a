"""What a book, a folder or the user says for the books below it, what holds there, and where that comes from."""

from dataclasses import dataclass
from typing import Literal

from marginalia_tui.commands.suites.book import check_language
from marginalia_tui.commands.suites.booksettings import known_model
from marginalia_tui.domain.errors import NotFound
from marginalia_tui.domain.inherit import INHERITED, Effective, Inherited
from marginalia_tui.domain.items import Book
from marginalia_tui.domain.prompts import PROMPTS
from marginalia_tui.services.books import holder
from marginalia_tui.services.effective import inherited, inherited_in
from marginalia_tui.services.folders import all_folders, path_names
from marginalia_tui.services.models import list_models
from marginalia_tui.store import reach
from marginalia_tui.store.space import LIBRARY, Space
from marginalia_tui.store.store import ReadTx
from marginalia_tui.studio import Studio

Owner = Literal["book", "folder", "defaults"]
"""Who says it."""

LABELS = {"language": "Language", "pov": "Point of view", "tense": "Tense", "style": "Style", "model": "Model"}
HELP = {
    "language": "A code such as en or pt-BR.",
    "pov": "Such as first person.",
    "tense": "Such as past.",
    "style": "In a few words.",
}


@dataclass(frozen=True, slots=True)
class SettingLine:
    """One of the settings that are inherited."""

    name: str
    """A field of `domain.inherit.INHERITED`, or the name of a prompt."""
    prompt: bool
    label: str
    help: str
    value: str
    """What holds."""
    where: str
    """Where it comes from, in words; empty when nothing says it."""
    own: bool
    """Whether the owner says it itself."""
    above: str
    """What would hold if the owner said nothing."""
    above_where: str


@dataclass(frozen=True, slots=True)
class InheritedView:
    """The settings of an owner."""

    title: str
    place: str
    """The path of the folder in which it stands; empty at the top."""
    agents: tuple[str, ...]
    """The agents that hold it."""
    lines: tuple[SettingLine, ...]


class InheritedDesk:
    """The settings that are inherited, of a studio."""

    def __init__(self, studio: Studio) -> None:
        self._studio = studio

    def look(self, owner: Owner, uuid: str = "") -> InheritedView:
        """The settings of a book or folder of the library, or of the user.

        Raises:
            NotFound: it is gone, or in the trash.
        """
        with self._studio.store.read() as tx:
            space = tx.space(LIBRARY)
            if owner == "book":
                return _of_book(tx, space, uuid)
            if owner == "folder":
                return _of_folder(tx, space, uuid)
            here = inherited_in(space, None)
        return InheritedView("Your defaults", "", (), _lines(here, Inherited(here.levels[1:])))

    def models(self) -> list[str]:
        """The names of the models that were set up."""
        with self._studio.store.read() as tx:
            return [model.name for model in list_models(tx)]

    def set_default(self, line: SettingLine, value: str) -> None:
        """Sets what holds for all books that say nothing; empty: it is built in.

        Raises:
            Invalid, NotFound: it is no language, or there is no such model.
        """
        settings, value = self._studio.settings, value.strip()
        if line.prompt:
            kept = {**settings.default_prompts, line.name: value}
            changed: dict[str, object] = {"default_prompts": {name: text for name, text in kept.items() if text}}
        else:
            if line.name == "language":
                value = check_language(value)
            elif line.name == "model" and value:
                with self._studio.store.read() as tx:
                    value = known_model(tx, value)
            changed = {f"default_{line.name}": value}
        self._studio.change_settings(settings.model_copy(update=changed))


def _of_book(tx: ReadTx, space: Space, uuid: str) -> InheritedView:
    book = space.find(Book, uuid)
    if book is None or book.deleted is not None:
        raise NotFound("This book is not in the library any more.")
    here = inherited(space, book)
    agent = holder(tx, uuid)
    place = " / ".join(path_names(space, book.folder))
    return InheritedView(book.title, place, (agent,) if agent else (), _lines(here, here.without_book()))


def _of_folder(tx: ReadTx, space: Space, uuid: str) -> InheritedView:
    folder = all_folders(space).get(uuid)
    if folder is None:
        raise NotFound("This folder is not in the library any more.")
    here = inherited_in(space, uuid)
    books = reach.books_in_folders(tx.connection, space.id, [uuid])
    agents = {agent: None for book in sorted(books) if (agent := holder(tx, book))}
    place = " / ".join(path_names(space, folder.parent))
    return InheritedView(folder.name, place, tuple(agents), _lines(here, Inherited(here.levels[1:])))


def _lines(here: Inherited, above: Inherited) -> tuple[SettingLine, ...]:
    """Args: what holds at the owner, whose level is the first; the levels above it."""
    own = here.levels[0]
    lines = []
    for name in INHERITED:
        said = own.values.get(name, "")
        lines.append(_line(name, LABELS[name], HELP.get(name, ""), said, here.value(name), above.value(name)))
    for kind in PROMPTS.values():
        label = kind.label[0].upper() + kind.label[1:]
        help = f"What it makes a model do: {kind.purpose}. A template."
        said = str(own.prompts.get(kind.name, ""))
        now, then = here.prompt(kind.name), above.prompt(kind.name)
        lines.append(_line(kind.name, label, help, said, now, then, prompt=True))
    return tuple(lines)


def _line(
    name: str, label: str, help: str, own: str, now: Effective, then: Effective, *, prompt: bool = False
) -> SettingLine:
    return SettingLine(
        name=name,
        prompt=prompt,
        label=label,
        help=help,
        value=now.value,
        where=now.where if now.value else "",
        own=bool(own.strip()),
        above=then.value,
        above_where=then.where,
    )
