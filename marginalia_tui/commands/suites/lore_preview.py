"""The preview of which lore is active for a part or a text, by the rules that the writing of a part goes by."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import Field

from marginalia_tui.commands.bounds import LIMIT, Limit, Offset, Page, page_of
from marginalia_tui.commands.context import Context
from marginalia_tui.commands.declare import command
from marginalia_tui.commands.definition import Param, Severity, Work
from marginalia_tui.commands.lore_matching import LoreFinder
from marginalia_tui.commands.lore_references import OpenLore, open_lore
from marginalia_tui.commands.references import PlaceRef
from marginalia_tui.commands.results import EntryHandle, Result
from marginalia_tui.domain.errors import Invalid
from marginalia_tui.domain.items import Part
from marginalia_tui.domain.lore import LoreRow, Turn, Verdict, activate
from marginalia_tui.services import lore
from marginalia_tui.services.lore_turn import next_turn, turn_of_part

PAYLOAD = 1_000
"""Characters of a text that are shown in the list."""


class VerdictRow(Result):
    """Whether an entry is active, and why.

    `scan_depth` is the pass in which it was found by the text of the entry `by`; `back` says how many parts before
    the turn hold its filter (0: the turn itself). `payload` is what the model is told, when it is active.
    """

    number: str
    entry: EntryHandle
    name: str
    active: bool
    reason: str
    scan_depth: int | None = None
    by: str | None = None
    back: int | None = None
    note: str | None = None
    insertion: str | None = None
    payload: str | None = None


class LorePreview(Page):
    """The verdict for every entry: the active ones first, in the order in which they are told."""

    thing = ("entry", "entries")

    position: int
    """The place of the turn on its branch."""
    active: int
    entries: list[VerdictRow]

    def sentence(self) -> str:
        """How many are active."""
        return f"At part {self.position}: {self.active:,} active. {super().sentence()}"

    def untold(self) -> frozenset[str]:
        """The sentence says it."""
        return super().untold() | {"position", "active"}


@command(
    "preview-lore-activation",
    title="Preview which lore is active",
    severity=Severity.READ,
    work=Work.LONG,
    returns="for every entry whether it is active and why, the active ones first with what the model is told",
    example="/preview-lore-activation 3",
    for_model="Tells which lore entries are active, and why. Pass part (a handle or position) to measure them against "
    "that part, or text to measure them against a text for the next part; not both. Each row has active and reason.",
)
def preview_lore_activation(
    ctx: Context,
    part: Annotated[PlaceRef | None, Param("the part to measure against: its number or title", names="part")] = None,
    text: Annotated[
        Annotated[str, Field(max_length=100_000)],
        Param("the text to measure against, as that of the next part"),
    ] = "",
    active_only: Annotated[bool, Param("whether the entries that are not active are left out")] = False,
    offset: Offset = 0,
    limit: Limit = LIMIT,
) -> LorePreview:
    """Shows which lore entries are active for a part or a text, and why."""
    if part is not None and text:
        raise Invalid("preview-lore-activation measures against a part or a text: give one of them.")
    with open_lore(ctx) as opened:
        turn = _turn(opened, part, text)
        rows, numbers = opened.rows, opened.entry_numbers
    ctx.status("Looking for the filters", f"{len(rows):,} entries")

    def texts(uuids: Sequence[str]) -> Mapping[str, str]:
        with ctx.reading() as space:
            return lore.entry_texts(space, uuids)

    verdicts = activate(opened.tree, rows.values(), turn, LoreFinder(), texts)
    found = [each for each in verdicts if each.reason.active]
    active = len(found)
    if not active_only:
        found += [each for each in verdicts if not each.reason.active]
    some, page = page_of(found, offset, limit)
    payloads = texts([each.entry for each in some if each.reason.active])
    shown = [_verdict_row(rows, numbers, each, payloads) for each in some]
    return LorePreview(position=turn.position, active=active, entries=shown, **page)


def _turn(opened: OpenLore, part: str | None, text: str) -> Turn:
    story = opened.opened.tree
    of_lore = (opened.tree, opened.rows.values())
    if part is None:
        return next_turn(opened.space, opened.book, story, text, *of_lore)
    value = opened.space.get(Part, opened.opened.read_part(part))
    return turn_of_part(opened.space, opened.book, story, value, *of_lore)


def _verdict_row(
    rows: Mapping[str, LoreRow], numbers: Mapping[str, str], verdict: Verdict, payloads: Mapping[str, str]
) -> VerdictRow:
    row = rows[verdict.entry]
    active = verdict.reason.active
    payload = payloads.get(row.uuid, "")
    return VerdictRow(
        number=numbers[row.uuid],
        entry=row.uuid,
        name=row.name,
        active=active,
        reason=verdict.reason.value,
        scan_depth=verdict.scan,
        by=numbers[verdict.by] if verdict.by else None,
        back=verdict.back,
        note=verdict.note or None,
        insertion=row.insertion if active else None,
        payload=(payload if len(payload) <= PAYLOAD else payload[: PAYLOAD - 1] + "\u2026") if active else None,
    )
