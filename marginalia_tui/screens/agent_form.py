"""The form of an agent."""

from typing import TYPE_CHECKING, Any

from marginalia_tui.screens.host import Host

if TYPE_CHECKING:
    from marginalia_tui.desk.opening import Desk
    from marginalia_tui.widgets.fields import Field, FieldValue

DESTRUCTIVE = (("deny", "are not offered"), ("ask", "wait for my word"), ("auto", "run at once"))
BATCH = (("batched", "several, some alone"), ("single", "one"), ("free", "as many as it likes"))


async def edit_agent(host: Host, desk: "Desk", agent: str | None) -> str | None:
    """Asks for the fields of a new agent, or those of one that is there; returns its uuid, None when given up."""
    from marginalia_tui.domain.errors import Invalid, NotFound, Refused
    from marginalia_tui.widgets.dialogs import Form

    choices = await host.call(desk.runs.choices)
    if agent is None and not choices.books:
        host.tell("Bring a book in first: F2 shows the library, i imports.")
        return None
    now: dict[str, Any] = {} if agent is None else (await host.call(desk.runs.agent, agent)).model_dump()
    while True:
        title = "New agent" if agent is None else f"Agent {now['name']}"
        answer = await host.ask(Form(title, _fields(choices.books, choices.models, now, new=agent is None)))
        if answer is None:
            return None
        try:
            made = await host.call(desk.runs.save_agent, agent, _values(answer))
            return made.uuid
        except (Invalid, NotFound, Refused) as error:
            host.refuse(error)
            now = {**now, **_values(answer)}


async def clone_agent(host: Host, desk: "Desk", agent: str, name: str) -> None:
    """Asks for the name and the book of the clone, and makes it."""
    from marginalia_tui.widgets.dialogs import Form
    from marginalia_tui.widgets.fields import Field

    choices = await host.call(desk.runs.choices)
    fields = [
        Field("name", "Name", "text", f"{name} 2", required=True),
        Field("book", "Book", "choice", choices.books[0][0], choices.books),
    ]
    if (answer := await host.ask(Form(f"Clone {name}", fields))) is not None:
        await host.call(desk.runs.clone_agent, agent, str(answer["name"]), str(answer["book"]))


def _fields(
    books: tuple[tuple[str, str], ...], models: tuple[tuple[str, str], ...], now: dict[str, Any], *, new: bool
) -> "list[Field]":
    from marginalia_tui.widgets.fields import Field

    commands = now.get("commands", "safe")
    shown = commands if isinstance(commands, str) else ", ".join(commands)
    book = [Field("book", "Book", "choice", now.get("book", books[0][0] if books else ""), books)] if new else []
    return [
        Field("name", "Name", "text", now.get("name", ""), required=True),
        *book,
        Field("model", "Model", "choice", now.get("model", models[-1][0]), models, help="F5 adds models"),
        Field("instructions", "Task", "multiline", now.get("instructions", ""), help="What it is to do, in your words"),
        Field("enabled", "Enabled", "boolean", now.get("enabled", True)),
        Field("commands", "Commands", "text", shown, help="safe, all, or names separated by commas"),
        Field("destructive", "Destructive calls", "choice", now.get("destructive", "deny"), DESTRUCTIVE),
        Field("batch", "Calls in one answer", "choice", now.get("batch", "batched"), BATCH),
        Field("max_rounds", "Rounds at most", "number", now.get("max_rounds") or None, help="empty is no limit"),
        Field("token_budget", "Tokens at most", "number", now.get("token_budget") or None, help="empty is no limit"),
        Field(
            "context_cap",
            "Context at most",
            "number",
            now.get("context_cap") or None,
            help="tokens; empty: the model's",
        ),
        Field("language", "Spoken to in", "text", now.get("language", "en"), help="a code such as en"),
        Field(
            "system_prompt", "System prompt", "multiline", now.get("system_prompt", ""), help="empty: the studio's own"
        ),
    ]


def _values(answer: "dict[str, FieldValue]") -> dict[str, Any]:
    values: dict[str, Any] = dict(answer)
    named = tuple(name.strip().removeprefix("/") for name in str(values["commands"]).split(",") if name.strip())
    values["commands"] = named[0] if named in (("safe",), ("all",)) else named
    for limit in ("max_rounds", "token_budget", "context_cap"):
        values[limit] = values[limit] or 0
    return values
