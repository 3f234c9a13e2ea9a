"""Times with their reference, as a table and as JSON."""

import json
import os
import platform
import sqlite3
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
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

    @property
    def median(self) -> float:
        return statistics.median(self.ours)

    @property
    def ratio(self) -> float:
        return self.median / statistics.median(self.plain)


def timed(times: list[float], work: Callable[[], T]) -> T:
    """Does the work and adds its time."""
    begun = time.perf_counter()
    result = work()
    times.append((time.perf_counter() - begun) * 1000)
    return result


def show(title: str, figures: list[Figure]) -> None:
    """Prints the table."""
    print(f"\n{title}")
    print(f"  {'':34}{'median':>10}{'worst':>10}{'plain':>10}{'worst':>10}{'ratio':>8}")
    for each in figures:
        print(
            f"  {each.name:34}{each.median:10.1f}{max(each.ours):10.1f}"
            f"{statistics.median(each.plain):10.1f}{max(each.plain):10.1f}{each.ratio:8.1f}  {each.note}"
        )


def keep(name: str, tables: dict[str, list[Figure]], verdicts: list[str]) -> Path:
    """Writes the figures as JSON and returns the file."""
    OUT.mkdir(exist_ok=True)
    path = OUT / f"{name}-{time.strftime('%Y%m%d-%H%M%S')}.json"
    machine = {"cores": os.cpu_count(), "python": platform.python_version(), "sqlite": sqlite3.sqlite_version}
    figures = {
        title: {each.name: {"ms": each.ours, "plain_ms": each.plain, "note": each.note} for each in rows}
        for title, rows in tables.items()
    }
    path.write_text(json.dumps({"machine": machine, "figures": figures, "verdicts": verdicts}, indent=2))
    return path
