"""What a plot shows, as a value."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Measure:
    """What a plot shows; values are 0 or more, 0 as a mark is none."""

    title: str
    names: tuple[str, str]
    """Of the two values of each point."""
    values: Sequence[tuple[float, float]]
    marks: bool = False
    """Whether the second value is a mark beside the first, and does not stand on it."""
    empty: str = "Nothing to show yet."
