"""The structure of a book: what the commands and the screens do to its tree.

Each function works in the space and transaction that it is given, in a copy as in the library. The active leaf
of the book always names a part that is there (or none, in an empty book).
"""

from collections.abc import Mapping
from dataclasses import replace

from marginalia_tui.domain.errors import Invalid
from marginalia_tui.domain.items import Book, Part
from marginalia_tui.domain.tree import StoryTree
from marginalia_tui.services import summaries
from marginalia_tui.store.space import Space, WritableSpace

TURN_FIELDS = ("title", "instructions", "scene", "pov", "present")
"""The short fields that a new part may be given beside its text."""


def story_tree(space: Space, book: Book) -> StoryTree:
    """The tree of a book: one query, no texts."""
    return StoryTree(space.outline(book.uuid), book.active_leaf)


def create_part(
    space: WritableSpace, book: str, parent: str | None, text: str, fields: Mapping[str, str] | None = None
) -> Part:
    """A new part after `parent` (None: a first part), which becomes the end of the active branch."""
    part = _new_part(space, book, parent, text, fields)
    _check_parent(space, book, parent)
    space.put([part, replace(space.get(Book, book), active_leaf=part.uuid)])
    return part


def insert_part(
    space: WritableSpace, book: str, after: str | None, text: str, fields: Mapping[str, str] | None = None
) -> Part:
    """A new part between `after` (None: the beginning) and all that follows it there."""
    part = _new_part(space, book, after, text, fields)
    _check_parent(space, book, after)
    followers = space.get_many(Part, space.children(after, book)).values()
    owner = space.get(Book, book)
    leaf = part.uuid if owner.active_leaf in (after, None) else owner.active_leaf
    space.put([part, *(replace(each, parent=part.uuid) for each in followers), replace(owner, active_leaf=leaf)])
    return part


def branch_part(space: WritableSpace, part: str) -> Part:
    """A copy of a part, its summary with it, as a new swipe beside it: the end of the active branch."""
    source = space.get(Part, part)
    clock = space.tx.store.clock
    copy = replace(source, uuid=clock.new_uuid(), created=clock.now())
    space.put([copy, replace(space.get(Book, source.book), active_leaf=copy.uuid)])
    summaries.copy_to(space, part, copy.uuid)
    return copy


def delete_part(space: WritableSpace, part: str) -> list[str]:
    """Deletes a part with its summaries and notes; what followed it follows its parent.

    Returns:
        The parts that moved up.
    """
    gone = space.get(Part, part)
    book = space.get(Book, gone.book)
    children = space.get_many(Part, space.children(part, gone.book))
    if book.active_leaf == part:
        tree = StoryTree((row for row in space.outline(book.uuid) if row.uuid != part), None)
        leaf = tree.leaf_below(gone.parent) if gone.parent else tree.active_leaf
        book = replace(book, active_leaf=leaf)
    summaries.leave_part(space, part)
    space.put([*(replace(child, parent=gone.parent) for child in children.values()), book])
    space.delete(Part, [part])
    return list(children)


def switch_branch(space: WritableSpace, part: str) -> str:
    """Makes the branch through a part the active one, down to its newest end, and returns that end."""
    book = space.get(Book, space.get(Part, part).book)
    leaf = story_tree(space, book).leaf_below(part)
    space.put([replace(book, active_leaf=leaf)])
    return leaf


def _new_part(space: WritableSpace, book: str, parent: str | None, text: str, fields: Mapping[str, str] | None) -> Part:
    fields = fields or {}
    if unknown := fields.keys() - set(TURN_FIELDS):
        raise RuntimeError(f"not fields of a new part: {sorted(unknown)}")
    clock = space.tx.store.clock
    return Part(
        uuid=clock.new_uuid(),
        book=book,
        parent=parent,
        created=clock.now(),
        text=text,
        title=fields.get("title", ""),
        instructions=fields.get("instructions", ""),
        scene=fields.get("scene", ""),
        pov=fields.get("pov", ""),
        present=fields.get("present", ""),
    )


def _check_parent(space: Space, book: str, parent: str | None) -> None:
    if parent is not None and space.get(Part, parent).book != book:
        raise Invalid("That part belongs to another book.")
