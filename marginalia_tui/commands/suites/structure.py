"""Commands that change the tree of a book: its parts and which branch is read."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from marginalia_tui.commands.context import Context, Effect
from marginalia_tui.commands.declare import command
from marginalia_tui.commands.definition import Param, Severity
from marginalia_tui.commands.omissions import new_omissions
from marginalia_tui.commands.patterns import first_words
from marginalia_tui.commands.references import OpenBook, PartRef, open_book
from marginalia_tui.commands.results import PartHandle, Result, Told
from marginalia_tui.commands.suites.edit import Prose
from marginalia_tui.commands.summary_references import Outdated, SummaryWatch
from marginalia_tui.domain.errors import Invalid, NotFound
from marginalia_tui.domain.items import Book, Part
from marginalia_tui.domain.sentences import counted, quoted
from marginalia_tui.domain.words import count_words
from marginalia_tui.services import parts
from marginalia_tui.store.space import Space
from marginalia_tui.store.store import WriteTx

START = "start"
"""Stands for the beginning of the book where a part is asked for."""

Short = Annotated[str, Field(max_length=10_000)]
Text = Annotated[Prose, Param("the text of the new part", for_model="The complete text of the new part.")]
Title = Annotated[
    Annotated[str, Field(max_length=300)],
    Param("its title", for_model="The title of the new part, such as Chapter 4. Leave it out for none."),
]
Instructions = Annotated[Short, Param("what the turn is asked to tell")]
Scene = Annotated[Short, Param("where and when it plays")]
Pov = Annotated[Short, Param("the character whose point of view it has")]
Present = Annotated[Short, Param("the characters who are present")]


class PartMade(Result):
    """A new part and where it stands."""

    part: PartHandle
    position: int
    title: str
    words: int
    outdated_summaries: Outdated | None = None

    def sentence(self) -> str:
        """Where it is."""
        return f"Part {self.position} is new: {counted(self.words, 'word')}."

    def untold(self) -> frozenset[str]:
        """The sentence says it."""
        return frozenset({"part", "position", "words"})


@command(
    "create-part",
    title="Create a part",
    severity=Severity.ADD,
    returns="the handle and position of the new part",
    example='/create-part "It was night." "" "Chapter 4"',
    for_model="Adds a new part at the end of the book. Pass text, and title if it has one. Leave parent out, unless "
    "the part should follow another one than the last: then pass its handle. Returns the handle of the new part.",
)
def create_part(
    ctx: Context,
    text: Text,
    parent: Annotated[
        PartRef | None,
        Param(
            "the part that it follows; without it the last of the branch",
            for_model="The handle of the part that it follows. Leave it out to add at the end.",
        ),
    ] = None,
    title: Title = "",
    instructions: Instructions = "",
    scene: Scene = "",
    pov: Pov = "",
    present: Present = "",
) -> Effect[PartMade]:
    """Adds a part at the end of the branch, or after another part, and makes it the one that is read."""
    _refuse_omissions(text)
    with open_book(ctx) as opened:
        given = opened.tree.active_leaf if parent is None else _place(opened, parent)
        depths = opened.depths
    fields = {"title": title, "instructions": instructions, "scene": scene, "pov": pov, "present": present}

    def apply(tx: WriteTx) -> PartMade:
        space = tx.space(ctx.scope.space)
        book = space.get(Book, ctx.scope.open_book)
        above = given
        if parent is None and book.active_leaf != given:
            above = parts.story_tree(space, book).active_leaf
        _still_there(space, above)
        return _made(space, parts.create_part(space, book.uuid, above, text, fields), depths)

    return Effect(apply)


@command(
    "insert-part",
    title="Insert a part",
    severity=Severity.ADD,
    returns="the handle and position of the new part",
    example='/insert-part 3 "It was night." "Interlude"',
    for_model="Adds a new part between two parts. Pass after (the handle of the part it follows, or start for the "
    "beginning of the book) and text. What followed that part follows the new one. Returns the new handle.",
)
def insert_part(
    ctx: Context,
    after: Annotated[
        PartRef,
        Param(
            "the part that it follows, or start",
            for_model="The handle of the part that it follows, or start for the beginning of the book.",
        ),
    ],
    text: Text,
    title: Title = "",
    instructions: Instructions = "",
    scene: Scene = "",
    pov: Pov = "",
    present: Present = "",
) -> Effect[PartMade]:
    """Adds a part between a part and what follows it."""
    _refuse_omissions(text)
    with open_book(ctx) as opened:
        above = _place(opened, after)
        depths = opened.depths
    fields = {"title": title, "instructions": instructions, "scene": scene, "pov": pov, "present": present}

    def apply(tx: WriteTx) -> PartMade:
        space = tx.space(ctx.scope.space)
        _still_there(space, above)
        watch = SummaryWatch(space, ctx.scope.open_book)
        part = parts.insert_part(space, ctx.scope.open_book, above, text, fields)
        return _made(space, part, depths, watch.outdated())

    return Effect(apply)


@command(
    "branch-part",
    title="Branch at a part",
    severity=Severity.ADD,
    returns="the handle of the copy, which ends a new branch",
    example="/branch-part 3",
    for_model="Copies a part to begin another version of the story from there. Pass part (its handle). The copy stands "
    "beside the part and ends a new branch, which becomes the active one. Returns the handle of the copy.",
)
def branch_part(ctx: Context, part: PartRef) -> Effect[PartMade]:
    """Copies a part beside itself, as the end of a new branch that becomes the active one."""
    with open_book(ctx) as opened:
        uuid = opened.written_part(part)
        depths = opened.depths

    def apply(tx: WriteTx) -> PartMade:
        space = tx.space(ctx.scope.space)
        _still_there(space, uuid)
        return _made(space, parts.branch_part(space, uuid), depths)

    return Effect(apply)


class PartDeleted(Result):
    """A part that is gone, and how many moved up into its place."""

    result: str
    title: str
    moved_up: int
    outdated_summaries: Outdated | None = None

    def sentence(self) -> str:
        """What was done."""
        up = f"; {counted(self.moved_up, 'part')} moved up into its place" if self.moved_up else ""
        return f"Deleted{' ' + quoted(self.title) if self.title else ''}{up}. undo brings it back."

    def untold(self) -> frozenset[str]:
        """The sentence says it."""
        return frozenset({"result", "title", "moved_up"})


@command(
    "delete-part",
    title="Delete a part",
    severity=Severity.REMOVE,
    destructive=True,
    returns="what was deleted, and how many parts moved up",
    example="/delete-part 3",
    for_model="Deletes one part with its text. Pass part (its handle). The parts that followed it stay: they move up. "
    "To delete only some words use edit-part.",
)
def delete_part(ctx: Context, part: PartRef) -> Effect[PartDeleted]:
    """Deletes a part; what followed it moves up into its place."""
    with open_book(ctx) as opened:
        value, seen = opened.load(opened.written_part(part))
        following = len(opened.space.children(value.uuid, opened.book.uuid))
    uuid = value.uuid
    up = f" {counted(following, 'part')} behind it will move up." if following else ""
    ctx.confirm(
        f"Delete {opened.label(uuid)} with its {counted(value.words, 'word')}?{up}",
        [f"It begins: {first_words(value.text)}"],
    )

    def apply(tx: WriteTx) -> PartDeleted:
        space = tx.space(ctx.scope.space)
        watch = SummaryWatch(space, ctx.scope.open_book)
        moved = parts.delete_part(space, uuid)
        return PartDeleted(
            result="deleted", title=value.title, moved_up=len(moved), outdated_summaries=watch.outdated()
        )

    return Effect(apply, reads={("part", uuid): seen})


class BranchSwitched(Told):
    """The branch that is read now."""

    result: str
    branch: int
    leaf: PartHandle
    parts: int

    def sentence(self) -> str:
        """The branch in words."""
        return f"Branch {self.branch} is {self.result}: {counted(self.parts, 'part')}."


@command(
    "switch-branch",
    title="Switch the branch",
    severity=Severity.CHANGE,
    returns="the branch that is active now, and its parts",
    example="/switch-branch 2",
    for_model="Makes another branch of the book the active one. Pass part: the handle of a part on that branch. "
    "list-branches shows the branches.",
)
def switch_branch(
    ctx: Context,
    part: Annotated[
        Annotated[str, Field(max_length=1_000)],
        Param(
            "the number of the branch, or a part on it",
            for_model="The handle of a part on the branch, such as the leaf that list-branches shows.",
            names="branch",
        ),
    ],
) -> Effect[BranchSwitched]:
    """Makes a branch the active one: the one that is read, exported and continued."""
    with open_book(ctx) as opened:
        if ctx.scope.is_agent:
            uuid = opened.written_part(part)
        else:
            leaf = opened.leaf(part)
            if leaf is None:
                raise NotFound("This book has no part yet, so it has no branch.")
            # A part that is shown already leads to its own newest end: that is how a swipe is chosen.
            uuid = part if part in opened.tree.rows else leaf
        tree, depths = opened.tree, opened.depths

    def apply(tx: WriteTx) -> BranchSwitched:
        space = tx.space(ctx.scope.space)
        _still_there(space, uuid)
        before = space.get(Book, ctx.scope.open_book).active_leaf
        leaf = parts.switch_branch(space, uuid)
        now = tree if leaf in depths else parts.story_tree(space, space.get(Book, ctx.scope.open_book))
        return BranchSwitched(
            result="active already" if leaf == before else "active now",
            branch=now.branch_number(leaf),
            leaf=leaf,
            parts=len(now.branch(leaf)),
        )

    return Effect(apply)


def _place(opened: OpenBook, text: str) -> str | None:
    """The part that something new follows; None for the beginning of the book."""
    if text.strip().casefold() == START:
        return None
    return opened.written_part(text)


def _still_there(space: Space, uuid: str | None) -> None:
    if uuid is not None and uuid not in space.hashes(Part, [uuid]):
        raise NotFound("The part was deleted meanwhile: nothing was changed. list-parts shows the parts.")


def _made(space: Space, part: Part, depths: Mapping[str, int], outdated: Outdated | None = None) -> PartMade:
    """The answer; the tree is read again only when the parent was not there a moment ago."""
    above = part.parent
    if above is None or above in depths:
        position = 1 if above is None else depths[above] + 1
    else:
        position = parts.story_tree(space, space.get(Book, part.book)).position(part.uuid)
    return PartMade(
        part=part.uuid,
        position=position,
        title=part.title,
        words=count_words(part.text),
        outdated_summaries=outdated,
    )


def _refuse_omissions(text: str) -> None:
    if added := new_omissions("", text):
        raise Invalid(
            f"The text holds {quoted(added[0])}, which stands for words that are left out: write the words themselves."
        )
