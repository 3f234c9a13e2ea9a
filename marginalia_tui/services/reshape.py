"""Parts taken apart, joined and moved, with the summaries and notes that stand on them.

Each works in the space and transaction that it is given. No word is lost: what a note speaks of is found again by
its own text, and a summary whose parts still say the same stays valid.
"""

from dataclasses import replace

from marginalia_tui.domain.errors import Invalid, Refused
from marginalia_tui.domain.images import joined, parted
from marginalia_tui.domain.items import Book, Part
from marginalia_tui.domain.tree import StoryTree
from marginalia_tui.services import summaries
from marginalia_tui.services.annotations import notes_of_part
from marginalia_tui.services.parts import story_tree
from marginalia_tui.store.space import Space, WritableSpace

GAP = "\n\n"
"""Stands between two texts that become one."""


def halves(text: str, at: int) -> tuple[str, str]:
    """A text before and from a place, without the space around it.

    Raises:
        Invalid: one of them would have no words.
    """
    first, second = text[:at].rstrip(), text[at:].lstrip()
    if not first or not second:
        raise Invalid("One half would be empty: split the part at a place between two of its words.")
    return first, second


def split_part(space: WritableSpace, part: str, at: int, title: str = "") -> Part:
    """Splits a part at a character of its text; the second half becomes a part that follows the first.

    What followed the part follows the second half. That gets the scene, the point of view, the characters and the
    summary too, and the notes on its own words; the instructions and all other data stay with the first half.

    Returns:
        The second half.

    Raises:
        Invalid: one half would be empty.
    """
    whole = space.get(Part, part)
    first, second = halves(whole.text, at)
    images_before, images_behind = parted(first, second, whole.images)
    before = summaries.read_summaries(space, whole.book)
    behind = [
        note.annotation
        for note in notes_of_part(space, part)
        if note.place is not None and not note.whole and note.place.start >= at
    ]
    children = space.get_many(Part, space.children(part, whole.book)).values()
    clock = space.tx.store.clock
    rest = Part(
        uuid=clock.new_uuid(),
        book=whole.book,
        parent=part,
        created=clock.now(),
        title=title,
        text=second,
        scene=whole.scene,
        pov=whole.pov,
        present=whole.present,
        model=whole.model,
        images=images_behind,
    )
    book = space.get(Book, whole.book)
    if book.active_leaf == part:
        book = replace(book, active_leaf=rest.uuid)
    whole = replace(whole, text=first, images=images_before)
    space.put([whole, rest, *(replace(each, parent=rest.uuid) for each in children), book])
    summaries.move_to(space, part, rest.uuid)
    space.put(replace(each, part=rest.uuid) for each in behind)
    summaries.carry_over(space, whole.book, before, [part])
    return rest


def check_mergeable(space: Space, part: str, follower: str) -> None:
    """Whether two parts that follow each other can become one.

    Raises:
        Refused: other branches go on from the first, or both have a summary.
    """
    if len(space.children(part, space.get(Part, part).book)) > 1:
        raise Refused(
            "Several parts follow this one, so merging it with one of them would change the branches of the others: "
            "delete the swipes that are not needed, or use branch-part first and merge the copy."
        )
    if summaries.summaries_on(space, part) and summaries.summaries_on(space, follower):
        raise Refused("Both parts have a summary, and one part can have only one: remove one with remove-summary.")


def merge_parts(space: WritableSpace, part: str, follower: str) -> Part:
    """Joins a part and the only one that follows it: the first gets both texts, the second is deleted.

    What followed the second follows the first. Fields that the first has stay; empty ones are taken from the second.

    Returns:
        The part that has both.

    Raises:
        Refused: as `check_mergeable`.
    """
    check_mergeable(space, part, follower)
    first, second = space.get(Part, part), space.get(Part, follower)
    before = summaries.read_summaries(space, first.book)
    notes = notes_of_part(space, follower)
    children = space.get_many(Part, space.children(follower, first.book)).values()
    book = space.get(Book, first.book)
    if book.active_leaf == follower:
        book = replace(book, active_leaf=part)
    images, text = joined(first.images, second.images, second.text)
    merged = replace(
        first,
        text=GAP.join(each for each in (first.text, text) if each),
        images=images,
        title=first.title or second.title,
        instructions=first.instructions or second.instructions,
        scene=first.scene or second.scene,
        pov=first.pov or second.pov,
        present=first.present or second.present,
        model=", ".join(dict.fromkeys(each for each in (first.model, second.model) if each)),
        attributes={**second.attributes, **first.attributes},
    )
    space.put([merged, *(replace(each, parent=part) for each in children), book])
    space.put(replace(note.annotation, part=part) for note in notes)
    summaries.move_to(space, follower, part)
    space.delete(Part, [follower])
    summaries.carry_over(space, first.book, before, [part, follower])
    return merged


def move_part(space: WritableSpace, part: str, after: str | None, *, following: bool = False) -> bool:
    """Moves a part behind another one (None: to the beginning).

    Alone, what followed it moves up into its place, and what followed `after` follows it; with `following` the part
    moves with all that follows it, as a branch behind `after`.

    Returns:
        Whether it was moved: it may stand there already.

    Raises:
        Refused: it would come behind itself.
    """
    moving = space.get(Part, part)
    if after == moving.parent:
        return False
    book = space.get(Book, moving.book)
    old = story_tree(space, book)
    check_move(old, part, after, following=following)
    parents = new_parents(old, part, after, following=following)
    rows = (replace(row, parent=parents[row.uuid]) if row.uuid in parents else row for row in old.rows.values())
    leaf = old.active_leaf
    if leaf == part and not following:
        leaf = moving.parent or part
    changed = space.get_many(Part, parents).values()
    space.put(
        [
            *(replace(each, parent=parents[each.uuid]) for each in changed),
            replace(book, active_leaf=StoryTree(rows, leaf).active_leaf),
        ]
    )
    return True


def check_move(tree: StoryTree, part: str, after: str | None, *, following: bool = False) -> None:
    """Whether a part can go behind another one.

    Raises:
        Refused: it would come behind itself.
    """
    if after == part:
        raise Refused("A part can't follow itself: name another part.")
    if following and after is not None and tree.is_ancestor(part, after):
        raise Refused("That part stands behind the one that moves with all that follows it: name another part.")


def new_parents(tree: StoryTree, part: str, after: str | None, *, following: bool = False) -> dict[str, str | None]:
    """Part -> what it follows when a part was moved, for the parts that then follow another one than now."""
    parents: dict[str, str | None] = {}
    if not following:
        parents.update(dict.fromkeys(tree.children(part), tree.row(part).parent))
        parents.update(dict.fromkeys(tree.children(after), part))
    parents[part] = after
    return parents
