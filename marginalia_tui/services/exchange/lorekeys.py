"""The keys of a lorebook as one filter, and a filter as keys.

Other programs look for keys: words, or regular expressions between slashes, and sometimes for secondary ones that must
be there too, or must not. Here an entry has one filter. Where one plain key says it all, the filter is that text;
whatever needs more becomes a regular expression that fits the same texts.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from marginalia_tui.domain.errors import Invalid
from marginalia_tui.services.exchange.jsregex import NoExpression, translate

NEVER = "(?!)"
"""A filter that nothing fits: of an entry that has no key, and so is never active."""
LONGEST = 20_000
"""Characters of a filter made of keys."""

_SLASHED = re.compile(r"/(.+?)/([gimsuy]*)", re.DOTALL)
_OPEN_SLASH = re.compile(r"(?:^|[^\\])/", re.DOTALL)
_SPECIAL = re.compile(r"[\\^$.|?*+(){}\[\]]")
_MACRO = re.compile(r"\{\{|<(?:user|char|bot)>", re.IGNORECASE)
_WORD = re.compile(r"\w", re.ASCII)


class Logic(IntEnum):
    """What secondary keys do, by the numbers of SillyTavern."""

    AND_ANY = 0
    NOT_ALL = 1
    NOT_ANY = 2
    AND_ALL = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    """What another program looks for."""

    primary: tuple[str, ...] = ()
    secondary: tuple[str, ...] = ()
    """Only those that count: none where an entry does not ask for them."""
    logic: Logic = Logic.AND_ANY
    case: bool = False
    """Whether capitals count; expressions say it themselves."""
    words: bool = False
    """Whether a key of one word must be a whole word."""
    bare: bool = False
    """Whether a key without slashes may be an expression."""


@dataclass(frozen=True, slots=True)
class Filter:
    """The filter of an entry, with the names of what of the keys has no effect in it."""

    filter: str
    mode: str
    left: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Needle:
    """One key. `plain` where it is a text, `expression` in any case."""

    expression: str
    plain: str = ""
    counts: bool = False
    """Whether it refers to its own groups by their numbers."""


_UNKNOWN = _Needle(NEVER)
"""A key that can't be told here: it is taken as one that is never found."""


def filter_of(keys: Keys) -> Filter:
    """The filter that fits the texts in which the keys are found; `NEVER` when there are none that can be."""
    left: list[str] = []
    primary = _needles(keys.primary, keys, left)
    secondary = _needles(keys.secondary, keys, left)
    if len(primary) == 1 and not secondary and primary[0].plain and not keys.case and not keys.words:
        return Filter(primary[0].plain, "text", tuple(left))
    needles = [*primary, *secondary]
    if len(needles) > 1 and any(each.counts for each in needles):
        left += ["a key that refers to its own groups"] * sum(each.counts for each in needles)
        primary, secondary = ([_UNKNOWN if each.counts else each for each in some] for some in (primary, secondary))
    primary = [each for each in primary if each is not _UNKNOWN]
    if not primary:
        return Filter(NEVER, "regex", tuple(left or ["an entry without keys"]))
    made = _any(primary) if not secondary else _both(primary, secondary, keys.logic)
    if len(made) > LONGEST:
        return Filter(NEVER, "regex", (*left, f"keys of more than {LONGEST:,} characters together"))
    return Filter(made, "regex", tuple(left))


def keys_of(filter: str, mode: str) -> Keys:
    """The keys that say what a filter says; none for one that is empty or `NEVER`.

    Another program may read an expression differently: `filter_of` of the answer tells whether it is the same.
    """
    if not filter or (filter == NEVER and mode == "regex"):
        return Keys()
    if mode != "regex":
        return Keys(primary=(filter if _slashed(filter) is None else f"/{_escaped(filter, slash=True)}/i",))
    words = Keys(primary=tuple(filter.split("|")))
    if filter_of(words) == Filter(filter, "regex"):
        return words
    for flags in ("i", "is", "im", "ims"):
        for body in dict.fromkeys((filter, _as_javascript(filter))):
            key = f"/{_with_slashes(body)}/{flags}"
            if filter_of(Keys(primary=(key,))) == Filter(filter, "regex"):
                return Keys(primary=(key,))
    return Keys(primary=(f"/{_with_slashes(filter)}/ims",))


def _needles(keys: Sequence[str], how: Keys, left: list[str]) -> list[_Needle]:
    found = []
    for key in dict.fromkeys(each.strip() for each in keys):
        if not key:
            continue
        if _MACRO.search(key):
            left.append("a macro in a key")
        try:
            found.append(_needle(key, how))
        except Invalid:
            found.append(_UNKNOWN)
            left.append("a key that is an expression of another kind")
    return found


def _needle(key: str, how: Keys) -> _Needle:
    slashed = _slashed(key)
    try:
        if slashed is not None:
            return _expression(*slashed)
        if how.bare and _SPECIAL.search(key):
            return _expression(key, "" if how.case else "i")
    except NoExpression:
        pass  # then it is a text like any other, for the program it comes from as well
    made = _escaped(key)
    if how.words and not re.search(r"\s", key):
        before = r"(?a:\b)" if _WORD.match(key[0]) else r"(?a:(?<!\w))"
        behind = r"(?a:\b)" if _WORD.match(key[-1]) else r"(?a:(?!\w))"
        made = f"{before}{made}{behind}"
    if how.case and made.upper() != made.lower():
        made = f"(?-i:{made})"
    return _Needle(made, key)


def _expression(body: str, flags: str) -> _Needle:
    made = translate(body, flags)
    counts = re.search(r"\\[1-9]|\(\?P=", made.replace("\\\\", "")) is not None
    return _Needle(made, counts=counts)


def _slashed(key: str) -> tuple[str, str] | None:
    """The expression between slashes with its flags; None when a key is none."""
    match = _SLASHED.fullmatch(key)
    return None if match is None or _OPEN_SLASH.search(match[1]) else (match[1], match[2])


def _any(needles: Sequence[_Needle]) -> str:
    return "|".join(dict.fromkeys(each.expression for each in needles))


def _both(primary: Sequence[_Needle], secondary: Sequence[_Needle], logic: Logic) -> str:
    first = f"\\A(?=.*(?:{_any(primary)}))"
    every = "".join(f"(?=.*(?:{each}))" for each in dict.fromkeys(each.expression for each in secondary))
    if logic is Logic.AND_ANY:
        return f"{first}(?=.*(?:{_any(secondary)}))"
    if logic is Logic.AND_ALL:
        return f"{first}{every}"
    if logic is Logic.NOT_ANY:
        return f"{first}(?!.*(?:{_any(secondary)}))"
    return f"{first}(?!{every})"


def _escaped(text: str, *, slash: bool = False) -> str:
    made = _SPECIAL.sub(r"\\\g<0>", text)
    return made.replace("/", "\\/") if slash else made


def _with_slashes(expression: str) -> str:
    """An expression with each slash behind a backslash."""
    return re.sub(r"\\.|/", lambda found: "\\/" if found.group() == "/" else found.group(), expression, flags=re.DOTALL)


def _as_javascript(expression: str) -> str:
    """A translation as JavaScript writes it, for the pieces that `translate` makes."""
    for ours, theirs in (("(?a:\\b)", "\\b"), ("(?a:\\w)", "\\w"), ("[^\\n]", "."), ("\\A", "^"), ("\\Z", "$")):
        expression = expression.replace(ours, theirs)
    return expression
