"""What the bytes of a picture are, read with distrust.

PNG, JPEG, GIF and WebP are kept, as their bytes say and never as their name does. An SVG is refused: it is a text that
may hold programs and addresses. Whoever opens a picture with Pillow in this program is held to the same number of
pixels.
"""

import io
import struct
import warnings

from PIL import Image as Pillow

from marginalia_tui.domain.errors import Invalid, Refused

MAX_PIXELS = 50_000_000

Pillow.MAX_IMAGE_PIXELS = MAX_PIXELS
# Beyond the number it is no mere warning.
warnings.filterwarnings("error", category=Pillow.DecompressionBombWarning)

_TYPES = {"PNG": "image/png", "JPEG": "image/jpeg", "MPO": "image/jpeg", "GIF": "image/gif", "WEBP": "image/webp"}
"""The name that Pillow gives a format -> its media type."""
_BOMBS = (Pillow.DecompressionBombError, Pillow.DecompressionBombWarning)
_DAMAGE = (OSError, SyntaxError, ValueError, EOFError, IndexError, KeyError, TypeError, OverflowError, struct.error)
"""What Pillow raises on what is no whole picture."""


def inspect(data: bytes, name: str, *, whole: bool) -> tuple[str, int, int]:
    """What bytes are: media type, width and height in pixels.

    Args:
        data: the bytes.
        name: how they are called in a sentence.
        whole: reads the whole picture once, to see that it is.

    Raises:
        Invalid: they are no picture that is kept, or a damaged one.
        Refused: too many pixels.
    """
    if b"<svg" in data[:4_096].lower():
        raise Invalid(f"{name} is an SVG drawing, which may hold programs: save it as PNG, then add that.")
    bomb = Refused(f"{name} has more than {MAX_PIXELS // 1_000_000} million pixels: make it smaller.")
    other = Invalid(f"{name} is no picture that can be kept: give a PNG, JPEG, GIF or WebP file.")
    try:
        found = Pillow.open(io.BytesIO(data), formats=("PNG", "JPEG", "GIF", "WEBP"))
    except _BOMBS:
        raise bomb from None
    except _DAMAGE:
        raise other from None
    with found:
        width, height = found.size
        if width * height > MAX_PIXELS:
            raise bomb
        media_type = _TYPES.get(found.format or "")
        if media_type is None or not width or not height:
            raise other
        try:
            if whole:
                found.load()
        except _BOMBS:
            raise bomb from None
        except _DAMAGE:
            raise Invalid(f"{name} is damaged: its picture ends too early or can't be read. Copy it again.") from None
    return media_type, width, height
