"""The tools of an agent: the commands that it is allowed, and a few of the run itself.

One tool stands for one command. Which commands those are depends on the agent alone, so that a tool means the same
after a restart. Handles are translated here and nowhere else.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from marginalia_tui.agent.brief import brief, is_small
from marginalia_tui.agent.definition import AgentDefinition
from marginalia_tui.agent.handles import Handles
from marginalia_tui.agent.presets import expand
from marginalia_tui.commands.context import Scope
from marginalia_tui.commands.definition import CommandDefinition, Severity
from marginalia_tui.commands.registry import Registry, nearest
from marginalia_tui.domain.chat import Tool
from marginalia_tui.domain.errors import Invalid, NotFound
from marginalia_tui.resources import prompt

MAX_RESULT = 20_000
"""Characters of a result that a model reads."""

_FUNCTION_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def function_name(command: str) -> str:
    """The name under which a model calls a command: its own, or one made of it that servers accept.

    It depends on the command alone, so that a stored transcript means the same command for ever.
    """
    if _FUNCTION_NAME.fullmatch(command):
        return command
    mark = "_" + sha256(command.encode()).hexdigest()[:6]
    return re.sub(r"[^a-zA-Z0-9_-]", "_", command)[: 64 - len(mark)] + mark


_TEXT = {"type": "string"}

FINISH = "finish"
ASK_USER = "ask_user"
UPDATE_PLAN = "update_plan"
GET_RUN_STATUS = "get_run_status"
REQUEST_COMPACTION = "request_compaction"
REPORT = "report"
SEARCH_MANUAL = "search_manual"
READ_MANUAL_PAGE = "read_manual_page"
READ_EARLIER = "read_earlier"
_FROM = {"type": "integer", "minimum": 1, "description": "Where to go on; 1 without it."}

RUN_TOOLS: dict[str, Tool] = {
    tool.name: tool
    for tool in (
        Tool(
            FINISH,
            "Ends your work. Call it once, alone, when everything that was asked is done. "
            "Pass a short report: what you changed, part by part, and what you left for the author.",
            {
                "type": "object",
                "properties": {"report": {**_TEXT, "description": "The report for the author."}},
                "required": ["report"],
                "additionalProperties": False,
            },
        ),
        Tool(
            ASK_USER,
            "Asks the author a question and waits for the answer. Only for what you can't settle yourself.",
            {
                "type": "object",
                "properties": {
                    "question": {**_TEXT, "description": "The question, in one or two sentences."},
                    "choices": {
                        "type": "array",
                        "description": "Up to 9 short answers to pick from, if there are such. The author may write "
                        "another one.",
                        "items": _TEXT,
                    },
                },
                "required": ["question"],
                "additionalProperties": False,
            },
        ),
        Tool(
            UPDATE_PLAN,
            "Keeps your plan, which the author can see. Pass all steps every time, each with its status.",
            {
                "type": "object",
                "properties": {
                    "steps": {
                        "type": "array",
                        "description": "The steps in order.",
                        "items": {
                            "type": "object",
                            "properties": {
                                "step": {**_TEXT, "description": "What is to be done."},
                                "status": {"type": "string", "enum": ["pending", "in_progress", "done"]},
                            },
                            "required": ["step", "status"],
                            "additionalProperties": False,
                        },
                    }
                },
                "required": ["steps"],
                "additionalProperties": False,
            },
        ),
        Tool(
            GET_RUN_STATUS,
            "Tells how many rounds and tokens you have used, and what the limits are.",
            {"type": "object", "properties": {}, "required": [], "additionalProperties": False},
        ),
        Tool(
            REQUEST_COMPACTION,
            "Replaces this conversation by a summary that you write next, so that there is room again. "
            "Call it alone, between two steps, when you are told that the conversation fills up.",
            {
                "type": "object",
                "properties": {"focus": {**_TEXT, "description": "What must not be lost."}},
                "required": [],
                "additionalProperties": False,
            },
        ),
        Tool(
            READ_EARLIER,
            "Reads what was said and done before the summary that this conversation begins with.",
            {
                "type": "object",
                "properties": {"find": {**_TEXT, "description": "Words that it has; all without them."}, "from": _FROM},
                "required": [],
                "additionalProperties": False,
            },
        ),
        Tool(
            REPORT,
            "Keeps a finding for the author: something in the book that they should know and that you do not change, "
            "such as a contradiction. It stays when your work is discarded. One call for each finding.",
            {
                "type": "object",
                "properties": {"text": {**_TEXT, "description": "What you found and where, in a few sentences."}},
                "required": ["text"],
                "additionalProperties": False,
            },
        ),
        Tool(
            SEARCH_MANUAL,
            "Looks words up in the manual of the studio: how something works, what a limit is.",
            {
                "type": "object",
                "properties": {"query": {**_TEXT, "description": "One or a few words."}, "from": _FROM},
                "required": ["query"],
                "additionalProperties": False,
            },
        ),
        Tool(
            READ_MANUAL_PAGE,
            "Reads a page of the manual that search_manual named.",
            {
                "type": "object",
                "properties": {"page": {**_TEXT, "description": "Its name."}, "from": _FROM},
                "required": ["page"],
                "additionalProperties": False,
            },
        ),
    )
}

_STATUSES = {
    "pending": "pending", "todo": "pending", "open": "pending", "not_started": "pending", "planned": "pending",
    "in_progress": "in_progress", "doing": "in_progress", "started": "in_progress", "active": "in_progress",
    "current": "in_progress", "done": "done", "completed": "done", "complete": "done", "finished": "done",
}  # fmt: skip
"""The spellings that models use for the status of a step."""


def plan_steps(arguments: Mapping[str, Any]) -> list[dict[str, str]]:
    """The steps of an update_plan call.

    Raises:
        Invalid: they are not a list of steps; the sentence says what one looks like.
    """
    steps = arguments.get("steps")
    shape = 'Pass steps as a list such as [{"step": "Read part 1", "status": "pending"}].'
    if not isinstance(steps, list) or not steps:
        raise Invalid(shape)
    found = []
    for each in steps[:200]:
        if isinstance(each, str):
            each = {"step": each}
        if not isinstance(each, dict) or not isinstance(each.get("step"), str):
            raise Invalid(shape)
        written = str(each.get("status", "pending")).strip().lower().replace(" ", "_").replace("-", "_")
        status = _STATUSES.get(written)
        if status is None:
            raise Invalid(f"{written!r} is no status of a step: use pending, in_progress or done.")
        found.append({"step": each["step"][:500], "status": status})
    return found


def text_argument(tool: str, name: str, arguments: Mapping[str, Any]) -> str:
    """The one text that a tool of the run takes.

    Raises:
        Invalid: it is missing or empty.
    """
    text = arguments.get(name)
    if not isinstance(text, str) or not text.strip():
        raise Invalid(f"{tool} needs the argument {name}: a text.")
    return text.strip()


def from_argument(tool: str, arguments: Mapping[str, Any]) -> int:
    """The number from which a tool goes on.

    Raises:
        Invalid: it is none.
    """
    value = arguments.get("from", 1)
    if isinstance(value, str) and value.strip().isdecimal() and len(value) < 10:
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise Invalid(f"{tool} takes from as a number, 1 or more.")
    return value


@dataclass(frozen=True, slots=True)
class AddedTool:
    """A tool that an extension brings. It reads; what changes a book is a command."""

    tool: Tool
    run: Callable[[Mapping[str, Any], Scope], str]
    """The arguments and the scope of the run -> the text that the model reads; may raise an error for people."""


@dataclass(frozen=True, slots=True)
class ToolSet:
    """The tools that one agent has."""

    tools: tuple[Tool, ...]
    commands: Mapping[str, CommandDefinition]
    """Function name -> command."""
    added: Mapping[str, AddedTool] = field(default_factory=dict)
    """Name -> tool of an extension."""

    @property
    def singles(self) -> frozenset[str]:
        """The tools that are called alone in an answer."""
        return frozenset(name for name, command in self.commands.items() if command.single) | {REQUEST_COMPACTION}

    @property
    def readers(self) -> frozenset[str]:
        """The tools that change nothing."""
        return frozenset(name for name, command in self.commands.items() if command.read_only) | {
            GET_RUN_STATUS,
            READ_EARLIER,
            SEARCH_MANUAL,
            READ_MANUAL_PAGE,
            *self.added,
        }

    def command(self, name: str) -> CommandDefinition:
        """The command behind a tool.

        Raises:
            NotFound: no such tool; the sentence names the nearest.
        """
        found = self.commands.get(name) or self.commands.get(name.replace("_", "-"))
        if found is None:
            names = [tool.name for tool in self.tools]
            near = nearest(name, names)
            raise NotFound(
                f"There is no tool {name!r}. "
                + (f"Did you mean {' or '.join(near)}?" if near else f"Yours: {', '.join(names)}.")
            )
        return found


def allowed_commands(registry: Registry, agent: AgentDefinition) -> list[CommandDefinition]:
    """The commands that an agent may call, by name; those that the registry lost are left out."""
    offered = [command for command in registry if command.for_agents]
    if agent.commands == "safe":
        offered = [c for c in offered if not c.destructive and c.severity is not Severity.REMOVE]
    elif agent.commands != "all":
        named = expand(agent.commands)
        offered = [command for command in offered if command.name in named]
    if agent.destructive == "deny":
        offered = [command for command in offered if not command.destructive]
    return offered


def build_tools(
    registry: Registry, agent: AgentDefinition, added: Iterable[AddedTool] = (), *, cap: int = 0
) -> ToolSet:
    """The tools of an agent: its commands, those that extensions bring, those of the run.

    Args:
        registry: all commands.
        agent: with those that it may call.
        added: the tools of extensions.
        cap: the tokens of its context, 0 when that is not known: a small one gets short descriptions and no manual.

    Raises:
        Invalid: two of them would have one name.
    """
    commands: dict[str, CommandDefinition] = {}
    for command in allowed_commands(registry, agent):
        name = function_name(command.name)
        if name in commands or name in RUN_TOOLS:
            raise Invalid(f"Two tools would be called {name!r}: take {command.name} from the agent's commands.")
        commands[name] = command
    others = {each.tool.name: each for each in added}
    if both := sorted(others.keys() & commands.keys()):
        raise Invalid(f"Two tools would be called {both[0]!r}: take {both[0]} from the agent's commands.")
    tools = [Tool(name, command.for_model, command.schema) for name, command in commands.items()]
    tools += [*(each.tool for each in others.values()), *RUN_TOOLS.values()]
    if is_small(cap):
        tools = [brief(tool) for tool in tools if tool.name not in (SEARCH_MANUAL, READ_MANUAL_PAGE)]
    return ToolSet(tuple(tools), commands, others)


def resolve_handles(command: CommandDefinition, arguments: Mapping[str, Any], handles: Handles) -> dict[str, Any]:
    """The arguments with handles replaced by what they stand for, where a parameter names an item.

    Raises:
        NotFound: a handle that the agent was never shown.
    """
    naming = {each.name for each in command.parameters if each.names}
    return {
        name: handles.resolve(value) if name in naming and isinstance(value, str) else value
        for name, value in arguments.items()
    }


def cut_result(text: str, most: int = MAX_RESULT, told: str = "cut-result") -> str:
    """A result as the model reads it, cut at a line where there is one, with a word on how to go on.

    Args:
        text: the whole result.
        most: characters that are shown.
        told: the name of the text with that word.
    """
    if len(text) <= most:
        return text
    end = text.rfind("\n", most // 2, most)
    shown = text[: end if end > 0 else most]
    return shown + "\n" + prompt(told).format(shown=len(shown), total=len(text))
