"""A conversation as every server takes it.

A transcript grows by crashes, stops, denials and trims, and servers refuse what is out of order: a call
without a result, a result without a call, two neighbours of one role, an empty message, the same id twice.
`legal` turns any sequence of messages into a legal one. It is deterministic and works from the front, so that
a longer conversation begins with the same bytes (servers keep the prompt they have read).
"""

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Sequence
from dataclasses import replace

from marginalia_tui.domain.chat import Call, Message
from marginalia_tui.llm.calls import NAMELESS, strict_arguments
from marginalia_tui.llm.surrogates import clean_text

INTERRUPTED = "Interrupted: no result of this call is known."
"""The result of a call that has none."""
NO_OUTPUT = "(no output)"
"""The result of a call that answered nothing; some servers refuse an empty one."""
OPENING = "Begin."
"""What the author says when a conversation has nothing to answer to."""


def legal(messages: Sequence[Message], *, calls: int | None = None) -> tuple[Message, ...]:
    """The messages in legal order.

    Args:
        messages: a whole conversation, or what follows a `closed` beginning.
        calls: the calls in that beginning; None for a whole conversation.

    It holds afterwards: the first is the author's; neighbours differ in role, results apart; every call is
    followed by its one result, in the order of the calls; ids are unique (`c00000001`, counted through);
    arguments are JSON objects; no text that is sent is empty, and none has a lone surrogate.
    """
    merged = _merge(_paired(messages, calls or 0))
    if calls is None and (not merged or merged[0].role != "user"):
        merged.insert(0, Message(role="user", text=OPENING))
    return tuple(merged)


def closed(messages: Sequence[Message], start: int = 0) -> int:
    """The length of a beginning that is made legal by itself: whatever follows changes nothing in it.

    It ends with the results of an answer when every call up to there has its result.

    Args:
        messages: a conversation.
        start: the length of one that is known.
    """
    waiting: Counter[str] = Counter()
    end, results = start, False
    for at in range(start, len(messages)):
        message = messages[at]
        if message.role == "tool":
            known = waiting[message.call_id or ""] > 0
            waiting[message.call_id or ""] -= known
            results = results and known
        else:
            results = bool(message.calls)
            waiting.update(call.id for call in message.calls)
        if results and message.role == "tool" and not waiting.total():
            end = at + 1
    return end


def _paired(messages: Sequence[Message], number: int) -> Iterable[Message]:
    """Give every call its result right after it, and results without a call to the author's side."""
    results: dict[str, deque[int]] = defaultdict(deque)
    for at, message in enumerate(messages):
        if message.role == "tool":
            results[message.call_id or ""].append(at)
    used: set[int] = set()
    for at, message in enumerate(messages):
        if message.role == "tool":
            if at not in used:
                yield Message(role="user", text=f"Result of an earlier call: {clean_text(message.text)}")
            continue
        if message.role == "user" or not message.calls:
            yield replace(message, text=clean_text(message.text), calls=(), call_id=None)
            continue
        calls: list[Call] = []
        answers: list[Message] = []
        for call in message.calls:
            number += 1
            own = f"c{number:08d}"
            calls.append(Call(own, clean_text(call.name) or NAMELESS, clean_text(strict_arguments(call.arguments))))
            found = _take(results[call.id], at)
            text = INTERRUPTED
            if found is not None:
                used.add(found)
                text = clean_text(messages[found].text)
            answers.append(Message(role="tool", text=text if text.strip() else NO_OUTPUT, call_id=own))
        yield replace(message, text=clean_text(message.text), calls=tuple(calls), call_id=None)
        yield from answers


def _take(waiting: deque[int], after: int) -> int | None:
    """The first result that came after its call; earlier ones belong to nobody."""
    while waiting:
        at = waiting.popleft()
        if at > after:
            return at
    return None


def _merge(messages: Iterable[Message]) -> list[Message]:
    """Leave out empty messages, join neighbours of one role."""
    out: list[Message] = []
    for message in messages:
        if message.role != "tool" and not message.text.strip() and not message.calls:
            continue
        last = out[-1] if out else None
        if last is None or last.role != message.role or message.role == "tool" or last.calls:
            out.append(message)
            continue
        out[-1] = replace(
            last,
            text=_join(last.text, message.text),
            calls=message.calls,
            reasoning=_join(last.reasoning, message.reasoning),
            reasoning_field=last.reasoning_field or message.reasoning_field,
        )
    return out


def _join(first: str, second: str) -> str:
    return f"{first}\n\n{second}" if first and second else first or second
