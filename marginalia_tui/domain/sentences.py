"""Small helpers for sentences that name what somebody typed."""

from collections.abc import Sequence


def quoted(value: object, longest: int = 60) -> str:
    """A value for a sentence: short, in quotes, control characters written out."""
    if isinstance(value, int) and value.bit_length() > 400:
        return "a number of more than a hundred digits"  # Python refuses to write out the longest of them
    try:
        text = value if isinstance(value, str) else str(value)
    except (ValueError, RecursionError):
        return "a value that is too large to write out"
    shown = repr(text if len(text) <= longest else text[: longest - 1] + "\u2026")
    while len(shown) > 2 * longest:  # characters that are written out as six or ten
        text = text[: min(len(text), longest) // 2]
        shown = repr(text + "\u2026")
    return shown


def either(words: Sequence[str]) -> str:
    """`a`, `a or b`, `a, b or c`."""
    if len(words) < 2:
        return "".join(words)
    return ", ".join(words[:-1]) + " or " + words[-1]


def listed(words: Sequence[str], longest: int = 10) -> str:
    """`a, b, c`, at most `longest` of them and then how many more."""
    more = len(words) - longest
    return ", ".join(words[:longest]) + (f" and {more} more" if more > 0 else "")


def counted(number: int, word: str, plural: str = "") -> str:
    """`1 part`, `1,204 parts`."""
    return f"{number:,} {word if number == 1 else plural or word + 's'}"
