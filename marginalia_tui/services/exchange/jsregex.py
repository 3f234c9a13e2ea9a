"""Regular expressions as JavaScript means them, for a filter of lore.

A filter is read with capitals alike, `^` and `$` at the ends of lines, and a dot that is any character; letters of all
scripts are letters. JavaScript decides each of these by flags, and knows ASCII letters only. The translation fits
where the original fits. It never guesses: what it does not know is refused.
"""

import re

import regex

from marginalia_tui.domain.errors import Invalid

LONGEST = 2_000
"""Characters of an expression."""
_LARGEST = 20_000
"""Steps that its counted repeats may be written out to: the engine does so before it reads the first character."""

_PIECE = re.compile(
    r"\\u\{[0-9A-Fa-f]+\}|\\u[dD][89abAB][0-9A-Fa-f]{2}\\u[dD][c-fC-F][0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}"
    r"|\\c[A-Za-z]|\\k<\w+>|\\[pP]\{[\w=]+\}|\\[0-9]+|\\."
    r"|(?P<set>\[\^?(?:\\.|[^\]\\])*\])"
    r"|(?P<open>\((?:\?(?::|=|!|<=|<!|<[A-Za-z_]\w*>|.))?)"
    r"|(?P<close>\))"
    r"|(?P<repeat>[*+?]\??|\{[0-9]+(?:,[0-9]*)?\}\??)"
    r"|.",
    re.DOTALL,
)
_IN_SET = re.compile(
    r"\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}|\\c[A-Za-z]|\\[pP]\{[\w=]+\}|\\u\{[0-9A-Fa-f]+\}|\\.|.", re.DOTALL
)
_COUNTS = re.compile(r"[0-9]+")
_WORD = {"d": "[0-9]", "D": "[^0-9]", "w": "(?a:\\w)", "W": "(?a:\\W)", "b": "(?a:\\b)", "B": "(?a:\\B)"}
_SAME = "sSnrtf"
_ASSERTIONS = ("(?=", "(?!", "(?<=", "(?<!")


class NoExpression(ValueError):
    """It is no expression for JavaScript either."""


def translate(pattern: str, flags: str) -> str:
    """The expression as a filter.

    Args:
        pattern: what stands between the slashes.
        flags: what stands behind them.

    Raises:
        NoExpression: it is wrong for JavaScript too.
        Invalid: it may be right, but can't be told here in the same sense.
    """
    if len(pattern) > LONGEST:
        raise Invalid(f"The expression is longer than {LONGEST:,} characters.")
    if set(flags) - set("gimsuy") or len(set(flags)) < len(flags):
        raise NoExpression
    if "y" in flags:
        raise Invalid("The flag y is not known here.")
    made = _Translation(flags).of(pattern)
    if "i" not in flags and made.upper() != made.lower():
        made = f"(?-i:{made})"
    try:
        regex.compile(made, regex.V0 | regex.MULTILINE | regex.IGNORECASE | regex.DOTALL)
    except (regex.error, OverflowError, RecursionError) as error:
        raise Invalid(f"The expression is not possible here ({error}).") from None
    return made


class _Translation:
    """Reads an expression piece by piece."""

    def __init__(self, flags: str) -> None:
        self._flags = flags
        self._open: list[str] = []
        self._groups = 0
        """Groups that are counted, so far."""
        self._repeatable = False
        self._steps = 1

    def of(self, pattern: str) -> str:
        # A group that nothing refers to is not counted, so that expressions can stand beside each other.
        plain = re.sub(r"\\\\", "", pattern)
        referred = re.search(r"\\[1-9]|\\k<", plain) is not None
        self._all_groups = pattern.count("(")
        made = "".join(self._piece(match, referred) for match in _PIECE.finditer(pattern))
        if self._open:
            raise NoExpression
        if self._steps * len(pattern) > _LARGEST:
            raise Invalid("The expression repeats too much.")
        return made

    def _piece(self, match: "re.Match[str]", referred: bool) -> str:
        piece = match.group()
        match match.lastgroup:
            case "repeat":
                return self._repeat(piece)
            case "open":
                self._repeatable = False
                return self._begin(piece, referred)
            case "close":
                if not self._open:
                    raise NoExpression
                self._repeatable = self._open.pop() not in _ASSERTIONS
                return piece
            case "set":
                self._repeatable = True
                return self._set(piece)
        return self._plain(piece)

    def _plain(self, piece: str) -> str:
        self._repeatable = piece not in ("^", "$", "\\b", "\\B", "|")
        if piece in "^$":
            return piece if "m" in self._flags else {"^": "\\A", "$": "\\Z"}[piece]
        if piece == ".":
            return "." if "s" in self._flags else "[^\\n]"
        if piece in ("[", "\\") or (piece in "{}]" and "u" in self._flags):
            raise NoExpression
        if piece in "{}]":
            return f"\\{piece}"
        return self._escape(piece) if piece.startswith("\\") else piece

    def _begin(self, piece: str, referred: bool) -> str:
        if len(piece) == 3 and piece not in ("(?:", "(?=", "(?!"):
            raise Invalid(f"{piece} is not known here.") if piece[2].isalpha() or piece[2] == "-" else NoExpression
        self._open.append(piece)
        if piece == "(" or piece.endswith(">"):
            self._groups += 1
            return piece if referred else "(?:"
        return piece

    def _repeat(self, piece: str) -> str:
        if not self._repeatable:
            raise NoExpression
        self._repeatable = False
        counts = [int(each[:9]) for each in _COUNTS.findall(piece)]
        if len(counts) == 2 and counts[0] > counts[1]:
            raise NoExpression
        self._steps = min(self._steps * max(1, *counts, 1), _LARGEST + 1)
        return piece

    def _escape(self, piece: str) -> str:
        kind = piece[1]
        if kind in _WORD:
            return _WORD[kind]
        if kind.isdigit():
            if piece == "\\0":
                return "\\x00"
            if piece[1] == "0" or int(piece[1:]) > self._all_groups:
                raise Invalid(f"{piece} is not known here.")
            return piece
        if kind == "k":
            return f"(?P={piece[3:-1]})" if len(piece) > 2 else self._letter("k")
        return self._char(piece)

    def _char(self, piece: str) -> str:
        """An escape that stands for a character or a kind of character, in a set or outside."""
        kind, rest = piece[1], piece[2:]
        if kind in _SAME:
            return piece
        if kind == "v":
            return "\\x0b"
        if kind == "c":
            return f"\\x{ord(rest) % 32:02x}" if rest else self._letter("c")
        if kind in "pP" and rest:
            if "u" not in self._flags:
                raise Invalid(f"{piece} is not known here.")
            return piece
        if kind in "ux" and rest:
            return self._code(piece)
        if kind == "/":
            return kind
        return self._letter(kind) if kind.isalnum() else f"\\{kind}"

    def _code(self, piece: str) -> str:
        if piece.startswith("\\u{"):
            code = int(piece[3:-1], 16)
            if "u" not in self._flags:
                raise Invalid(f"{piece} is not known here.")
            if code > 0x10FFFF:
                raise NoExpression
        elif len(piece) == 12:
            code = 0x10000 + ((int(piece[2:6], 16) - 0xD800) << 10) + int(piece[8:], 16) - 0xDC00
        else:
            code = int(piece[2:], 16)
        return f"\\U{code:08x}"

    def _letter(self, letter: str) -> str:
        """A backslash before a letter that means nothing: the letter."""
        if "u" in self._flags:
            raise NoExpression
        return letter

    def _set(self, piece: str) -> str:
        inverted = piece.startswith("[^")
        inside = piece[2:-1] if inverted else piece[1:-1]
        if not inside:
            return "." if inverted else "(?!)"
        made = "".join(self._in_set(match.group()) for match in _IN_SET.finditer(inside))
        return f"[{'^' if inverted else ''}{made}]"

    def _in_set(self, piece: str) -> str:
        if not piece.startswith("\\"):
            return f"\\{piece}" if piece in "[&~|" else piece
        kind = piece[1]
        if kind == "d":
            return "0-9"
        if kind == "w":
            return "0-9A-Za-z_"
        if kind in "DWB" or (kind.isdigit() and piece != "\\0"):
            raise Invalid(f"{piece} in a set is not known here.")
        if piece == "\\0":
            return "\\x00"
        return "\\x08" if kind == "b" else self._char(piece)
