"""A notice of the system, asked of the terminal by a sequence: OSC 9 or OSC 777, inside tmux in its wrapping."""

from typing import Literal

Kind = Literal["off", "osc9", "osc777"]
LENGTH = 200
"""Characters of a notice: terminals cut or refuse long ones."""


def sequence(kind: Kind, title: str, text: str, *, tmux: bool = False) -> str:
    """The sequence for a notice; empty when none is wanted.

    What could end or begin a sequence, and the sign that parts the fields of OSC 777, is left out of the words.
    """
    if kind == "off":
        return ""
    title, text = _plain(title), _plain(text)
    made = f"\x1b]9;{title}: {text}\x07" if kind == "osc9" else f"\x1b]777;notify;{title};{text}\x07"
    if tmux:
        return "\x1bPtmux;" + made.replace("\x1b", "\x1b\x1b") + "\x1b\\"
    return made


def _plain(text: str) -> str:
    return "".join(char if char.isprintable() and char != ";" else " " for char in text[:LENGTH]).strip()
