"""What a summary took the place of, for the agent to read again. Read only."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import select

from marginalia_tui.agent.shrinking import shorten_text
from marginalia_tui.agent.tools import READ_EARLIER, from_argument
from marginalia_tui.agent.transcript import MAIN
from marginalia_tui.domain.errors import Invalid, NotFound
from marginalia_tui.domain.sentences import quoted
from marginalia_tui.store import tables
from marginalia_tui.store.store import ReadTx

ROWS = 20
"""Messages of an answer."""
SHOWN = 800
"""Characters of each."""
_AROUND = 300
"""Characters of a message before and behind the words that were looked for."""

_WHO = {"user": "said to you", "assistant": "you", "tool": "result"}


def answer(tx: ReadTx, run: str, arguments: Mapping[str, Any]) -> str:
    """Some of the messages that the model reads no more, by their numbers.

    Raises:
        Invalid, NotFound: the sentence says what would fit.
    """
    find = arguments.get("find", "")
    if not isinstance(find, str):
        raise Invalid(f"{READ_EARLIER} takes find as a text.")
    find, start = find.strip(), from_argument(READ_EARLIER, arguments)
    message = tables.message.c
    query = (
        select(message.ordinal, message.role, message.text, message.calls)
        .where(message.run == run, message.thread == MAIN, message.compacted == 1, message.summary == 0)
        .where(message.ordinal >= start - 1)
        .order_by(message.ordinal)
        .limit(ROWS + 1)
    )
    if find:
        query = query.where(
            message.text.icontains(find, autoescape=True) | message.calls.icontains(find, autoescape=True)
        )
    found = tx.connection.execute(query).all()
    if not found:
        raise NotFound(_nothing(find, start))
    lines = [_shown(row.ordinal, row.role, row.text, row.calls, find) for row in found[:ROWS]]
    if len(found) > ROWS:
        lines.append(f"(More; go on with from {found[ROWS].ordinal + 1})")
    return "\n\n".join(lines)


def _nothing(find: str, start: int) -> str:
    if find:
        return f"No earlier message has {quoted(find)}. Look for fewer words."
    if start > 1:
        return "There is no earlier message from that number on: pass a smaller one as from."
    return "Nothing was summarised yet: all that was said stands in this conversation."


def _shown(ordinal: int, role: str, text: str, calls: str, find: str) -> str:
    text = text if calls == "[]" else f"{text}\n{calls}".strip()
    if find and (place := text.casefold().find(find.casefold())) > _AROUND:
        text = "… " + text[place - _AROUND : place + len(find) + _AROUND]
    return f"{ordinal + 1} {_WHO[role]}: {shorten_text(text, SHOWN)}"
