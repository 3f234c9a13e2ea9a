"""The values of a diagnosis. Times are in seconds, points in time in microseconds since 1970, sizes in characters.

Rounds are counted from 1. Lists hold the first `TOP` of their kind, the largest or most frequent first.
"""

from dataclasses import dataclass

TOP = 15
"""Entries of a list that has only its largest."""
BLOCK = 25
"""Rounds of a block."""
LONG = 300
"""Characters from which a text in the arguments of a call is a long one."""
IDLE_SECONDS = 30 * 60.0
"""A gap from which nobody is taken to have worked."""


@dataclass(frozen=True, slots=True)
class Totals:
    """The whole run."""

    rounds: int = 0
    calls: int = 0
    errors: int = 0
    interrupted: int = 0
    """Calls that were cut off or not made: by a pause, a stop, the author, or an error before them."""
    unanswered: int = 0
    """Calls without a result yet."""
    cut_results: int = 0
    alone: int = 0
    """Rounds with one call only."""
    silent: int = 0
    """Rounds without a call."""
    written: int = 0
    """Of the arguments of all calls."""
    said: int = 0
    """Of the texts beside the calls."""
    thought: int = 0
    returned: int = 0
    """Of all results."""
    model_seconds: float = 0.0
    call_seconds: float = 0.0
    idle_seconds: float = 0.0
    began: int = 0
    ended: int = 0
    author_messages: int = 0


@dataclass(frozen=True, slots=True)
class ToolStat:
    """What one tool was called for."""

    name: str
    calls: int = 0
    errors: int = 0
    interrupted: int = 0
    cut: int = 0
    alone: int = 0
    """Rounds in which it was the only tool."""
    written: int = 0
    returned: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Series:
    """Rounds in a row, three or more, that called one tool and no other."""

    tool: str
    first: int
    rounds: int
    calls: int
    after_search: bool
    """A round that searched came right before: one call that replaces might have done."""


@dataclass(frozen=True, slots=True)
class Repeat:
    """A call that was made again with the same arguments."""

    tool: str
    arguments: str
    times: int
    first: int


@dataclass(frozen=True, slots=True)
class Fault:
    """An error message, its numbers replaced by N."""

    text: str
    tool: str
    """Of the first call that got it."""
    arguments: str
    times: int
    first: int


@dataclass(frozen=True, slots=True)
class BigResult:
    """One of the largest results."""

    tool: str
    arguments: str
    size: int
    round: int
    cut: bool


@dataclass(frozen=True, slots=True)
class RoundFact:
    """One round: what it cost."""

    round: int
    model_seconds: float
    call_seconds: float
    calls: tuple[str, ...]
    context: int
    """Tokens in the context after the answer; 0 is not known."""
    estimate: int
    """What the studio counted for the request; 0 is not known."""
    created: int

    @property
    def seconds(self) -> float:
        """All of it."""
        return self.model_seconds + self.call_seconds


@dataclass(frozen=True, slots=True)
class Compaction:
    """A summary took the place of what was before."""

    round: int
    """The last round before it."""
    before: int
    """Tokens of the context before; 0 is not known."""
    after: int
    """Tokens of the request that came next; 0 is not known."""
    size: int
    """Characters of the summary."""
    seconds: float


@dataclass(frozen=True, slots=True)
class LongText:
    """A long text that was written out in a call."""

    tool: str
    argument: str
    size: int
    round: int
    copied: bool
    """The middle of it stands in a result that was read shortly before."""
    start: str


@dataclass(frozen=True, slots=True)
class Block:
    """Some rounds together."""

    first: int
    last: int
    calls: int = 0
    errors: int = 0
    written: int = 0
    said: int = 0
    thought: int = 0
    long_texts: int = 0
    copies: int = 0
    model_seconds: float = 0.0
    call_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Gap:
    """A time in which nothing happened."""

    began: int
    seconds: float
    round: int
    """The last round before it; 0: none."""


@dataclass(frozen=True, slots=True)
class Spread:
    """How values lie: the least, the middle, the largest, and all together."""

    least: float = 0.0
    median: float = 0.0
    most: float = 0.0
    total: float = 0.0


@dataclass(frozen=True, slots=True)
class TelemetryFacts:
    """The requests of which something was noted; those without are left out."""

    requests: int = 0
    first_token: Spread = Spread()
    last_token: Spread = Spread()
    waited: Spread = Spread()
    tokens_per_second: Spread = Spread()
    finishes: tuple[tuple[str, int], ...] = ()
    """How answers ended, and how often."""
    incomplete: int = 0
    prompt: int = 0
    completion: int = 0
    cached: int = 0
    reasoning: int = 0
    counted_here: int = 0
    """Requests whose server told no usage."""
    estimate_ratio: Spread = Spread()
    """Reported tokens for one estimated; `total` means nothing here."""
    dropped_calls: int = 0
    """Calls that an answer had and that were not kept."""


@dataclass(frozen=True, slots=True)
class Report:
    """All that was found."""

    totals: Totals
    tools: tuple[ToolStat, ...] = ()
    series: tuple[Series, ...] = ()
    repeats: tuple[Repeat, ...] = ()
    faults: tuple[Fault, ...] = ()
    notices: tuple[tuple[str, int], ...] = ()
    """Kinds of messages of the studio, and how often each came."""
    biggest: tuple[BigResult, ...] = ()
    slowest: tuple[RoundFact, ...] = ()
    rounds: tuple[RoundFact, ...] = ()
    """All of them, in order: for the plots."""
    compactions: tuple[Compaction, ...] = ()
    blocks: tuple[Block, ...] = ()
    long_texts: tuple[LongText, ...] = ()
    long_count: int = 0
    copies: int = 0
    """Of all long texts."""
    gaps: tuple[Gap, ...] = ()
    telemetry: TelemetryFacts = TelemetryFacts()
