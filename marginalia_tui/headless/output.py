"""What the verbs print: results on stdout, everything else on stderr; text for people, JSON for scripts.

Texts of books and models never reach a terminal raw: control characters are shown as signs.
"""

import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from marginalia_tui.domain.errors import MarginaliaError
from marginalia_tui.domain.visible import visible, visible_line
from marginalia_tui.widgets.text import cells, fit

_OBEYED = re.compile("[\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]")


class OutputLost(MarginaliaError):
    """What is printed reaches nobody: its reader went away, or the disk that it goes to is full."""

    kind = "output"

    def __init__(self, error: OSError) -> None:
        super().__init__(f"The output can't be written: {error.strerror}. Send it elsewhere.")
        self.reader_gone = isinstance(error, BrokenPipeError)


def write_out(text: str) -> None:
    """Writes to stdout at once; nowhere when whoever started the program closed that.

    Raises:
        OutputLost: it can't be written; what follows is dropped without a word.
    """
    if sys.stdout is None:
        return
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        # What is still held back would be refused again at the end of the program.
        if (real := sys.__stdout__) is not None and sys.stdout is real:
            os.dup2(os.open(os.devnull, os.O_WRONLY), real.fileno())
        raise OutputLost(error) from error


def write_aside(text: str) -> None:
    """Writes to stderr at once, if it can: when it can't, nobody is left who could be told."""
    if sys.stderr is None:
        return
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except OSError:
        return


def print_json(value: object) -> None:
    """One JSON document, or one line of a stream, flushed at once."""
    # What a terminal would obey is written as an escape of JSON, which says the same.
    line = _OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(value, ensure_ascii=False))
    write_out(line + "\n")


def print_text(text: str) -> None:
    """Text for a person."""
    write_out(visible(text) + "\n")


def print_error(error: MarginaliaError, *, as_json: bool) -> None:
    """The sentence on stderr, and as JSON on stdout for scripts."""
    write_aside(f"Error: {visible_line(error.message)}\n")
    if as_json:
        print_json({"error": {"kind": error.kind, "message": error.message}})


def say(text: str) -> None:
    """A word on the side: on stderr."""
    write_aside(visible_line(text) + "\n")


def table(rows: Sequence[Mapping[str, Any]], columns: Sequence[str], empty: str) -> str:
    """Rows as aligned text, without lines and colours; `empty` when there are none."""
    if not rows:
        return empty
    shown = [[_cell(row.get(column)) for column in columns] for row in rows]
    heads = [column.replace("_", " ") for column in columns]
    widths = [max(cells(each) for each in column) for column in zip(heads, *shown, strict=True)]
    numeric = [all(isinstance(row.get(column), int | float | None) for row in rows) for column in columns]
    lines = []
    for line in [heads, *shown]:
        aligned = [
            fit(each, width, "right" if number else "left")
            for each, width, number in zip(line, widths, numeric, strict=True)
        ]
        lines.append("  ".join(aligned).rstrip())
    return "\n".join(lines)


def facts(values: Mapping[str, Any]) -> str:
    """Names and values, one a line; what is empty is left out."""
    shown = {key.replace("_", " "): _cell(value) for key, value in values.items() if value not in (None, "", [], {})}
    width = max((len(key) for key in shown), default=0)
    return "\n".join(f"{key:<{width}}  {value}" for key, value in shown.items())


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, list | tuple):
        return ", ".join(_cell(each) for each in value)
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    return visible_line(str(value))
