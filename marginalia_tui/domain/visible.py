"""Text on its way to a terminal: whatever a terminal would obey is shown as a sign instead.

One character becomes one, so that a place in what is shown is a place in what was given. Control characters become
their pictures, C1 controls, marks that turn the direction of the text and unpaired surrogates `\ufffd`; a tab
becomes a space.
"""

import re

CONTROLS: dict[int, str] = {code: chr(0x2400 + code) for code in range(0x20)}
"""Code point -> the sign that is shown in its place; the line feed is taken out where lines are wanted."""
CONTROLS[0x09] = " "
CONTROLS[0x7F] = "\u2421"
CONTROLS.update(dict.fromkeys(range(0x80, 0xA0), "\ufffd"))
CONTROLS.update(dict.fromkeys(range(0xD800, 0xE000), "\ufffd"))
CONTROLS.update(dict.fromkeys((*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0xFEFF), "\ufffd"))
CONTROLS.update({0x2028: "\u2424", 0x2029: "\u2424"})

_LINE_CONTROLS = {**CONTROLS, 0x0A: "\u2424"}
_TEXT_CONTROLS = {code: sign for code, sign in CONTROLS.items() if code != 0x0A}
_UNSAFE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]")


def visible(text: str) -> str:
    """The text with everything that a terminal would obey shown as a sign; line feeds stay."""
    return text.translate(_TEXT_CONTROLS) if _UNSAFE.search(text) else text


def visible_line(text: str) -> str:
    """The same for a text that must stay on one line: a line feed becomes `\u2424`."""
    return text.translate(_LINE_CONTROLS) if "\n" in text or _UNSAFE.search(text) else text
