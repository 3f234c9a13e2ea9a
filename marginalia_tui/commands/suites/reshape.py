"""Commands that reshape the parts of a book: their fields, apart, together, elsewhere; and the numbers of one."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated

from pydantic import Field

from marginalia_tui.commands.annotation_references import find_range
from marginalia_tui.commands.context import Context, Effect
from marginalia_tui.commands.declare import command
from marginalia_tui.commands.definition import Param, Severity
from marginalia_tui.commands.patterns import first_words
from marginalia_tui.commands.references import BranchRef, OpenBook, PartRef, PlaceRef, open_book
from marginalia_tui.commands.results import PartHandle, Result, Told
from marginalia_tui.commands.suites.history import moment
from marginalia_tui.commands.suites.structure import START
from marginalia_tui.commands.summary_references import Outdated, SummaryWatch
from marginalia_tui.domain.errors import Invalid, NotFound
from marginalia_tui.domain.items import Book, Part
from marginalia_tui.domain.sentences import counted, listed, quoted
from marginalia_tui.domain.words import count_words
from marginalia_tui.llm.tokens import count_tokens
from marginalia_tui.services import reshape, versions
from marginalia_tui.services.parts import story_tree
from marginalia_tui.store.space import Space
from marginalia_tui.store.store import WriteTx

Line = Annotated[str | None, Field(max_length=300)]
Lines = Annotated[str | None, Field(max_length=10_000)]


class PartFieldsSet(Told):
    """What was set in a part."""

    result: str
    part: PartHandle
    position: int | None = None
    changed: list[str]

    def sentence(self) -> str:
        """The fields in words."""
        name = f"part {self.position}" if self.position else "the part"
        if not self.changed:
            return f"Nothing was changed: {name} says so already."
        return f"Changed the {listed(self.changed)} of {name}."


@command(
    "set-part-fields",
    title="Change the fields of a part",
    severity=Severity.CHANGE,
    returns="the fields that were changed",
    example='/set-part-fields 3 "" "a yard at night"',
    for_model="Changes what is kept beside the text of a part: instructions, scene, pov, present and title. Pass part "
    "(its handle) and only the fields that should change; an empty text empties a field. The text stays as it is.",
)
def set_part_fields(
    ctx: Context,
    part: PartRef,
    instructions: Annotated[Lines, Param("what the turn is asked to tell")] = None,
    scene: Annotated[Lines, Param("where and when it plays")] = None,
    pov: Annotated[Lines, Param("the character whose point of view it has")] = None,
    present: Annotated[Lines, Param("the characters who are present")] = None,
    title: Annotated[Line, Param("its title")] = None,
) -> Effect[PartFieldsSet]:
    """Changes what a part has beside its text: `""` leaves a field as it is, a space in quotes empties it."""
    given = {"instructions": instructions, "scene": scene, "pov": pov, "present": present, "title": title}
    wanted = {name: value.strip() for name, value in given.items() if value is not None}
    if not wanted:
        raise Invalid(f"Give what should change: {listed(list(given))}.")
    with open_book(ctx) as opened:
        uuid = opened.written_part(part)

    def apply(tx: WriteTx) -> PartFieldsSet:
        space = tx.space(ctx.scope.space)
        before = _still(space, uuid)
        changed = [name for name, value in wanted.items() if getattr(before, name) != value]
        space.put([_with_fields(before, wanted)])
        return PartFieldsSet(
            result="changed" if changed else "unchanged",
            part=uuid,
            position=opened.known_position(uuid),
            changed=changed,
        )

    return Effect(apply)


def _with_fields(part: Part, fields: Mapping[str, str]) -> Part:
    return replace(
        part,
        instructions=fields.get("instructions", part.instructions),
        scene=fields.get("scene", part.scene),
        pov=fields.get("pov", part.pov),
        present=fields.get("present", part.present),
        title=fields.get("title", part.title),
    )


class PartSplit(Result):
    """The two halves of a part."""

    first: PartHandle
    second: PartHandle
    position: int
    """Where the second half stands."""
    first_words: int
    second_words: int
    begins: str
    """How the second half begins."""
    outdated_summaries: Outdated | None = None

    def sentence(self) -> str:
        """Where the halves are."""
        return (
            f"Part {self.position - 1} has {counted(self.first_words, 'word')} now, and part {self.position} is new: "
            f"{counted(self.second_words, 'word')}."
        )

    def untold(self) -> frozenset[str]:
        """The sentence says the rest."""
        return frozenset({"first", "second", "position", "first_words", "second_words"})


@command(
    "split-part",
    title="Split a part",
    severity=Severity.CHANGE,
    returns="both halves: their handles and words",
    example='/split-part 3 "In the morning"',
    for_model="Splits a part in two. Pass part (its handle) and at: the words with which the second half begins, "
    "copied from the part, long enough to be there only once. The second half is a new part behind the first, and "
    "the notes on its words and the summary go with it. No word is lost.",
)
def split_part(
    ctx: Context,
    part: PartRef,
    at: Annotated[
        Annotated[str, Field(max_length=20_000)],
        Param(
            "the words that begin the second half, or the character at which it begins",
            for_model="The words with which the second half begins, or the number of its first character.",
        ),
    ],
    title: Annotated[
        Annotated[str, Field(max_length=300)],
        Param("the title of the second half", for_model="The title of the second half. Leave it out for none."),
    ] = "",
) -> Effect[PartSplit]:
    """Splits a part in two at some words, or at a character of its text."""
    with open_book(ctx) as opened:
        value, seen = opened.load(opened.written_part(part))
        place = _cut(value.text, opened.label(value.uuid), at)
        position = opened.depths[value.uuid]
    reshape.halves(value.text, place)
    uuid = value.uuid

    def apply(tx: WriteTx) -> PartSplit:
        space = tx.space(ctx.scope.space)
        watch = SummaryWatch(space, value.book)
        rest = reshape.split_part(space, uuid, place, title.strip())
        return PartSplit(
            first=uuid,
            second=rest.uuid,
            position=position + 1,
            first_words=count_words(space.get(Part, uuid).text),
            second_words=count_words(rest.text),
            begins=first_words(rest.text),
            outdated_summaries=watch.outdated(),
        )

    return Effect(apply, reads={("part", uuid): seen})


def _cut(text: str, where: str, at: str) -> int:
    wanted = at.strip()
    if wanted.isascii() and wanted.isdigit():
        if len(wanted) > 9 or not 0 < int(wanted) < len(text):
            raise Invalid(f"There is no character {quoted(wanted, 20)} to split at: {where} has {len(text):,}.")
        return int(wanted)
    found = find_range(text, where, at, None, "")
    if found is None:
        raise Invalid("The argument at is empty: give the words with which the second half begins.")
    return found[0]


class PartsMerged(Result):
    """Two parts that are one."""

    part: PartHandle
    position: int
    title: str
    words: int
    moved_up: int
    """Parts that followed the second one and follow the merged one now."""
    outdated_summaries: Outdated | None = None

    def sentence(self) -> str:
        """What was done."""
        return f"Part {self.position} has the text of both now: {counted(self.words, 'word')}. undo parts them again."

    def untold(self) -> frozenset[str]:
        """The sentence says it."""
        return frozenset({"part", "position", "title", "words", "moved_up"})


@command(
    "merge-part-with-next",
    title="Merge a part with the next",
    severity=Severity.REMOVE,
    destructive=True,
    returns="the part that has both texts",
    example="/merge-part-with-next 3",
    for_model="Joins a part with the one that follows it. Pass part (the handle of the first). The first gets both "
    "texts and keeps its title and fields, the second is deleted, and its notes and summary go to the first. It is "
    "refused where several parts follow the first.",
)
def merge_part_with_next(ctx: Context, part: PartRef) -> Effect[PartsMerged]:
    """Joins a part with the one that follows it; the second is deleted, its text and notes are kept."""
    with open_book(ctx) as opened:
        first, seen = opened.load(opened.written_part(part))
        children = opened.space.children(first.uuid, opened.book.uuid)
        if not children:
            raise NotFound(f"Nothing follows {opened.label(first.uuid)}: name the first of the two parts.")
        second, also_seen = opened.load(children[0])
        reshape.check_mergeable(opened.space, first.uuid, second.uuid)
        position = opened.depths[first.uuid]
        labels = f"{opened.label(first.uuid)} with {opened.label(second.uuid)}"
        more = " Its title and fields are given up where the first has its own." if _has_fields(second) else ""
    ctx.confirm(
        f"Merge {labels}?{more}",
        [f"The first ends: {_last_words(first.text)}", f"The second begins: {first_words(second.text)}"],
    )

    def apply(tx: WriteTx) -> PartsMerged:
        space = tx.space(ctx.scope.space)
        watch = SummaryWatch(space, first.book)
        moved = len(space.children(second.uuid, first.book))
        merged = reshape.merge_parts(space, first.uuid, second.uuid)
        return PartsMerged(
            part=merged.uuid,
            position=position,
            title=merged.title,
            words=count_words(merged.text),
            moved_up=moved,
            outdated_summaries=watch.outdated(),
        )

    return Effect(apply, reads={("part", first.uuid): seen, ("part", second.uuid): also_seen})


def _has_fields(part: Part) -> bool:
    return any((part.title, part.instructions, part.scene, part.pov, part.present, part.attributes))


def _last_words(text: str) -> str:
    return " ".join(text[-200:].split())[-60:]


class PartMoved(Result):
    """Where a part stands now."""

    result: str
    """`moved`, or `unchanged` when it stood there already."""
    part: PartHandle
    position: int
    title: str
    outdated_summaries: Outdated | None = None

    def sentence(self) -> str:
        """Where it is."""
        if self.result == "unchanged":
            return f"Nothing was changed: the part stands there already, as part {self.position}."
        return f"{quoted(self.title) if self.title else 'The part'} is part {self.position} now."

    def untold(self) -> frozenset[str]:
        """The sentence says it."""
        return frozenset({"result", "part", "position", "title"})


@command(
    "move-part",
    title="Move a part",
    severity=Severity.CHANGE,
    returns="where the part stands now",
    example="/move-part 5 2",
    for_model="Moves a part to another place. Pass part (its handle) and after (the handle of the part that it should "
    "follow, or start for the beginning of the book). What followed it moves up; what followed after then follows it. "
    "With following true all that follows the part moves with it, as a branch.",
)
def move_part(
    ctx: Context,
    part: PartRef,
    after: Annotated[
        PartRef,
        Param(
            "the part that it follows then, or start",
            for_model="The handle of the part that it should follow, or start for the beginning of the book.",
        ),
    ],
    following: Annotated[
        bool,
        Param(
            "whether all that follows the part moves with it, as a branch",
            for_model="true: all that follows the part moves with it. Leave it out to move the one part.",
        ),
    ] = False,
) -> Effect[PartMoved]:
    """Moves a part behind another one, alone or with all that follows it."""
    with open_book(ctx) as opened:
        uuid = opened.written_part(part)
        target = _target(opened, after)
        value, seen = opened.load(uuid)
        if target != value.parent:
            reshape.check_move(opened.tree, uuid, target, following=following)

    def apply(tx: WriteTx) -> PartMoved:
        space = tx.space(ctx.scope.space)
        if target is not None:
            _still(space, target)
        watch = SummaryWatch(space, value.book)
        moved = reshape.move_part(space, uuid, target, following=following)
        tree = story_tree(space, space.get(Book, value.book))
        return PartMoved(
            result="moved" if moved else "unchanged",
            part=uuid,
            position=tree.position(uuid),
            title=value.title,
            outdated_summaries=watch.outdated(),
        )

    return Effect(apply, reads={("part", uuid): seen})


def _target(opened: OpenBook, text: str) -> str | None:
    return None if text.strip().casefold() == START else opened.written_part(text)


def _still(space: Space, uuid: str) -> Part:
    part = space.find(Part, uuid)
    if part is None:
        raise NotFound("The part was deleted meanwhile: nothing was changed. list-parts shows the parts.")
    return part


class PartMetrics(Result):
    """The numbers of a part."""

    position: int
    part: PartHandle
    title: str
    branch: int | None = None
    """There when the active branch does not show it."""
    tokens: int
    """An estimate: every model counts in its own way."""
    words: int
    characters: int
    versions: int
    """Texts that it had, with the one that it has."""
    changes: int
    """Changes of its text, its fields and its place that the history knows."""
    written_by: str | None = None
    """The model that wrote the text; left out for a person."""
    created: str | None = None
    last_change: str | None = None
    """What was done to it last."""
    last_change_at: str | None = None
    last_change_by: str | None = None
    """`author`, or the name of an agent."""


@command(
    "get-part-metrics",
    title="Numbers of a part",
    severity=Severity.READ,
    returns="tokens, words, characters, who wrote it, when, and how often it was changed",
    example="/get-part-metrics 3",
    for_model="Returns the numbers of one part: tokens (an estimate), words, characters, versions, changes, the model "
    "that wrote it, when it was made and its last change. Pass part: its handle or position. It does not return text.",
)
def get_part_metrics(ctx: Context, part: PlaceRef, branch: BranchRef = None) -> PartMetrics:
    """Shows how long a part is, who wrote it, and how often it was changed."""
    with open_book(ctx) as opened:
        uuid = opened.read_part(part, opened.leaf(branch))
        value, _ = opened.load(uuid)
        rows = versions.rows_of(opened.space, [uuid])[uuid]
        texts = versions.read_versions(opened.space, {uuid: rows})[uuid]
        agents = versions.agents_of(opened.space, [rows[-1].run] if rows else [])
        last = versions.act_of(rows[-1], agents) if rows else None
        position, off = opened.tree.position(uuid), opened.off_branch(uuid)
    return PartMetrics(
        position=position,
        part=uuid,
        title=value.title,
        branch=off,
        tokens=count_tokens(value.text),
        words=value.words,
        characters=value.chars,
        versions=max(1, len(texts)),
        changes=sum(row.before is not None for row in rows),
        written_by=value.model or None,
        created=moment(value.created or None),
        last_change=last.label if last else None,
        last_change_at=moment(last.at) if last else None,
        last_change_by=last.who if last else None,
    )
