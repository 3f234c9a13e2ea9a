"""Blocks of Markdown, as the readers of EPUB and DOCX make them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from marginalia_tui.services.exchange.headings import MARK, MARK_UNTITLED

SCENE_BREAK = "* * *"

JOINT = "data-joint"
"""On an element that begins a block of a part: how many line ends are before it, where these are not two."""

_MOST_LINES = 100
"""Line ends between two blocks, however many a file says."""
_INTERRUPTS = re.compile(r"\0|\[\^|#{1,6} |`{3}|~{3}|> |[-*+] \S|1[.)] \S|<!--|\* \* \*$")
"""What begins a block right below a paragraph."""
_ENDS = re.compile(r"(?:^#{1,6} [^\n]*|^\* \* \*|(?:^|\n)(?:`{3,}|~{3,})|-->)$")
"""A block below which a paragraph can begin at once."""
_ITEM = re.compile(r"^(?:(-)|(\d{1,9})([.)]))(?=[ ]|$)", re.MULTILINE)
_ASTERISKS = re.compile(r"(?:\\?[*\u2217\u204e\u2042\u2022\u25c6\u2766~\u2014\u2013-][ \xa0\u2003]*){1,9}$")


@dataclass(frozen=True, slots=True)
class Block:
    """A block of Markdown. `heading` is its level for a heading, else 0; `anchor` marks a place instead of a block."""

    text: str
    heading: int = 0
    anchor: str = ""
    gap: bool = False
    """An empty paragraph: white space on the page, perhaps a scene break."""
    joint: int = 2
    """Line ends between the block before and this one."""


def with_scene_breaks(blocks: list[Block]) -> list[Block]:
    """Empty paragraphs as scene breaks where they are rare, left out where they are the layout."""
    gaps = sum(block.gap for block in blocks)
    rare = gaps * 5 <= len(blocks) - gaps
    made: list[Block] = []
    waiting = False
    for block in blocks:
        if block.gap:
            waiting = rare
            continue
        plain = block.text and not block.heading
        before = made[-1] if made else Block("")
        if waiting and plain and not before.heading and "" != before.text != SCENE_BREAK != block.text:
            made.append(Block(SCENE_BREAK))
        waiting = False
        made.append(block)
    return made


def is_scene_break(text: str) -> bool:
    """Whether a paragraph (as Markdown) is nothing but a sign between scenes."""
    if "\n" in text or not _ASTERISKS.match(text):
        return False
    bare = text.replace("\\", "").strip()
    return len(bare) > 1 or bare in "*\u2042\u2766\u2022"


def text_of(blocks: list[Block], joint: str = "\n\n") -> str:
    """The Markdown of several blocks. `joint` stands between them where they say nothing else."""
    out: list[str] = []
    before = ""
    for block in blocks:
        if not block.text:
            continue
        text = _another_list(before, block.text) if joint == "\n\n" else block.text
        if out:
            lines = min(max(block.joint, 2 - _may_follow(before, text)), _MOST_LINES)
            out.append(joint if block.joint == 2 else "\n" * lines)
        out.append(text)
        before = text
    return "".join(out)


def _may_follow(before: str, text: str) -> bool:
    """Whether two blocks stay two without a blank line between them."""
    return not (before[0] == ">" == text[0]) and bool(_INTERRUPTS.match(text) or _ENDS.search(before))


def _another_list(before: str, text: str) -> str:
    """A list below another one of its kind: its items have another sign, or both would be one."""
    found, above = _ITEM.match(text), _ITEM.match(before)
    if found is None or above is None or found[1] != above[1] or found[3] != above[3]:
        return text
    return _ITEM.sub(lambda item: "*" if item[1] else f"{item[2]})", text)


def comment(text: str) -> str:
    """A comment, which is never one of the marks that part a Markdown file; empty for no text."""
    made = f"<!-- {text} -->"
    return "" if not text else f"<!--  {text} -->" if made in (MARK, MARK_UNTITLED) else made


def prefixed(text: str, prefix: str) -> str:
    """A text with something before each of its lines; no line ends in spaces."""
    return "\n".join((prefix + line).rstrip(" ") if line else prefix.rstrip(" ") for line in text.split("\n"))


def table_cell(blocks: list[Block]) -> str:
    """The blocks of a cell as it can stand in a row."""
    text = " ".join(block.text for block in blocks if block.text)
    return text.replace("\\\n", "<br>").replace("\n", " ").replace("|", "\\|")


def pipe_table(rows: Sequence[list[str]], aligned: Sequence[str] = ()) -> str:
    """A table; its first row is its head, and `aligned` has the rules below it, as far as they are known."""
    width = max(map(len, rows))
    padded = [row + [""] * (width - len(row)) for row in rows]
    rule = [*aligned, *["---"] * width][:width]
    return "\n".join(f"| {' | '.join(row)} |" for row in (padded[0], rule, *padded[1:]))


def fenced(text: str, info: str = "") -> str:
    """Code between fences that nothing in it closes; empty when there is none."""
    longest = max((len(run) for run in re.findall("`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{info}\n{text}\n{fence}" if text.strip() else ""
