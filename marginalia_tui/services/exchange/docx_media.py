"""The pictures of a DOCX: their files in the package, their relations, and what draws them in a line."""

import io
from collections.abc import Mapping, Sequence
from dataclasses import replace

from PIL import Image as Pillow

from marginalia_tui.domain.images import name_for
from marginalia_tui.domain.items import Image
from marginalia_tui.services.exchange.docx_runs import attribute
from marginalia_tui.services.exchange.manuscript import Chapter, Picture
from marginalia_tui.services.exchange.pictures import places

FOLDER = "media/"
"""Below the folder of the text."""
CONVERTED = "image/webp"
"""What Word can't show: it is written as PNG."""

_A = "http://schemas.openxmlformats.org/drawingml/2006/main"
_PIC = "http://schemas.openxmlformats.org/drawingml/2006/picture"
_WP = "http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"
_EMU = 9_525
"""English Metric Units of a pixel at 96 for each inch."""
_WIDEST, _HIGHEST = 5_731_510, 7_500_000
"""EMU of the text on a page."""
_SUFFIXES = {"png": "image/png", "jpg": "image/jpeg", "gif": "image/gif"}


class Media:
    """The pictures of a book; the same file is there once.

    Attributes:
        places: for each part the name of an image -> its file below the folder of the text.
        files: file -> its bytes.
    """

    def __init__(self, chapters: Sequence[Chapter]) -> None:
        fitted = [
            replace(chapter, images=tuple(_fit(each) for each in chapter.images)) if chapter.images else chapter
            for chapter in chapters
        ]
        self.files: dict[str, bytes] = {}
        self.places: list[Mapping[str, str]] = []
        for chapter, fit, where in zip(chapters, fitted, places(fitted, FOLDER), strict=True):
            self.places.append(
                {old.image.name: where[new.image.name] for old, new in zip(chapter.images, fit.images, strict=True)}
            )
            self.files.update((where[each.image.name], each.data) for each in fit.images)
        self._keys = {place: f"image{number}" for number, place in enumerate(self.files, start=1)}
        self._drawn = 0

    @property
    def relations(self) -> Mapping[str, str]:
        """File -> the id of its relation."""
        return self._keys

    @property
    def types(self) -> Mapping[str, str]:
        """Suffix -> media type, for those that there are."""
        there = {place.rpartition(".")[2] for place in self.files}
        return {suffix: kind for suffix, kind in _SUFFIXES.items() if suffix in there}

    def drawing(self, place: str, image: Image, words: str) -> str:
        """The run that draws a picture, at most as large as the text on a page."""
        width, height = image.width * _EMU, image.height * _EMU
        scale = min(1.0, _WIDEST / width, _HIGHEST / height)
        size = f'cx="{max(round(width * scale), 1)}" cy="{max(round(height * scale), 1)}"'
        self._drawn += 1
        name = f'id="{self._drawn}" name="{attribute(image.name)}"'
        fill = f'<a:blip r:embed="{self._keys[place]}"/><a:stretch><a:fillRect/></a:stretch>'
        shape = f'<a:xfrm><a:off x="0" y="0"/><a:ext {size}/></a:xfrm><a:prstGeom prst="rect"><a:avLst/></a:prstGeom>'
        drawn = (
            f'<pic:pic xmlns:pic="{_PIC}"><pic:nvPicPr><pic:cNvPr {name}/><pic:cNvPicPr/></pic:nvPicPr>'
            f"<pic:blipFill>{fill}</pic:blipFill><pic:spPr>{shape}</pic:spPr></pic:pic>"
        )
        return (
            f'<w:r><w:drawing><wp:inline xmlns:wp="{_WP}" distT="0" distB="0" distL="0" distR="0">'
            f'<wp:extent {size}/><wp:docPr {name} descr="{attribute(words)}"/>'
            f'<a:graphic xmlns:a="{_A}"><a:graphicData uri="{_PIC}">{drawn}</a:graphicData></a:graphic>'
            "</wp:inline></w:drawing></w:r>"
        )


def _fit(picture: Picture) -> Picture:
    """A picture as Word can show it."""
    if picture.image.type != CONVERTED:
        return picture
    buffer = io.BytesIO()
    with Pillow.open(io.BytesIO(picture.data), formats=("WEBP",)) as found:
        found.save(buffer, "PNG")
    image = picture.image
    return Picture(replace(image, type="image/png", name=name_for(image.name, "image/png")), buffer.getvalue())
