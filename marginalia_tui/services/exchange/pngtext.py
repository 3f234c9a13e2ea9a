"""The texts in a PNG picture: lorebooks and character cards travel in them. The pixels are never looked at.

Pillow reads the pieces of the file; each is measured before it is read, and what is packed is unpacked within Pillow's
limit, so that no piece can fill the memory.
"""

import base64
import binascii
import io
import struct
from collections.abc import Iterable, Mapping

from PIL.PngImagePlugin import PngStream

from marginalia_tui.domain.errors import Invalid, Refused
from marginalia_tui.services.exchange.files import megabytes

SIGNATURE = b"\x89PNG\r\n\x1a\n"
MAX_TEXT_BYTES = 32 * 1024 * 1024
"""Of one text as it stands in the file."""

_TEXTS = (b"tEXt", b"zTXt", b"iTXt")
_LONGEST_KEYWORD = 80


def png_texts(data: bytes, wanted: Iterable[str], name: str) -> dict[str, str]:
    """The texts of a picture by keyword, those alone that are wanted; the last of a keyword counts.

    Args:
        data: the whole file.
        wanted: keywords, in small letters.
        name: how the file is called in a sentence.

    Raises:
        Invalid: it is no PNG, or damaged before its end.
        Refused: a text that is wanted is too large, packed or not.
    """
    if not data.startswith(SIGNATURE):
        raise Invalid(f"{name} is no PNG picture: give the file as it was shared.")
    file = io.BytesIO(data)
    file.seek(len(SIGNATURE))
    known = frozenset(wanted)
    with PngStream(file) as stream:
        try:
            while True:
                kind, start, length = stream.read()
                if kind == b"IEND":
                    break
                if start + length + 4 > len(data):
                    raise Invalid(f"{name} is cut off: it ends before the picture does. Copy it again.")
                if kind in _TEXTS and _keyword(data, start, length) in known:
                    _check_length(length, name)
                    stream.crc(kind, stream.call(kind, start, length))
                else:
                    file.seek(start + length + 4)
        except struct.error:
            raise Invalid(f"{name} is cut off: it ends before the picture does. Copy it again.") from None
        except SyntaxError as error:
            raise Invalid(f"{name} is a damaged PNG picture ({error}): copy it again from where it was.") from None
        except ValueError:
            raise Refused(f"A text in {name} unpacks to far more than a card: it was not read.") from None
        texts: Mapping[str, str] = stream.im_text
        return {keyword.lower(): str(text) for keyword, text in texts.items()}


def _keyword(data: bytes, start: int, length: int) -> str:
    return data[start : start + min(length, _LONGEST_KEYWORD)].split(b"\0", 1)[0].decode("latin-1").lower()


def _check_length(length: int, name: str) -> None:
    if length > MAX_TEXT_BYTES:
        raise Refused(
            f"A text in {name} has {megabytes(length)}, and at most {megabytes(MAX_TEXT_BYTES)} are read: "
            "export the card without the pictures in it, or as JSON."
        )


def from_base64(text: str, name: str) -> bytes:
    """What a text in base64 says; white space in it is nothing, and so is missing padding.

    Raises:
        Invalid: it is none.
    """
    plain = "".join(text.split()).rstrip("=")
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise Invalid(f"The text in {name} is damaged (it is no base64): copy the picture again.") from None
