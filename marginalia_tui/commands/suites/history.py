"""Commands for the history of parts: their versions, what differs between two, and the way back to one."""

from dataclasses import replace
from datetime import datetime
from typing import Annotated

from pydantic import Field

from marginalia_tui.commands.bounds import (
    LENGTH,
    LIMIT,
    Limit,
    Offset,
    Page,
    Slice,
    TextLength,
    TextOffset,
    page_of,
    slice_of,
)
from marginalia_tui.commands.context import Context, Effect
from marginalia_tui.commands.declare import command
from marginalia_tui.commands.definition import Param, Severity
from marginalia_tui.commands.patterns import first_words
from marginalia_tui.commands.references import PartRef, PlaceRef, open_book
from marginalia_tui.commands.results import BookHandle, PartHandle, Result, Told
from marginalia_tui.commands.suites.read import version_of
from marginalia_tui.commands.summary_references import Outdated, SummaryWatch
from marginalia_tui.domain.errors import Invalid
from marginalia_tui.domain.items import Book, Part
from marginalia_tui.domain.sentences import counted
from marginalia_tui.domain.words import count_words
from marginalia_tui.services import versions
from marginalia_tui.services.effective import versions_listed
from marginalia_tui.services.versions import Version
from marginalia_tui.store.store import WriteTx

VersionNumber = Annotated[
    int,
    Field(ge=-1_000_000, le=1_000_000_000),
    Param(
        "the number of the version: 1 is the oldest, 0 the part as it is, -1 the one before",
        for_model="The number of the version, as list-versions shows it. 0 is the part as it is, -1 the one before.",
    ),
]


def moment(at: int | None) -> str | None:
    """A moment (microseconds since 1970) on the clock of this machine; None stays None."""
    return None if at is None else datetime.fromtimestamp(at / 1_000_000).strftime("%Y-%m-%d %H:%M")


class VersionRow(Result):
    """A version of a part. `who` is author, the name of an agent or of a model, or unknown (older than the journal)."""

    number: int
    current: bool | None = None
    """There and true for the part as it is."""
    when: str | None = None
    who: str
    by: str
    """`author`, `agent`, `apply` (the author took over the work of an agent), `restore`, `unknown`."""
    label: str
    """What was done."""
    words: int
    run: str | None = None
    call: str | None = None


class VersionList(Page):
    """The versions of a part, the newest first. `hidden` are older than the limit of the book lists."""

    thing = ("version", "versions")

    part: PartHandle
    position: int
    hidden: int | None = None
    versions: list[VersionRow]


@command(
    "list-versions",
    title="List the versions of a part",
    severity=Severity.READ,
    returns="a row for each text that the part had, the newest first: number, when, who, what was done, words",
    example="/list-versions 3",
    for_model="Lists the texts that a part had before, the newest first. Pass part: its handle or position. Each row "
    "has number (to pass to get-version and restore-version), when, who, label (what was done) and words.",
)
def list_versions(ctx: Context, part: PlaceRef, offset: Offset = 0, limit: Limit = LIMIT) -> VersionList:
    """Lists the texts that a part had, the newest first, with who wrote them and by what."""
    with open_book(ctx) as opened:
        uuid = opened.read_part(part)
        known = versions.versions(opened.space, uuid)
        most = versions_listed(ctx.scope.store.home, opened.book)
        listed = known[::-1] if most is None else known[::-1][:most]
        some, page = page_of(listed, offset, limit)
        sizes = versions.sizes_of(opened.space, some)
        rows = [_row(each, len(known), sizes[each.key][0]) for each in some]
        hidden = len(known) - len(listed) or None
        return VersionList(part=uuid, position=opened.depths[uuid], hidden=hidden, versions=rows, **page)


def _row(version: Version, newest: int, words: int) -> VersionRow:
    act = version.act
    return VersionRow(
        number=version.number,
        current=True if version.number == newest else None,
        when=moment(act.at),
        who=act.who,
        by="author" if act.actor == "studio" else act.actor,
        label=act.label,
        words=words,
        run=act.run,
        call=act.call,
    )


class VersionText(Slice):
    """A version of a part with a slice of its text."""

    part: PartHandle
    position: int
    number: int
    of: int
    """The versions that there are."""
    when: str | None = None
    who: str
    label: str
    words: int


@command(
    "get-version",
    title="Read a version of a part",
    severity=Severity.READ,
    returns="the text of the version, or a slice of it, with when it was written and by whom",
    example="/get-version 3 1",
    for_model="Returns a text that a part had before. Pass part (its handle or position) and version (a number of "
    "list-versions). A long text comes in slices: when truncated is true, call again with offset set to nextOffset.",
)
def get_version(
    ctx: Context, part: PlaceRef, version: VersionNumber, offset: TextOffset = 0, length: TextLength = LENGTH
) -> VersionText:
    """Shows the text of a version of a part."""
    with open_book(ctx) as opened:
        uuid = opened.read_part(part)
        found, known = versions.find_version(opened.space, uuid, version)
        text = versions.text_of(opened.space, found)
        return VersionText(
            part=uuid,
            position=opened.depths[uuid],
            number=found.number,
            of=len(known),
            when=moment(found.act.at),
            who=found.act.who,
            label=found.act.label,
            words=count_words(text),
            **slice_of(text, offset, length),
        )


class VersionRestored(Result):
    """What bringing a version back did to a part."""

    result: str
    """`changed`, or `unchanged` when the part reads so already."""
    part: PartHandle
    position: int
    restored: int
    """The number of the version whose text it has now."""
    words: int
    version: str
    begins: str
    outdated_summaries: Outdated | None = None

    def sentence(self) -> str:
        """What became of the part."""
        if self.result == "unchanged":
            return f"Nothing was changed: part {self.position} has the text of version {self.restored} already."
        return f"Part {self.position} has the text of version {self.restored} again: {counted(self.words, 'word')}."

    def untold(self) -> frozenset[str]:
        """The sentence says the rest."""
        return frozenset({"result", "part", "position", "restored", "words", "version"})


@command(
    "restore-version",
    title="Bring back a version",
    severity=Severity.CHANGE,
    returns="the part and its words",
    example="/restore-version 3 1",
    for_model="Gives a part the text of an earlier version again, as a new change. Pass part (its handle) and version "
    "(a number of list-versions; -1 is the one before). Title and other fields stay.",
)
def restore_version(ctx: Context, part: PartRef, version: VersionNumber) -> Effect[VersionRestored]:
    """Gives a part the text of an earlier version again; that is a new change, which undo takes back."""
    with open_book(ctx) as opened:
        value, seen = opened.load(opened.written_part(part))
        found, _ = versions.find_version(opened.space, value.uuid, version)
        text = versions.text_of(opened.space, found)
        position = opened.depths[value.uuid]

    def apply(tx: WriteTx) -> VersionRestored:
        space = tx.space(ctx.scope.space)
        watch = SummaryWatch(space, ctx.scope.open_book)
        changed = space.put([replace(space.get(Part, value.uuid), text=text)])
        return VersionRestored(
            result="changed" if changed else "unchanged",
            part=value.uuid,
            position=position,
            restored=found.number,
            words=count_words(text),
            version=version_of(space.hashes(Part, [value.uuid])[value.uuid]),
            begins=first_words(text),
            outdated_summaries=watch.outdated(changed),
        )

    return Effect(apply, reads={("part", value.uuid): seen})


class HistoryLimit(Told):
    """How many versions of a part are listed."""

    result: str
    book: BookHandle
    limit: int | None = None

    def sentence(self) -> str:
        """The limit in words."""
        if self.limit is None:
            return "All versions of a part are listed."
        return f"At most {counted(self.limit, 'version')} of a part {'is' if self.limit == 1 else 'are'} listed."


@command(
    "set-book-history-limit",
    title="Limit the history of parts",
    severity=Severity.CHANGE,
    returns="the limit",
    example="/set-book-history-limit 20",
    for_model="Sets how many versions of a part list-versions shows; none is deleted. Pass limit: a number, or a "
    "negative number to show all of them.",
)
def set_book_history_limit(
    ctx: Context,
    limit: Annotated[
        int,
        Field(ge=-1_000_000, le=1_000_000),
        Param(
            "how many versions of a part are listed; a negative number: as your defaults say, or all",
            for_model="How many versions are shown. A negative number takes the limit away.",
        ),
    ],
) -> Effect[HistoryLimit]:
    """Sets how many versions of a part are listed, or (a negative number) has your default hold; none is deleted."""
    if not limit:
        raise Invalid("The part as it is is always listed: give 1 or more, or a negative number for all versions.")
    most = None if limit < 0 else limit
    uuid = ctx.scope.open_book

    def apply(tx: WriteTx) -> HistoryLimit:
        space = tx.space(ctx.scope.space)
        book = replace(space.get(Book, uuid), history_limit=most)
        changed = space.put([book])
        listed = versions_listed(tx.store.home, book)
        return HistoryLimit(result="changed" if changed else "unchanged", book=uuid, limit=listed)

    return Effect(apply)
