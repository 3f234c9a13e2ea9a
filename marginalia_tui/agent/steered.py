"""Steering for commands: the newest run of an agent, told inside the transaction of the command."""

from collections.abc import Callable
from functools import partial

from marginalia_tui.agent import steering
from marginalia_tui.agent.agents import find_agent, list_agents
from marginalia_tui.agent.definition import AgentDefinition
from marginalia_tui.agent.runner import Runner
from marginalia_tui.agent.runs import latest_runs
from marginalia_tui.commands.steering import Steered
from marginalia_tui.domain.errors import Invalid, NotFound
from marginalia_tui.store.store import ReadTx, WriteTx


class RunnerSteering:
    """Steers by a runner: what begins is worked by its process."""

    def __init__(self, runner: Callable[[], Runner]) -> None:
        self._runner = runner

    def find(self, tx: ReadTx, agent: str | None, book: str | None) -> Steered:
        """The newest run of an agent.

        Raises:
            NotFound: there is no such agent, or it never ran.
            Invalid: neither an agent nor a book is named.
        """
        found = self._agent(tx, agent, book)
        run = latest_runs(tx).get(found.uuid)
        if run is None:
            raise NotFound(f"{found.name} never ran: start it on the screen of the agents (F4).")
        return Steered(run.uuid, found.name, run.status.value)

    def _agent(self, tx: ReadTx, agent: str | None, book: str | None) -> AgentDefinition:
        if agent is not None:
            return find_agent(tx, agent)
        if book is None:
            raise Invalid("Name the agent, or open its book.")
        for each in list_agents(tx):
            if each.book == book:
                return each
        raise NotFound("The open book has no agent: name one, or make one on the screen of the agents (F4).")

    def pause(self, tx: WriteTx, run: str, *, now: bool) -> None:
        """Has it pause."""
        steering.pause(tx, run, now=now)
        tx.if_kept(partial(self._runner().hurry, run, now=now))

    def stop(self, tx: WriteTx, run: str, *, keep: bool) -> None:
        """Ends it."""
        steering.stop(tx, run, keep=keep)
        tx.if_kept(partial(self._runner().hurry, run, now=True))

    def finish(self, tx: WriteTx, run: str) -> None:
        """Declares it done."""
        steering.finish(tx, run)

    def resume(self, tx: WriteTx, run: str, note: str) -> None:
        """Has it go on here."""
        self._runner().resume_in(tx, run, note)

    def send(self, tx: WriteTx, run: str, text: str) -> None:
        """Says something to its agent."""
        self._runner().send_in(tx, run, text)
