"""The commands there are.

Registration takes a whole suite or nothing of it. The table is replaced, never changed in place, so threads that
look up while an extension registers see the old one or the new one.
"""

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from types import ModuleType

from rapidfuzz import fuzz, process

from marginalia_tui.commands.declare import define, is_command, name_of, outline
from marginalia_tui.commands.definition import CommandDefinition
from marginalia_tui.commands.line import CommandLine
from marginalia_tui.domain.errors import Invalid, NotFound
from marginalia_tui.domain.sentences import either, quoted

Suite = ModuleType | Callable[..., object]
"""A module with commands, or one command."""


def nearest(wanted: str, names: Iterable[str], limit: int = 3) -> list[str]:
    """The names most like `wanted`, best first; none when nothing is near."""
    if len(wanted) > 100:
        return []
    written = {name: name.casefold().replace("_", "-") for name in names}
    found = process.extract(
        wanted.casefold().replace("_", "-"), written, scorer=fuzz.WRatio, score_cutoff=65, limit=limit
    )
    return [name for _, _, name in found]


class Registry:
    """The table of commands, by name. A name belongs to the suite that brought it."""

    def __init__(self) -> None:
        self._commands: dict[str, CommandDefinition] = {}
        self._suites: dict[str, Suite] = {}
        self._lock = threading.Lock()

    def register(self, *suites: Suite) -> tuple[CommandDefinition, ...]:
        """Adds the commands of the suites, all or none; a suite that is there already changes nothing.

        Raises:
            Invalid: a suite without a command, an incomplete command, forms that do not go together, a name that
                another suite holds; the sentence says it.
        """
        return self._register(define, suites)

    def register_shipped(self, *suites: Suite) -> tuple[CommandDefinition, ...]:
        """The same for suites that the tests know to be complete: they are read no further than is asked."""
        return self._register(outline, suites)

    def copy(self) -> "Registry":
        """Another registry with the same commands."""
        other = Registry()
        with self._lock:
            other._commands, other._suites = self._commands, self._suites
        return other

    def _register(
        self, read: Callable[..., CommandDefinition], suites: Sequence[Suite]
    ) -> tuple[CommandDefinition, ...]:
        found = [(suite, read(*forms)) for suite in suites for forms in _forms(suite)]
        with self._lock:
            table, holders = dict(self._commands), dict(self._suites)
            for suite, definition in found:
                name = definition.name
                if name in table and holders[name] is suite:
                    continue
                if name in table:
                    raise Invalid(f"There is a command {name} already: give this one another name.")
                _check_example(definition)
                table[name], holders[name] = definition, suite
            self._commands, self._suites = dict(sorted(table.items())), holders
            return tuple(table[definition.name] for _, definition in found)

    def unregister(self, suite: Suite) -> tuple[str, ...]:
        """Takes the commands of a suite away and answers their names; those that run go on."""
        with self._lock:
            return self._remove({name for name, holder in self._suites.items() if holder is suite})

    def unregister_command(self, name: str) -> bool:
        """Takes one command away, with all its forms; False when there was none. One that runs goes on."""
        with self._lock:
            return bool(self._remove({name}))

    def _remove(self, names: Set[str]) -> tuple[str, ...]:
        gone = tuple(name for name in self._commands if name in names)
        self._commands = {name: each for name, each in self._commands.items() if name not in names}
        self._suites = {name: each for name, each in self._suites.items() if name not in names}
        return gone

    def get(self, name: str) -> CommandDefinition:
        """The command of a name.

        Raises:
            NotFound: there is none; the sentence proposes the nearest.
        """
        try:
            return self._commands[name]
        except KeyError:
            near = nearest(name, self._commands)
            hint = f"Did you mean {either(near)}?" if near else "/help lists the commands."
            raise NotFound(f"There is no command {quoted(name)}. {hint}") from None

    def find(self, name: str) -> CommandDefinition | None:
        """The command of a name, or None."""
        return self._commands.get(name)

    @property
    def names(self) -> Sequence[str]:
        """The names in alphabetical order."""
        return tuple(self._commands)

    def __iter__(self) -> Iterator[CommandDefinition]:
        return iter(tuple(self._commands.values()))

    def __len__(self) -> int:
        return len(self._commands)

    def __contains__(self, name: object) -> bool:
        return name in self._commands


def _forms(suite: Suite) -> list[list[Callable[..., object]]]:
    """The functions of a suite, those of one command together, in the order in which they stand there."""
    if not isinstance(suite, ModuleType):
        return [[suite]]
    found: dict[str, list[Callable[..., object]]] = {}
    for value in vars(suite).values():
        if is_command(value) and value.__module__ == suite.__name__:
            found.setdefault(name_of(value), []).append(value)
    if not found:
        raise Invalid(f"The suite {suite.__name__} has no command: put @command above its functions.")
    return list(found.values())


def _check_example(definition: CommandDefinition) -> None:
    line = CommandLine.parse(definition.example)
    fits = any(len(line.arguments) <= form.takes or form.rest for form in definition.forms)
    if line.name != definition.name or not fits:
        raise Invalid(f"The example of the command {definition.name} does not call it: {definition.example}")
