"""What stands beside the page: notes, summaries, the history of a part and who wrote it, as rows of one shape."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal, NamedTuple

from marginalia_tui.commands.lore_matching import LoreFinder
from marginalia_tui.domain.items import Book, Part, Summary
from marginalia_tui.domain.lore import Reason, activate
from marginalia_tui.services import annotations, blame, lore, summaries, versions
from marginalia_tui.services.effective import versions_listed
from marginalia_tui.services.lore_turn import turn_of_part
from marginalia_tui.services.parts import story_tree
from marginalia_tui.store.space import LIBRARY, Space
from marginalia_tui.studio import Studio

PanelName = Literal["notes", "lore", "summaries", "history", "writers"]
MarkSign = Literal["*", "a", "w", "~"]
"""How a passage is marked: a note, an agent's, the author's, another's."""


WHY = {
    Reason.CONSTANT: "always",
    Reason.FILTER_MATCHED: "named here",
    Reason.LORE_MATCHED: "named in lore",
    Reason.DISABLED: "disabled",
    Reason.OUT_OF_RANGE: "not in this part",
    Reason.NEGATIVE_TAG: "barred by a tag",
    Reason.MISSING_TAG: "a tag is missing",
    Reason.FILTER_NOT_MATCHED: "not named",
}


class PanelRow(NamedTuple):
    """One row: a line in the list, and the text that is shown while it is chosen. There may be thousands."""

    key: str
    head: str
    tail: str = ""
    text: str = ""
    start: int | None = None
    """Where it leads in the text of the part; None: nowhere."""
    end: int | None = None
    dim: bool = False


@dataclass(frozen=True, slots=True)
class PanelMark:
    """A passage of the part, how it is marked, and a word beside it."""

    start: int
    end: int
    sign: MarkSign
    label: str = ""


@dataclass(frozen=True, slots=True)
class PanelNote:
    """A note that stands in the margin of the page."""

    id: str
    start: int
    end: int
    text: str
    head: str


@dataclass(frozen=True, slots=True)
class PanelView:
    """A panel of a part. `about` is a line above the rows, `empty` stands where there are none."""

    name: PanelName
    title: str
    rows: tuple[PanelRow, ...] = ()
    about: str = ""
    empty: str = ""
    marks: tuple[PanelMark, ...] = ()
    notes: tuple[PanelNote, ...] = field(default=())
    part: str = ""
    """The part that it is about."""
    begin: str = ""
    """The key of the row that is chosen when it is opened; empty: the first."""


class PanelDesk:
    """What the panels of the book screen ask."""

    def __init__(self, studio: Studio) -> None:
        self._store = studio.store

    def look(self, name: PanelName, part: str) -> PanelView:
        """A panel of a part, with the notes that stand in the margin whichever it is.

        Raises:
            NotFound: the part is gone.
        """
        if name == "lore":
            return replace(self._lore(part), notes=self.margin(part), part=part)
        with self._store.read() as tx:
            space = tx.space(LIBRARY)
            found = space.get(Part, part)
            return replace(_PANELS[name](space, found), notes=_margin(space, part), part=part)

    def _lore(self, part: str) -> PanelView:
        """The entries of the book, those first that the turn of the part is told, each with why."""
        with self._store.read() as tx:
            space = tx.space(LIBRARY)
            found = space.get(Part, part)
            book = space.get(Book, found.book)
            tree = lore.read_tree(space, book)
            rows = {row.uuid: row for row in lore.entry_rows(space, tree.lorebooks)}
            turn = turn_of_part(space, book, story_tree(space, book), found, tree, rows.values())
        # A regular expression may take its time: no transaction is open meanwhile.
        texts: dict[str, str] = {}

        def read(entries: Sequence[str]) -> dict[str, str]:
            texts.update(self._entry_texts([each for each in entries if each not in texts]))
            return texts

        verdicts = activate(tree, rows.values(), turn, LoreFinder(), read)
        active = [each for each in verdicts if each.reason.active]
        others = [each for each in verdicts if not each.reason.active]
        read([each.entry for each in active])
        shown = []
        for number, each in enumerate(active + others):
            by = f", by {rows[each.by].name}" if each.by else ""
            row = rows[each.entry]
            book_name = tree.lorebooks[row.lorebook].name
            why = f"*{book_name}: {WHY[each.reason]}{by}*" + (f"\n\n{each.note}" if each.note else "")
            text = f"{why}\n\n{texts.get(each.entry, '')}"
            name = row.name or "(no name)"
            shown.append(PanelRow(each.entry, name, WHY[each.reason], text, dim=number >= len(active)))
        about = f"{len(active):,} of {len(rows):,} entries are active" if rows else ""
        empty = "This book has no lore.\n\nCtrl+L, then n  first entry\nCtrl+L, then a  from a file"
        return PanelView("lore", "Lore", tuple(shown), about, empty)

    def _entry_texts(self, uuids: Sequence[str]) -> dict[str, str]:
        with self._store.read() as tx:
            return lore.entry_texts(tx.space(LIBRARY), uuids)

    def margin(self, part: str) -> tuple[PanelNote, ...]:
        """The notes that stand in the margin of a part: the open ones whose passage is there."""
        with self._store.read() as tx:
            return _margin(tx.space(LIBRARY), part)


def _margin(space: Space, part: str) -> tuple[PanelNote, ...]:
    return tuple(
        PanelNote(note.annotation.uuid, note.place.start, note.place.end, note.annotation.text, note.annotation.type)
        for note in annotations.notes_of_part(space, part)
        if note.place is not None and note.status == annotations.OPEN
    )


def _notes(space: Space, part: Part) -> PanelView:
    found = annotations.notes_of_part(space, part.uuid)
    order = {annotations.OPEN: 0, annotations.ORPHANED: 1, annotations.DONE: 2, annotations.DISMISSED: 3}
    rows = []
    for note in sorted(found, key=lambda each: (order[each.status], each.place.start if each.place else 0)):
        each, place = note.annotation, note.place
        passage = "the whole part" if note.whole else part.text[place.start : place.end] if place else each.quote
        lost = "\n\nThe passage is not in the text any more." if place is None else ""
        said = f"> {' '.join(passage.split())}\n\n{each.text}{lost}"
        rows.append(
            PanelRow(
                each.uuid,
                " ".join(each.text.split()),
                note.status,
                said,
                place.start if place and not note.whole else None,
                place.end if place and not note.whole else None,
                dim=note.status in (annotations.DONE, annotations.DISMISSED),
            )
        )
    return PanelView("notes", "Notes", tuple(rows), empty="No notes on this part.\n\na  adds one")


def _history(space: Space, part: Part) -> PanelView:
    found = versions.versions(space, part.uuid)
    book = space.get(Book, part.book)
    texts = versions.texts_of_versions(space, found)
    sizes = versions.sizes_of(space, found)
    rows = []
    for each in reversed(found):
        words = sizes[each.key][0] if each.key in sizes else 0
        when = "" if each.act.at is None else _moment(each.act.at)
        head = f"{each.number}  {_who(each.act)}: {each.act.label or 'text'}"
        rows.append(PanelRow(str(each.number), head, f"{words:,}", f"*{when}, {words:,} words*\n\n{texts[each.key]}"))
    about = f"{len(rows)} version{'' if len(rows) == 1 else 's'} of part {_number(space, book, part)}"
    listed = rows[: versions_listed(space.tx.store.home, book)]
    return PanelView("history", "History", tuple(listed), about=about, empty="Nothing yet.")


def _writers(space: Space, part: Part) -> PanelView:
    found = blame.histories(space, [part.uuid])
    stretches = found[0].stretches() if found else []
    shares = blame.ranked(blame.count_words(found, {part.uuid: part.words}))
    several = len({each.owner.act.who for each in stretches}) > 1
    about = shares_told(
        [(writer_told(share, several), share.words) for share in shares],
        [writer_told(each.owner.act, several) for each in stretches],
    )
    rows, marks = [], []
    for each in stretches:
        act = each.owner.act
        said = part.text[each.start : each.end]
        when = "" if act.at is None else _moment(act.at)
        head = " ".join(said.split()) or "(space)"
        who = _who(act)
        why = f"*{who}, {act.label or 'text'}, version {each.owner.version}, {when}*"
        rows.append(PanelRow(f"{each.start}", head, who, f"{why}\n\n{said}", each.start, each.end))
        marks.append(PanelMark(each.start, each.end, _sign(act), who))
    return PanelView(
        "writers", "Who wrote it", tuple(rows), about, "This part is empty.", tuple(marks) if several else ()
    )


def _who(writer: blame.Share | versions.Act) -> str:
    """The name of a writer, as the author reads it."""
    return "you" if writer.kind == "author" else writer.who


def _sign(writer: blame.Share | versions.Act) -> MarkSign:
    return "a" if writer.kind == "agent" else "w" if writer.kind == "author" else "~"


def writer_told(writer: blame.Share | versions.Act, several: bool) -> str:
    """The name of a writer, with the sign that stands beside the text where there are several."""
    return f"{_who(writer)} ({_sign(writer)})" if several else _who(writer)


def shares_told(counted: list[tuple[str, int]], writers: list[str]) -> str:
    """Who wrote how much of the words; who wrote less than one in a hundred, or signs only, is not left out."""
    total = sum(words for _, words in counted)
    if not total:
        return ""
    known = {who for who, _ in counted}
    shares = counted + [(who, 0) for who in dict.fromkeys(writers) if who not in known]
    return ", ".join(f"{who} {_percent(words / total, len(shares) == 1)}" for who, words in shares)


def _percent(share: float, alone: bool) -> str:
    if alone or 0.005 <= share < 0.995:
        return f"{share:.0%}"
    return "over 99%" if share > 0.5 else "under 1%"


def _summaries(space: Space, part: Part) -> PanelView:
    known = summaries.summaries_of(space, part.book)
    book = space.get(Book, part.book)
    tree = story_tree(space, book)
    leaf = tree.branch_showing(part.uuid)
    places = {uuid: number for number, uuid in enumerate(tree.branch(leaf), start=1)}
    rows = []
    for block in known.branch(leaf):
        reach = [places[each] for each in block.parts]
        which = f"parts {reach[0]} to {reach[-1]}" if len(reach) > 1 else f"part {reach[0]}"
        meta = ", meta" if known.rows[block.summary].meta else ""
        here = ", here" if part.uuid in block.parts else ""
        rows.append((block, which + meta + here))
    texts = space.get_many(Summary, [block.summary for block, _ in rows])
    shown = tuple(
        PanelRow(
            block.summary,
            head,
            "valid" if block.valid else "outdated",
            texts[block.summary].text,
            dim=not block.valid,
        )
        for block, head in rows
    )
    empty = "No summaries on this branch.\n\n/set-summary writes one for a part"
    begin = next((block.summary for block, _ in rows if part.uuid in block.parts), "")
    return PanelView("summaries", "Summaries", shown, empty=empty, begin=begin)


def _number(space: Space, book: Book, part: Part) -> int:
    return story_tree(space, book).position(part.uuid)


def _moment(at: int) -> str:
    return datetime.fromtimestamp(at / 1_000_000).strftime("%Y-%m-%d %H:%M")


_PANELS: dict[PanelName, Callable[[Space, Part], PanelView]] = {
    "notes": _notes,
    "summaries": _summaries,
    "history": _history,
    "writers": _writers,
}
