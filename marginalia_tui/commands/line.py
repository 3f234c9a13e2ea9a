"""A command typed as text: `/name first "second one" third`.

The rules: a text that starts with `/` is a command; spaces part the arguments and several count as one; a
backslash before a space, a backslash or a quote makes that character an ordinary one; quotes may start anywhere
in an argument and a quote that is never closed runs to the end; any other backslash stays. Only the space
parts: tabs and line breaks are part of an argument.

Nothing here raises for any text, and no other module of ours is needed: a line is read at every key.
"""

import re
from dataclasses import dataclass
from typing import Self

_PLAIN = re.compile(r'[^ "\\]+')
_QUOTED = re.compile(r'[^"\\]+')
_ESCAPABLE = frozenset(' "\\')
_NEEDS_QUOTES = re.compile(r"\s")
_TO_ESCAPE = re.compile(r'"|\\(?=[ "\\]|\Z)')


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a line: what it says, and where it stands in the source (`end` is behind it)."""

    text: str
    start: int
    end: int
    open: bool = False
    """Whether a quote in it was never closed."""


@dataclass(frozen=True, slots=True)
class CurrentArgument:
    """The argument that is being typed, the last of the line.

    `source[start:end]` is what a completion replaces.
    """

    index: int
    """Its place, from 0."""
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class CommandLine:
    """A text, read. `name` is empty and `arguments` has nothing when it is no command."""

    source: str
    is_command: bool
    name: str
    name_end: int
    """Offset behind the name."""
    arguments: tuple[Argument, ...]
    trailing_separator: bool
    """Whether the text ends in a space that begins a new, still empty argument."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Reads a text; never raises."""
        if not text.startswith("/"):
            return cls(text, False, "", 0, (), False)
        name = _read(text, 1)
        arguments: list[Argument] = []
        here = name.end
        separated = False
        while here < len(text):
            begin = here
            while here < len(text) and text[here] == " ":
                here += 1
            separated = here > begin
            if here == len(text):
                break
            argument = _read(text, here)
            arguments.append(argument)
            here = argument.end
            separated = False
        return cls(text, True, name.text, name.end, tuple(arguments), separated)

    @property
    def values(self) -> list[str]:
        """The arguments as texts."""
        return [argument.text for argument in self.arguments]

    @property
    def typing_name(self) -> bool:
        """Whether the name of the command is still being typed."""
        return self.is_command and not self.arguments and not self.trailing_separator

    @property
    def current_argument(self) -> CurrentArgument | None:
        """The argument that is being typed; None while it is the name, or when the text is no command."""
        if not self.is_command or self.typing_name:
            return None
        if self.trailing_separator:
            end = len(self.source)
            return CurrentArgument(len(self.arguments), "", end, end)
        last = self.arguments[-1]
        return CurrentArgument(len(self.arguments) - 1, last.text, last.start, last.end)

    @staticmethod
    def escape(argument: str) -> str:
        """Writes an argument so that `parse` reads it back as one, as plainly as it can be written."""
        if not argument:
            return '""'
        escaped = _TO_ESCAPE.sub(r"\\\g<0>", argument)
        return f'"{escaped}"' if _NEEDS_QUOTES.search(argument) else escaped

    @classmethod
    def write(cls, name: str, arguments: list[str]) -> str:
        """The line that calls `name` with these arguments."""
        return " ".join([f"/{name}", *map(cls.escape, arguments)])


def _read(text: str, start: int) -> Argument:
    """Reads one argument that begins at `start`, up to the space or the end behind it."""
    pieces: list[str] = []
    quoted = False
    here = start
    while here < len(text):
        run = (_QUOTED if quoted else _PLAIN).match(text, here)
        if run:
            pieces.append(run.group())
            here = run.end()
            continue
        char = text[here]
        if char == '"':
            quoted = not quoted
        elif char == "\\":
            following = text[here + 1 : here + 2]
            if following and following in _ESCAPABLE:
                pieces.append(following)
                here += 1
            else:
                pieces.append("\\")
        else:
            break
        here += 1
    return Argument("".join(pieces), start, here, quoted)
