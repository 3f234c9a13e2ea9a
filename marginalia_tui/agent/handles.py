"""Handles: what an agent calls the items of its copy (`h:m17`), in and out at its border only.

A number is never given twice in a run. New ones are kept in memory until the transaction that records the result in
which the agent reads them.
"""

import re

from sqlalchemy import insert, select

from marginalia_tui.domain.errors import NotFound
from marginalia_tui.store import tables
from marginalia_tui.store.store import ReadTx, WriteTx

_SHOWN_BY = {
    "m": "Call list-parts now: it shows the handle of each part.",
    "l": "Call list-lorebooks now: it shows the handle of each lorebook.",
    "e": "Call list-lore-entries now: it shows the handle of each entry.",
    "s": "Call list-summaries now: it shows the handle of each summary.",
    "a": "Call list-annotations now: it shows the handle of each annotation.",
}
_HANDLE = re.compile(r"[\s<(\[`'\"]*h:\s?([a-z])([0-9]{1,9})[\s>)\]`'\".,]*", re.IGNORECASE)
"""A handle, also with the marks that models put around it."""


class Handles:
    """The handles of one run, used by the one thread that works it."""

    def __init__(self, tx: ReadTx, run: str) -> None:
        self._run = run
        self._by_uuid: dict[str, str] = {}
        self._by_handle: dict[str, str] = {}
        self._next: dict[str, int] = {}
        self._new: list[tuple[str, int, str]] = []
        handle = tables.handle.c
        query = select(handle.letter, handle.number, handle.uuid).where(handle.run == run)
        for letter, number, uuid in tx.connection.execute(query):
            self._keep(letter, number, uuid)

    def _keep(self, letter: str, number: int, uuid: str) -> str:
        name = f"h:{letter}{number}"
        self._by_uuid[uuid] = name
        self._by_handle[name] = uuid
        self._next[letter] = max(self._next.get(letter, 1), number + 1)
        return name

    def name(self, letter: str, uuid: str) -> str:
        """The handle of an item, a new one when it has none."""
        if known := self._by_uuid.get(uuid):
            return known
        number = self._next.get(letter, 1)
        self._new.append((letter, number, uuid))
        return self._keep(letter, number, uuid)

    def known(self, uuid: str) -> str:
        """The handle of an item; empty when the agent was never shown it."""
        return self._by_uuid.get(uuid, "")

    def resolve(self, text: str) -> str:
        """The uuid that a handle stands for; a text of another form is given back as it is.

        Raises:
            NotFound: it looks like a handle, but the agent was never shown it.
        """
        if not (match := _HANDLE.fullmatch(text)):
            return text
        letter, number = match[1].lower(), int(match[2])
        name = f"h:{letter}{number}"
        if name not in self._by_handle:
            advice = _SHOWN_BY.get(letter, _SHOWN_BY["m"])
            raise NotFound(f"There is no {name}. {self._nearest(letter, number)} {advice}")
        return self._by_handle[name]

    def _nearest(self, letter: str, number: int) -> str:
        """The handles of a kind that are nearest to a number, in words; the newest where there are none of it."""
        numbers = {int(name[3:]): name for name in self._by_handle if name[2] == letter}
        near = sorted(numbers, key=lambda each: abs(each - number))[:3]
        if near:
            return f"The nearest: {', '.join(numbers[each] for each in sorted(near))}."
        newest = ", ".join(list(self._by_handle)[-5:])
        return f"The newest that you were shown: {newest}." if newest else "You were not shown any handle yet."

    def save(self, tx: WriteTx) -> None:
        """Writes the new handles; call it in the transaction of the result that shows them."""
        if self._new:
            rows = [
                {"run": self._run, "letter": letter, "number": number, "uuid": uuid}
                for letter, number, uuid in self._new
            ]
            tx.connection.execute(insert(tables.handle), rows)

    def saved(self) -> None:
        """That transaction is committed."""
        self._new.clear()

    def forget_new(self) -> None:
        """That transaction was undone: the agent never read them."""
        for letter, number, uuid in reversed(self._new):
            del self._by_handle[self._by_uuid.pop(uuid)]
            self._next[letter] = number
        self._new.clear()
