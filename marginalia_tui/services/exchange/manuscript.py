"""A manuscript: what a file of a book is read into and what one is written from. No store, no files.

Every format reads into these values and writes from them, so what holds for one holds for all: the same words
in the same order (`words_of`). Texts are Markdown; titles are one line, with their inline marks.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from marginalia_tui.domain.items import Image, Json
from marginalia_tui.domain.words import find_words
from marginalia_tui.services.exchange.lorefile import LoreFile

MAX_TITLE = 300
"""Characters of a title. What is longer is prose, however it is marked."""

SWIPE = "swipe"
"""The attribute of a part of the library that says its place among its swipes, from 0; no version here has it."""

_SPACES = re.compile(r"[^\S\xa0\u202f\u3000]+")
"""White space but for what is wanted where it stands: hard spaces, and the wide one of Chinese and Japanese."""


@dataclass(frozen=True, slots=True)
class Picture:
    """An image outside of the library: what it is, and its bytes."""

    image: Image
    data: bytes = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """A part as it may be told: prose and turn input, as in a `Part` of the library."""

    title: str = ""
    text: str = ""
    instructions: str = ""
    scene: str = ""
    pov: str = ""
    present: str = ""
    model: str = ""
    """The name of the model that wrote the text; empty when a person did, or nobody knows."""
    images: tuple[Picture, ...] = ()
    """Those that the text names, `![words](name)`, stand there, the others behind it."""
    attributes: dict[str, Json] = field(default_factory=dict)
    """What the source said beside the prose, by key."""
    created: int = field(default=0, compare=False)
    """When it was made, microseconds since 1970; 0 when nobody knows. It says nothing about what the part is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """A note of a person on a passage of a chapter."""

    text: str
    start: int = 0
    end: int = 0
    """Where the passage stands in the text of the chapter, in characters; equal: it is on all of it."""
    author: str = ""
    """Who made it; empty for the author of the book."""
    created: int = 0
    """Microseconds since 1970; 0 when nobody knows."""
    done: bool = False
    """Whether it is settled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chapter(Version):
    """One part of a book: the version that is read, and its swipes, in their order, before and after it."""

    remarks: tuple[Remark, ...] = ()
    """The notes on it."""
    before: tuple[Version, ...] = ()
    after: tuple[Version, ...] = ()

    @property
    def swipes(self) -> tuple[Version, ...]:
        """The versions that are not read."""
        return self.before + self.after

    def versions(self) -> Iterator[Version]:
        """All versions in their order, the one that is read among them."""
        yield from self.before
        yield self
        yield from self.after


@dataclass(frozen=True, slots=True, kw_only=True)
class Manuscript:
    """A book outside of the library. `language` is a BCP 47 tag, empty when nothing says it."""

    title: str
    author: str = ""
    language: str = ""
    description: str = ""
    tags: tuple[str, ...] = ()
    chapters: tuple[Chapter, ...] = ()
    cover: Picture | None = None
    lorebooks: tuple[LoreFile, ...] = ()
    """The lorebooks of the book, with those below them."""
    attributes: dict[str, Json] = field(default_factory=dict)
    """What the source said beside that, such as the other fields of a front matter."""
    other_branches: int = 0
    """Branches of the book that no chapter and no swipe stands for: no format of ours but the backup holds them."""
    other_parts: int = 0
    """The parts of these branches that are neither chapter nor swipe."""
    other_remarks: dict[str, int] = field(default_factory=dict)
    """Why -> how many notes no chapter has: those that are done, those whose passage is gone."""


def words_of(manuscript: Manuscript) -> list[str]:
    """The words of the titles and texts of a book, in reading order, by the counting rule of the studio."""
    found: list[str] = []
    for chapter in manuscript.chapters:
        found += find_words(chapter.title)
        found += find_words(chapter.text)
    return found


def one_line(text: str) -> str:
    """A title as one line: runs of white space become one space; hard and wide spaces stay."""
    return _SPACES.sub(" ", text).strip()


def trim_blank_lines(text: str) -> str:
    """A text without the blank lines at its start and end; the indent of its first line stays."""
    text = text.rstrip()
    start = 0
    while (end := text.find("\n", start)) >= 0 and not text[start:end].strip():
        start = end + 1
    return text[start:]


_SCRIPTS = (
    ("ja", re.compile("[\u3041-\u309f\u30a0-\u30ff]")),
    ("ko", re.compile("[\uac00-\ud7a3]")),
    ("zh", re.compile("[\u3400-\u9fff]")),
    ("ru", re.compile("[\u0400-\u04ff]")),
    ("el", re.compile("[\u0370-\u03ff]")),
)


def guess_language(manuscript: Manuscript) -> str:
    """The language that the script gives away (`zh`, `ja`, `ko`, `ru`, `el`), or empty: Latin letters say nothing.

    Looks at the first 20,000 characters. A fifth of them in a script is enough; kana decide for Japanese at 5 %.
    """
    sample = ""
    for chapter in manuscript.chapters:
        sample += chapter.text[: 20_000 - len(sample)]
        if len(sample) >= 20_000:
            break
    for language, script in _SCRIPTS:
        share = 0.05 if language == "ja" else 0.2
        if len(script.findall(sample)) > share * max(len(sample), 1):
            return language
    return ""
