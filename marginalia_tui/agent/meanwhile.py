"""What the author changed in the book since a run last worked, read off the library's journal.

The run remembers up to which position of the journal it was told. While it works nobody else changes the book, so that
all that came after is of the time in which it rested. (The copy does not get these changes: that is the review's.)
"""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import select, update

from marginalia_tui.agent.handles import Handles
from marginalia_tui.agent.runs import Run
from marginalia_tui.domain.items import Book, Entry, Lorebook, Part, Role, item_fields
from marginalia_tui.domain.sentences import counted
from marginalia_tui.store import tables
from marginalia_tui.store.content import Cells, decode_state, get_states, get_texts
from marginalia_tui.store.journal import ItemKey, fold
from marginalia_tui.store.reach import lore_tree
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import ReadTx, WriteTx

SHOWN = 40
"""Items that are named; the others are counted."""
FIRST_WORDS = 40
"""Characters of a text that stand for a title."""
_TOLD = (Part.KIND, Entry.KIND, Lorebook.KIND, Book.KIND)
"""The kinds that are told of, in this order: what an agent reads and writes."""
_SILENT = frozenset({"book", "created", "lorebook", "active_leaf"})


def told_up_to(tx: WriteTx, run: str) -> None:
    """Notes that the run knows the book as it is now."""
    tx.connection.execute(update(tables.run).where(tables.run.c.uuid == run).values(told=tx.position()))


def changes_since(tx: ReadTx, run: Run) -> list[str]:
    """A line for each item of the book that the author changed since the run was told last."""
    if run.space is None:
        return []
    spans = fold(tx.connection, LIBRARY, _known(tx, run))
    spans = {key: span for key, span in spans.items() if span.before != span.after}
    states = get_states(
        tx.connection, {each for span in spans.values() for each in (span.before, span.after) if each is not None}
    )
    sides: list[tuple[ItemKey, Cells | None, Cells | None]] = []
    for key, span in spans.items():
        if key[0] in _TOLD:
            sides.append((key, _cells(key, span.before, states), _cells(key, span.after, states)))
    ours = _Ours(tx, run)
    mine = [each for each in sides if ours.has(*each)]
    mine.sort(key=lambda each: _TOLD.index(each[0][0]))
    handles = Handles(tx, run.uuid)
    lines = [line for each in mine if (line := _line(tx, handles, *each))]
    more = [f"- and {counted(len(lines) - SHOWN, 'item')} more"] if len(lines) > SHOWN else []
    return lines[:SHOWN] + more


def _known(tx: ReadTx, run: Run) -> int:
    told = tx.connection.execute(select(tables.run.c.told).where(tables.run.c.uuid == run.uuid)).scalar() or 0
    base = tx.connection.execute(select(tables.space.c.base).where(tables.space.c.id == run.space)).scalar() or 0
    return max(told, base)


def _cells(key: ItemKey, state: bytes | None, states: dict[bytes, bytes]) -> Cells | None:
    return None if state is None else decode_state(key[0], states[state])


class _Ours:
    """Which items are of the book of a run, in the library or in its copy."""

    def __init__(self, tx: ReadTx, run: Run) -> None:
        self._book = run.book
        self._lore: set[str] = set()
        for space in {LIBRARY, run.copy}:
            book = tx.space(space).find(Book, run.book)
            if book is not None:
                self._lore.update(lore_tree(tx.connection, space, book.lorebook))

    def has(self, key: ItemKey, before: Cells | None, after: Cells | None) -> bool:
        """Whether an item is one of them."""
        kind, uuid = key
        if kind == Part.KIND:
            return any(side is not None and side["book"] == self._book for side in (before, after))
        if kind == Book.KIND:
            return uuid == self._book
        if kind == Lorebook.KIND:
            return uuid in self._lore
        return any(side is not None and side["lorebook"] in self._lore for side in (before, after))


def _line(tx: ReadTx, handles: Handles, key: ItemKey, before: Cells | None, after: Cells | None) -> str:
    """One item; empty when nothing that is told of differs."""
    kind, uuid = key
    handle = handles.known(uuid)
    name = f"{kind} {handle + ' ' if handle else ''}{_title(tx, before or after or {})!r}"
    if before is None or after is None:
        return f"- {name}: {'new' if before is None else 'deleted'}"
    labels = [each.label for each in _differing(kind, before, after)]
    return f"- {name}: {', '.join(labels)} changed" if labels else ""


def _differing(kind: str, before: Cells, after: Cells) -> Iterable[Any]:
    for each in item_fields(kind):
        if each.role is Role.AUTHORED and each.name not in _SILENT and before[each.name] != after[each.name]:
            yield each


def _title(tx: ReadTx, cells: Cells) -> str:
    title = str(cells.get("title") or cells.get("name") or "").strip()
    if title or cells.get("text") is None:
        return title
    words = " ".join(get_texts(tx.connection, [cells["text"]])[cells["text"]].split())
    return words[:FIRST_WORDS] + ("…" if len(words) > FIRST_WORDS else "")
