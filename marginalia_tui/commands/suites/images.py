"""Commands for the images of a book: its cover, and those of its parts.

Files are read and written where the author says, so these two are not offered to agents; an agent sees which images
there are, names them in a text, describes them and takes them out.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated

from pydantic import Field

from marginalia_tui.commands.bounds import LIMIT, Limit, Offset, Page, page_of
from marginalia_tui.commands.context import Context, Effect
from marginalia_tui.commands.declare import command
from marginalia_tui.commands.definition import Param, Severity, Work
from marginalia_tui.commands.references import OpenBook, PlaceRef, Reference, open_book
from marginalia_tui.commands.results import PartHandle, Result, Told
from marginalia_tui.domain.images import COVER, LONGEST_CAPTION, file_name, reference
from marginalia_tui.domain.items import Book, Image, Part
from marginalia_tui.domain.paths import typed_path
from marginalia_tui.domain.sentences import counted, quoted
from marginalia_tui.services import images
from marginalia_tui.services.exchange import files
from marginalia_tui.store.store import WriteTx

FilePath = Annotated[str, Field(min_length=1, max_length=4_096)]
Caption = Annotated[str, Field(max_length=LONGEST_CAPTION)]

OwnerRef = Annotated[
    Reference,
    Param(
        "the part: its number, its title or its uuid; cover for the cover of the book",
        for_model="The handle of the part, such as h:m3, or cover for the cover of the book.",
        names="part",
    ),
]
ImageRef = Annotated[
    Reference,
    Param(
        "the image: its name, or its number in list-images of the part",
        for_model="The name of the image, as list-images shows it.",
        names="image",
    ),
]


class ImageAdded(Told):
    """An image that was added, and how a text names it."""

    part: PartHandle | None
    name: str
    type: str
    width: int
    height: int
    mark: str

    def sentence(self) -> str:
        """What it is, and how it gets into the text."""
        what = f"{self.width:,} x {self.height:,} pixels"
        if self.part is None:
            return f"The cover of the book is new: {what}."
        return f"{self.name} ({what}) stands behind the text; write {self.mark} in the text where it should stand."


@command(
    "add-image",
    title="Add an image",
    severity=Severity.ADD,
    work=Work.LONG,
    returns="the name of the image, and the words with which the text names it",
    example='/add-image 3 map.png "The bay"',
)
def add_image(
    ctx: Context,
    part: OwnerRef,
    file: Annotated[FilePath, Param("the picture: PNG, JPEG, GIF or WebP", names="file")],
    caption: Annotated[Caption, Param("what it shows, in a line")] = "",
) -> Effect[ImageAdded]:
    """Adds a picture from a file to a part, or makes it the cover of the book."""
    with open_book(ctx) as opened:
        uuid = _owner(opened, part)
    path = typed_path(file)
    data = images.read_file(path)
    ctx.check()
    image = images.image_of(data, path.name, caption=caption)

    def apply(tx: WriteTx) -> ImageAdded:
        space = tx.space(ctx.scope.space)
        made = (
            images.set_cover(space, ctx.scope.open_book, image, data)
            if uuid is None
            else images.add_image(space, uuid, image, data)
        )
        return ImageAdded(
            part=uuid, name=made.name, type=made.type, width=made.width, height=made.height, mark=reference(made)
        )

    return Effect(apply)


def _owner(opened: OpenBook, part: str) -> str | None:
    """The part that was named; None for the book, of which the cover is."""
    return None if part.strip().casefold() == COVER else opened.written_part(part)


class ImageRow(Result):
    """An image of the book."""

    part: PartHandle | None
    position: int | None
    name: str
    type: str
    width: int
    height: int
    kilobytes: int
    in_text: bool
    caption: str


class ImageList(Page):
    """The images of a book or of a part, in the order of the book."""

    thing = ("image", "images")

    images: list[ImageRow]


@command(
    "list-images",
    title="List the images",
    severity=Severity.READ,
    returns="a row for each image: its part, name, size, caption, and whether the text names it",
    example="/list-images 3",
    for_model="Lists the images of the book, or of one part: pass part for one. A text shows an image where it names "
    "it, as ![words](name); the others stand behind the text. You can't see the pictures.",
)
def list_images(ctx: Context, part: PlaceRef | None = None, offset: Offset = 0, limit: Limit = LIMIT) -> ImageList:
    """Lists the cover and the images of the parts, with the ones that the texts name."""
    with open_book(ctx) as opened:
        found = images.images_of_book(opened.space, opened.book.uuid)
        if part is not None:
            uuid = None if part.strip().casefold() == COVER else opened.read_part(part)
            found = [each for each in found if each.part == uuid]
        places = {uuid: place for place, uuid in enumerate(opened.all_parts())}
        found.sort(key=lambda each: -1 if each.part is None else places[each.part])
        some, page = page_of(found, offset, limit)
        texts = opened.space.texts([each.part for each in some if each.part is not None])
        rows = [_row(opened, each, texts) for each in some]
    return ImageList(images=rows, **page)


def _row(opened: OpenBook, placed: images.Placed, texts: Mapping[str, str]) -> ImageRow:
    image, uuid = placed.image, placed.part
    return ImageRow(
        part=uuid,
        position=None if uuid is None else opened.depths[uuid],
        name=image.name,
        type=image.type,
        width=image.width,
        height=image.height,
        kilobytes=-(-images.size_of(opened.space, image) // 1_000),
        in_text=uuid is not None and images.times_named(texts.get(uuid, ""), image.name) > 0,
        caption=image.caption,
    )


class ImageChanged(Told):
    """An image that was described or taken out."""

    result: str
    name: str
    times_named: int

    def sentence(self) -> str:
        """What was done, and what of it stands in the text still."""
        if self.result == "described":
            return f"{self.name} has a new caption."
        named = f" The text still names it {counted(self.times_named, 'time')}." if self.times_named else ""
        return f"{self.name} is taken out.{named} undo brings it back."


@command(
    "caption-image",
    title="Describe an image",
    severity=Severity.CHANGE,
    returns="the name of the image",
    example='/caption-image 3 map.png "The bay at low tide"',
    for_model="Writes the caption of an image, which readers who can't see it are told. Pass part (its handle, or "
    "cover), image (its name) and caption, one line.",
)
def caption_image(
    ctx: Context,
    part: OwnerRef,
    image: ImageRef,
    caption: Annotated[Caption, Param("what it shows, in a line; empty for none", for_model="The caption, one line.")],
) -> Effect[ImageChanged]:
    """Writes the caption of an image."""
    with open_book(ctx) as opened:
        owner, found, seen = _found(opened, part, image)
    new = replace(found, caption=images.one_caption(caption))

    def apply(tx: WriteTx) -> ImageChanged:
        images.change_image(tx.space(ctx.scope.space), owner, found.name, new)
        return ImageChanged(result="described", name=found.name, times_named=0)

    return Effect(apply, reads=seen)


def _found(opened: OpenBook, part: str, name: str) -> tuple[Book | Part, Image, dict[tuple[str, str], bytes | None]]:
    """The owner that was named, its image, and the state that was read."""
    uuid = _owner(opened, part)
    owner: Book | Part = opened.book if uuid is None else opened.load(uuid)[0]
    image = images.find_image(owner, name)
    cls = type(owner)
    return owner, image, {(cls.KIND, owner.uuid): opened.space.hashes(cls, [owner.uuid])[owner.uuid]}


@command(
    "remove-image",
    title="Take an image out",
    severity=Severity.REMOVE,
    destructive=True,
    returns="the name of the image, and how often the text still names it",
    example="/remove-image 3 map.png",
    for_model="Takes an image out of a part, or the cover from the book. Pass part (its handle, or cover) and image "
    "(its name). What the text says of it stays: take that out with edit-part.",
)
def remove_image(ctx: Context, part: OwnerRef, image: ImageRef) -> Effect[ImageChanged]:
    """Takes an image out of a part, or the cover from the book."""
    with open_book(ctx) as opened:
        owner, found, seen = _found(opened, part, image)
        where = "the book" if isinstance(owner, Book) else opened.label(owner.uuid)
    named = 0 if isinstance(owner, Book) else images.times_named(owner.text, found.name)
    ctx.confirm(f"Take the image {quoted(found.name)} out of {where}?", [_what(found)])

    def apply(tx: WriteTx) -> ImageChanged:
        images.change_image(tx.space(ctx.scope.space), owner, found.name, None)
        return ImageChanged(result="removed", name=found.name, times_named=named)

    return Effect(apply, reads=seen)


def _what(image: Image) -> str:
    words = f"{image.type.rpartition('/')[2].upper()}, {image.width:,} x {image.height:,} pixels"
    return f"{words}: {image.caption}" if image.caption else words


class ImageSaved(Told):
    """An image that was written to a file."""

    file: str
    bytes: int

    def sentence(self) -> str:
        """Where it is."""
        return f"The image is {self.file} ({counted(self.bytes, 'byte')})."


@command(
    "export-image",
    title="Save an image",
    severity=Severity.READ,
    work=Work.LONG,
    returns="the file that was written",
    example="/export-image 3 map.png ~/map.png",
)
def export_image(
    ctx: Context,
    part: Annotated[
        Reference, Param("the part: its number, its title or its uuid; cover for the cover of the book", names="part")
    ],
    image: ImageRef,
    file: Annotated[FilePath, Param("the file to write, or a folder for one of the name of the image", names="file")],
) -> ImageSaved:
    """Writes an image to a file, byte for byte as it was added."""
    with open_book(ctx) as opened:
        _, found, _ = _found(opened, part, image)
        data = opened.space.blob(found.hash)
    path = typed_path(file)
    if path.is_dir():
        path = path / file_name(found)
    files.write_file(path, data, force=False)
    return ImageSaved(file=str(path.absolute()), bytes=len(data))
