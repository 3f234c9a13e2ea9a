"""What the command service costs: a line to a command that does nothing, completions, many threads at once.

The goal is for a line; what a run costs, with its future and its status, is shown beside it.

The reference of a line is the same function called plainly; of a completion, one walk over the same words that asks
where the typed ones stand; of the threads, the same number of plain calls on as many threads.

    python -m bench.commands
"""

import os
import statistics
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, cast

from bench.books import Author
from bench.measure import Figure, keep
from marginalia_tui.commands.completion import Candidate, Completers, choices, complete, part_completer
from marginalia_tui.commands.context import AlwaysYes, Context, Scope
from marginalia_tui.commands.declare import command
from marginalia_tui.commands.definition import Param, Severity
from marginalia_tui.commands.dispatch import Dispatcher
from marginalia_tui.commands.registry import Registry
from marginalia_tui.commands.results import Result
from marginalia_tui.commands.running import CommandPool
from marginalia_tui.domain.items import Part
from marginalia_tui.domain.tree import PartRow, StoryTree
from marginalia_tui.store.store import Store

CALLS = 20_000
THREADS, CALLS_EACH = 32, 10_000
PARTS, OTHERS = 2_000, 5_000
PREFIXES = ("", "1", "19", "the", "chapter 7", "ch 77", "zq", "capter 12", "e", "quxzzyv", "no such words anywhere")
REPEATS = 7
RUN = "little, started as a run"
LINE_MICROSECONDS = 100.0
COMPLETION_MILLISECONDS = 50.0

Word = Annotated[str, Param("a word")]
NOWHERE = Scope(cast(Store, None), 1, None, AlwaysYes())
"""The commands here look at no store."""


class Said(Result):
    """A word."""

    word: str


DONE = Said(word="")


@command("nothing", title="Nothing", severity=Severity.READ, returns="nothing", example="/nothing")
def nothing(ctx: Context) -> Said:
    """Does nothing."""
    return DONE


@command("little", title="Little", severity=Severity.READ, returns="nothing", example="/little a 3 true")
def little(
    ctx: Context,
    word: Word,
    times: Annotated[int, Param("a number")] = 1,
    loudly: Annotated[bool, Param("whether loudly")] = False,
) -> Said:
    """Does nothing with three arguments."""
    return DONE


@command("echo", title="Echo", severity=Severity.READ, returns="the word", example="/echo a")
def echo(ctx: Context, word: Word) -> Said:
    """Gives a word back."""
    return Said(word=word)


@command("find-entry", title="Find", severity=Severity.READ, returns="nothing", example="/find-entry a")
def find_entry(ctx: Context, entry: Annotated[str, Param("an entry", names="entry")]) -> Said:
    """Names an entry."""
    return DONE


@command("find-part", title="Find", severity=Severity.READ, returns="nothing", example="/find-part 1")
def find_part(ctx: Context, part: Annotated[str, Param("a part", names="part")]) -> Said:
    """Names a part."""
    return DONE


def registry() -> Registry:
    """The commands of this benchmark."""
    made = Registry()
    made.register(nothing, little, echo, find_entry, find_part)
    return made


def quantile(times: list[float], share: float) -> float:
    """The value below which a share of them lies."""
    ordered = sorted(times)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


# A line


def _each(work: Callable[[], object]) -> list[float]:
    """The times of calls in microseconds, after some that nobody counts."""
    times = []
    for _ in range(CALLS // 10):
        work()
    for _ in range(CALLS):
        began = time.perf_counter_ns()
        work()
        times.append((time.perf_counter_ns() - began) / 1_000)
    return times


def lines() -> list[Figure]:
    """The times of lines, by name and through the pool."""
    dispatcher = Dispatcher(registry())
    pool = CommandPool(dispatcher)
    context = cast(Context, None)
    plain_nothing = _each(lambda: nothing(context))
    plain_little = _each(lambda: little(context, "a", 3, True))
    ways: dict[str, tuple[Callable[[], object], list[float]]] = {
        "/nothing": (lambda: dispatcher.run_line("/nothing", NOWHERE), plain_nothing),
        "/little a 3 true": (lambda: dispatcher.run_line("/little a 3 true", NOWHERE), plain_little),
        '/little "a b" 3 true': (lambda: dispatcher.run_line('/little "a b" 3 true', NOWHERE), plain_little),
        "little, by name": (lambda: dispatcher.run("little", {"word": "a", "times": 3}, NOWHERE), plain_little),
        RUN: (
            lambda: pool.start_line("/little a 3 true", NOWHERE).future.result(),
            plain_little,
        ),
    }
    return [Figure(name, _each(work), plain) for name, (work, plain) in ways.items()]


# Completion


@dataclass(frozen=True)
class Completing:
    """What is completed, and how long the worst of its prefixes took."""

    name: str
    made: float
    """Milliseconds to make the completer, once for each reading of the book."""
    figure: Figure
    """The times of all prefixes, milliseconds."""
    worst: str


def completing() -> list[Completing]:
    """Times of completions at a book of 2,000 parts, and at 5,000 names of another kind."""
    author = Author(3)
    parts = [each for each in author.book("book", PARTS) if isinstance(each, Part)]
    words = {each.uuid: each.text[:60] for each in parts}
    rows = [
        PartRow(each.uuid, each.parent, each.created, f"{each.title} {each.text[:20]}", 720, 4096, b"")
        for each in parts
    ]
    entries = [Candidate(author.text()[:24], "", author.text()[:60]) for _ in range(OTHERS)]

    def of_parts(completers: Completers) -> None:
        completers.register("part", part_completer(StoryTree(rows, parts[-1].uuid), words))

    def of_entries(completers: Completers) -> None:
        completers.register("entry", choices(entries))

    part_texts = [f"{place} {row.title} {words[row.uuid]}" for place, row in enumerate(rows, start=1)]
    entry_texts = [f"{each.value} {each.description}" for each in entries]
    return [
        _completing(f"{PARTS:,} parts", '/find-part "', of_parts, part_texts),
        _completing(f"{OTHERS:,} entries", '/find-entry "', of_entries, entry_texts),
    ]


def _completing(name: str, line: str, make: Callable[[Completers], None], texts: list[str]) -> Completing:
    commands, completers = registry(), Completers()
    began = time.perf_counter()
    make(completers)
    made = (time.perf_counter() - began) * 1_000
    figure, worst, slowest = Figure(name), "", 0.0
    for prefix in PREFIXES:
        for _ in range(REPEATS):
            figure.time(lambda prefix=prefix: complete(commands, completers, line + prefix))  # type: ignore[misc]
            figure.time_plain(lambda prefix=prefix: [each for each in texts if prefix in each.casefold()])  # type: ignore[misc]
            if figure.ours[-1] > slowest:
                slowest, worst = figure.ours[-1], prefix
    return Completing(name, made, figure, worst)


# Threads


@dataclass(frozen=True)
class Together:
    """32 threads that run 10,000 commands each."""

    seconds: float
    plain: float
    lost: int
    mixed_up: int


def together() -> Together:
    """Runs them, and counts answers that are missing or somebody else's."""
    pool = CommandPool(Dispatcher(registry()))
    answers: list[list[str]] = [[] for _ in range(THREADS)]

    def ours(number: int) -> None:
        mine = answers[number]
        for call in range(CALLS_EACH):
            result = pool.start_line(f"/echo {number}-{call}", NOWHERE).future.result()
            mine.append(result.word if isinstance(result, Said) else "")

    def plain(number: int) -> None:
        context = cast(Context, None)
        for call in range(CALLS_EACH):
            echo(context, f"{number}-{call}")

    seconds, reference = _on_threads(ours), _on_threads(plain)
    lost = THREADS * CALLS_EACH - sum(map(len, answers))
    mixed_up = sum(word != f"{number}-{call}" for number, mine in enumerate(answers) for call, word in enumerate(mine))
    return Together(seconds, reference, lost + len(pool.running), mixed_up)


def _on_threads(work: Callable[[int], None]) -> float:
    threads = [threading.Thread(target=work, args=[number]) for number in range(THREADS)]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.perf_counter() - began


def _show(rows: list[Figure], completions: list[Completing], threads: Together) -> None:
    print(f"\nOne command, microseconds, {CALLS:,} times")
    print(f"  {'':28}{'median':>9}{'p99':>9}{'worst':>9}{'plain call':>13}{'p99':>8}")
    for each in rows:
        ours = f"{each.median:9.1f}{quantile(each.ours, 0.99):9.1f}{max(each.ours):9.0f}"
        print(f"  {each.name:28}{ours}{statistics.median(each.plain):13.2f}{quantile(each.plain, 0.99):8.2f}")
    print(f"\nCompletions, milliseconds, {len(PREFIXES)} beginnings, {REPEATS} times each")
    print(f"  {'':28}{'median':>9}{'worst':>9}{'worst cpu':>11}{'a plain walk':>14}{'worst':>8}{'made in':>10}")
    for found in completions:
        figure = found.figure
        ours = f"{figure.median:9.1f}{max(figure.ours):9.1f}{max(figure.cpu):11.1f}"
        plain = f"{statistics.median(figure.plain):14.1f}{max(figure.plain):8.1f}"
        print(f"  {found.name:28}{ours}{plain}{found.made:10.1f}  the worst is {found.worst!r}")
    calls = THREADS * CALLS_EACH
    print(f"\n{THREADS} threads, {CALLS_EACH:,} commands each")
    print(f"  {calls / threads.seconds:,.0f} commands a second; plain calls: {calls / threads.plain:,.0f}")


def _verdicts(rows: list[Figure], completions: list[Completing], threads: Together) -> list[str]:
    lines = []

    def tell(held: bool, words: str) -> None:
        lines.append(f"{'held  ' if held else 'MISSED'} {words}")

    for each in rows:
        if each.name == RUN:
            continue
        for name, value in (("median", each.median), ("p99", quantile(each.ours, 0.99))):
            wanted = f"(wanted under {LINE_MICROSECONDS:g})"
            tell(value < LINE_MICROSECONDS, f"{each.name}, {name}: {value:.1f} microseconds {wanted}")
    for found in completions:
        for name, times in (("worst", found.figure.ours), ("worst of the processor", found.figure.cpu)):
            wanted = f"(wanted under {COMPLETION_MILLISECONDS:g})"
            held = max(times) < COMPLETION_MILLISECONDS
            tell(held, f"completion at {found.name}, {name}: {max(times):.1f} ms {wanted}")
    tell(threads.lost == 0, f"commands lost of {THREADS * CALLS_EACH:,}: {threads.lost}")
    tell(threads.mixed_up == 0, f"answers mixed up: {threads.mixed_up}")
    return lines


def main() -> None:
    """Measures and prints the figures and the verdicts."""
    rows, completions, threads = lines(), completing(), together()
    _show(rows, completions, threads)
    load = os.getloadavg()[0] / (os.cpu_count() or 1)
    print(f"  load of the machine: {load:.1f} a core")
    verdicts = _verdicts(rows, completions, threads)
    print("\n" + "\n".join(verdicts))
    kept = {"one command, microseconds": rows, "completions, milliseconds": [each.figure for each in completions]}
    print(f"\nKept in bench/out/{keep('commands', kept, verdicts).name}")


if __name__ == "__main__":
    main()
