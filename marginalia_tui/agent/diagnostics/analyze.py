"""The diagnosis of a run: a pure function of the rows of its transcript, of a run in any state.

It reads every row once; lists of the largest are cut at the end. Nothing is told from the text of a notice or of a
result: rows have kinds for that.
"""

import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from heapq import nlargest
from typing import TypeVar

from marginalia_tui.agent.diagnostics import texts
from marginalia_tui.agent.diagnostics.rounds import Made, Round, rounds_of
from marginalia_tui.agent.diagnostics.values import (
    BLOCK,
    IDLE_SECONDS,
    LONG,
    TOP,
    BigResult,
    Block,
    Compaction,
    Fault,
    Gap,
    LongText,
    Repeat,
    Report,
    RoundFact,
    Series,
    Spread,
    TelemetryFacts,
    ToolStat,
    Totals,
)
from marginalia_tui.agent.transcript import Entry
from marginalia_tui.domain.chat import Telemetry

SHORTEST_SERIES = 3


def analyze(rows: Sequence[Entry]) -> Report:
    """What a run did.

    Args:
        rows: of one thread, in order, compacted ones included.
    """
    rounds = rounds_of(rows)
    calls = _Calls()
    for each in rounds:
        calls.add(each)
    gaps = _gaps(rows)
    facts = [_fact(each) for each in rounds]
    return Report(
        totals=_totals(rows, rounds, calls, gaps),
        tools=calls.tools(),
        series=_series(rounds),
        repeats=calls.repeats(),
        faults=calls.faults(),
        notices=_notices(rows),
        biggest=calls.biggest(),
        slowest=tuple(nlargest(TOP, facts, key=lambda each: each.seconds)),
        rounds=tuple(facts),
        compactions=_compactions(rows),
        blocks=_blocks(rounds, calls),
        long_texts=tuple(nlargest(TOP, calls.long_texts, key=lambda each: each.size)),
        long_count=len(calls.long_texts),
        copies=sum(each.copied for each in calls.long_texts),
        gaps=tuple(gaps),
        telemetry=_telemetry([row.telemetry for row in rows if row.telemetry is not None]),
    )


@dataclass(slots=True)
class _Met:
    """A call that came up, for the first time in a round, and how often it did."""

    made: Made
    round: int
    times: int = 1

    @property
    def shown(self) -> str:
        return texts.start_of(self.made.call.arguments)


@dataclass(slots=True)
class _Tool:
    """A `ToolStat` that grows."""

    calls: int = 0
    errors: int = 0
    interrupted: int = 0
    cut: int = 0
    alone: int = 0
    written: int = 0
    returned: int = 0
    seconds: float = 0.0

    def add(self, made: Made) -> None:
        self.calls += 1
        self.errors += made.failed
        self.interrupted += made.interrupted
        self.cut += made.cut
        self.written += len(made.call.arguments)
        self.returned += len(made.text)
        self.seconds += made.seconds


@dataclass(slots=True)
class _Calls:
    """What is gathered from call to call. Words to show are made of the few that are shown, at the end."""

    long_texts: list[LongText] = field(default_factory=list)
    _tools: dict[str, _Tool] = field(default_factory=dict)
    _faults: dict[str, _Met] = field(default_factory=dict)
    _results: list[_Met] = field(default_factory=list)
    _made: dict[tuple[str, bytes], _Met] = field(default_factory=dict)
    _recent: texts.Recent = field(default_factory=texts.Recent)

    def add(self, round: Round) -> None:
        """The calls of one more round. What it writes was read in the rounds before it."""
        for made in round.calls:
            self._tools.setdefault(made.call.name, _Tool()).add(made)
            self._meet(made, round.number)
        if len(round.tools) == 1:
            self._tools[round.calls[0].call.name].alone += 1
        for made in round.calls:
            if made.text:
                self._recent.add(made.text)

    def _meet(self, made: Made, number: int) -> None:
        arguments = texts.arguments_of(made.call)
        met = _Met(made, number)
        if not made.interrupted:
            _count(self._made, texts.key_of(made.call, arguments), met)
        if made.failed:
            _count(self._faults, texts.normal_error(made.text), _Met(made, number))
        if made.text:
            self._results.append(met)
        if len(made.call.arguments) >= LONG:
            for name, text in texts.long_texts(arguments):
                copied = self._recent.has(texts.sample_of(text))
                found = LongText(made.call.name, name, len(text), number, copied, texts.start_of(text))
                self.long_texts.append(found)

    def tools(self) -> tuple[ToolStat, ...]:
        """Those that were called, the most called first."""
        found = [ToolStat(name, **asdict(tool)) for name, tool in self._tools.items()]
        return tuple(sorted(found, key=lambda tool: (-tool.calls, tool.name)))

    def repeats(self) -> tuple[Repeat, ...]:
        """The calls that were made more than once."""
        often = nlargest(TOP, (each for each in self._made.values() if each.times > 1), key=_times)
        return tuple(Repeat(each.made.call.name, each.shown, each.times, each.round) for each in often)

    def faults(self) -> tuple[Fault, ...]:
        """The errors."""
        often = nlargest(TOP, self._faults.items(), key=lambda each: each[1].times)
        return tuple(Fault(text, met.made.call.name, met.shown, met.times, met.round) for text, met in often)

    def biggest(self) -> tuple[BigResult, ...]:
        """The largest results."""
        large = nlargest(TOP, self._results, key=lambda each: len(each.made.text))
        return tuple(
            BigResult(each.made.call.name, each.shown, len(each.made.text), each.round, each.made.cut) for each in large
        )


def _times(met: _Met) -> int:
    return met.times


_Key = TypeVar("_Key")


def _count(known: dict[_Key, _Met], key: _Key, met: _Met) -> None:
    before = known.setdefault(key, met)
    if before is not met:
        before.times += 1


def _totals(rows: Sequence[Entry], rounds: Sequence[Round], calls: _Calls, gaps: Sequence[Gap]) -> Totals:
    tools = calls.tools()
    return Totals(
        rounds=len(rounds),
        calls=sum(tool.calls for tool in tools),
        errors=sum(tool.errors for tool in tools),
        interrupted=sum(tool.interrupted for tool in tools),
        unanswered=sum(made.result is None for each in rounds for made in each.calls),
        cut_results=sum(tool.cut for tool in tools),
        alone=sum(len(each.calls) == 1 for each in rounds),
        silent=sum(not each.calls for each in rounds),
        written=sum(tool.written for tool in tools),
        said=sum(len(each.answer.message.text) for each in rounds),
        thought=sum(len(each.answer.message.reasoning) for each in rounds),
        returned=sum(tool.returned for tool in tools),
        model_seconds=sum(each.answer.seconds for each in rounds),
        call_seconds=sum(tool.seconds for tool in tools),
        idle_seconds=sum(gap.seconds for gap in gaps),
        began=rows[0].created if rows else 0,
        ended=rows[-1].created if rows else 0,
        author_messages=sum(row.message.role == "user" and row.notice is None and not row.summary for row in rows),
    )


def _series(rounds: Sequence[Round]) -> tuple[Series, ...]:
    found: list[Series] = []
    start = 0
    while start < len(rounds):
        tools = rounds[start].tools
        end = start + 1
        while end < len(rounds) and rounds[end].tools == tools:
            end += 1
        if len(tools) == 1 and end - start >= SHORTEST_SERIES:
            calls = sum(len(each.calls) for each in rounds[start:end])
            after = start > 0 and rounds[start - 1].searches
            found.append(Series(next(iter(tools)), rounds[start].number, end - start, calls, after))
        start = end
    return tuple(found)


def _notices(rows: Sequence[Entry]) -> tuple[tuple[str, int], ...]:
    kinds = Counter(row.notice for row in rows if row.notice is not None and row.message.role == "user")
    return tuple(sorted(kinds.items(), key=lambda each: (-each[1], each[0])))


def _fact(round: Round) -> RoundFact:
    telemetry = round.answer.telemetry or Telemetry()
    return RoundFact(
        round.number,
        round.answer.seconds,
        sum(made.seconds for made in round.calls),
        tuple(made.call.name for made in round.calls),
        telemetry.context,
        telemetry.estimate,
        round.answer.created,
    )


def _compactions(rows: Sequence[Entry]) -> tuple[Compaction, ...]:
    found: list[Compaction] = []
    number = context = 0
    for row in rows:
        if row.summary:
            taken = row.seconds or (row.telemetry.seconds if row.telemetry else 0.0)
            found.append(Compaction(number, context, 0, len(row.message.text), taken))
        elif row.message.role == "assistant":
            number += 1
            if row.telemetry is not None:
                if found and not found[-1].after and found[-1].round < number:
                    found[-1] = replace(found[-1], after=row.telemetry.prompt)
                context = row.telemetry.context
    return tuple(found)


def _gaps(rows: Sequence[Entry]) -> list[Gap]:
    """Times in which nothing happened: what lies between two rows, less what the second took."""
    found: list[Gap] = []
    number = 0
    for before, row in zip(rows, rows[1:], strict=False):
        if before.message.role == "assistant" and not before.summary:
            number += 1
        waited = row.telemetry.waited if row.telemetry else 0.0
        idle = (row.created - before.created) / 1_000_000 - row.seconds - waited
        if idle >= IDLE_SECONDS:
            found.append(Gap(before.created, idle, number))
    return found


def _blocks(rounds: Sequence[Round], calls: _Calls) -> tuple[Block, ...]:
    found: list[Block] = []
    long_texts, copies = Counter[int](), Counter[int]()
    for text in calls.long_texts:
        long_texts[(text.round - 1) // BLOCK] += 1
        copies[(text.round - 1) // BLOCK] += text.copied
    for start in range(0, len(rounds), BLOCK):
        part = rounds[start : start + BLOCK]
        made = [each for round in part for each in round.calls]
        found.append(
            Block(
                first=part[0].number,
                last=part[-1].number,
                calls=len(made),
                errors=sum(each.failed for each in made),
                written=sum(len(each.call.arguments) for each in made),
                said=sum(len(each.answer.message.text) for each in part),
                thought=sum(len(each.answer.message.reasoning) for each in part),
                long_texts=long_texts[start // BLOCK],
                copies=copies[start // BLOCK],
                model_seconds=sum(each.answer.seconds for each in part),
                call_seconds=sum(each.seconds for each in made),
            )
        )
    return tuple(found)


def _spread(values: Sequence[float]) -> Spread:
    if not values:
        return Spread()
    return Spread(min(values), statistics.median(values), max(values), sum(values))


def _telemetry(known: Sequence[Telemetry]) -> TelemetryFacts:
    finishes = Counter(each.finish for each in known)
    speeds = [
        each.completion / (each.seconds - each.first_token)
        for each in known
        if each.completion and each.seconds > each.first_token
    ]
    ratios = [each.prompt / each.estimate for each in known if each.estimate and not each.counted_here]
    return TelemetryFacts(
        requests=len(known),
        first_token=_spread([each.first_token for each in known]),
        last_token=_spread([each.seconds for each in known]),
        waited=_spread([each.waited for each in known]),
        tokens_per_second=replace(_spread(speeds), total=0.0),
        finishes=tuple(sorted(finishes.items(), key=lambda each: (-each[1], each[0]))),
        incomplete=sum(not each.complete for each in known),
        prompt=sum(each.prompt for each in known),
        completion=sum(each.completion for each in known),
        cached=sum(each.cached for each in known),
        reasoning=sum(each.reasoning for each in known),
        counted_here=sum(each.counted_here for each in known),
        estimate_ratio=replace(_spread(ratios), total=0.0),
        dropped_calls=sum(max(0, each.written - each.made) for each in known),
    )
