"""The commands there are.

Registration takes a whole suite or nothing of it. The table is replaced, never changed in place, so threads that
look up while an extension registers see the old one or the new one.
"""

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import ModuleType

from rapidfuzz import fuzz, process

from marginalia_tui.commands.definition import CommandDefinition, define, is_command
from marginalia_tui.commands.line import CommandLine
from marginalia_tui.commands.sentences import either, quoted
from marginalia_tui.domain.errors import Invalid, NotFound

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
    """The table of commands, by name."""

    def __init__(self) -> None:
        self._commands: dict[str, CommandDefinition] = {}
        self._lock = threading.Lock()

    def register(self, *suites: Suite) -> tuple[CommandDefinition, ...]:
        """Adds the commands of the suites, all or none; a suite that is there already changes nothing.

        Raises:
            Invalid: a suite without a command, an incomplete command, a name that is taken; the sentence says it.
        """
        functions = [function for suite in suites for function in _functions(suite)]
        found = [define(function) for function in functions]
        with self._lock:
            table = dict(self._commands)
            for definition in found:
                holder = table.get(definition.name)
                if holder is not None and holder.bodies[0].function is not definition.bodies[0].function:
                    raise Invalid(f"There is a command {definition.name} already: give this one another name.")
                if holder is None:
                    _check_example(definition)
                    table[definition.name] = definition
            self._commands = dict(sorted(table.items()))
            return tuple(self._commands[definition.name] for definition in found)

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


def _functions(suite: Suite) -> list[Callable[..., object]]:
    if not isinstance(suite, ModuleType):
        return [suite]
    functions = [value for value in vars(suite).values() if is_command(value) and value.__module__ == suite.__name__]
    if not functions:
        raise Invalid(f"The suite {suite.__name__} has no command: put @command above its functions.")
    return functions


def _check_example(definition: CommandDefinition) -> None:
    line = CommandLine.parse(definition.example)
    longest = max(len(form) for form in definition.forms)
    if line.name != definition.name or len(line.arguments) > longest:
        raise Invalid(f"The example of the command {definition.name} does not call it: {definition.example}")
