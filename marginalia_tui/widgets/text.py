"""Text on its way to a terminal: control characters made visible, cells counted, lines wrapped.

Everything here keeps offsets: `visible` gives one character for one, so that a place in what is shown is a
place in what was given. Widths are those of Rich, since Textual crops by them; a grapheme cluster (a letter
with its combining marks, an emoji joined by ZWJ or widened by VS16) is never cut.
"""

import re
from functools import lru_cache

from rich.cells import cell_len
from wcwidth import iter_graphemes

from marginalia_tui.domain.visible import visible_line

# Characters that are one cell wide and join nothing: text made of them alone is wrapped by length.
_PLAIN = re.compile("[\x20-\x7e\xa0-\u02ff\u0370-\u0482\u048a-\u052f\u2010-\u2027\u2030-\u205e\u2500-\u25fc]*")

_NO_LINE_START = frozenset("、。，．：；？！）」』】〕〉》”’…—～・ーぁぃぅぇぉっゃゅょァィゥェォッャュョ々)]}.,;:?!")
_NO_LINE_END = frozenset("（「『【〔〈《“‘([{")
_DASHES = frozenset("—–")


def cells(text: str) -> int:
    """The cells that a text takes in a terminal."""
    return cell_len(text)


def is_plain(text: str) -> bool:
    """Whether each character takes one cell and joins no other."""
    return _PLAIN.fullmatch(text) is not None


@lru_cache(maxsize=4096)
def fit(text: str, width: int, align: str = "left") -> str:
    """The text cut (with `…`) or filled to exactly `width` cells.

    Args:
        text: one line; control characters are shown as signs.
        width: cells, 0 or more.
        align: `left`, `right` or `center`.
    """
    text = visible_line(text)
    used = cell_len(text)
    if used > width:
        text = crop(text, width)
        used = cell_len(text)
    space = width - used
    if align == "right":
        return " " * space + text
    if align == "center":
        return " " * (space // 2) + text + " " * (space - space // 2)
    return text + " " * space


def crop(text: str, width: int) -> str:
    """The text cut to at most `width` cells, its end replaced by `…` when it was longer."""
    if cell_len(text) <= width:
        return text
    if width <= 0:
        return ""
    if is_plain(text):
        return text[: width - 1] + "…"
    used = 0
    kept: list[str] = []
    for cluster in iter_graphemes(text):
        used += cell_len(cluster)
        if used > width - 1:
            break
        kept.append(cluster)
    return "".join(kept) + "…"


def wrap(text: str, width: int, start: int = 0, end: int | None = None) -> list[tuple[int, int]]:
    """Where the lines of a text begin and end when it is wrapped.

    Lines break at spaces, after dashes and between characters of scripts without spaces (never before a
    closing sign or after an opening one); a word longer than a line is cut between grapheme clusters.

    Args:
        text: what is wrapped; line feeds between `start` and `end` end a line.
        width: cells of a line, at least 1.
        start: the first offset.
        end: the offset after the last; None is the end of the text.

    Returns:
        Pairs of offsets into `text`, at least one; spaces at the end of a line belong to none.
    """
    width = max(1, width)
    end = len(text) if end is None else end
    lines: list[tuple[int, int]] = []
    here = start
    while True:
        stop = text.find("\n", here, end)
        last = stop < 0
        stop = end if last else stop
        if stop - here <= width and is_plain(text[here:stop]):
            lines.append((here, stop))
        elif is_plain(text[here:stop]):
            _wrap_plain(text, here, stop, width, lines)
        else:
            _wrap_clusters(text, here, stop, width, lines)
        if last:
            return lines
        here = stop + 1


def _wrap_plain(text: str, start: int, end: int, width: int, lines: list[tuple[int, int]]) -> None:
    here = start
    while end - here > width:
        limit = here + width
        cut = limit if text[limit] == " " else _cut_before(text, here, limit)
        if cut <= here:
            cut = limit
        stop = cut
        while stop > here and text[stop - 1] == " ":
            stop -= 1
        lines.append((here, stop))
        here = cut
        while here < end and text[here] == " ":
            here += 1
    if here < end or not lines or start == end:
        lines.append((here, end))


def _cut_before(text: str, here: int, limit: int) -> int:
    """The best place for a break between two offsets; `here` when there is none."""
    cut = text.rfind(" ", here, limit)
    cut = max(cut, text.rfind("—", here, limit) + 1, text.rfind("–", here, limit) + 1)
    hyphen = text.rfind("-", here, limit)
    if hyphen > cut and hyphen > here and text[hyphen - 1].isalpha() and text[hyphen + 1].isalpha():
        cut = hyphen + 1
    return cut


def _may_part(before: str, after: str) -> bool:
    if before == " ":
        return True
    if before in _DASHES and after not in _DASHES:
        return after not in _NO_LINE_START
    if cell_len(before) == 2 or cell_len(after) == 2:
        return after[0] not in _NO_LINE_START and before[0] not in _NO_LINE_END
    return False


def _wrap_clusters(text: str, start: int, end: int, width: int, lines: list[tuple[int, int]]) -> None:
    here = place = start
    used = 0
    cut, cut_used = start, 0
    before = ""
    for cluster in iter_graphemes(text[start:end]):
        size = cell_len(cluster)
        if before and cluster != " " and _may_part(before, cluster):
            cut, cut_used = place, used
        # What may not stand at the beginning of a line takes what is before it along, if that fits.
        while used + size > width and cluster != " " and here < place:
            if cut <= here:
                cut, cut_used = place, used
            lines.append((here, here + len(text[here:cut].rstrip(" "))))
            here, used = cut, used - cut_used
            cut_used = 0
        used += size
        place += len(cluster)
        before = cluster
    lines.append((here, end if used <= width else here + len(text[here:end].rstrip(" "))))
