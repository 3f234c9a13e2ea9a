"""What completes a command that the author writes inside a run: its commands, the parts and lore of its copy."""

from collections.abc import Callable
from dataclasses import dataclass

from marginalia_tui.agent import agents
from marginalia_tui.agent.author_commands import COMPACT, runnable
from marginalia_tui.agent.runs import get_run
from marginalia_tui.commands.completion import Completers, Completion, complete
from marginalia_tui.commands.definition import Severity
from marginalia_tui.commands.registry import Registry
from marginalia_tui.domain.errors import NotFound
from marginalia_tui.store.space import Space
from marginalia_tui.studio import Studio

COMPACT_WORDS = "Have the conversation summarised; a few words say what matters"


@dataclass(frozen=True, slots=True)
class _Known:
    """What fits in one run, as it was at a position of the journal of its copy."""

    run: str
    position: int
    registry: Registry
    completers: Completers


class RunCommands:
    """Completes for one run at a time; called on one thread after the other.

    Args:
        studio: the studio.
        register_names: has the names of a book completed: of which space, which book, into what.
    """

    def __init__(self, studio: Studio, register_names: Callable[[Completers, Space, str], None]) -> None:
        self._studio = studio
        self._register_names = register_names
        self._known: _Known | None = None

    def complete(self, run: str, text: str, cursor: int) -> list[Completion]:
        """What fits at a place of a line, best first; nothing when its agent or its copy is gone."""
        try:
            known = self._read(run)
        except NotFound:
            return []
        found = complete(known.registry, known.completers, text, cursor)
        typed = text[1:cursor]
        if COMPACT.startswith(typed) and " " not in typed:
            end = len(text) if " " not in text else text.index(" ")
            found.insert(0, Completion(f"{COMPACT} ", 1, end, COMPACT, COMPACT_WORDS, Severity.READ))
        return found

    def _read(self, run: str) -> _Known:
        with self._studio.store.read() as tx:
            found = get_run(tx, run)
            space = tx.space(found.copy)
            if self._known is not None and (self._known.run, self._known.position) == (run, space.position()):
                return self._known
            agent = agents.get_agent(tx, found.agent)
            registry = self._studio.registry.copy()
            allowed = {command.name for command in runnable(registry, agent)}
            for command in registry:
                if command.name not in allowed:
                    registry.unregister_command(command.name)
            completers = Completers()
            self._register_names(completers, space, found.book)
            self._known = _Known(run, space.position(), registry, completers)
            return self._known
