"""Commands that change the text of a part that is there.

Each is refused when the part changed between what it read and what it writes. A passage is quoted, and replaced
in the typography of the book.
"""

from dataclasses import replace
from typing import Annotated

from pydantic import Field

from marginalia_tui.commands.context import Context, Effect
from marginalia_tui.commands.declare import command
from marginalia_tui.commands.definition import Param, Severity
from marginalia_tui.commands.omissions import new_omissions
from marginalia_tui.commands.passages import closest_passage, find_passage, replace_passage
from marginalia_tui.commands.patterns import around, first_words
from marginalia_tui.commands.references import OpenBook, PartRef, open_book
from marginalia_tui.commands.results import PartHandle, Result
from marginalia_tui.commands.results import Prose as Passage
from marginalia_tui.commands.suites.read import version_of
from marginalia_tui.commands.summary_references import Outdated, SummaryWatch
from marginalia_tui.domain.errors import Ambiguous, Invalid, NotFound, Stale
from marginalia_tui.domain.items import Part
from marginalia_tui.domain.sentences import counted, quoted
from marginalia_tui.domain.words import count_words
from marginalia_tui.store.store import WriteTx

LONGEST = 2_000_000
"""Characters of a text that a command takes."""
SHRINK = 0.5
"""A text that loses more than this share is worth a warning."""

Prose = Annotated[str, Field(max_length=LONGEST)]


class PartChanged(Result):
    """What a writing command did to a part. `passage` shows the place as it reads now."""

    result: str
    """`changed`, or `unchanged` when the text was the same already."""
    part: PartHandle
    position: int | None = None
    words: int
    version: str
    warning: str | None = None
    passage: Passage | None = None
    outdated_summaries: Outdated | None = None

    def sentence(self) -> str:
        """What became of the part."""
        name = f"Part {self.position}" if self.position else "The part"
        return f"{name} is {self.result}: {counted(self.words, 'word')}."

    def untold(self) -> frozenset[str]:
        """The sentence says the rest."""
        return frozenset({"result", "part", "position", "words", "version"})


@command(
    "edit-part",
    title="Edit a passage",
    severity=Severity.CHANGE,
    returns="the part, its words and the place as it reads now",
    example='/edit-part 3 "teh lamp" "the lamp"',
    for_model="Replaces one passage of a part. Pass part (its handle, such as h:m3), old (the words as they stand in "
    "the part now, long enough to be there only once) and new (the words to put there). Returns result changed.",
)
def edit_part(
    ctx: Context,
    part: PartRef,
    old: Annotated[
        Prose,
        Param(
            "the passage as it stands, exactly once in the part",
            for_model="The words to replace, copied from the part. They must be there exactly once.",
        ),
    ],
    new: Annotated[
        Prose,
        Param(
            "what stands there afterwards",
            for_model="The words that stand there afterwards, complete. An empty text deletes the passage.",
        ),
    ],
) -> Effect[PartChanged]:
    """Replaces one passage of a part by another."""
    if not old.strip():
        raise Invalid("The argument old is empty: give the words to replace, or use append-to-part to add a text.")
    with open_book(ctx) as opened:
        value, seen = opened.load(opened.written_part(part))
    uuid, text = value.uuid, value.text
    found = find_passage(text, old)
    if not found:
        raise NotFound(_not_found(text, old, opened.label(uuid)))
    if len(found) > 1:
        places = "; ".join(
            "\u201c" + "".join((before, text[each.start : each.end], after)) + "\u201d"
            for each in found[:3]
            for before, after in [around(text, each.start, each.end, 25)]
        )
        raise Ambiguous(
            f"The passage is {len(found)} times in {opened.label(uuid)}: give more of the words around the one "
            f"you mean. It stands in: {places}"
        )
    changed = replace_passage(text, found[0], old, new)
    _refuse_omissions(text, changed)
    end = found[0].end + len(changed) - len(text)
    before, after = around(changed, found[0].start, end)
    middle = changed[found[0].start : end]
    shown = middle if len(middle) <= 300 else middle[:200] + " \u2026 " + middle[-80:]
    return _write(ctx, opened, uuid, seen, changed, passage=before + shown + after)


def _not_found(text: str, old: str, where: str) -> str:
    if not text.strip():
        return f"The passage {quoted(old)} is not in {where}: it has no text. append-to-part adds one."
    if near := closest_passage(text, old):
        return (
            f"The passage {quoted(old)} is not in {where}. The closest there is: {quoted(near, 320)}. "
            "Copy the words exactly as they stand."
        )
    return f"The passage {quoted(old)} is not in {where}, and nothing there is like it: read the part with get-part."


def _refuse_omissions(old: str, new: str) -> None:
    if added := new_omissions(old, new):
        raise Invalid(
            f"The new text holds {quoted(added[0])}, which stands for words that are left out: "
            "write the words themselves, or change a smaller passage with edit-part. Nothing was changed."
        )


@command(
    "replace-part-text",
    title="Replace the text of a part",
    severity=Severity.CHANGE,
    destructive=True,
    returns="the part and its words; a warning when the text became much shorter",
    example='/replace-part-text 3 "The whole new text."',
    for_model="Replaces the WHOLE text of a part: what you do not write again is lost. Pass part (its handle) and text "
    "(the complete new text). For a small change use edit-part instead.",
)
def replace_part_text(
    ctx: Context,
    part: PartRef,
    text: Annotated[
        Prose,
        Param("the whole new text", for_model="The complete new text of the part, from its first word to its last."),
    ],
    version: Annotated[
        str,
        Field(max_length=100),
        Param(
            "the version that get-part showed: the text is replaced only if it is still that one",
            for_model="The version that get-part returned. Pass it, so that nothing newer is overwritten.",
        ),
    ] = "",
) -> Effect[PartChanged] | PartChanged:
    """Replaces the whole text of a part."""
    if not text.strip():
        raise Invalid("The new text is empty: give the whole text, or remove the part with delete-part.")
    with open_book(ctx) as opened:
        value, seen = opened.load(opened.written_part(part))
    uuid, old = value.uuid, value.text
    where, now = opened.label(uuid), version_of(seen)
    if version and version.strip() != now:
        raise Stale(
            f"{where[:1].upper()}{where[1:]} was changed since you read it (it is version {now} now): read it again. "
            f"It begins: {quoted(first_words(old, 200), 200)}"
        )
    _refuse_omissions(old, text)
    had, has = count_words(old), count_words(text)
    if text == old:
        return PartChanged(result="unchanged", part=uuid, position=opened.depths[uuid], words=had, version=now)
    ctx.confirm(
        f"Replace the whole text of {where}: {had:,} words by {has:,}?",
        [f"It begins now: {first_words(old)}", f"It will begin: {first_words(text)}"],
    )
    warning = None
    if had >= 20 and has < had * (1 - SHRINK):
        warning = f"The text had {had:,} words and has {has:,} now: was that meant? Undo or edit brings them back."
    return _write(ctx, opened, uuid, seen, text, warning=warning)


@command(
    "append-to-part",
    title="Append to a part",
    severity=Severity.ADD,
    returns="the part and its words",
    example='/append-to-part 3 "A new last paragraph."',
    for_model="Adds a text at the end of a part, as a new paragraph. Pass part (its handle) and text (only the new "
    "words). What is there stays.",
)
def append_to_part(
    ctx: Context,
    part: PartRef,
    text: Annotated[
        Prose, Param("what is added, as a new paragraph", for_model="The new words only, without those that are there.")
    ],
) -> Effect[PartChanged]:
    """Adds a text at the end of a part, as a new paragraph."""
    if not text.strip():
        raise Invalid("The argument text is empty: give the words to add.")
    with open_book(ctx) as opened:
        value, seen = opened.load(opened.written_part(part))
    uuid, old = value.uuid, value.text
    gap = "" if not old or old.endswith("\n\n") or text.startswith("\n\n") else "\n\n"
    if gap and (old.endswith("\n") or text.startswith("\n")):
        gap = "\n"
    _refuse_omissions(old, old + gap + text)
    return _write(ctx, opened, uuid, seen, old + gap + text)


def _write(
    ctx: Context,
    opened: OpenBook,
    uuid: str,
    seen: bytes,
    text: str,
    *,
    passage: str | None = None,
    warning: str | None = None,
) -> Effect[PartChanged]:
    """The effect that gives a part its new text; an equal text answers `unchanged` and leaves no trace."""

    def apply(tx: WriteTx) -> PartChanged:
        space = tx.space(ctx.scope.space)
        watch = SummaryWatch(space, ctx.scope.open_book)
        changed = space.put([replace(space.get(Part, uuid), text=text)])
        return PartChanged(
            result="changed" if changed else "unchanged",
            part=uuid,
            position=opened.known_position(uuid),
            words=count_words(text),
            version=version_of(space.hashes(Part, [uuid])[uuid]),
            passage=passage if changed else None,
            warning=warning,
            outdated_summaries=watch.outdated(changed),
        )

    return Effect(apply, reads={("part", uuid): seen})
