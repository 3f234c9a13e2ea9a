"""Refuses the regular expressions that no time limit stops: those that fill the memory while they are compiled.

The engine writes counted repeats out, so `(?:a{1000}){1000}` becomes a million steps before the first character is
read, and a pattern that calls itself can grow without end. The scan only adds up sizes: it may count too much, never
too little, and whether the pattern is right is left to the engine.
"""

import re

from marginalia_tui.domain.errors import Invalid
from marginalia_tui.domain.sentences import quoted

LARGEST = 50_000
"""Steps that a pattern may be written out to."""

_PIECE = re.compile(
    r"\\[0-9]{1,3}|\\."  # an escape
    r"|\[\^?\]?(?:\\.|\[:\w+:\]|[^\]\\])*\]?"  # a set
    r"|\((?:\?(?P<call>R|[0-9]+|[+-][0-9]+|&\w+|P>\w+)\))?"  # a group opens, or a call of one
    r"|\)"
    r"|\{(?P<low>[0-9]*)(?:,(?P<high>[0-9]*))?\}"  # a counted repeat
    r"|.",
    re.DOTALL,
)


def check_pattern(pattern: str) -> None:
    """Refuses a pattern that would be written out too large, or that calls itself.

    Raises:
        Invalid: it is one of these.
    """
    sizes = [0]
    last = 0
    for match in _PIECE.finditer(pattern):
        piece = match.group()
        if match["call"]:
            raise Invalid(f"{quoted(pattern)} calls itself with {piece}, which is not possible here: write it without.")
        if piece.startswith("(") and not piece.endswith(")"):
            sizes.append(0)
            last = 0
        elif piece == ")" and len(sizes) > 1:
            last = sizes.pop() + 1
            sizes[-1] += last
        elif match["low"] is not None and (match["low"] or match["high"]):
            times = max(_number(match["low"]), _number(match["high"]), 1)
            sizes[-1] += last * (times - 1)
            last *= times
        else:
            last = 1
            sizes[-1] += 1
        if sum(sizes) > LARGEST:
            raise Invalid(
                f"{quoted(pattern)} repeats too much: counted repeats inside one another may come to {LARGEST:,} "
                "steps together. Make the counts smaller, or use + instead."
            )


def _number(digits: str | None) -> int:
    return int(digits[:9]) if digits else 0
