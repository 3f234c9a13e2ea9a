"""A book with something of every kind, for tests of backups."""

from dataclasses import dataclass, replace
from typing import Any

import orjson

from marginalia_tui.domain.items import KINDS, Annotation, Book, Entry, Folder, Item, Lorebook, Part, Summary
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import Store

TEXTS = ("The lamp was lit at dusk.", "Nobody saw who lit it.", "Rain fell in the yard.", "Another rain fell.")


@dataclass(frozen=True)
class Full:
    """The items of a book by what they are."""

    folder: Folder
    book: Book
    parts: list[Part]
    summaries: list[Summary]
    notes: list[Annotation]
    lore: list[Lorebook]
    entries: list[Entry]

    def items(self) -> list[Item]:
        return [self.folder, *self.lore, *self.entries, self.book, *self.parts, *self.summaries, *self.notes]


def a_full_book(store: Store) -> Full:
    """Makes it: three parts and a swipe, two summaries, two notes on one text, a lorebook in a lorebook."""
    clock = store.clock

    def new() -> dict[str, Any]:
        return {"uuid": clock.new_uuid(), "created": clock.now()}

    outer = Folder(**new(), name="Series")
    inner = Folder(**new(), name="Winter", parent=outer.uuid)
    low = Lorebook(**new(), name="Tools", tags=("iron",))
    high = Lorebook(**new(), name="Lamps", subbooks=(low.uuid,), scan_depth=2)
    entries = [
        Entry(**new(), lorebook=high.uuid, name="Oil", text="It smells.", filter="oil|lamp", mode="regex", first=2),
        Entry(**new(), lorebook=low.uuid, name="Hammer", comment="no model reads this", negative_tags=("wood",)),
    ]
    book = Book(
        **new(), title="The Lamp", author="A. Writer", language="", tags=("draft", "winter"), lorebook=high.uuid,
        prompts={"turn": "Tell {{instructions}}."}, folder=inner.uuid, history_limit=7, model="llama",
    )  # fmt: skip
    parts: list[Part] = []
    for place, text in enumerate(TEXTS):
        above = parts[(0, 0, 1, 1)[place]].uuid if parts else None
        parts.append(Part(**new(), book=book.uuid, parent=above, title=f"Part {place}", text=text, scene="a yard"))
    parts[0] = replace(parts[0], attributes={"plot": {"parts": [parts[1].uuid, 3], parts[2].uuid: None}})
    book = replace(book, active_leaf=parts[2].uuid)
    meta = Summary(**new(), book=book.uuid, part=parts[1].uuid, text="All of it.", meta=True, covered="abc")
    summaries = [meta, Summary(**new(), book=book.uuid, part=parts[1].uuid, text="Some.", under=meta.uuid)]
    basis = "Nobody at all saw who lit it."
    notes = [
        Annotation(**new(), book=book.uuid, part=parts[1].uuid, text="Who?", quote="Nobody", end=6, basis=basis),
        Annotation(
            **new(), book=book.uuid, part=parts[1].uuid, text="Lit?", quote="lit", start=22, end=25, basis=basis
        ),
    ]
    full = Full(inner, book, parts, summaries, notes, [high, low], entries)
    with store.write(Act(actor="author", label="import", book=book.uuid)) as tx:
        tx.space(LIBRARY).put([outer, *full.items()])
    return full


def everything(store: Store) -> dict[tuple[str, str], Item]:
    """All items of the library by kind and uuid."""
    with store.read() as tx:
        space = tx.space(LIBRARY)
        found: dict[tuple[str, str], Item] = {}
        for kind in KINDS:
            cls: Any = KINDS[kind]
            uuids = [
                row.uuid
                for row in tx.connection.exec_driver_sql(f'SELECT uuid FROM "{kind}" WHERE space_id = {LIBRARY}').all()
            ]
            found.update(((kind, item.uuid), item) for item in space.get_many(cls, uuids).values())
        return found


def edited(data: bytes, **changes: Any) -> bytes:
    """A backup with other values at its top."""
    found = {**orjson.loads(data), **changes}
    head = {"format": found.pop("format")}
    return orjson.dumps({**head, **found})
