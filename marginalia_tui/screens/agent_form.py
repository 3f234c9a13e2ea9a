"""The form of an agent."""

from typing import TYPE_CHECKING, Any

from marginalia_tui.screens.host import Host

if TYPE_CHECKING:
    from marginalia_tui.desk.opening import Desk
    from marginalia_tui.widgets.fields import Field, FieldValue

DESTRUCTIVE = (("deny", "are not offered"), ("ask", "wait for my word"), ("auto", "run at once"))
BATCH = (("batched", "several, some alone"), ("single", "one"), ("free", "as many as it likes"))
NO_BOOK = "Bring a book in first: F2 shows the library."
NO_FREE_BOOK = "Every book has its agent: change that one, or bring another book in (F2)."

Pairs = tuple[tuple[str, str], ...]


async def edit_agent(host: Host, desk: "Desk", agent: str | None) -> str | None:
    """Asks for the fields of a new agent, or those of one that is there; returns its uuid, None when given up."""
    from marginalia_tui.domain.errors import Invalid, NotFound, Refused
    from marginalia_tui.widgets.dialogs import Form

    choices = await host.call(desk.runs.choices)
    if agent is None and not choices.books:
        host.tell(NO_FREE_BOOK if choices.any_book else NO_BOOK)
        return None
    now: dict[str, Any] = {} if agent is None else (await host.call(desk.runs.agent, agent)).model_dump()
    while True:
        title = "New agent" if agent is None else f"Agent {now['name']}"
        answer = await host.ask(Form(title, _fields(choices.books, choices.models, now, new=agent is None)))
        if answer is None:
            return None
        now = {**now, **_values(answer)}
        try:
            made = await host.call(desk.runs.save_agent, agent, _values(answer))
            return made.uuid
        except (Invalid, NotFound, Refused) as error:
            host.refuse(error)


async def clone_agent(host: Host, desk: "Desk", agent: str, name: str) -> str | None:
    """Asks for the name and the book of the clone, and makes it; returns its uuid, None when given up."""
    from marginalia_tui.domain.errors import Invalid, NotFound, Refused
    from marginalia_tui.widgets.dialogs import Form
    from marginalia_tui.widgets.fields import Field

    choices = await host.call(desk.runs.choices)
    if not choices.books:
        host.tell(NO_FREE_BOOK)
        return None
    now: dict[str, FieldValue] = {"name": f"{name} 2", "book": choices.books[0][0]}
    while True:
        fields = [
            Field("name", "Name", "text", now["name"], required=True),
            Field("book", "Book", "choice", now["book"], choices.books, help="A book has one agent."),
        ]
        answer = await host.ask(Form(f"Clone {name}", fields))
        if answer is None:
            return None
        now = answer
        try:
            made = await host.call(desk.runs.clone_agent, agent, str(answer["name"]), str(answer["book"]))
            return made.uuid
        except (Invalid, NotFound, Refused) as error:
            host.refuse(error)


def _fields(books: Pairs, models: Pairs, now: dict[str, Any], *, new: bool) -> "list[Field]":
    from marginalia_tui.agent.presets import NAMES
    from marginalia_tui.widgets.fields import Field

    def limit(name: str, label: str, help: str, *, whole: bool = True) -> Field:
        return Field(name, label, "number", now.get(name) or None, help=help, whole=whole)

    commands = now.get("commands", "safe")
    shown = commands if isinstance(commands, str) else ", ".join(commands)
    book = [Field("book", "Book", "choice", now.get("book", books[0][0]), books)] if new else []
    return [
        Field("name", "Name", "text", now.get("name", ""), required=True),
        *book,
        Field("model", "Model", "choice", now.get("model", models[0][0]), models, help="F5 adds models."),
        Field("instructions", "Task", "multiline", now.get("instructions", ""), help="What it does, in your words."),
        Field("enabled", "Enabled", "boolean", now.get("enabled", True)),
        Field("commands", "Commands", "text", shown, help=f"{NAMES}; or names with commas between them."),
        Field("destructive", "Destructive calls", "choice", now.get("destructive", "deny"), DESTRUCTIVE),
        Field("batch", "Calls at a time", "choice", now.get("batch", "batched"), BATCH),
        limit("max_rounds", "Rounds at most", "Empty is no limit."),
        limit("token_budget", "Tokens at most", "Empty is no limit."),
        limit("max_cost", "Cost at most", "At the prices of the model. Empty is no limit.", whole=False),
        limit("max_minutes", "Minutes at most", "That it works. Empty is no limit.", whole=False),
        limit("context_cap", "Context at most", "Tokens. Empty takes what the model has."),
        Field("auto_compact", "Summary at", "number", now.get("auto_compact", 90), help="Percent, 50 to 99; 0: never."),
        Field(
            "language",
            "Speaks",
            "text",
            now.get("language", "en"),
            help="With you: a code, such as en. The book keeps its own.",
        ),
        Field(
            "system_prompt",
            "System prompt",
            "multiline",
            now.get("system_prompt", ""),
            help="Empty: that of the settings.",
        ),
        Field(
            "compaction_prompt",
            "Summary prompt",
            "multiline",
            now.get("compaction_prompt", ""),
            help="Empty: that of the settings.",
        ),
    ]


def _values(answer: "dict[str, FieldValue]") -> dict[str, Any]:
    values: dict[str, Any] = dict(answer)
    named = tuple(name.strip().removeprefix("/") for name in str(values["commands"]).split(",") if name.strip())
    values["commands"] = named[0] if named in (("safe",), ("all",)) else named
    for limit in ("max_rounds", "token_budget", "max_cost", "max_minutes", "context_cap", "auto_compact"):
        values[limit] = values[limit] or 0
    return values
