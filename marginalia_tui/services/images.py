"""Images of a book: made from bytes, added to parts, taken out, the cover.

What bytes are is looked at when there are some (`pixels`): nobody who opens a book waits for the library that does it.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path

from marginalia_tui.domain.errors import NotFound, Refused
from marginalia_tui.domain.images import COVER, LONGEST_CAPTION, mentioned, name_for
from marginalia_tui.domain.items import Book, Image, Part
from marginalia_tui.services.exchange import files
from marginalia_tui.services.exchange.files import megabytes, shown
from marginalia_tui.store import blobs
from marginalia_tui.store.content import decode_images
from marginalia_tui.store.space import Space, WritableSpace

MAX_BYTES = 10 * 1024 * 1024
MAX_OF_PART = 200
"""Images of one part."""


@dataclass(frozen=True, slots=True)
class Placed:
    """An image of a book and the part that has it; None for the cover."""

    part: str | None
    image: Image


def inspect(data: bytes, name: str, *, whole: bool = True) -> tuple[str, int, int]:
    """What bytes are: media type, width and height in pixels.

    Args:
        data: the bytes.
        name: how they are called in a sentence.
        whole: reads the whole picture once, to see that it is.

    Raises:
        Invalid: they are no picture that is kept, or a damaged one.
        Refused: too many bytes or pixels.
    """
    from marginalia_tui.services import pixels

    if len(data) > MAX_BYTES:
        raise Refused(f"{name} has {megabytes(len(data))}, an image at most {megabytes(MAX_BYTES)}: make it smaller.")
    return pixels.inspect(data, name, whole=whole)


def image_of(data: bytes, wanted: str, *, caption: str = "", taken: Collection[str] = ()) -> Image:
    """The value of an image.

    Args:
        data: its bytes.
        wanted: the name of its file; it is made to fit.
        caption: what stands below it.
        taken: the names of the others of its part.

    Raises:
        Invalid, Refused: as `inspect`.
    """
    media_type, width, height = inspect(data, shown(wanted))
    return Image(
        hash=blobs.hash_blob(data).hex(),
        type=media_type,
        name=name_for(wanted, media_type, taken),
        caption=one_caption(caption),
        width=width,
        height=height,
    )


def one_caption(text: str) -> str:
    """A caption as one line that fits."""
    return " ".join(text.split())[:LONGEST_CAPTION]


def read_file(path: Path) -> bytes:
    """The bytes of a picture of the author.

    Raises:
        NotFound, Invalid, Refused: it can't be read, or is too large.
    """
    size = files.size_of_file(path, 1 << 62)
    if size > MAX_BYTES:
        raise Refused(f"{shown(path)} has {megabytes(size)}, an image at most {megabytes(MAX_BYTES)}: make it smaller.")
    return files.read_file(path, MAX_BYTES)


def add_image(space: WritableSpace, part: str, image: Image, data: bytes) -> Image:
    """Gives a part an image, behind those that it has; it stands where the text names it, else behind the text.

    Returns:
        The image, under a name that no other of the part has.

    Raises:
        Refused: the part has as many as it may.
    """
    owner = space.get(Part, part)
    if len(owner.images) >= MAX_OF_PART:
        raise Refused(f"A part has at most {MAX_OF_PART} images: remove one first, or add it to another part.")
    image = replace(image, name=name_for(image.name, image.type, [each.name for each in owner.images]))
    space.put_blob(data)
    space.put([replace(owner, images=(*owner.images, image))])
    return image


def set_cover(space: WritableSpace, book: str, image: Image, data: bytes) -> Image:
    """Makes an image the cover of a book."""
    image = replace(image, name=COVER)
    space.put_blob(data)
    space.put([replace(space.get(Book, book), cover=(image,))])
    return image


def change_image(space: WritableSpace, owner: Book | Part, name: str, new: Image | None) -> None:
    """Puts another image, or none, in the place of one of an owner."""
    now = owner.cover if isinstance(owner, Book) else owner.images
    images = tuple(kept for each in now if (kept := new if each.name == name else each) is not None)
    space.put([replace(owner, cover=images) if isinstance(owner, Book) else replace(owner, images=images)])


def find_image(owner: Book | Part, name: str) -> Image:
    """The image of an owner by its name, or by its number from 1.

    Raises:
        NotFound: it has none of that name; the sentence lists those that it has.
    """
    images = owner.cover if isinstance(owner, Book) else owner.images
    wanted = name.strip()
    if wanted.isascii() and wanted.isdigit() and len(wanted) < 6 and 1 <= int(wanted) <= len(images):
        return images[int(wanted) - 1]
    for image in images:
        if image.name.casefold() == wanted.casefold():
            return image
    there = ", ".join(image.name for image in images[:10])
    raise NotFound(f"There is no image {shown(wanted)} here: {f'there are {there}' if there else 'it has none'}.")


def images_of_book(space: Space, book: str) -> list[Placed]:
    """The cover and the images of all parts of a book, by part; no text is read."""
    cover = [Placed(None, image) for image in space.get(Book, book).cover]
    query = "SELECT uuid, images FROM part WHERE space_id = ? AND book = ? AND images IS NOT NULL ORDER BY uuid"
    rows = space.connection.exec_driver_sql(query, (space.id, book)).all()
    return cover + [Placed(row.uuid, image) for row in rows for image in decode_images(row.images)]


def size_of(space: Space, image: Image) -> int:
    """How many bytes an image has; 0 when they are gone."""
    key = bytes.fromhex(image.hash)
    return blobs.sizes(space.connection, [key]).get(key, 0)


def times_named(text: str, name: str) -> int:
    """How often a text names an image."""
    return mentioned(text).count(name)
