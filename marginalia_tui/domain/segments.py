"""Words, sentences and clusters of a text as places to go to, for a caret that is moved by keys.

Offsets count code points. A sentence goes on to the first mark that ends one, with the quotes and brackets that close
behind it; scripts without spaces end theirs with marks of their own.
"""

import re

from wcwidth import iter_graphemes

_WORD = re.compile(
    r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]"
    r"|(?:(?![\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff])[^\W_])[\u0300-\u036f]*"
    r"(?:['\u2019\u02bc-]?(?![\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff])[^\W_][\u0300-\u036f]*)*"
)
_END = re.compile(
    r"[.!?\u2026\u061f]+[\"'\u201c\u201d\u2018\u2019\u00bb\u00ab)\]]*(?=\s|$)"
    r"|[\u3002\uff01\uff1f]+[\u300d\u300f\u201d\u2019\uff09]*"
    r"|\n+"
)
_SHORT = re.compile(r"(?:\b(?:Mr|Mrs|Ms|Dr|St|Prof|etc|vs|No)|\b[A-Z])\.$")
"""What a stop does not end: a title, an initial."""
_WINDOW = 64
"""Characters in which a cluster is looked for."""

Span = tuple[int, int]


def words(text: str) -> list[Span]:
    """The words, from and to; each character of a script without spaces is one."""
    return [found.span() for found in _WORD.finditer(text)]


def word_at(text: str, offset: int) -> Span | None:
    """The word at an offset, else the next one, else the last; None in a text without words."""
    last: Span | None = None
    for found in _WORD.finditer(text):
        last = found.span()
        if found.end() > offset:
            return last
    return last


def next_word(text: str, offset: int) -> int:
    """Where the next word begins behind an offset; the end of the text when none does."""
    return next((found.start() for found in _WORD.finditer(text) if found.start() > offset), len(text))


def previous_word(text: str, offset: int) -> int:
    """Where the word begins that stands before an offset; 0 when none does."""
    start = 0
    for found in _WORD.finditer(text, 0, offset):
        start = found.start()
    return start


def sentences(text: str) -> list[Span]:
    """The sentences, without the space between them."""
    found: list[Span] = []
    start = 0
    for mark in _END.finditer(text):
        if mark.group() == "." and _SHORT.search(text, max(0, mark.start() - 8), mark.end()):
            continue
        end = mark.start() if mark.group().startswith("\n") else mark.end()
        _add(found, text, start, end)
        start = mark.end()
    _add(found, text, start, len(text))
    return found


def _add(found: list[Span], text: str, start: int, end: int) -> None:
    said = text[start:end]
    if bare := said.strip():
        begin = start + said.index(bare[0])
        found.append((begin, begin + len(bare)))


def sentence_at(text: str, offset: int) -> Span | None:
    """The sentence at an offset, else the next one, else the last."""
    found = sentences(text)
    return next((each for each in found if each[1] > offset), found[-1] if found else None)


def after(text: str, offset: int) -> int:
    """The end of the cluster at an offset."""
    if offset >= len(text):
        return len(text)
    return offset + len(next(iter_graphemes(text[offset : offset + _WINDOW])))


def before(text: str, offset: int) -> int:
    """The beginning of the cluster before an offset."""
    if offset <= 0:
        return 0
    start = max(0, offset - _WINDOW)
    return offset - len(list(iter_graphemes(text[start:offset]))[-1])
