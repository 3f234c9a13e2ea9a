"""Images of parts: their names, and where a text names them, `![words](name)`, as Markdown does.

A name is one file name of letters, digits, `-`, `_` and `.`, so that it needs no escaping in a text, in a link or on a
disk. An image that the text of its part names stands there; the others stand behind the text.
"""

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from marginalia_tui.domain.items import Image

COVER = "cover"
"""The name of the image that is the cover of a book."""
LONGEST_NAME = 80
"""Characters."""
LONGEST_CAPTION = 1_000
SUFFIXES: Mapping[str, str] = {
    "image/png": ".png",
    "image/jpeg": ".jpg",
    "image/gif": ".gif",
    "image/webp": ".webp",
}
"""Media type -> how the name of such a file ends; others are not kept."""

REFERENCE = re.compile(
    r"""!\[(?P<words>(?:[^\[\]\\\n]|\\.|\n(?!\s*\n))*)\]\(\s*(?P<target><[^<>\n]*>|[^\s()<>]+)"""
    r"""(?P<title>\s+(?:"[^"\n]*"|'[^'\n]*'))?\s*\)"""
)
"""A picture in Markdown: its words, where it leads, its title."""
_HASH = re.compile(r"[0-9a-f]{64}")
_NAME = re.compile(rf"\w[\w.-]{{0,{LONGEST_NAME - 1}}}")
_ODD = re.compile(r"[^\w.-]+")


def name_for(wanted: str, media_type: str, taken: Collection[str] = ()) -> str:
    """A name for an image.

    Args:
        wanted: the name of its file, or anything else.
        media_type: decides how it ends.
        taken: the names that it must not have, whatever their case.
    """
    suffix = SUFFIXES[media_type]
    plain = unicodedata.normalize("NFC", wanted.replace("\\", "/").rpartition("/")[2])
    stem = plain.rpartition(".")[0] if "." in plain else plain
    stem = _ODD.sub("-", stem).strip("-._")[: LONGEST_NAME - 10].rstrip("-._") or "image"
    known = {each.casefold() for each in taken}
    name, number = f"{stem}{suffix}", 2
    while name.casefold() in known:
        name, number = f"{stem}-{number}{suffix}", number + 1
    return name


def file_name(image: Image) -> str:
    """The name of a file for an image: the cover has no suffix of its own."""
    suffix = SUFFIXES.get(image.type, "")
    return image.name if image.name.lower().endswith(suffix) else f"{image.name}{suffix}"


def target_of(found: re.Match[str]) -> str:
    """Where a `REFERENCE` leads."""
    return found["target"].removeprefix("<").removesuffix(">")


def mentioned(text: str) -> list[str]:
    """Where the pictures of a text lead, in order."""
    return [target_of(found) for found in REFERENCE.finditer(text)] if "![" in text else []


def behind(text: str, images: Iterable[Image]) -> list[Image]:
    """The images that the text does not name."""
    named = set(mentioned(text))
    return [image for image in images if image.name not in named]


def redirect(text: str, change: Callable[[str], str | None]) -> str:
    """A text whose pictures lead elsewhere.

    Args:
        text: Markdown.
        change: where a picture leads -> where it is to lead; None leaves it alone.
    """

    def new(found: re.Match[str]) -> str:
        target = change(target_of(found))
        return found[0] if target is None else f"![{found['words']}]({target}{found['title'] or ''})"

    return REFERENCE.sub(new, text) if "![" in text else text


def reference(image: Image) -> str:
    """The picture as a text names it."""
    return f"![{escape_words(image.caption)}]({image.name})"


def escape_words(words: str) -> str:
    """Words as they stand between the brackets of a picture."""
    return re.sub(r"([\\\[\]])", r"\\\1", words)


def joined(first: Sequence[Image], second: Sequence[Image], text: str) -> tuple[tuple[Image, ...], str]:
    """The images of two parts that become one, and the text of the second with their new names.

    The same image under the same name is there once; another one of a name that is taken gets a new one.
    """
    there = {image.name: image for image in first}
    taken = {*there, *(image.name for image in second)}
    new_names: dict[str, str] = {}
    made = list(first)
    for image in second:
        other = there.get(image.name)
        if other is None:
            made.append(image)
        elif other.hash != image.hash:
            new_names[image.name] = name_for(image.name, image.type, taken)
            taken.add(new_names[image.name])
            made.append(replace(image, name=new_names[image.name]))
    return tuple(made), redirect(text, new_names.get) if new_names else text


def parted(first: str, second: str, images: Iterable[Image]) -> tuple[tuple[Image, ...], tuple[Image, ...]]:
    """The images of each half of a text: those that it names; those that neither names stood behind the text."""
    in_first, in_second = set(mentioned(first)), set(mentioned(second))
    images = tuple(images)
    return (
        tuple(each for each in images if each.name in in_first),
        tuple(each for each in images if each.name in in_second or each.name not in in_first),
    )


def is_sound(image: Image) -> bool:
    """Whether an image that came from elsewhere may be kept: its name and its hash are none that lead anywhere."""
    return (
        _HASH.fullmatch(image.hash) is not None
        and image.type in SUFFIXES
        and _NAME.fullmatch(image.name) is not None
        and len(image.caption) <= LONGEST_CAPTION
        and "\n" not in image.caption
        and image.width > 0
        and image.height > 0
    )


def image_line(image: Image, size: int) -> str:
    """An image of a part, with its size in bytes, for the one who reads it."""
    kind = image.type.rpartition("/")[2].upper()
    words = f"{image.name}  {kind}, {image.width:,} x {image.height:,}, {-(-size // 1_000):,} kB"
    return f"{words}: {image.caption}" if image.caption else words


def image_words(image: Image) -> str:
    """An image as a person reads it in a line."""
    kind = image.type.rpartition("/")[2].upper()
    # The beginning of the hash tells two of one name and size apart.
    words = f"{image.name}: {kind}, {image.width} x {image.height}, {image.hash[:8]}"
    return f"{words}, {image.caption}" if image.caption else words
