"""Times with their reference, as a table and as JSON."""

import json
import os
import platform
import sqlite3
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TypeVar

OUT = Path(__file__).parent / "out"

T = TypeVar("T")


@dataclass
class Figure:
    """The times of one piece of work in milliseconds, ours and those of the reference."""

    name: str
    ours: list[float] = field(default_factory=list)
    plain: list[float] = field(default_factory=list)
    note: str = ""
    cpu: list[float] = field(default_factory=list)
    """What of our times the processor worked: other work on the machine changes that least."""
    plain_cpu: list[float] = field(default_factory=list)

    @property
    def median(self) -> float:
        return statistics.median(self.ours)

    @property
    def ratio(self) -> float:
        return self.median / statistics.median(self.plain)

    def time(self, work: Callable[[], T]) -> T:
        """Does our work and adds its time."""
        return _timed(self.ours, self.cpu, work)

    def time_plain(self, work: Callable[[], T]) -> T:
        """Does the work of the reference and adds its time."""
        return _timed(self.plain, self.plain_cpu, work)


def _timed(wall: list[float], cpu: list[float], work: Callable[[], T]) -> T:
    by_clock, by_processor = time.perf_counter(), time.thread_time()
    result = work()
    cpu.append((time.thread_time() - by_processor) * 1000)
    wall.append((time.perf_counter() - by_clock) * 1000)
    return result


def show(title: str, figures: list[Figure]) -> None:
    """Prints the table."""
    print(f"\n{title}")
    print(f"  {'':24}{'median':>10}{'worst':>10}{'cpu':>10}{'plain':>12}{'worst':>10}{'cpu':>10}{'ratio':>8}")
    for each in figures:
        ours, plain = _columns(each.ours, each.cpu), _columns(each.plain, each.plain_cpu)
        print(f"  {each.name:24}{ours}  {plain}{each.ratio:8.1f}  {each.note}".rstrip())


def _columns(wall: list[float], cpu: list[float]) -> str:
    return f"{statistics.median(wall):10.1f}{max(wall):10.1f}{statistics.median(cpu):10.1f}"


def keep(name: str, tables: dict[str, list[Figure]], verdicts: list[str]) -> Path:
    """Writes the figures as JSON and returns the file."""
    OUT.mkdir(exist_ok=True)
    path = OUT / f"{name}-{time.strftime('%Y%m%d-%H%M%S')}.json"
    machine = {"cores": os.cpu_count(), "python": platform.python_version(), "sqlite": sqlite3.sqlite_version}
    figures = {title: {each.name: asdict(each) for each in rows} for title, rows in tables.items()}
    path.write_text(json.dumps({"machine": machine, "figures": figures, "verdicts": verdicts}, indent=2))
    return path
