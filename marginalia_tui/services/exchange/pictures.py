"""Pictures in and out of files: gathered with their chapters while a file is read, placed again when one is written.

A reader puts a mark where a picture stands. When its chapters are made, `Gathered.settle` gives each chapter the
images that it marks, under names of their own; pictures that close a text stand behind it and need no mark. What
can't be kept is left out and counted, and is never the end of an import.
"""

import posixpath
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from marginalia_tui.domain.errors import Invalid, NotFound, Refused
from marginalia_tui.domain.images import COVER, REFERENCE, behind, escape_words, name_for, target_of
from marginalia_tui.domain.items import Image
from marginalia_tui.services import images
from marginalia_tui.services.exchange.archive import Archive
from marginalia_tui.services.exchange.manuscript import Chapter, Picture, trim_blank_lines
from marginalia_tui.services.images import MAX_OF_PART, image_of, one_caption

MAX_BYTES = 160 * 1024 * 1024
"""Bytes of all pictures of a file that is read."""

ODD = "of a kind that is not kept, or damaged"
"""Why a picture is left out that is no PNG, JPEG, GIF or WebP."""
_MARK = re.compile(r"image:(\d{1,6})")
_ESCAPE = re.compile(r"\\([\\\[\]])")


class Gathered:
    """The pictures that a file names, each read once.

    Args:
        read: the bytes of a picture by where it stands in the file.
        names: what some of them are called, by where they stand; the others are called as their files.
    """

    def __init__(self, read: Callable[[str], bytes], names: Mapping[str, str] | None = None) -> None:
        self._read = read
        self._names = names or {}
        self._known: dict[str, int | str] = {}
        self._found: list[Picture] = []
        self._size = 0
        self.left: Counter[str] = Counter()
        """Why pictures were left out, and how many."""

    def mark(self, source: str, words: str) -> str:
        """Markdown for a picture that stands somewhere in the file; empty when it can't be kept.

        Args:
            source: where it stands.
            words: what it shows, told to those who can't see it.
        """
        return f"![{escape_words(one_caption(words))}]({target})" if (target := self.target(source)) else ""

    def target(self, source: str) -> str:
        """Where the mark of a picture leads; empty when it can't be kept."""
        number = self._number(source)
        if isinstance(number, str):
            self.left[number] += 1
            return ""
        return f"image:{number}"

    def cover(self, source: str) -> Picture | None:
        """The picture as the cover of a book; None when it can't be kept."""
        number = self._number(source)
        if isinstance(number, str):
            return None
        found = self._found[number]
        return replace(found, image=replace(found.image, name=COVER))

    def _number(self, source: str) -> int | str:
        """The number of a picture, or why it can't be kept."""
        if source not in self._known:
            self._known[source] = self._add(source)
        return self._known[source]

    def _add(self, source: str) -> int | str:
        try:
            data = self._read(source)
            image = image_of(data, self._names.get(source) or posixpath.basename(source))
        except NotFound:
            return "missing"
        except Refused:
            return "too large"
        except Invalid:
            return ODD
        if self._size + len(data) > MAX_BYTES:
            return "too large together"
        self._size += len(data)
        self._found.append(Picture(image, data))
        return len(self._found) - 1

    def settle(self, chapter: Chapter) -> Chapter:
        """The chapter with the images that its text marks, and marks that name them."""
        if "](image:" not in chapter.text:
            return chapter
        named: dict[int, Picture] = {}

        def place(found: re.Match[str]) -> str:
            mark = _MARK.fullmatch(target_of(found))
            if mark is None or int(mark[1]) >= len(self._found):
                return found[0]
            number = int(mark[1])
            if number not in named:
                if len(named) == MAX_OF_PART:
                    self.left[f"more than {MAX_OF_PART} in a part"] += 1
                    return ""
                new = self._found[number]
                name = name_for(new.image.name, new.image.type, [each.image.name for each in named.values()])
                caption = one_caption(_ESCAPE.sub(r"\1", found["words"]))
                named[number] = replace(new, image=replace(new.image, name=name, caption=caption))
            return f"![{found['words']}]({named[number].image.name})"

        text = without_last(REFERENCE.sub(place, chapter.text), [each.image for each in named.values()])
        pictures = list(named.values())
        last = {image.name for image in behind(text, (each.image for each in pictures))}
        pictures.sort(key=lambda each: each.image.name in last)
        return replace(chapter, text=text, images=tuple(pictures))

    def notes(self, drawings: int = 0) -> list[str]:
        """What was left out, in a sentence; `drawings` counts those that were never asked for."""
        left = +self.left
        if drawings:
            left[ODD] += drawings
        total = sum(left.values())
        why = ", ".join(f"{count:,} {reason}" for reason, count in left.items())
        return [f"Left out: {total:,} picture(s) ({why})."] if total else []


def read_entry(archive: Archive, where: str) -> bytes:
    """The bytes of a picture in an archive, read only when they are not too many.

    Raises:
        NotFound, Refused, Invalid: it is not there, too large, or damaged.
    """
    if where not in archive:
        raise NotFound(f"There is no picture {where[:80]!r}.")
    if archive.size(where) > images.MAX_BYTES:
        raise Refused(f"The picture {where[:80]!r} is too large.")
    return archive.read(where)


def is_picture(text: str) -> bool:
    """Whether a paragraph is pictures and nothing else."""
    return text.startswith("![") and not REFERENCE.sub("", text).strip()


def without_last(text: str, images: Iterable[Image]) -> str:
    """A text without the paragraphs of pictures that close it, where each is an image that it names just once.

    Such an image stands behind the text without a mark. The words of its mark must be its caption, or they would go.
    """
    captions = {image.name: image.caption for image in images}
    while text:
        head, _, last = text.rpartition("\n\n")
        found = list(REFERENCE.finditer(last)) if is_picture(last) else []
        named = [target_of(each) for each in found]
        known = all(
            captions.get(target_of(each)) == _ESCAPE.sub(r"\1", each["words"]) and not each["title"] for each in found
        )
        if not found or not known or len(set(named)) < len(named) or any(f"]({name})" in head for name in named):
            break
        text = trim_blank_lines(head)
    return text


@dataclass(slots=True)
class Shown:
    """Where the pictures of a chapter are in a file that is being written, and which of them its text showed."""

    where: Mapping[str, str] = field(default_factory=dict)
    """Name of an image -> its place in the file."""
    names: set[str] = field(default_factory=set)

    def place(self, target: str) -> str:
        """The place of the picture that a text names; empty when it is none of the chapter."""
        found = self.where.get(target, "")
        if found:
            self.names.add(target)
        return found

    def rest(self, chapter: Chapter) -> list[Picture]:
        """The pictures that the text did not show, which stand behind it."""
        return [each for each in chapter.images if each.image.name not in self.names]


def places(chapters: Iterable[Chapter], folder: str = "images/") -> list[dict[str, str]]:
    """For each chapter name -> place of its images: a file for each name, in a folder of the part where two differ."""
    taken: dict[str, str] = {}
    found: list[dict[str, str]] = []
    for number, chapter in enumerate(chapters, start=1):
        where: dict[str, str] = {}
        for each in chapter.images:
            place = f"{folder}{each.image.name}"
            if taken.setdefault(place.casefold(), each.image.hash) != each.image.hash:
                place = f"{folder}{number}/{each.image.name}"
                taken[place.casefold()] = each.image.hash
            where[each.image.name] = place
        found.append(where)
    return found
