"""A diagnosis as sections of facts and rows, which are a page of Markdown here and a screen elsewhere; and as JSON."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from marginalia_tui.agent.diagnostics.values import LONG, Block, Report, Spread, ToolStat
from marginalia_tui.domain.sentences import counted

Cell = str | int


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the report; one without facts and rows is not there."""

    title: str
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[Cell]] = ()
    words: str = ""
    """What the rows mean, in a sentence."""
    facts: Sequence[tuple[str, str]] = ()
    """Labels with their values."""


def to_json(report: Report) -> dict[str, Any]:
    """The report with the names of its values."""
    return asdict(report)


def to_markdown(report: Report, title: str) -> str:
    """The report as a page."""
    pieces = [f"# {_plain(title)}"]
    for section in sections(report):
        if section.title:
            pieces.append(f"## {section.title}")
        if section.facts:
            pieces.append("\n".join(f"- {label}: {_plain(value)}" for label, value in section.facts))
        if section.rows:
            words = section.words[:1].upper() + section.words[1:]
            pieces += [*([words] if words else []), _table(section.columns, section.rows)]
    return "\n\n".join(pieces) + "\n"


def sections(report: Report) -> list[Section]:
    """The sections that have something in them, in order; the first is the whole run and has no title."""
    found = [
        Section("", facts=_overview(report)),
        Section("Tools", _TOOLS, [_tool(each) for each in report.tools]),
        Section(
            "Series",
            ("tool", "rounds", "first", "calls", "after a search"),
            [(s.tool, s.rounds, s.first, s.calls, _yes(s.after_search)) for s in report.series],
            "three rounds or more in a row with one tool and no other.",
        ),
        Section(
            "Calls made again",
            ("tool", "times", "first", "arguments"),
            [(each.tool, each.times, each.first, each.arguments) for each in report.repeats],
        ),
        Section(
            "Errors",
            ("times", "first", "tool", "message", "arguments of the first"),
            [(each.times, each.first, each.tool, each.text, each.arguments) for each in report.faults],
        ),
        Section("Messages of the studio", ("kind", "times"), report.notices),
        Section(
            "Biggest results",
            ("characters", "round", "cut", "tool", "arguments"),
            [(b.size, b.round, _yes(b.cut), b.tool, b.arguments) for b in report.biggest],
        ),
        Section(
            "Slowest rounds",
            ("round", "model s", "calls s", "context", "calls"),
            [
                (r.round, _seconds(r.model_seconds), _seconds(r.call_seconds), r.context or "", _names(r.calls))
                for r in report.slowest
            ],
        ),
        Section(
            "Compactions",
            ("after round", "tokens before", "tokens after", "summary", "s"),
            [(c.round, c.before or "", c.after or "", c.size, _seconds(c.seconds)) for c in report.compactions],
        ),
        Section(
            "Long texts",
            ("characters", "round", "copy", "tool", "argument", "start"),
            [(t.size, t.round, _yes(t.copied), t.tool, t.argument, t.start) for t in report.long_texts],
            f"{report.long_count:,} of {LONG} characters or more in arguments, {report.copies:,} of them just read.",
        ),
        Section("Blocks of rounds", _BLOCKS, [_block(each) for each in report.blocks]),
        Section(
            "Idle",
            ("since (UTC)", "minutes", "after round"),
            [(_time(gap.began), round(gap.seconds / 60), gap.round) for gap in report.gaps],
        ),
        _telemetry(report),
    ]
    return [section for section in found if section.facts or section.rows]


_TOOLS = ("tool", "calls", "errors", "interrupted", "cut", "alone", "written", "returned", "s")
_BLOCKS = ("rounds", "calls", "errors", "written", "said", "thought", "long", "copies", "model s", "calls s")


def _tool(tool: ToolStat) -> tuple[Cell, ...]:
    counts = (tool.calls, tool.errors, tool.interrupted, tool.cut, tool.alone, tool.written, tool.returned)
    return (tool.name, *(each or "" for each in counts), _seconds(tool.seconds))


def _block(block: Block) -> tuple[Cell, ...]:
    counts = (block.calls, block.errors, block.written, block.said, block.thought, block.long_texts, block.copies)
    times = (_seconds(block.model_seconds), _seconds(block.call_seconds))
    return (f"{block.first}-{block.last}", *(each or "" for each in counts), *times)


def _overview(report: Report) -> list[tuple[str, str]]:
    totals = report.totals
    facts = [
        ("rounds", f"{totals.rounds:,}, {totals.alone:,} with one call, {totals.silent:,} without a call"),
        (
            "calls",
            f"{totals.calls:,}, {counted(totals.errors, 'error')}, {totals.interrupted:,} interrupted, "
            f"{totals.unanswered:,} without a result, {counted(totals.cut_results, 'result')} cut",
        ),
        (
            "characters",
            f"{totals.written:,} in arguments, {totals.said:,} said, {totals.thought:,} thought, "
            f"{totals.returned:,} returned",
        ),
        (
            "seconds",
            f"{_seconds(totals.model_seconds)} of the model, {_seconds(totals.call_seconds)} of calls, "
            f"{_seconds(totals.idle_seconds)} idle",
        ),
        ("messages of the author", f"{totals.author_messages:,}"),
    ]
    if totals.began:
        facts.append(("time (UTC)", f"{_time(totals.began)} to {_time(totals.ended)}"))
    return facts


def _telemetry(report: Report) -> Section:
    told = report.telemetry
    if not told.requests:
        return Section("Telemetry")
    facts = [
        ("requests", f"{told.requests:,}, {told.incomplete:,} incomplete"),
        ("ended by", ", ".join(f"{name} {times:,}" for name, times in told.finishes)),
        ("tokens of prompts", f"{told.prompt:,}, {told.cached:,} cached"),
        ("tokens of answers", f"{told.completion:,}, {told.reasoning:,} of reasoning"),
    ]
    if told.counted_here:
        facts.append(("counted by the studio", f"{told.counted_here:,}: their server told no usage"))
    if told.dropped_calls:
        facts.append(("calls not kept", f"{told.dropped_calls:,}"))
    spreads: list[tuple[str, Spread, str]] = [
        ("first token, s", told.first_token, _seconds(told.first_token.total)),
        ("last token, s", told.last_token, _seconds(told.last_token.total)),
        ("waited, s", told.waited, _seconds(told.waited.total)),
        ("tokens a second", told.tokens_per_second, ""),
        ("reported for an estimated token", told.estimate_ratio, ""),
    ]
    rows = [
        (name, f"{each.least:,.2f}", f"{each.median:,.2f}", f"{each.most:,.2f}", total)
        for name, each, total in spreads
        if each != Spread()
    ]
    return Section("Telemetry", ("measure", "least", "median", "most", "together"), rows, facts=facts)


def _table(columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> str:
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    lines += ["| " + " | ".join(_cell(value) for value in row) + " |" for row in rows]
    return "\n".join(lines)


def _cell(value: Cell) -> str:
    return f"{value:,}" if isinstance(value, int) else _plain(value)


def _plain(text: str) -> str:
    """A text that breaks neither its table nor its page."""
    return " ".join(text.replace("\\", "\\\\").replace("|", "\\|").replace("`", "'").split())


def _names(calls: Sequence[str]) -> str:
    counts: dict[str, int] = {}
    for name in calls:
        counts[name] = counts.get(name, 0) + 1
    return ", ".join(name if times == 1 else f"{name} x{times}" for name, times in counts.items())


def _yes(holds: bool) -> str:
    return "yes" if holds else ""


def _seconds(seconds: float) -> str:
    return f"{seconds:,.1f}"


def _time(at: int) -> str:
    return f"{datetime.fromtimestamp(at / 1_000_000, UTC):%Y-%m-%d %H:%M}"
