"""A diagnosis as a Markdown page and as JSON."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from marginalia_tui.agent.diagnostics.values import Report, Spread
from marginalia_tui.domain.sentences import counted


def to_json(report: Report) -> dict[str, Any]:
    """The report with the names of its values."""
    return asdict(report)


def to_markdown(report: Report, title: str) -> str:
    """The report as a page; sections without anything in them are left out."""
    sections = [
        f"# {_plain(title)}",
        _overview(report),
        _table("Tools", _TOOLS, [_tool(each) for each in report.tools]),
        _table(
            "Series",
            ("tool", "rounds", "first", "calls", "after a search"),
            [(s.tool, s.rounds, s.first, s.calls, "yes" if s.after_search else "") for s in report.series],
            "Three or more rounds in a row with one tool: one call over many places may do the same.",
        ),
        _table(
            "Calls made again",
            ("tool", "times", "first round", "arguments"),
            [(each.tool, each.times, each.first, each.arguments) for each in report.repeats],
        ),
        _table(
            "Errors",
            ("times", "tool", "first round", "message", "arguments of the first"),
            [(each.times, each.tool, each.first, each.text, each.arguments) for each in report.faults],
        ),
        _table("Messages of the studio", ("kind", "times"), report.notices),
        _table(
            "Biggest results",
            ("characters", "tool", "round", "cut", "arguments"),
            [(b.size, b.tool, b.round, "yes" if b.cut else "", b.arguments) for b in report.biggest],
        ),
        _table(
            "Slowest rounds",
            ("round", "model s", "calls s", "context", "calls"),
            [
                (r.round, _seconds(r.model_seconds), _seconds(r.call_seconds), r.context or "", _names(r.calls))
                for r in report.slowest
            ],
        ),
        _table(
            "Compactions",
            ("after round", "tokens before", "tokens after", "summary", "s"),
            [(c.round, c.before or "", c.after or "", c.size, _seconds(c.seconds)) for c in report.compactions],
        ),
        _long(report),
        _table("Blocks of rounds", _BLOCKS, [_block(each) for each in report.blocks]),
        _table(
            "Idle",
            ("since", "minutes", "after round"),
            [(_time(gap.began), round(gap.seconds / 60), gap.round) for gap in report.gaps],
        ),
        _telemetry(report),
    ]
    return "\n\n".join(section for section in sections if section) + "\n"


_TOOLS = ("tool", "calls", "errors", "interrupted", "cut", "rounds alone", "written", "returned", "s")
_BLOCKS = ("rounds", "calls", "errors", "written", "said", "thought", "long", "copies", "model s", "calls s")


def _tool(tool: Any) -> tuple[object, ...]:
    counts = (tool.calls, tool.errors, tool.interrupted, tool.cut, tool.alone, tool.written, tool.returned)
    return (tool.name, *(each or "" for each in counts), _seconds(tool.seconds))


def _block(block: Any) -> tuple[object, ...]:
    counts = (block.calls, block.errors, block.written, block.said, block.thought, block.long_texts, block.copies)
    times = (_seconds(block.model_seconds), _seconds(block.call_seconds))
    return (f"{block.first}-{block.last}", *(each or "" for each in counts), *times)


def _overview(report: Report) -> str:
    totals = report.totals
    lines = [
        f"- {counted(totals.rounds, 'round')}, {totals.alone:,} with one call, {totals.silent:,} without a call",
        f"- {counted(totals.calls, 'call')}: {counted(totals.errors, 'error')}, {totals.interrupted:,} interrupted, "
        f"{totals.unanswered:,} without a result, {counted(totals.cut_results, 'result')} cut",
        f"- characters: {totals.written:,} in arguments, {totals.said:,} said, {totals.thought:,} thought, "
        f"{totals.returned:,} returned",
        f"- seconds: {_seconds(totals.model_seconds)} of the model, {_seconds(totals.call_seconds)} of calls, "
        f"{_seconds(totals.idle_seconds)} idle",
        f"- {counted(totals.author_messages, 'message')} of the author",
    ]
    if totals.began:
        lines.append(f"- {_time(totals.began)} to {_time(totals.ended)} (UTC)")
    return "\n".join(lines)


def _long(report: Report) -> str:
    if not report.long_count:
        return ""
    words = (
        f"{counted(report.long_count, 'text')} of 300 characters or more in arguments; "
        f"{report.copies:,} of them had just been read."
    )
    rows = [(t.size, t.tool, t.argument, t.round, "yes" if t.copied else "", t.start) for t in report.long_texts]
    return _table("Long texts", ("characters", "tool", "argument", "round", "copy", "start"), rows, words)


def _telemetry(report: Report) -> str:
    told = report.telemetry
    if not told.requests:
        return ""
    finishes = ", ".join(f"{name} {times:,}" for name, times in told.finishes)
    lines = [
        "## Telemetry",
        "",
        f"- {counted(told.requests, 'request')}, {told.incomplete:,} incomplete; ended by: {finishes}",
        f"- tokens: {told.prompt:,} of prompts ({told.cached:,} cached), {told.completion:,} of answers "
        f"({told.reasoning:,} of reasoning)",
    ]
    if told.counted_here:
        lines.append(f"- {told.counted_here:,} of the requests counted by the studio: their server told no usage")
    if told.dropped_calls:
        lines.append(f"- {counted(told.dropped_calls, 'call')} of answers not kept")
    spreads: list[tuple[str, Spread, str]] = [
        ("first token, s", told.first_token, _seconds(told.first_token.total)),
        ("last token, s", told.last_token, _seconds(told.last_token.total)),
        ("waited, s", told.waited, _seconds(told.waited.total)),
        ("tokens a second", told.tokens_per_second, ""),
        ("reported for an estimated token", told.estimate_ratio, ""),
    ]
    rows = [
        (name, _number(each.least), _number(each.median), _number(each.most), total)
        for name, each, total in spreads
        if each != Spread()
    ]
    return "\n".join([*lines, "", _rows(("", "least", "median", "most", "together"), rows)])


def _table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]], words: str = "") -> str:
    filled = list(rows)
    if not filled:
        return ""
    return "\n".join([f"## {title}", "", *([words, ""] if words else []), _rows(columns, filled)])


def _rows(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    lines += ["| " + " | ".join(_cell(value) for value in row) + " |" for row in rows]
    return "\n".join(lines)


def _cell(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else _plain(str(value))


def _plain(text: str) -> str:
    """A text that breaks neither its table nor its page."""
    return " ".join(text.replace("\\", "\\\\").replace("|", "\\|").replace("`", "'").split())


def _names(calls: Sequence[str]) -> str:
    counts: dict[str, int] = {}
    for name in calls:
        counts[name] = counts.get(name, 0) + 1
    return ", ".join(name if times == 1 else f"{name} x{times}" for name, times in counts.items())


def _seconds(seconds: float) -> str:
    return f"{seconds:,.1f}"


def _number(value: float) -> str:
    return f"{value:,.2f}"


def _time(at: int) -> str:
    return f"{datetime.fromtimestamp(at / 1_000_000, UTC):%Y-%m-%d %H:%M}"
