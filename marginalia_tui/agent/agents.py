"""The agents that the author set up: made, changed, cloned, removed."""

from collections.abc import Callable

from pydantic import ValidationError
from sqlalchemy import delete, func, insert, select, update

from marginalia_tui.agent import runs
from marginalia_tui.agent.definition import MAX_INSTRUCTIONS, AgentDefinition
from marginalia_tui.agent.presets import expand
from marginalia_tui.agent.tools import build_tools
from marginalia_tui.commands.registry import Registry
from marginalia_tui.domain.errors import Invalid, NotFound, Refused
from marginalia_tui.domain.items import Book
from marginalia_tui.domain.runs import RunStatus
from marginalia_tui.services.books import pick_one
from marginalia_tui.services.models import get_model
from marginalia_tui.settings import Settings
from marginalia_tui.store import tables
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import ReadTx, Store, WriteTx


def define_agent(**fields: object) -> AgentDefinition:
    """A definition of fields that a person gave.

    Raises:
        Invalid: the sentence names the field.
    """
    try:
        return AgentDefinition.model_validate(fields)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = str(first["loc"][0]) if first["loc"] else "agent"
        if first["type"] == "string_too_long" and field in ("instructions", "system_prompt", "compaction_prompt"):
            given = len(str(first["input"]))
            raise Invalid(f"The {field} have {given:,} characters: give at most {MAX_INSTRUCTIONS:,}.") from None
        told = str(first["msg"]).removeprefix("Value error, ")
        raise Invalid(f"The agent's {field} does not fit: {told}.") from None


def list_agents(tx: ReadTx) -> list[AgentDefinition]:
    """The agents by name."""
    rows = tx.connection.execute(select(tables.agent.c.definition).order_by(tables.agent.c.name)).scalars()
    return [AgentDefinition.model_validate_json(row) for row in rows]


def get_agent(tx: ReadTx, uuid: str) -> AgentDefinition:
    """The agent of a uuid.

    Raises:
        NotFound: it was removed.
    """
    row = tx.connection.execute(select(tables.agent.c.definition).where(tables.agent.c.uuid == uuid)).scalar()
    if row is None:
        raise NotFound("That agent was removed.")
    return AgentDefinition.model_validate_json(row)


def find_agent(tx: ReadTx, name: str) -> AgentDefinition:
    """The agent of a name or uuid.

    Raises:
        NotFound, Ambiguous: the sentence lists the agents.
    """
    agents = list_agents(tx)
    found = [agent for agent in agents if name in (agent.name, agent.uuid)]
    found = found or [agent for agent in agents if agent.name.casefold() == name.casefold()]
    return pick_one(found, name, "agent", [agent.name for agent in agents], lambda agent: agent.name)


def add_agent(store: Store, registry: Registry, settings: Settings, agent: AgentDefinition) -> None:
    """Stores a new agent, in a transaction of its own.

    Raises:
        Refused: there are as many agents as the settings allow, or the book has one.
        Invalid, NotFound: its name is taken, its model, its book or a command is not there.
    """
    with store.write(Act(actor="author", label="agent", book=agent.book)) as tx:
        total = tx.connection.execute(select(func.count()).select_from(tables.agent)).scalar_one()
        if total >= settings.max_agents:
            raise Refused(f"There are {total} agents, as many as the settings allow: remove one, or raise max_agents.")
        _check(tx, registry, agent)
        other = tx.connection.execute(select(tables.agent.c.name).where(tables.agent.c.book == agent.book)).scalar()
        if other is not None:
            raise Refused(f"The book has an agent, {other!r}: a book has one. Change that one, or remove it.")
        tx.connection.execute(
            insert(tables.agent).values(
                uuid=agent.uuid,
                book=agent.book,
                name=agent.name,
                definition=agent.model_dump_json(),
                created=store.clock.now(),
            )
        )
        tx.touch("agent", agent.uuid)


def change_agent(
    store: Store, registry: Registry, uuid: str, change: Callable[[AgentDefinition], AgentDefinition]
) -> AgentDefinition:
    """Changes an agent, in a transaction of its own; a run that works goes on with what it began with.

    Raises:
        Invalid, NotFound: as for a new one; its book never changes.
    """
    with store.write(Act(actor="author", label="agent")) as tx:
        before = get_agent(tx, uuid)
        after = change(before)
        if (after.uuid, after.book) != (before.uuid, before.book):
            raise Invalid("The book of an agent can't be changed: clone the agent to the other book.")
        _check(tx, registry, after)
        tx.connection.execute(
            update(tables.agent)
            .where(tables.agent.c.uuid == uuid)
            .values(name=after.name, definition=after.model_dump_json())
        )
        tx.touch("agent", uuid)
        return after


def clone_agent(
    store: Store, registry: Registry, settings: Settings, source: AgentDefinition, name: str, book: str
) -> AgentDefinition:
    """The same agent under another name on another book."""
    fields = {**source.model_dump(), "uuid": store.clock.new_uuid(), "name": name, "book": book}
    agent = define_agent(**fields)
    add_agent(store, registry, settings, agent)
    return agent


def remove_agent(store: Store, uuid: str) -> None:
    """Removes an agent with its runs, their transcripts and copies, in a transaction of its own.

    Raises:
        Refused: a run of it works.
    """
    with store.write(Act(actor="author", label="agent")) as tx:
        agent = get_agent(tx, uuid)
        of_agent = runs.list_runs(tx, agent=uuid, limit=100_000)
        if any(run.status.active for run in of_agent):
            raise Refused(f"{agent.name} works: stop its run first.")
        for run in of_agent:
            runs.release_copy(tx, run.uuid, keep_journal=run.status is RunStatus.APPLIED)
            for table in (tables.message, tables.queue, tables.approval, tables.handle):
                tx.connection.execute(delete(table).where(table.c.run == run.uuid))
        tx.connection.execute(delete(tables.run).where(tables.run.c.agent == uuid))
        tx.connection.execute(delete(tables.agent).where(tables.agent.c.uuid == uuid))
        tx.touch("agent", uuid)
        tx.touch("book", agent.book)


def _check(tx: WriteTx, registry: Registry, agent: AgentDefinition) -> None:
    book = tx.space(LIBRARY).find(Book, agent.book)
    if book is None or book.deleted is not None:
        raise NotFound("The book of the agent is not in the library.")
    taken = tx.connection.execute(
        select(tables.agent.c.uuid).where(tables.agent.c.name == agent.name, tables.agent.c.uuid != agent.uuid)
    ).scalar()
    if taken is not None:
        raise Invalid(f"There is an agent {agent.name!r} already: give this one another name.")
    get_model(tx, agent.model)
    if isinstance(agent.commands, tuple):
        for name in expand(agent.commands):
            if not registry.get(name).for_agents:
                raise Invalid(f"The command {name} is not one for agents: leave it out.")
    build_tools(registry, agent)
