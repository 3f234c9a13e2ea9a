"""The words of the shell: what a line means, what is said while it is typed, answers laid out for a width.

A line of the shell is a command with or without its slash. Nothing here reads or writes.
"""

import re
from collections.abc import Sequence

from marginalia_tui.commands.completion import Completion
from marginalia_tui.commands.hint import Hint, facts_of
from marginalia_tui.commands.line import CommandLine
from marginalia_tui.desk.answer import Block, Facts, Rows, Words
from marginalia_tui.desk.bar import Bar
from marginalia_tui.domain.visible import visible, visible_line
from marginalia_tui.widgets.text import cells, crop, fit, wrap

ENDS = ("exit", "quit")
"""Lines that end the shell."""
LISTED = 20
"""Proposals that are listed for a line that ends in a question mark."""
_INDENT = re.compile(r" *(?:- )?")


def command_of(line: str) -> str:
    """The command that a line means, with its slash; empty for an empty line and one that begins with `#`."""
    stripped = line.lstrip(" ").rstrip("\r\n")
    if not stripped.strip() or stripped.startswith("#"):
        return ""
    return stripped if stripped.startswith("/") else f"/{stripped}"


def is_end(command: str) -> bool:
    """Whether a command ends the shell."""
    return command.strip().removeprefix("/") in ENDS


def asked_about(line: str) -> str | None:
    """What stands before the question mark, or the tab, that ends a line; None when it is a line to be run.

    A question mark in quotes is an argument like any other.
    """
    command = command_of(line)
    if command.endswith("\t"):
        return command.rstrip("\t")
    read = CommandLine.parse(command)
    last = read.arguments[-1] if read.arguments else None
    asks = command[last.start : last.end] == "?" if last else command.endswith("?") and read.name.endswith("?")
    return command[:-1] if asks and not read.trailing_separator else None


def proposals(bar: Bar, before: str) -> list[Completion]:
    """What fits at the end of a line, best first; `start` and `end` are places of the line as it was typed."""
    command = command_of(before) or "/"
    shift = len(before) - len(command)
    return [
        Completion(
            each.text,
            max(0, each.start + shift),
            len(before),
            visible_line(each.label),
            visible_line(each.description),
            each.severity,
            each.destructive,
        )
        for each in bar.complete(command, len(command))
    ]


def described(proposal: Completion) -> str:
    """What is said beside a proposal: for a command what it does to the book, too."""
    if proposal.severity is None:
        return proposal.description
    asks = ", asks first" if proposal.destructive else ""
    return f"{proposal.description} ({proposal.severity.word}{asks})"


def hint_of(bar: Bar, before: str) -> Hint | None:
    """What is known of a line up to the cursor; None when there is nothing to say."""
    command = command_of(before)
    if not command or any(f"/{end}".startswith(command.strip()) for end in ENDS):
        return None
    return bar.hint(command, len(command))


def form_words(hint: Hint) -> list[tuple[str, bool]]:
    """The form that fits so far, word by word, and which of them is being typed."""
    if hint.command is None:
        return []
    words = [(f"/{hint.command.name}", False)]
    for place, each in enumerate(hint.parameters):
        words.append((f"<{each.name}>" if each.required else f"[{each.name}]", place == hint.current))
    if hint.form is not None and len(hint.command.forms) > 1:
        words.append((f"(form {hint.command.forms.index(hint.form) + 1} of {len(hint.command.forms)})", False))
    return words


def explained(hint: Hint) -> str:
    """One line: what is wrong, or what is being typed."""
    if hint.error:
        return hint.error
    if hint.wants_form:
        return "Enter asks for all options, one by one."
    if hint.parameter is not None:
        facts = facts_of(hint.parameter)
        return f"{hint.parameter.name}: {hint.parameter.description}" + (f" ({facts})" if facts else "")
    return hint.form.description if hint.form else ""


def told_about(bar: Bar, line: str, width: int) -> str:
    """What is said of a line that asks: its form, what is being typed, what could stand there."""
    hint = hint_of(bar, line)
    lines: list[str] = []
    if hint is not None:
        if hint.command is not None:
            lines += [hint.command.usage, hint.command.description]
        if hint.error or hint.parameter is not None:
            lines.append(explained(hint))
    found = proposals(bar, line)
    lines += [f"  {each.label}" + (f": {described(each)}" if each.description else "") for each in found[:LISTED]]
    if len(found) > LISTED:
        lines.append("  and more: type more of it")
    return wrapped("\n".join(lines) or "Nothing more fits there.", width)


# Answers


def laid_out(blocks: Sequence[Block], width: int) -> str:
    """An answer for a terminal of a width: lines that fit, tables row by row where their columns do not fit."""
    return "\n\n".join(_laid_out(block, width) for block in blocks)


def _laid_out(block: Block, width: int) -> str:
    match block:
        case Words(text):
            return wrapped(text, width)
        case Facts(pairs):
            return "\n".join(wrapped(f"{label}: {value}", width, 2) for label, value in pairs)
        case Rows():
            return _rows(block, width)


def _rows(block: Rows, width: int) -> str:
    columns = [[head, *values] for head, *values in zip(block.columns, *block.rows, strict=True)]
    widths = [max(cells(each) for each in column) for column in columns]
    if sum(widths) + 2 * (len(widths) - 1) > width:
        return "\n".join(wrapped(_row(block.columns, row), width, 2) for row in block.rows)
    return "\n".join(
        "  ".join(
            fit(cell, wide, "right" if number else "left")
            for cell, wide, number in zip(line, widths, block.numeric, strict=True)
        ).rstrip()
        for line in [block.columns, *block.rows]
    )


def _row(columns: Sequence[str], row: Sequence[str]) -> str:
    return "; ".join(f"{column} {value}" for column, value in zip(columns, row, strict=True) if value)


def wrapped(text: str, width: int, hang: int | None = None) -> str:
    """A text in lines of at most `width` cells, broken between words.

    Args:
        text: lines that stay lines; control characters are shown as signs.
        width: cells, at least 10.
        hang: by how much the further lines of a broken one stand in; None is as far as the line itself.
    """
    width = max(10, width)
    lines: list[str] = []
    for line in visible(text).split("\n"):
        if cells(line) <= width:
            lines.append(line)
            continue
        found = _INDENT.match(line)
        space = " " * min(width // 2, hang if hang is not None else found.end() if found else 0)
        here = wrap(line, width)[0][1]
        lines.append(line[:here])
        rest = line[here:].lstrip(" ")
        lines += [space + rest[start:end] for start, end in wrap(rest, width - len(space))]
    return "\n".join(lines)


def named(title: str, width: int) -> str:
    """What stands before the cursor."""
    return crop(visible_line(title), max(8, min(24, width // 3))) + "> "
