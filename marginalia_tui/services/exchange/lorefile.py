"""Lore and character cards outside of the library: what their files are read into and written from. No store, no files.

Every format reads into these values, so that what holds for one holds for all: nothing of a file is lost. What has a
place here stands in a field; what has none stays as it was under a key of `attributes`, which a writer of the same
format puts back, and is told in `left`, by name and number.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from marginalia_tui.domain.items import Json
from marginalia_tui.domain.visible import visible_line


@dataclass(frozen=True, slots=True)
class Left:
    """Something that was not taken over: kept as data, without effect here."""

    what: str
    """A field of the format as its file calls it, or a few words for what is none."""
    count: int
    """In how many entries, or how often."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoreEntry:
    """An entry as an `Entry` of the library is to be, but for its uuid and its place; the fields are told there."""

    name: str = ""
    text: str = ""
    comment: str = ""
    enabled: bool = True
    constant: bool = False
    order: int = 100
    filter: str = ""
    mode: str = "text"
    look_back: int = 0
    first: int | None = None
    last: int | None = None
    tags: tuple[str, ...] = ()
    negative_tags: tuple[str, ...] = ()
    insertion: str = "lore"
    attributes: dict[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoreFile:
    """A lorebook with those below it."""

    title: str
    """One line; empty when the file does not say it."""
    description: str = ""
    """Has no field in the library: it stands there in the attributes, as `description`."""
    enabled: bool = True
    scan_depth: int = 0
    tags: tuple[str, ...] = ()
    entries: tuple[LoreEntry, ...] = ()
    """In the order of the file, in which they are made."""
    below: tuple["LoreFile", ...] = ()
    """Lorebooks below it. The same object in several places is one lorebook that they share."""
    attributes: dict[str, Json] = field(default_factory=dict)
    left: tuple[Left, ...] = ()
    """What was not taken over, of the lorebooks below as well: told once, by the file."""

    def lorebooks(self) -> Iterator["LoreFile"]:
        """This one and all below it, each once, level by level."""
        seen: set[int] = set()
        level: list[LoreFile] = [self]
        while level:
            fresh = []
            for each in level:
                if id(each) not in seen:
                    seen.add(id(each))
                    fresh.append(each)
            yield from fresh
            level = [below for each in fresh for below in each.below]

    def count(self) -> int:
        """How many entries it holds, those of the lorebooks below included."""
        return sum(len(each.entries) for each in self.lorebooks())


@dataclass(frozen=True, slots=True, kw_only=True)
class CardFields:
    """A character card. What each field becomes in a book is told beside it."""

    name: str
    """The title of the book; present in its first part."""
    description: str = ""
    """Who the character is: an entry of the lorebook that is always active."""
    personality: str = ""
    """As the description."""
    scenario: str = ""
    """The scene setting of the first part."""
    first_message: str = ""
    """The text of the first part."""
    greetings: tuple[str, ...] = ()
    """Other first messages: swipes of the first part."""
    examples: str = ""
    """Messages that show how the character speaks: kept in the attributes of the book, under `card`."""
    system_prompt: str = ""
    """As the examples."""
    post_history: str = ""
    """Instructions behind the story so far: as the examples."""
    creator_notes: str = ""
    """As the examples: it is for people, and the description of a book is told to models."""
    creator: str = ""
    """The author of the book."""
    version: str = ""
    """Of the card: as the examples."""
    tags: tuple[str, ...] = ()
    """The tags of the book."""
    lore: LoreFile | None = None
    """The lorebook of the book."""
    attributes: dict[str, Json] = field(default_factory=dict)
    """The rest of the card as it was, by key."""
    left: tuple[Left, ...] = ()
    """Fields of the card that have no place in a book, those of its lorebook not included."""


def counted(names: Iterable[str]) -> tuple[Left, ...]:
    """What was not taken over, from its names one by one: each once, in the order in which they came."""
    numbers: dict[str, int] = {}
    for name in names:
        numbers[name] = numbers.get(name, 0) + 1
    return tuple(Left(name, number) for name, number in numbers.items())


_MOST = 30
"""Names in a sentence."""


def left_note(left: Iterable[Left], *, out: bool = False) -> str:
    """A sentence for the author that names what was not taken over; empty when nothing was left.

    Args:
        left: names and numbers.
        out: whether it is about a file that was written.
    """
    names = [f"{visible_line(each.what[:60])} ({each.count:,})" for each in left]
    if not names:
        return ""
    more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
    told = f"{', '.join(names[:_MOST])}{more}"
    if out:
        return f"In the file for this studio alone, since other programs have no place for it: {told}."
    return f"Kept as data, without effect here: {told}."


def from_below(edges: Sequence[Iterable[int]]) -> Iterator[tuple[int, list[int], int]]:
    """What is reached from the first one, each behind all that stand below it.

    Yields:
        Its place, the places of those below it, and how many of them were left out because it stands below them.
    """
    open_now = {0}
    done: set[int] = set()
    kept: dict[int, list[int]] = {0: []}
    cut = Counter[int]()
    stack = [(0, iter(edges[0]))]
    while stack:
        place, rest = stack[-1]
        below = next(rest, None)
        if below is None:
            stack.pop()
            open_now.discard(place)
            done.add(place)
            yield place, kept[place], cut[place]
        elif below in open_now:
            cut[place] += 1
        else:
            kept[place].append(below)
            if below not in done:
                open_now.add(below)
                kept[below] = []
                stack.append((below, iter(edges[below])))
