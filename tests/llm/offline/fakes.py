"""A book behind the tools of an agent, and the loop of a run around the proofreader."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from marginalia_tui.domain.chat import Call, Message, Request, Tool
from marginalia_tui.llm.offline.proofreader import Reply, reply

TOOLS = ("list-parts", "get-part", "edit-part", "update_plan", "finish", "ask_user")


def tools(*names: str) -> tuple[Tool, ...]:
    return tuple(Tool(name, "", {"type": "object", "properties": {}}) for name in names or TOOLS)


@dataclass
class FakeBook:
    """Parts in memory; `largest` characters of a result are shown, as a run cuts them."""

    texts: list[str]
    titles: list[str] = field(default_factory=list)
    largest: int = 20_000
    refuse: Callable[[str, dict[str, Any]], str | None] = lambda name, arguments: None
    plan: list[dict[str, str]] = field(default_factory=list)
    report: str = ""

    def answer(self, call: Call) -> Message:
        arguments = json.loads(call.arguments)
        try:
            if refusal := self.refuse(call.name, arguments):
                raise ValueError(refusal)
            text = json.dumps(self._make(call.name, arguments), ensure_ascii=False)
        except ValueError as error:
            return Message(role="tool", text=f"Error: {error}", call_id=call.id, ok=False)
        if len(text) > self.largest:
            text = text[: self.largest] + "\n[Cut here]"
        return Message(role="tool", text=text, call_id=call.id)

    def _make(self, name: str, arguments: dict[str, Any]) -> Any:
        match name:
            case "list-parts":
                return self._list(arguments["offset"], arguments["limit"])
            case "get-part":
                return self._get(self._index(arguments), arguments["offset"], arguments["length"])
            case "edit-part":
                return self._edit(self._index(arguments), arguments["old"], arguments["new"])
            case "update_plan":
                self.plan = arguments["steps"]
                return "The plan is kept."
            case "finish":
                self.report = arguments["report"]
                return "The run is finished."
            case _:
                return "The question is asked."

    def _index(self, arguments: dict[str, Any]) -> int:
        return int(str(arguments["part"]).removeprefix("h:m")) - 1

    def _title(self, index: int) -> str:
        return self.titles[index] if index < len(self.titles) else f"Chapter {index + 1}"

    def _list(self, offset: int, limit: int) -> dict[str, Any]:
        if not 1 <= limit <= 200:
            raise ValueError("limit is from 1 to 200")
        rows = [
            {"position": i + 1, "part": f"h:m{i + 1}", "title": self._title(i), "words": len(self.texts[i].split())}
            for i in range(len(self.texts))[offset : offset + limit]
        ]
        end = offset + len(rows)
        data: dict[str, Any] = {"total": len(self.texts), "offset": offset, "truncated": end < len(self.texts)}
        if data["truncated"]:
            data["nextOffset"] = end
        return {**data, "branch": 1, "parts": rows}

    def _get(self, index: int, offset: int, length: int) -> dict[str, Any]:
        if not 1 <= length <= 20_000:
            raise ValueError("length is from 1 to 20000")
        text = self.texts[index]
        end = min(offset + length, len(text))
        data: dict[str, Any] = {"offset": offset, "totalLength": len(text), "truncated": end < len(text)}
        if data["truncated"]:
            data["nextOffset"] = end
        return {
            **data,
            "part": f"h:m{index + 1}",
            "position": index + 1,
            "title": self._title(index),
            "text": text[offset:end],
        }

    def _edit(self, index: int, old: str, new: str) -> dict[str, Any]:
        text = self.texts[index]
        at = text.find(old)
        if at < 0 or text.find(old, at + 1) >= 0:
            raise ValueError(f"The passage is not exactly once in part {index + 1}.")
        self.texts[index] = text[:at] + new + text[at + len(old) :]
        shown = self.texts[index][max(0, at - 20) : at + len(new) + 20]
        return {"result": "changed", "part": f"h:m{index + 1}", "position": index + 1, "words": 1, "passage": shown}


@dataclass
class FakeRun:
    """A run as the studio works it: asks, makes the calls of the answer, and so on until it rests."""

    book: FakeBook
    messages: list[Message] = field(default_factory=lambda: [Message(role="user", text="Begin now with your task.")])
    tools: tuple[Tool, ...] = field(default_factory=tools)
    system: str = "You are an agent."
    single: bool = False
    replies: list[Reply] = field(default_factory=list)

    def request(self) -> Request:
        return Request(system=self.system, messages=tuple(self.messages), tools=self.tools)

    def round(self) -> Reply:
        """One question and the calls of its answer."""
        answer = reply(self.request())
        self.replies.append(answer)
        calls = answer.calls[:1] if self.single else answer.calls
        self.messages.append(Message(role="assistant", text=answer.text, calls=calls))
        self.make(calls)
        return answer

    def make(self, calls: Sequence[Call]) -> None:
        failed = False
        for call in calls:
            if failed:
                text = "Error: this call was not made, because the call before it failed."
                result = Message(role="tool", text=text, call_id=call.id, ok=False)
            else:
                result = self.book.answer(call)
            failed = failed or not result.ok
            self.messages.append(result)

    def work(self, most: int = 400) -> "FakeRun":
        """Rounds until the run rests."""
        for _ in range(most):
            answer = self.round()
            last = self.messages[-1]
            if not answer.calls or (
                answer.calls[-1].name in ("finish", "ask_user") and last.ok and last.role == "tool"
            ):
                return self
        raise AssertionError("the run does not end")

    @property
    def said(self) -> str:
        return "\n\n".join(answer.text for answer in self.replies)


def chapters(folder: Path) -> list[str]:
    """The chapters of a folder of Markdown files, in the order of their names."""
    return [path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.md"))]
