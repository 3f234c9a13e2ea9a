"""What a call that waits would change: its effect is written in a transaction that is always undone, and read back.

Nothing of it lasts: no row of the journal, no text, no item. What the author is shown is therefore what the call would
do now, and no guess from its arguments.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

import orjson

from marginalia_tui.agent.runs import Run
from marginalia_tui.commands.context import AlwaysYes, Scope
from marginalia_tui.commands.dispatch import Dispatcher, Prepared
from marginalia_tui.domain.errors import MarginaliaError
from marginalia_tui.domain.images import image_words
from marginalia_tui.domain.items import KINDS, Image, Item, ItemField, Part, Role, Shape, item_fields
from marginalia_tui.store.journal import Act, ItemKey, fold_change
from marginalia_tui.store.store import ReadTx, Store

SHOWN = 40
"""Items that are told with their words; the others are counted."""
FIRST_WORDS = 40
"""Characters of a text that stand for a title."""
LONGEST_UUID = 64
"""Characters; what is longer names no item."""
_NEVER = frozenset({"book", "created"})


@dataclass(frozen=True, slots=True)
class FieldForeseen:
    """A field that would change: its name for people, its value as words before and after."""

    label: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Foreseen:
    """An item that would change."""

    kind: str
    title: str
    change: Literal["added", "changed", "deleted"]
    fields: tuple[FieldForeseen, ...]


@dataclass(frozen=True, slots=True)
class Foresight:
    """What a call would change; `more` items are not told, and `problem` says why it can't be made as it is."""

    changes: tuple[Foreseen, ...] = ()
    more: int = 0
    problem: str = ""


class _Undone(Exception):
    """Ends the transaction that nothing of is kept."""


def foresee(store: Store, dispatcher: Dispatcher, run: Run, command: str, arguments: Mapping[str, Any]) -> Foresight:
    """What a command would change in the copy of a run. It takes the writer turn for a moment.

    Args:
        store: the store.
        dispatcher: runs the command.
        run: whose copy.
        command: its name.
        arguments: by name, items by uuid.
    """
    scope = Scope(
        store=store, space=run.copy, book=run.book, answers=AlwaysYes(), is_agent=True, actor="agent", run=run.uuid
    )
    try:
        prepared = dispatcher.prepare(command, dict(arguments), scope)
        after, keys = _after(store, run, prepared)
    except MarginaliaError as error:
        return Foresight(problem=error.message)
    with store.read() as tx:
        before = _items(tx, run.copy, keys)
        told = [
            foreseen
            for key in keys
            if (foreseen := _foreseen(tx, run.copy, key, before.get(key), after.get(key))) is not None
        ]
    return Foresight(tuple(told[:SHOWN]), max(0, len(told) - SHOWN))


def _after(store: Store, run: Run, prepared: Prepared) -> tuple[dict[ItemKey, Item], list[ItemKey]]:
    """The items that the effect leaves behind, and all that it touched."""
    keys: list[ItemKey] = []
    items: dict[ItemKey, Item] = {}
    if not prepared.needs_effect:
        return items, keys
    try:
        with store.write(Act(actor="agent", label="foresight", book=run.book, run=run.uuid)) as tx:
            prepared.effect(tx)
            if (change := tx.changed(run.copy)) is not None:
                spans = fold_change(tx.connection, run.copy, change)
                keys = [key for key, span in spans.items() if span.before != span.after]
                items = _items(tx, run.copy, keys)
            raise _Undone
    except _Undone:
        return items, keys


def _items(tx: ReadTx, space_id: int, keys: list[ItemKey]) -> dict[ItemKey, Item]:
    found: dict[ItemKey, Item] = {}
    for kind in {kind for kind, _ in keys}:
        uuids = [uuid for of, uuid in keys if of == kind]
        # Which class it is is known only when it runs.
        values = tx.space(space_id).get_many(cast(type[Part], KINDS[kind]), uuids)
        found.update(((kind, uuid), item) for uuid, item in values.items())
    return found


def _foreseen(tx: ReadTx, space_id: int, key: ItemKey, before: Item | None, after: Item | None) -> Foreseen | None:
    """An item before and after; None when nothing that an author cares about differs."""
    shown = after if after is not None else before
    if shown is None:
        return None
    change: Literal["added", "changed", "deleted"] = "changed"
    if before is None or after is None:
        change = "added" if before is None else "deleted"
    told = []
    for each in item_fields(key[0]):
        if each.role is not Role.AUTHORED or each.name in _NEVER:
            continue
        if change != "changed" and each.shape is not Shape.LONG:
            continue
        was, will = (getattr(item, each.name, None) for item in (before, after))
        if was != will:
            told.append(FieldForeseen(each.label, _words(tx, space_id, each, was), _words(tx, space_id, each, will)))
    if not told and change == "changed":
        return None
    return Foreseen(key[0], title_of(before if before is not None else shown), change, tuple(told))


def title_of(item: Item) -> str:
    """What a person calls an item: its title or name, else its first words."""
    title = getattr(item, "title", "") or getattr(item, "name", "")
    if title:
        return str(title)
    words = " ".join(str(getattr(item, "text", "")).split())
    return (words[:FIRST_WORDS] + ("…" if len(words) > FIRST_WORDS else "")) or f"an empty {item.KIND}"


def _words(tx: ReadTx, space_id: int, each: ItemField, value: Any) -> str:
    """A value as a person reads it."""
    if value is None or value == "":
        return ""
    match each.shape:
        case Shape.REF:
            return names_of(tx, space_id, [value]).get(value, str(value))
        case Shape.SET:
            names = names_of(tx, space_id, value) if each.to else {}
            return "\n".join(names.get(one, str(one)) for one in value)
        case Shape.IMAGES:
            return "\n".join(image_words(one) for one in value if isinstance(one, Image))
        case Shape.FLAG:
            return "yes" if value else "no"
        case Shape.ATTRIBUTES:
            return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS).decode() if value else ""
        case _:
            return str(value)


def names_of(tx: ReadTx, space_id: int, values: Any) -> dict[str, str]:
    """The items that are named by uuid among some values -> what a person calls them."""
    uuids = [value for value in values if isinstance(value, str) and 0 < len(value) <= LONGEST_UUID]
    found: dict[str, str] = {}
    for cls in KINDS.values() if uuids else ():
        items = tx.space(space_id).get_many(cast(type[Part], cls), [uuid for uuid in uuids if uuid not in found])
        found.update((uuid, title_of(item)) for uuid, item in items.items())
        if len(found) == len(set(uuids)):
            break
    return found


def argument_words(tx: ReadTx, run: Run, arguments: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """The arguments of a call as a person reads them: items by their titles."""
    values = [each for value in arguments.values() for each in (value if isinstance(value, list) else [value])]
    names = names_of(tx, run.space, values) if run.space is not None else {}
    return tuple((name, _argument(value, names)) for name, value in arguments.items())


def _argument(value: Any, names: Mapping[str, str]) -> str:
    if isinstance(value, list):
        return ", ".join(_argument(each, names) for each in value)
    if isinstance(value, str):
        return names.get(value, value)
    return orjson.dumps(value).decode()
