"""What could stand at the cursor of a command line: names of commands, values of arguments.

Pure and quick, so that it can run at every key. What a parameter names (`part`, `branch`, `file`, `model`,
`agent`...) is completed by whoever registers for that kind; they answer from what they hold in memory.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from marginalia_tui.commands.definition import CommandDefinition, Parameter, Severity
from marginalia_tui.commands.fuzzy import ranked
from marginalia_tui.commands.hint import fitting_forms
from marginalia_tui.commands.line import CommandLine
from marginalia_tui.commands.registry import Registry
from marginalia_tui.domain.lore import LoreRow, LoreTree
from marginalia_tui.domain.tree import StoryTree

LIMIT = 50
COMMANDS = 500
"""Names of commands that are proposed: all that anybody has."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A value that an argument can have."""

    value: str
    label: str = ""
    """What is shown; the value when empty."""
    description: str = ""


Completer = Callable[[str], Iterable[Candidate]]
"""What has been typed of an argument -> the values that could be meant, best first."""


@dataclass(frozen=True, slots=True)
class Completion:
    """A proposal: `text` takes the place of `source[start:end]`."""

    text: str
    start: int
    end: int
    label: str
    description: str = ""
    severity: Severity | None = None
    """Of a command; None for an argument."""
    destructive: bool = False


class Completers:
    """Completers by the kind of thing that they name. Safe to use from any thread."""

    def __init__(self) -> None:
        self._completers: dict[str, Completer] = {}

    def register(self, kind: str, completer: Completer) -> None:
        """Has a kind completed; a later one takes the place of an earlier one (another book was opened)."""
        self._completers[kind] = completer

    def unregister(self, kind: str) -> None:
        """Has a kind completed no more."""
        self._completers.pop(kind, None)

    def find(self, kind: str) -> Completer | None:
        """The completer of a kind."""
        return self._completers.get(kind)


def complete(registry: Registry, completers: Completers, source: str, cursor: int | None = None) -> list[Completion]:
    """The proposals at the cursor (the end when None), best first; at most `LIMIT`.

    Text behind the cursor is kept, but for the rest of the word in which it stands.
    """
    cursor = len(source) if cursor is None else cursor
    line = CommandLine.parse(source[:cursor])
    if not line.is_command:
        return []
    if line.typing_name:
        return _names(registry, source, line)
    definition = registry.find(line.name)
    current = line.current_argument
    if definition is None or current is None:
        return []
    found: dict[str, Candidate] = {}
    for parameter in _parameters(definition, line, current.index):
        for each in values(parameter, completers, current.text):
            found.setdefault(each.value, each)
    if not found:
        return []
    end = _end_of_argument(source, current.index, current.end)
    return [
        Completion(CommandLine.escape(each.value), current.start, end, each.label or each.value, each.description)
        for each in list(found.values())[:LIMIT]
    ]


def _parameters(definition: CommandDefinition, line: CommandLine, place: int) -> Iterator[Parameter]:
    """What the argument at a place can be, by the forms that fit so far, each kind of thing once."""
    seen: set[tuple[str, tuple[str, ...]]] = set()
    for form in fitting_forms(definition, line):
        parameter = form.parameter_at(place)
        if parameter is not None and (parameter.type, parameter.allowed) not in seen:
            seen.add((parameter.type, parameter.allowed))
            yield parameter


def _names(registry: Registry, source: str, line: CommandLine) -> list[Completion]:
    end = CommandLine.parse(source).name_end
    found = ranked(line.name, registry, lambda each: (each.name, each.title, each.description), COMMANDS)
    return [
        Completion(
            each.name + (" " if _takes_more(each, source, end) else ""),
            1,
            end,
            each.name,
            each.description,
            each.severity,
            each.destructive,
        )
        for each in found
    ]


def _takes_more(definition: CommandDefinition, source: str, end: int) -> bool:
    return bool(definition.parameters) and not source[end:].startswith(" ")


def _end_of_argument(source: str, index: int, end: int) -> int:
    arguments = CommandLine.parse(source).arguments
    return arguments[index].end if index < len(arguments) and arguments[index].start <= end else end


def values(parameter: Parameter, completers: Completers, typed: str) -> Iterable[Candidate]:
    """What a parameter can be, by what is typed of it, best first."""
    if parameter.names and (completer := completers.find(parameter.names)):
        return completer(typed)
    if parameter.allowed:
        return choices([Candidate(value) for value in parameter.allowed])(typed)
    if parameter.takes == "boolean":
        return choices([Candidate("true"), Candidate("false")])(typed)
    return ()


def choices(candidates: Iterable[Candidate]) -> Completer:
    """A completer over a fixed list."""
    known = [(each, (each.value, each.label, each.description)) for each in candidates]

    def completer(typed: str) -> list[Candidate]:
        return [each for each, _ in ranked(typed, known, lambda pair: pair[1], LIMIT)]

    return completer


def command_completer(registry: Registry) -> Completer:
    """The completer of the kind `command`."""

    def completer(typed: str) -> list[Candidate]:
        found = ranked(typed.removeprefix("/"), registry, lambda each: (each.name, each.title), LIMIT)
        return [Candidate(each.name, description=each.title) for each in found]

    return completer


def part_completer(tree: StoryTree, beginnings: Mapping[str, str] | None = None) -> Completer:
    """The completer of the kind `part`: the active branch by number, title and first words.

    Args:
        tree: the parts of the open book.
        beginnings: first words by uuid, where they are known.
    """
    words = beginnings or {}
    known = [
        Candidate(str(place), f"{place} {tree.rows[uuid].title}".strip(), words.get(uuid, ""))
        for place, uuid in enumerate(tree.active, start=1)
    ]
    return choices(known)


def branch_completer(tree: StoryTree) -> Completer:
    """The completer of the kind `branch`: the branches by number and the title of their last part."""
    known = [
        Candidate(
            str(number),
            f"{number} {tree.rows[leaf].title}".strip(),
            "the active one" if leaf == tree.active_leaf else "",
        )
        for number, leaf in enumerate(tree.leaves, start=1)
    ]
    return choices(known)


def lorebook_completer(tree: LoreTree) -> Completer:
    """The completer of the kind `lorebook`: those of the open book by number and name."""
    return choices(
        Candidate(str(number), f"{number} {each.name}", "" if each.uuid in tree.live else "disabled")
        for number, each in enumerate(tree.lorebooks.values(), start=1)
    )


def entry_completer(tree: LoreTree, rows: Iterable[LoreRow]) -> Completer:
    """The completer of the kind `entry`: those of the open book by number, name and filter.

    Args:
        tree: the lorebooks of the open book.
        rows: their entries, in the order in which they are told.
    """
    known: dict[str, list[Candidate]] = {uuid: [] for uuid in tree.lorebooks}
    numbers = {uuid: number for number, uuid in enumerate(tree.lorebooks, start=1)}
    for row in rows:
        of_book = known[row.lorebook]
        number = f"{numbers[row.lorebook]}.{len(of_book) + 1}"
        of_book.append(Candidate(number, f"{number} {row.name}", row.filter[:60]))
    return choices(each for of_book in known.values() for each in of_book)


def image_completer(images: Mapping[str, str]) -> Completer:
    """The completer of the kind `image`: those of the open book by name and caption."""
    return choices(Candidate(name, description=caption) for name, caption in images.items())


def annotation_completer(notes: Iterable[tuple[str, str]]) -> Completer:
    """The completer of the kind `annotation`: the notes of the open book by number and first words.

    Args:
        notes: what each says and its status, the oldest first.
    """
    return choices(
        Candidate(str(number), f"{number} {' '.join(says.split())}", status)
        for number, (says, status) in enumerate(notes, start=1)
    )


def folder_completer(folders: Iterable[tuple[str, int]]) -> Completer:
    """The completer of the kind `folder`: the folders by their paths.

    Args:
        folders: path and how many books are in it, each before those in it.
    """
    return choices(Candidate(path, description=f"{books:,} book{'' if books == 1 else 's'}") for path, books in folders)


def book_completer(books: Iterable[tuple[str, str, int]]) -> Completer:
    """The completer of the kind `book`: the books of the library by title, by uuid where several have that.

    Args:
        books: uuid, title and how many words it has.
    """
    known = list(books)
    often = Counter(title.casefold() for _, title, _ in known)
    return choices(
        Candidate(title if often[title.casefold()] == 1 else uuid, title, f"{words:,} words")
        for uuid, title, words in known
    )


def gone_completer(gone: Iterable[tuple[str, str, str, str]]) -> Completer:
    """The completer of the kind `gone`: what can be brought back by its name, or its uuid where several have that.

    Args:
        gone: kind, uuid, name (or the beginning of its text) and when it went, the newest first.
    """
    known = list(gone)
    often = Counter(name.casefold() for _, _, name, _ in known)
    return choices(
        Candidate(name if name and often[name.casefold()] == 1 else uuid, f"{kind} {name}".strip(), when)
        for kind, uuid, name, when in known
    )


def backup_completer(backups: Iterable[tuple[str, str]]) -> Completer:
    """The completer of the kind `backup`: the backups of the open book by number.

    Args:
        backups: when each was made and what it holds, the newest first.
    """
    known = [Candidate(str(number), f"{number} {made}", holds) for number, (made, holds) in enumerate(backups, start=1)]
    latest = [Candidate("latest", f"latest {known[0].label[2:]}", known[0].description)] if known else []
    return choices([*latest, *known])


def model_completer(models: Iterable[tuple[str, str]]) -> Completer:
    """The completer of the kind `model`: the models by name.

    Args:
        models: name and what it is called at its server.
    """
    return choices(Candidate(name, description=there) for name, there in models)
