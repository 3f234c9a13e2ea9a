"""Lorebooks into a space and out of it.

What comes in is made anew, with all that is below it, in the transaction that is open; what goes out is read in one.
"""

from collections.abc import Sequence
from dataclasses import fields, replace

from marginalia_tui.domain.clock import Clock
from marginalia_tui.domain.items import Book, Entry, Item, Lorebook
from marginalia_tui.domain.lore import LoreTree
from marginalia_tui.services import lore
from marginalia_tui.services.exchange.looseread import name_line
from marginalia_tui.services.exchange.lorefile import LoreEntry, LoreFile, from_below
from marginalia_tui.store.reach import lore_tree
from marginalia_tui.store.space import Space, WritableSpace

DESCRIPTION = "description"
"""The key of the attributes of a lorebook under which its description stands."""

_FIELDS = tuple(each.name for each in fields(LoreEntry))


def items_of_lore(clock: Clock, lorebooks: Sequence[LoreFile]) -> list[Item]:
    """The new items that lorebooks become, each with its entries behind it; the first is the root.

    Several become one tree: the first is the root, and the others stand below it.
    """
    if not lorebooks:
        return []
    root = replace(lorebooks[0], below=(*lorebooks[0].below, *lorebooks[1:])) if lorebooks[1:] else lorebooks[0]
    books = list(root.lorebooks())
    uuids = {id(each): clock.new_uuid() for each in books}
    items: list[Item] = []
    for each in books:
        described = {DESCRIPTION: each.description} if each.description else {}
        items.append(
            Lorebook(
                uuid=uuids[id(each)],
                name=name_line(each.title) or "Lore",
                enabled=each.enabled,
                scan_depth=each.scan_depth,
                tags=each.tags,
                subbooks=tuple(uuids[id(below)] for below in each.below),
                created=clock.now(),
                attributes={**each.attributes, **described},
            )
        )
        items += [
            Entry(
                uuid=clock.new_uuid(),
                lorebook=uuids[id(each)],
                created=clock.now(),
                **{name: getattr(entry, name) for name in _FIELDS},
            )
            for entry in each.entries
        ]
    return items


def add_lore(
    space: WritableSpace, book: str, lorebook: LoreFile, parent: str | None = None, *, name: str | None = None
) -> tuple[Lorebook, str | None]:
    """Puts a lorebook, with those below it, into the lore of a book.

    Args:
        space: where the book is.
        book: the uuid of the book.
        lorebook: what comes in.
        parent: the lorebook that it stands below; without it the root, and it is the root of a book that has none.
        name: another name for it.

    Returns:
        The lorebook, and the one above it.

    Raises:
        NotFound: the parent was deleted meanwhile.
    """
    wanted = lorebook if name is None else replace(lorebook, title=name)
    items = items_of_lore(space.tx.store.clock, [wanted])
    root = items[0]
    assert isinstance(root, Lorebook)
    space.put(items)
    return root, lore.link_lorebook(space, book, root.uuid, parent)


def lore_of(space: Space, root: str) -> LoreFile:
    """A lorebook with all below it that is not deleted.

    Raises:
        NotFound: there is none of this uuid.
    """
    found = space.get(Lorebook, root)
    tree = LoreTree(root, space.get_many(Lorebook, lore_tree(space.connection, space.id, root)).values())
    books = list(tree.lorebooks.values()) or [found]
    rows = lore.entry_rows(space, [each.uuid for each in books])
    entries: dict[str, list[Entry]] = {each.uuid: [] for each in books}
    for entry in space.get_many(Entry, [row.uuid for row in rows]).values():
        entries[entry.lorebook].append(entry)
    places = {each.uuid: place for place, each in enumerate(books)}
    below = [
        [places[uuid] for uuid in sorted(each.subbooks, key=lambda one: places.get(one, 0)) if uuid in places]
        for each in books
    ]
    made: dict[int, LoreFile] = {}
    for place, under, _ in from_below(below):
        each = books[place]
        made[place] = _lorefile(each, entries[each.uuid], [made[one] for one in under])
    return made[0]


def lore_of_book(space: Space, book: Book) -> LoreFile | None:
    """The lore of a book; None when it has none, or has it in the trash."""
    tree = lore.read_tree(space, book)
    return lore_of(space, tree.root.uuid) if tree.root is not None else None


def _lorefile(book: Lorebook, entries: list[Entry], below: list[LoreFile]) -> LoreFile:
    attributes = dict(book.attributes)
    description = attributes.get(DESCRIPTION)
    if isinstance(description, str):
        del attributes[DESCRIPTION]
    return LoreFile(
        title=book.name,
        description=description if isinstance(description, str) else "",
        enabled=book.enabled,
        scan_depth=book.scan_depth,
        tags=book.tags,
        entries=tuple(
            LoreEntry(**{name: getattr(entry, name) for name in _FIELDS})
            for entry in sorted(entries, key=lambda one: (one.created, one.uuid))
        ),
        below=tuple(below),
        attributes=attributes,
    )
