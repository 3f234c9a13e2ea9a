"""Bytes of a text to characters: which encoding, which line ends, which characters may stay.

The rule for what does not belong in a book: line ends (CR, CRLF, NEL, line and page separators, form feeds) become
line feeds; other control characters become their visible sign (ESC is shown as U+241B), so that nothing in a text
can steer a terminal and nothing is dropped; C1 controls are read as the Windows characters that they nearly always
were; lone surrogates become U+FFFD. NUL bytes make a file binary. Whatever can't be read exactly is refused: a
guess that loses characters is never made.
"""

import codecs
import re
from dataclasses import dataclass

from charset_normalizer import from_bytes

from marginalia_tui.domain.errors import Invalid

_SAMPLE = 48 * 1024
"""Bytes that the guess of a legacy encoding looks at: the lines that are not ASCII."""

_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16: the one begins with the other
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

_NAMES = {
    "utf-16-le": "UTF-16",
    "utf-16-be": "UTF-16",
    "utf-32-le": "UTF-32",
    "utf-32-be": "UTF-32",
    "gb18030": "GB18030",
    "big5hkscs": "Big5",
    "cp1252": "Windows-1252",
    "cp1250": "Windows-1250",
    "cp1251": "Windows-1251",
    "cp932": "Shift JIS",
    "cp949": "Windows-949",
    "euc_jp": "EUC-JP",
    "koi8_r": "KOI8-R",
}
"""What a person calls an encoding."""

_SINGLE_BYTE = ["cp1252", "cp1250", "cp1251", "koi8_r", "cp1253", "cp1254", "iso8859_2", "mac_roman", "cp437", "cp850"]
_DOUBLE_BYTE = ("gb18030", "big5hkscs", "cp932", "euc_jp", "cp949")


@dataclass(frozen=True, slots=True)
class Decoded:
    """A text and how it was read. `encoding` is a codec name, `notes` are sentences for the author."""

    text: str
    encoding: str
    notes: tuple[str, ...] = ()


def decode(data: bytes, name: str) -> Decoded:
    """Reads a text.

    Args:
        data: the whole file.
        name: how the file is called in a sentence.

    Raises:
        Invalid: it is binary, damaged, or in an encoding that can't be told.
    """
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            return _decoded(data[len(bom) :], encoding, name)
    if b"\0" in data:
        return _with_nul_bytes(data, name)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        _refuse_broken_utf8(data, error, name)
        return _legacy(data, name)
    return _cleaned(text, "utf-8", ())


def _decoded(data: bytes, encoding: str, name: str) -> Decoded:
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        shown = _NAMES.get(encoding, "UTF-8")
        raise Invalid(
            f"{name} says that it is {shown} but is broken at byte {error.start:,}: save it again as UTF-8."
        ) from error
    if "\0" in text:
        raise Invalid(f"{name} is not a text: give a book as Markdown, plain text or EPUB.")
    notes = () if encoding == "utf-8" else (f"It was read as {_NAMES[encoding]}.",)
    return _cleaned(text, encoding, notes)


def _with_nul_bytes(data: bytes, name: str) -> Decoded:
    """UTF-16 without a mark, or a text that a crash filled up with zeros; anything else is binary."""
    encoding = max(("utf-16-le", "utf-16-be"), key=lambda encoding: _utf16_score(data, encoding))
    if len(data) % 2 == 0 and _utf16_score(data, encoding) > 0.1:
        return _decoded(data, encoding, name)
    whole = data.rstrip(b"\0")
    if not whole or b"\0" in whole:
        raise Invalid(f"{name} is not a text: give a book as Markdown, plain text or EPUB.")
    rest = decode(whole, name)
    gone = len(data) - len(whole)
    note = f"{gone:,} empty bytes at its end were left out: the file may have been cut off by a crash."
    return Decoded(rest.text, rest.encoding, (*rest.notes, note))


def _utf16_score(data: bytes, encoding: str) -> float:
    """The share of spaces and common signs among the first characters; 0 when some can't stand in a text."""
    start = data[: min(len(data), 8192) & ~1].decode(encoding, "ignore")
    if not start or _UNWANTED.search(start):
        return 0.0
    return sum(1 for char in start if char in " \n\r\t,.\u3000\u3001\u3002\uff0c") / len(start)


_MULTIBYTE = re.compile(rb"[\xc3-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
_HIGH = re.compile(rb"[\x80-\xff]")


def _refuse_broken_utf8(data: bytes, error: UnicodeDecodeError, name: str) -> None:
    """Raises when nearly all that is not ASCII is good UTF-8: it is damaged, and no other encoding fits."""
    good = sum(len(found) for found in _MULTIBYTE.findall(data))
    high = len(_HIGH.findall(data))
    if good < 0.8 * high:
        return
    line = data.count(b"\n", 0, error.start) + 1
    raise Invalid(
        f"{name} is UTF-8 with broken bytes, the first in line {line:,}: mend that line and save it again as UTF-8."
    )


def _sample(data: bytes) -> bytes:
    """The lines with bytes beyond ASCII, from all over the text, as many as fit."""
    lines = [line for line in data.split(b"\n") if not line.isascii()]
    step = max(1, sum(map(len, lines)) // _SAMPLE)
    found: list[bytes] = []
    size = 0
    for line in lines[::step]:
        found.append(line if len(line) <= _SAMPLE else line[:_SAMPLE])
        size += len(found[-1])
        if size >= _SAMPLE:
            break
    return b"\n".join(found)


def _legacy(data: bytes, name: str) -> Decoded:
    sample = _sample(data)
    for encoding in _candidates(sample):
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        note = f"It was read as {_NAMES.get(encoding, encoding)}: check some accents before you go on."
        return _cleaned(text, encoding, (note,))
    raise Invalid(f"The encoding of {name} can't be told: save it as UTF-8 and import it again.")


def _candidates(sample: bytes) -> list[str]:
    """The encodings to try, the likeliest first."""
    doubles = [(score, encoding) for encoding in _DOUBLE_BYTE if (score := _double_byte_score(sample, encoding)) > 0.6]
    if doubles:
        doubles.sort(reverse=True)
        return [encoding for _, encoding in doubles]
    found = ["cp1252"] if _looks_western(sample) else []
    best = from_bytes(sample, cp_isolation=_SINGLE_BYTE, steps=5, chunk_size=512).best()
    if best is not None:
        found += [best.encoding, "cp1250", "iso8859_2", "mac_roman"]
    found.sort(key=lambda encoding: _oddness(sample, encoding))
    return list(dict.fromkeys(found))


_IN_WORD = re.compile(r"(?<=[^\W\d_])[^\w\s\x00-\x7f](?=[^\W\d_])")
_CASE_BREAK = re.compile(r"(?<=[^\W\d_])[^\W\d_]")


def _oddness(sample: bytes, encoding: str) -> float:
    """The share of what is not ASCII that stands oddly: a sign or a capital after a small letter."""
    text = sample.decode(encoding, "replace")
    high = sum(1 for char in text if char > "\x7f")
    signs = sum(1 for found in _IN_WORD.finditer(text) if found.group() not in "\u2019\u2010\u2011\u2013\u2014\xad")
    capitals = sum(
        1
        for found in _CASE_BREAK.finditer(text)
        if found.group() > "\x7f" and found.group().isupper() and text[found.start() - 1].islower()
    )
    return round((signs + capitals + 2 * text.count("\ufffd")) / max(high, 1), 2)


_COMMON_HAN = re.compile(
    "[的一是不了在人有我他这這个個们們来來到时時大地为為子中你说說生国國年着就那和要她出也得里裡后後自以会會家可下而过過"
    "天去能对對小多然于於心学學么麼之都好看起发發当當没沒成只如事把还還用第样樣道想作种種开開美总總从從无無情己面最女但现現"
    "前些所同日手又行意动動方期它头頭经經长長儿兒回位分爱愛老因很给給名法间間斯知世什两兩次使身者被高已亲親其进進此话話常与與"
    "曰何将將兵军軍王言谓謂吾乃马馬公问問见見二三四五六七八九十]"
)
_KANA = re.compile("[\u3041-\u30ff]")
_HANGUL = re.compile("[\uac00-\ud7a3]")
_ODD = re.compile("[\ue000-\uf8ff\uff61-\uff9f\ufffd\x80-\x9f]")


def _double_byte_score(sample: bytes, encoding: str) -> float:
    """How much of what is not ASCII makes sense in an East Asian encoding: 0 to 1 and a little more."""
    # The rare syllables that Windows-949 adds to EUC-KR are what other encodings look like in it.
    text = sample.decode("euc_kr" if encoding == "cp949" else encoding, "replace")
    high = [char for char in text if char > "\x7f"]
    if len(high) < 2:
        return 0.0
    beyond = "".join(high)
    odd = len(_ODD.findall(beyond)) / len(beyond)
    wide = sum(1 for char in high if "\u2e80" <= char <= "\uffef" or char in "\u201c\u201d\u2018\u2019\u2026\u2014\xb7")
    common = len(_COMMON_HAN.findall(beyond)) / len(beyond)
    kana = len(_KANA.findall(beyond)) / len(beyond)
    hangul = len(_HANGUL.findall(beyond)) / len(beyond)
    makes_sense, wanted = {
        "gb18030": (common, 0.12),
        "big5hkscs": (common, 0.12),
        "cp949": (hangul, 0.6),
        "cp932": (kana, 0.25),
        "euc_jp": (kana, 0.25),
    }[encoding]
    if makes_sense < wanted or odd > 0.05:
        return 0.0
    return wide / len(high) - odd + makes_sense / 10


def _looks_western(sample: bytes) -> bool:
    """Whether single accents and quotes stand among ASCII, as in Western European prose in Windows-1252."""
    try:
        text = sample.decode("cp1252")
    except UnicodeDecodeError:
        return False
    high = [char for char in text if char > "\x7f"]
    good = sum(1 for char in high if char.lower() in _WESTERN)
    return good >= 0.9 * len(high) and len(high) < 0.4 * len(text)


_WESTERN = frozenset("àáâãäåæçèéêëìíîïñòóôõöøùúûüýÿœßšž‘’“”„‚«»‹›…–—•¿¡ªº°§©®™·×½¼¾£€\xa0\xad")

_LINE_ENDS = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
_UNWANTED = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


def _visible(found: re.Match[str]) -> str:
    code = ord(found.group())
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    if code < 0xA0:
        return bytes([code]).decode("cp1252", "replace")
    return "\ufffd"


def clean(text: str) -> str:
    """A text with plain line ends and nothing that steers a terminal, by the rule of this module."""
    text = _LINE_ENDS.sub("\n", text)
    return _UNWANTED.sub(_visible, text)


def _cleaned(text: str, encoding: str, notes: tuple[str, ...]) -> Decoded:
    text = text.removeprefix("\ufeff").replace("\n\ufeff", "\n")  # files that were joined keep their marks
    text = _LINE_ENDS.sub("\n", text)
    text, count = _UNWANTED.subn(_visible, text)
    if count > max(20, len(text) // 50):
        raise Invalid("The file is not a text: give a book as Markdown, plain text or EPUB.")
    if count:
        notes = (*notes, f"{count:,} control characters are shown as signs.")
    return Decoded(text, encoding, notes)
