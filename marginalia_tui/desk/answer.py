"""The answer of a command as the screens show it; light, so that they may import it before the studio is open."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

SHORT = 160
"""Characters of an answer that is told in a notice; a longer one gets a panel."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Labels with their values."""

    pairs: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows under a heading. `numeric` tells the columns that stand to the right."""

    label: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    numeric: Sequence[bool]


@dataclass(frozen=True, slots=True)
class Words:
    """A sentence, or prose as it stands."""

    text: str


Block = Facts | Rows | Words


@dataclass(frozen=True, slots=True)
class Shown:
    """The answer of a command: what is shown, block by block, the same as plain text, and its values by name."""

    title: str
    sentence: str
    blocks: Sequence[Block]
    text: str
    data: Mapping[str, Any]

    @property
    def is_short(self) -> bool:
        """Whether a notice has room for it."""
        return len(self.text) <= SHORT and self.text.count("\n") < 2
