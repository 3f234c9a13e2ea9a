"""Answers for people: Markdown for the screens, plain text for pipes and dumb terminals.

A result becomes blocks: its sentence, its facts, its tables, its prose. Titles and texts are untrusted: control
characters are shown and never obeyed, and nothing of them is Markdown unless it is prose.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from wcwidth import wcswidth

from marginalia_tui.commands.results import Result, ResultField, result_fields
from marginalia_tui.domain.visible import visible

CELL = 100
"""Characters of a cell; longer ones are cut."""
ROWS = 200

_MARKDOWN = re.compile(r"([\\`*_\[\]<>|~&])")


@dataclass(frozen=True, slots=True)
class Facts:
    """Labels with their values."""

    pairs: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under a heading. `numeric` tells the columns that stand to the right."""

    label: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    numeric: Sequence[bool]


@dataclass(frozen=True, slots=True)
class Text:
    """A sentence, or prose as it stands."""

    text: str


Block = Facts | Table | Text


def to_blocks(result: Result) -> list[Block]:
    """What is shown of a result, in order."""
    blocks: list[Block] = []
    if sentence := result.sentence():
        blocks.append(Text(visible(sentence)))
    pairs: list[tuple[str, str]] = []
    bulk: list[Block] = []
    for each in _told(result):
        value = getattr(result, each.name)
        if value in (None, "", []):
            continue
        if each.prose:
            bulk.append(Text(visible(str(value))))
        elif isinstance(value, Result):
            bulk.extend(to_blocks(value))
        elif isinstance(value, list | tuple) and all(isinstance(row, Result) for row in value):
            bulk.append(_table(_label(each.name), value))
        else:
            pairs.append((_label(each.name), _cell(value)))
    if pairs:
        blocks.append(Facts(pairs))
    return blocks + bulk


def to_markdown(result: Result) -> str:
    """The result as Markdown."""
    return "\n\n".join(_markdown(block) for block in to_blocks(result))


def to_plain(result: Result) -> str:
    """The result as plain text, tables in columns."""
    return "\n\n".join(_plain(block) for block in to_blocks(result))


def _told(result: Result) -> list[ResultField]:
    """The fields that a person is shown. A uuid is not, where a number names the item as well."""
    placed = any(getattr(result, name, None) is not None for name in ("position", "number", "branch"))
    return [
        each
        for each in result_fields(type(result))
        if each.name not in result.untold() and not (each.letter and placed)
    ]


def _table(label: str, rows: Sequence[Result]) -> Table:
    used = [each for each in _told(rows[0]) if any(getattr(row, each.name) not in (None, "", []) for row in rows)]
    cells = [[_cell(getattr(row, each.name)) for each in used] for row in rows[:ROWS]]
    if len(rows) > ROWS:
        cells.append([f"{len(rows) - ROWS} more", *[""] * (len(used) - 1)])
    numeric = [all(_is_number(getattr(row, each.name)) for row in rows) for each in used]
    return Table(label, [_label(each.name) for each in used], cells, numeric)


def _is_number(value: object) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _label(name: str) -> str:
    return name.replace("_", " ")


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, list | tuple):
        return ", ".join(_cell(each) for each in value)
    text = " ".join(visible(str(value)).split())
    return text if len(text) <= CELL else text[: CELL - 1] + "\u2026"


def _escaped(text: str) -> str:
    return _MARKDOWN.sub(r"\\\1", text)


def _markdown(block: Block) -> str:
    if isinstance(block, Text):
        return block.text
    if isinstance(block, Facts):
        return "\n".join(f"- {label}: {_escaped(value)}" for label, value in block.pairs)
    lines = [
        "| " + " | ".join(block.columns) + " |",
        "|" + "|".join("--:" if numeric else "---" for numeric in block.numeric) + "|",
        *("| " + " | ".join(map(_escaped, row)) + " |" for row in block.rows),
    ]
    return "\n".join(lines)


def _plain(block: Block) -> str:
    if isinstance(block, Text):
        return block.text
    if isinstance(block, Facts):
        return "\n".join(f"{label}: {value}" for label, value in block.pairs)
    lines = [block.columns, *block.rows]
    widths = [max(_width(line[place]) for line in lines) for place in range(len(block.columns))]
    return "\n".join(
        "  ".join(
            _padded(cell, width, numeric) for cell, width, numeric in zip(line, widths, block.numeric, strict=True)
        ).rstrip()
        for line in lines
    )


def _width(text: str) -> int:
    cells = wcswidth(text)
    return cells if cells >= 0 else len(text)


def _padded(text: str, width: int, right: bool) -> str:
    space = " " * (width - _width(text))
    return space + text if right else text + space
