"""How a row of a transcript is laid out: who speaks, the text, each call on one line or unfolded."""

import json
from collections.abc import Container
from dataclasses import dataclass, field
from functools import lru_cache

from marginalia_tui.domain.visible import visible, visible_line
from marginalia_tui.widgets import prose
from marginalia_tui.widgets.blocks import Layout, Line, Span
from marginalia_tui.widgets.entries import Entry, EntryCall
from marginalia_tui.widgets.live import LiveBlock, Voice
from marginalia_tui.widgets.text import cells, wrap

LABEL = 8
"""Cells of the words at the left."""
RESULT_LINES = 400
"""Lines of a result that are shown; the rest is told by its number."""
_TEXT_LIMIT = 200_000
"""Characters of one field that are laid out at all; the rest is told by its number."""


@dataclass(slots=True)
class Sheet:
    """Text and lines that grow together."""

    width: int
    parts: list[str] = field(default_factory=list)
    length: int = 0
    lines: list[Line] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)

    def prose(self, source: str, indent: int, lead: str, lead_style: str, style: str = "") -> None:
        """Adds Markdown; `lead` stands before its first line."""
        for chunk in prose.split(source):
            last = chunk.end >= len(source.rstrip())
            text = source[chunk.start : chunk.end]
            layout = _laid_out(text, max(4, self.width - indent), 0 if last else chunk.gap)
            base = self._add(layout.text)
            for span in layout.spans:
                self.spans.append(Span(span.start + base, span.end + base, span.style))
            if style:
                self.spans.append(Span(base, base + len(layout.text), style))
            for line in layout.lines:
                own = " " * indent + line.lead.ljust(line.indent) if line.indent else ""
                lead_here = lead.ljust(indent) + own[indent:] if lead else own
                kept = line._replace(start=line.start + base, end=line.end + base, indent=line.indent + indent)
                self.lines.append(kept._replace(lead=lead_here, lead_style=lead_style if lead else line.lead_style))
                lead, lead_style = "", ""

    def plain(self, text: str, indent: int, style: str, limit: int = RESULT_LINES) -> None:
        """Adds text as it stands."""
        shown = visible(text[:_TEXT_LIMIT])
        base = self._add(shown)
        stretches = wrap(shown, max(4, self.width - indent))
        for start, end in stretches[:limit]:
            self.lines.append(Line(base + start, base + end, indent, style=style))
        hidden = len(stretches) - limit
        if hidden > 0 or len(text) > _TEXT_LIMIT:
            more = f"… {hidden:,} more lines" if hidden > 0 else "… more"
            self.row(more, indent, style)

    def row(self, text: str, indent: int, style: str, tail: str = "", tail_style: str = "", lead: str = "") -> None:
        """Adds one line, cut where it is too long."""
        text = visible_line(text)
        base = self._add(text)
        self.lines.append(Line(base, base + len(text), indent, lead, style, tail, tail_style, style))

    def blank(self) -> None:
        """Adds an empty line."""
        self.lines.append(Line(self.length, self.length))

    def _add(self, text: str) -> int:
        if self.parts:
            self.parts.append("\n")
            self.length += 1
        base = self.length
        self.parts.append(text)
        self.length += len(text)
        return base

    def layout(self) -> Layout:
        """What was added."""
        return Layout("".join(self.parts), self.lines, self.spans)


@lru_cache(maxsize=4096)
def _laid_out(text: str, width: int, gap: int) -> Layout:
    """A chunk of prose, wrapped. What was laid out while an answer streamed need not be again when it is a row."""
    return prose.lay_out(prose.read(text), width, gap)


class OpenLayout(Layout):
    """The block of the live answer that still grows."""


def lay_out_live(voice: Voice, block: LiveBlock, *, first: bool, last: bool, width: int) -> Layout:
    """Lays a block of the live answer out.

    Args:
        voice: whether the agent thinks or speaks.
        block: its text.
        first: whether the word for who speaks stands before it.
        last: whether it is open.
        width: cells of a line.
    """
    if not block.text:
        return Layout("", ())
    sheet = Sheet(width)
    thinks = voice == "reasoning"
    if block.fence:
        sheet.plain(block.text.rstrip("\n"), LABEL, "prose--code", 1_000)
    else:
        lead, style = ("thinks", "call--muted") if thinks else ("agent", "role--agent")
        sheet.prose(block.text.strip("\n"), LABEL, lead if first else "", style, "call--muted" if thinks else "")
    if not last and block.text.endswith("\n\n"):
        sheet.blank()
    made = sheet.layout()
    return OpenLayout(made.text, made.lines, made.spans) if last else made


@dataclass(frozen=True)
class EntryLayout(Layout):
    """A row of a transcript, with the line on which each call stands."""

    call_lines: tuple[int, ...] = ()


def summary_of(call: EntryCall) -> str:
    """The arguments of a call in a few words: values in their order, texts in quotes."""
    if call.summary:
        return call.summary
    try:
        arguments = json.loads(call.arguments or "{}")
    except ValueError:
        return call.arguments[:200]
    if not isinstance(arguments, dict):
        return call.arguments[:200]
    return " ".join(_short(value) for value in arguments.values())


def _short(value: object) -> str:
    if isinstance(value, str):
        text = value[:60] + ("…" if len(value) > 60 else "")
        return text if text and " " not in text and len(text) <= 16 else json.dumps(text, ensure_ascii=False)
    return json.dumps(value, ensure_ascii=False)[:60]


def state_of(call: EntryCall) -> tuple[str, str]:
    """The word at the end of a call's line and its component class."""
    if call.ok is None:
        return "waits", "call--waits"
    seconds = f"{call.seconds:6.2f} s" if call.seconds is not None else ""
    return (f"ok    {seconds}", "call--ok") if call.ok else (f"error {seconds}", "call--error")


def lay_out_entry(entry: Entry, width: int, unfolded: Container[int], *, thoughts: bool = False) -> EntryLayout:
    """Lays a row out.

    Args:
        entry: the row.
        width: cells of a line.
        unfolded: the numbers of the calls whose arguments and results are shown.
        thoughts: whether the reasoning is shown.
    """
    sheet = Sheet(width)
    style = f"role--{entry.role}"
    text = entry.text.strip("\n")[:_TEXT_LIMIT]
    if entry.flag:
        sheet.row(entry.flag, LABEL, "call--muted", lead=entry.role)
    if entry.reasoning.strip():
        if thoughts:
            sheet.prose(entry.reasoning.strip()[:_TEXT_LIMIT], LABEL, "thinks", "call--muted", "call--muted")
        else:
            words = len(entry.reasoning.split())
            sheet.row(f"({words:,} words of thought)", LABEL, "call--muted", lead="thinks")
    if text:
        sheet.prose(text, LABEL, "" if entry.flag else entry.role, style, style if entry.role == "notice" else "")
        if (hidden := len(entry.text) - _TEXT_LIMIT) > 0:
            sheet.row(f"… {hidden:,} more characters", LABEL, "call--muted")
    elif not entry.flag and not entry.calls:
        sheet.row("(nothing)", LABEL, "call--muted", lead=entry.role)
    call_lines = []
    for number, call in enumerate(entry.calls):
        call_lines.append(len(sheet.lines))
        open_ = number in unfolded
        tail, tail_style = state_of(call)
        lead = "" if text or number or entry.flag else entry.role
        base_lead = f"{lead:<{LABEL}}{'▾' if open_ else '▸'} "
        line = f"{call.name} {summary_of(call)}"
        sheet.row(line, LABEL + 2, "", tail, tail_style, base_lead)
        name = sheet.lines[-1].start
        sheet.lines[-1] = sheet.lines[-1]._replace(lead_style=style if lead else "call--muted")
        sheet.spans.append(Span(name, name + len(visible_line(call.name)), "call--name"))
        if open_:
            _unfold(sheet, call)
    if entry.faded:
        sheet.spans.append(Span(0, sheet.length, "call--muted"))
    sheet.blank()
    made = sheet.layout()
    return EntryLayout(made.text, made.lines, made.spans, tuple(call_lines))


def _unfold(sheet: Sheet, call: EntryCall) -> None:
    indent = LABEL + 4
    try:
        arguments = json.loads(call.arguments or "{}")
    except ValueError:
        arguments = None
    if isinstance(arguments, dict):
        for name, value in arguments.items():
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            sheet.plain(f"{name}: {text}", indent, "call--argument")
    elif call.arguments:
        sheet.plain(call.arguments, indent, "call--argument")
    if call.result:
        sheet.plain(call.result, indent, "call--result")
    elif call.ok is None:
        sheet.row("no result yet", indent, "call--muted")


__all__ = ["LABEL", "EntryLayout", "Sheet", "cells", "lay_out_entry", "state_of", "summary_of"]
