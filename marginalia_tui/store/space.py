"""A space: the one gateway to the items of a world.

The author's library is a space, the working copy of a run is another. What is opened for a space sees no other.
`put` computes the canonical state of each item, leaves alone what is equal, and writes journal and rows in
batches; triggers refuse every other way. The lock of a book is checked here, for all writes alike.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson
from sqlalchemy import Executable, Row, delete, func, select, update
from sqlalchemy.dialects.sqlite import insert

from marginalia_tui.domain.errors import Invalid, Locked, NotFound, Refused
from marginalia_tui.domain.guard import may_write
from marginalia_tui.domain.items import (
    KINDS,
    OWNED,
    Annotation,
    Book,
    Entry,
    Folder,
    Item,
    ItemT,
    Lorebook,
    Part,
    Role,
    Shape,
    item_fields,
    state_fields,
)
from marginalia_tui.domain.runs import HOLDING
from marginalia_tui.domain.tree import PartRow
from marginalia_tui.store import blobs, journal, reach, tables
from marginalia_tui.store.content import (
    Cells,
    blob_keys,
    chunks,
    decode_images,
    decode_state,
    encode_images,
    encode_json,
    encode_state,
    get_counts,
    get_states,
    get_texts,
    hash_bytes,
    put_states,
    put_texts,
    rows_in,
)
from marginalia_tui.store.journal import ItemKey

if TYPE_CHECKING:
    from marginalia_tui.store.store import ReadTx, WriteTx

LIBRARY = 1
"""The space of the author's library."""


class Space:
    """The items of one space inside one open transaction, to read.

    `get` and its like read whole values; the set-based reads (`outline`, `books`) leave the texts where they are.
    """

    def __init__(self, tx: "ReadTx", space_id: int) -> None:
        self.tx = tx
        self.id = space_id
        self.connection = tx.connection

    def position(self) -> int:
        """The newest position of the journal of this space: another one, and something was changed in it."""
        return journal.position_of(self.connection, self.id)

    def find(self, cls: type[ItemT], uuid: str) -> ItemT | None:
        """The item, or None when the space has none of that uuid."""
        return self.get_many(cls, [uuid]).get(uuid)

    def get(self, cls: type[ItemT], uuid: str) -> ItemT:
        """The item.

        Raises:
            NotFound: the space has none of that kind and uuid.
        """
        item = self.find(cls, uuid)
        if item is None:
            raise NotFound(f"There is no {cls.KIND} {uuid!r} here.")
        return item

    def get_many(self, cls: type[ItemT], uuids: Iterable[str]) -> dict[str, ItemT]:
        """The items by uuid, in the order asked for; missing ones are left out."""
        wanted = list(dict.fromkeys(uuids))
        query = f'SELECT * FROM "{cls.KIND}" WHERE space_id = ? AND uuid IN'
        rows = {row.uuid: row for row in rows_in(self.connection, query, wanted, self.id)}
        found = [rows[uuid] for uuid in wanted if uuid in rows]
        return {row.uuid: value for row, value in zip(found, self._values(cls, found), strict=True)}

    def _values(self, cls: type[ItemT], rows: Sequence[Row[Any]]) -> list[ItemT]:
        fields = item_fields(cls.KIND)
        long = [each.name for each in fields if each.shape is Shape.LONG]
        data = [each.name for each in fields if each.shape is Shape.ATTRIBUTES]
        sets = [each.name for each in fields if each.shape is Shape.SET]
        flags = [each.name for each in fields if each.shape is Shape.FLAG]
        images = [each.name for each in fields if each.shape is Shape.IMAGES]
        maps = [{name: orjson.loads(getattr(row, name) or "{}") for name in data} for row in rows]
        hashes = [value for row in rows for name in long if (value := getattr(row, name)) is not None]
        hashes += [bytes.fromhex(each) for of_row in maps for keys in of_row.values() for each in keys.values()]
        bodies = get_texts(self.connection, hashes)
        values = []
        for row, of_row in zip(rows, maps, strict=True):
            known = {each.name: getattr(row, each.name) for each in fields}
            for name in long:
                known[name] = "" if known[name] is None else bodies[known[name]]
            for name in sets:
                known[name] = tuple(orjson.loads(known[name] or "[]"))
            for name in flags:
                known[name] = bool(known[name])
            for name in images:
                known[name] = decode_images(known[name])
            for name, keys in of_row.items():
                known[name] = {key: orjson.loads(bodies[bytes.fromhex(each)]) for key, each in keys.items()}
            values.append(cls(uuid=row.uuid, **known))
        return values

    def hashes(self, cls: type[Item], uuids: Iterable[str]) -> dict[str, bytes]:
        """The hash of the state of each item that is there: what a later write is checked against."""
        return {row.uuid: row.hash for row in rows_in(self.connection, _heads(cls.KIND), uuids, self.id)}

    def outline(self, book: str) -> list[PartRow]:
        """Every part of a book without its text, in no order."""
        part = tables.part.c
        query = select(part.uuid, part.parent, part.created, part.title, part.words, part.chars, part.hash).where(
            part.space_id == self.id, part.book == book
        )
        return [PartRow(*row) for row in self.connection.execute(query)]

    def texts(self, uuids: Sequence[str]) -> dict[str, str]:
        """The texts of parts by uuid; missing parts are left out."""
        part, text = tables.part, tables.text
        found: dict[str, str] = {}
        for some in chunks(uuids):
            query = (
                select(part.c.uuid, func.coalesce(text.c.body, ""))
                .select_from(part.outerjoin(text, text.c.hash == part.c.text))
                .where(part.c.space_id == self.id, part.c.uuid.in_(some))
            )
            found.update((uuid, body) for uuid, body in self.connection.execute(query))
        return found

    def beginnings(self, book: str, length: int, limit: int) -> dict[str, str]:
        """Part -> the first characters of its text, at most `length`; for at most `limit` parts of a book."""
        part, text = tables.part, tables.text
        query = (
            select(part.c.uuid, func.substr(text.c.body, 1, length))
            .join_from(part, text, text.c.hash == part.c.text)
            .where(part.c.space_id == self.id, part.c.book == book)
            .limit(limit)
        )
        return {uuid: body for uuid, body in self.connection.execute(query)}

    def children(self, part: str | None, book: str) -> list[str]:
        """The parts that follow a part (None: the first parts of the book), oldest first."""
        column = tables.part.c
        query = (
            select(column.uuid)
            .where(column.space_id == self.id, column.book == book, column.parent == part)
            .order_by(column.created, column.uuid)
        )
        return list(self.connection.execute(query).scalars())

    def books(self) -> list[Book]:
        """Every book of the space, those in the trash too, by title."""
        table = tables.book
        query = select(table).where(table.c.space_id == self.id).order_by(table.c.title, table.c.uuid)
        return self._values(Book, self.connection.execute(query).all())

    def counts(self) -> dict[str, tuple[int, int]]:
        """Book -> its parts and words, all branches together."""
        part = tables.part.c
        query = (
            select(part.book, func.count(), func.sum(part.words)).where(part.space_id == self.id).group_by(part.book)
        )
        return {book: (parts, words) for book, parts, words in self.connection.execute(query)}

    def blob(self, key: str) -> bytes:
        """The bytes of an image, by its hash.

        Raises:
            StoreError: they are not there.
        """
        return blobs.get(self.connection, key)

    def states(self, cls: type[Item], hashes: Iterable[bytes]) -> dict[bytes, Cells]:
        """The cells that states stand for."""
        found = get_states(self.connection, hashes)
        return {key: decode_state(cls.KIND, data) for key, data in found.items()}


class _New(NamedTuple):
    """An item that is to be another than it is; None is one that is not there."""

    key: ItemKey
    before: bytes | None
    after: bytes | None
    state: bytes
    cells: Cells | None
    of: set[str]
    """The books, or for lore the lorebooks, whose items they are; the folder itself."""

    @property
    def kind(self) -> str:
        return self.key[0]


class WritableSpace(Space):
    """The items of one space inside a write transaction."""

    def __init__(self, tx: "WriteTx", space_id: int) -> None:
        super().__init__(tx, space_id)
        self.write_tx = tx

    def put(self, items: Iterable[Item]) -> list[str]:
        """Writes items, new and changed alike; an equal one is left alone.

        Returns:
            The uuids of those that were really changed.

        Raises:
            Locked: an agent holds the book.
            Invalid: a value can't be stored, or an item is given twice.
            Refused: a lorebook would stand below itself.
        """
        bodies: dict[bytes, str] = {}
        wanted: dict[ItemKey, Cells | None] = {}
        for item in items:
            key = (item.KIND, item.uuid)
            if key in wanted:
                raise Invalid(f"The {item.KIND} {item.uuid} is given twice in one change.")
            wanted[key] = self._cells(item, bodies)
        return self._write(wanted, bodies)

    def put_blob(self, data: bytes) -> str:
        """Stores the bytes of an image, for an item that is put in the same transaction; returns their hash as hex."""
        may_write()
        return blobs.put(self.connection, data)

    def delete(self, cls: type[Item], uuids: Iterable[str]) -> list[str]:
        """Deletes items, and what is owned by them; those that are not there are left out of what is returned.

        Raises:
            Locked: an agent holds the book.
        """
        return self._write({(cls.KIND, uuid): None for uuid in uuids}, {})

    def put_states(self, states: Mapping[ItemKey, bytes | None]) -> list[str]:
        """Brings items to states that are in the store (None: gone), without moving a text.

        Raises:
            Locked: an agent holds the book.
        """
        known = get_states(self.connection, [each for each in states.values() if each is not None])
        return self._write(
            {key: None if each is None else decode_state(key[0], known[each]) for key, each in states.items()},
            {},
        )

    def view(self, cls: type[Item], uuid: str, **fields: object) -> None:
        """Sets fields of the role VIEW: outside of journal and lock."""
        allowed = {each.name for each in item_fields(cls.KIND) if each.role is Role.VIEW}
        if not fields.keys() <= allowed:
            raise RuntimeError(f"not view fields of a {cls.KIND}: {sorted(fields.keys() - allowed)}")
        table = tables.ITEM_TABLES[cls.KIND]
        self.connection.execute(update(table).where(table.c.space_id == self.id, table.c.uuid == uuid).values(**fields))
        if cls is Book:
            self.write_tx.touch("book", uuid)

    def _cells(self, item: Item, bodies: dict[bytes, str]) -> Cells:
        cells: Cells = {}
        for each in state_fields(item.KIND):
            value = getattr(item, each.name)
            if each.shape is Shape.LONG:
                cells[each.name] = _keep(value, each.label, bodies) if value else None
            elif each.shape is Shape.SET:
                cells[each.name] = encode_json(_set(value, each.label), each.label).decode() if value else None
            elif each.shape is Shape.FLAG:
                cells[each.name] = int(value)
            elif each.shape is Shape.IMAGES:
                cells[each.name] = encode_images(value, each.label)
            elif each.shape is Shape.ATTRIBUTES:
                keys = {key: _keep_json(key, data, bodies) for key, data in value.items()}
                cells[each.name] = encode_json(keys, each.label).decode() if keys else None
            else:
                if isinstance(value, str):
                    _encode(value, each.label)
                cells[each.name] = value
        return cells

    def _write(self, wanted: Mapping[ItemKey, Cells | None], bodies: Mapping[bytes, str]) -> list[str]:
        """Writes what is to be (None: nothing) where it differs from what is, and returns the uuids of that."""
        may_write()
        wanted = self._with_owned(wanted)
        news = [new for kind in KINDS for new in self._compare(kind, wanted)]
        if not news:
            return []
        books = self._books(news)
        if self.id == LIBRARY:
            self._check_lock(self._books([new for new in news if not self._is_free(new)]))
        blobs.check(self.connection, {key for new in news for key in blob_keys(new.kind, new.state or b"{}")})
        counts = put_texts(self.connection, bodies)
        put_states(self.connection, {new.after: new.state for new in news if new.after is not None})
        rows = [(new.key, new.before, new.after) for new in news]
        journal.add_rows(self.connection, self.id, self.write_tx.change(self.id), rows)
        for kind in KINDS:
            of_kind = [new for new in news if new.key[0] == kind]
            if cells := [
                {"space_id": self.id, "uuid": new.key[1], "hash": new.after, **new.cells}
                for new in of_kind
                if new.cells is not None
            ]:
                if kind == Part.KIND:
                    self._count(cells, counts)
                self.connection.execute(_upsert(kind), cells)
            self._remove(kind, [new.key[1] for new in of_kind if new.cells is None])
        self._check_circles([new.key[1] for new in news if new.kind == Lorebook.KIND and new.cells is not None])
        for book in books:
            self.write_tx.touch("book", book)
        return [new.key[1] for new in news]

    def _with_owned(self, wanted: Mapping[ItemKey, Cells | None]) -> Mapping[ItemKey, Cells | None]:
        """What is written, and that what is owned by what goes goes with it."""
        gone: dict[ItemKey, Cells | None] = {}
        for owner, kinds in OWNED.items():
            uuids = [uuid for (kind, uuid), cells in wanted.items() if kind == owner and cells is None]
            for kind in kinds if uuids else ():
                query = f'SELECT uuid FROM "{kind}" WHERE space_id = ? AND "{owner}" IN'
                found = rows_in(self.connection, query, uuids, self.id)
                gone.update(((kind, row.uuid), None) for row in found if (kind, row.uuid) not in wanted)
        return {**wanted, **gone} if gone else wanted

    def _books(self, news: Iterable["_New"]) -> set[str]:
        """The books that show what is changed: their own items, lore that they use, what they inherit."""
        of: dict[str, set[str]] = {}
        for new in news:
            of.setdefault(new.kind, set()).update(new.of)
        lorebooks = of.pop(Lorebook.KIND, set()) | of.pop(Entry.KIND, set())
        folders = of.pop(Folder.KIND, set())
        books = {book for some in of.values() for book in some}
        if lorebooks:
            books |= reach.books_with_lore(self.connection, self.id, lorebooks)
        if folders:
            books |= reach.books_in_folders(self.connection, self.id, folders)
        return books

    def _is_free(self, new: "_New") -> bool:
        """Whether a change is free while an agent holds the book: it is no change of what the agent works on."""
        if new.kind == Annotation.KIND:
            return True
        free = _FREE.get(new.kind)
        if free is None or new.before is None or new.cells is None:
            return False
        before = decode_state(new.kind, get_states(self.connection, [new.before])[new.before])
        return all(before[name] == cell for name, cell in new.cells.items() if name in before and name not in free)

    def _compare(self, kind: str, wanted: Mapping[ItemKey, Cells | None]) -> Iterator["_New"]:
        of_kind = {uuid: cells for (of, uuid), cells in wanted.items() if of == kind}
        now = {uuid: (key, of) for uuid, key, of in rows_in(self.connection, _heads(kind), of_kind, self.id)}
        for uuid, cells in of_kind.items():
            before, of = now.get(uuid, (None, None))
            state = b"" if cells is None else encode_state(kind, cells)
            after = None if cells is None else hash_bytes(state)
            if before != after:
                column = _BELONGS.get(kind, "book")
                owners = {uuid} if column == "uuid" else {of, cells and cells[column]} - {None}
                yield _New((kind, uuid), before, after, state, cells, owners)

    def _remove(self, kind: str, uuids: Sequence[str]) -> None:
        table = tables.ITEM_TABLES[kind]
        for some in chunks(uuids):
            self.connection.execute(delete(table).where(table.c.space_id == self.id, table.c.uuid.in_(some)))

    def _count(self, parts: Sequence[Cells], counts: Mapping[bytes, tuple[int, int]]) -> None:
        """Fills in the derived fields; `counts` are those of texts that were just written."""
        known = {**counts, **get_counts(self.connection, {part["text"] for part in parts} - {None, *counts})}
        for part in parts:
            part["words"], part["chars"] = known.get(part["text"], (0, 0))

    def _check_circles(self, lorebooks: Sequence[str]) -> None:
        """Commands look ahead; this holds for what brings back an earlier state or a part of a review, too."""
        uuid = reach.below_itself(self.connection, self.id, lorebooks) if lorebooks else None
        if uuid is not None:
            name = self.get(Lorebook, uuid).name
            raise Refused(f"The lorebook {name!r} would stand below itself: take it out of those below it first.")

    def _check_lock(self, books: Iterable[str]) -> None:
        run = tables.run.c
        for some in chunks(list(books)):
            query = select(run.agent_name, run.book).where(run.book.in_(some), run.status.in_(HOLDING))
            if self.write_tx.key is not None:
                query = query.where(run.uuid != self.write_tx.key)
            if held := self.connection.execute(query.limit(1)).first():
                book = self.find(Book, held.book)
                raise Locked(held.agent_name, book.title if book else held.book)


_BELONGS = {Book.KIND: "uuid", Folder.KIND: "uuid", Lorebook.KIND: "uuid", Entry.KIND: "lorebook"}
"""Kind -> the field that says whose it is, where that is not `book`."""
_FREE = {Lorebook.KIND: {"tags"}, Folder.KIND: {"name", "attributes"}}
"""Fields that may be changed while an agent holds the book: they change nothing of what it works on."""


def _heads(kind: str) -> str:
    """The query for the uuid, the hash and the owner (`of`) of items."""
    return f'SELECT uuid, hash, {_BELONGS.get(kind, "book")} AS "of" FROM "{kind}" WHERE space_id = ? AND uuid IN'


@cache
def _upsert(kind: str) -> Executable:
    table = tables.ITEM_TABLES[kind]
    names = ["hash", *(each.name for each in item_fields(kind) if each.role is not Role.VIEW)]
    statement = insert(table)
    return statement.on_conflict_do_update(
        index_elements=["space_id", "uuid"], set_={name: statement.excluded[name] for name in names}
    )


def _encode(text: str, what: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise Invalid(f"The {what} holds half a character (a lone surrogate): write it again.") from None


def _set(values: Sequence[str], what: str) -> list[str]:
    for value in values:
        _encode(value, what)
        if not value.strip() or "\n" in value:
            raise Invalid(f"The {what} are words of one line each, and none is empty: {value!r} is not.")
    return sorted(set(values))


def _keep(text: str, what: str, bodies: dict[bytes, str]) -> bytes:
    key = hash_bytes(_encode(text, what))
    bodies[key] = text
    return key


def _keep_json(key: str, value: object, bodies: dict[bytes, str]) -> str:
    data = encode_json(value, f"The data {key!r}")
    # What is no number is written as null.
    if b"null" in data and orjson.loads(data) != value:
        raise Invalid(f"The data {key!r} holds a number that JSON can't write: use another value.")
    bodies[hash_bytes(data)] = data.decode()
    return hash_bytes(data).hex()
