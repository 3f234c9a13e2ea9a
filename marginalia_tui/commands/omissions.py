"""Marks of omission: `[...]`, `(rest unchanged)` and their kind, which lazy writers leave where text should be.

A mark that the old text does not have would replace prose by a note about prose, so whoever writes one is told.
"""

import re

_BRACKETED = re.compile(r"\[[^\[\]]{1,80}\]|\([^()]{1,80}\)|<[^<>]{1,80}>|\{[^{}]{1,80}\}")
_LINE = re.compile(r"^[ \t]*(?:\.\.\.|\u2026|//)[^\n]{1,80}$", re.MULTILINE)
_EDGE = r"[\W_]*"
_WHAT = r"(?:text|chapter|part|scene|passage|story|document|content|file|section|paragraph|dialogue|conversation)s?"
_STAYS = r"(?:unchanged|the same|as before|as is|as it (?:was|is)|omitted|here|on|below)"
_GOES = r"(?:is|are|remains?|stays?|continues?|follows?|goes)"
_SAYS = re.compile(
    rf"{_EDGE}(?:"
    rf"(?:the )?(?:rest|remainder) of (?:(?:the|this|that|my|your) )?(?:\w+ )?{_WHAT}(?: {_GOES})?(?: {_STAYS})?"
    rf"|(?:the )?(?:rest|remainder)(?: {_GOES})? {_STAYS}"
    rf"|(?:the )?(?:remaining|original|previous|existing|old|other) (?:\w+ )?{_WHAT}(?: {_GOES})?(?: {_STAYS})?"
    rf"|(?:the )?{_WHAT} {_GOES} {_STAYS}"
    rf"|(?:{_WHAT} )?(?:truncated|omitted|unchanged|elided|snipped|snip|abridged|cut for (?:length|brevity))"
    r"|no changes?|same as (?:before|above)|as (?:before|above)|continues? (?:unchanged|as before)"
    rf"){_EDGE}",
    re.IGNORECASE,
)
_DOTS = re.compile(r"[\[({<]\s*(?:\.{2,}|\u2026+)\s*[\])}>]")


def omissions(text: str) -> list[str]:
    """The marks of omission in a text, in order."""
    found = [match.group() for match in _DOTS.finditer(text)]
    found += [match.group() for match in _BRACKETED.finditer(text) if _SAYS.fullmatch(match.group())]
    found += [match.group().strip() for match in _LINE.finditer(text) if _SAYS.fullmatch(match.group())]
    return found


def new_omissions(old: str, new: str) -> list[str]:
    """The marks of omission in `new` that `old` has fewer of."""
    left = omissions(old)
    added = []
    for mark in omissions(new):
        if mark in left:
            left.remove(mark)
        else:
            added.append(mark)
    return added
