"""Search and replace, whatever the texts are of: the parameters, the places, the limit and their preview.

A dry run shows every place as it is and as it becomes, a page of them at a time; a replacement that is made shows the
first few.
"""

from typing import Annotated, Any, NamedTuple

import regex
from pydantic import Field

from marginalia_tui.commands.bounds import LIMIT, MAX_LIMIT, page_fields
from marginalia_tui.commands.definition import Param
from marginalia_tui.commands.omissions import new_omissions
from marginalia_tui.commands.patterns import Pattern, Search, around
from marginalia_tui.commands.results import Result
from marginalia_tui.domain.errors import Invalid, Refused
from marginalia_tui.domain.sentences import counted, quoted

MAX_HITS = 1_000
SAMPLES = 5
"""Places that are shown of a replacement that is made."""

ExactPattern = Annotated[
    Pattern, Param("what to look for, capitals and all", for_model="The exact text to look for. Capitals count.")
]
Replacement = Annotated[
    str,
    Field(max_length=10_000),
    Param(
        r"what to put there; with regex \1 is the first group",
        for_model=r"The text to put there. With mode regex, \1 is what the first group found.",
    ),
]
MaxHits = Annotated[
    int,
    Field(ge=1, le=1_000_000),
    Param(
        "refuse when there are more places than this",
        for_model="The most places to change. When there are more, nothing is changed. Leave it out for 1000.",
    ),
]
DryRun = Annotated[
    bool,
    Param("only count, and show the places", for_model="true: change nothing, only return hits and samples."),
]
SkipPlaces = Annotated[
    int,
    Field(ge=0),
    Param("how many places a dry run skips", for_model="With dryRun: the places to skip, to see those behind them."),
]
ShowPlaces = Annotated[
    int,
    Field(ge=1, le=MAX_LIMIT),
    Param(f"how many places a dry run shows, at most {MAX_LIMIT}", for_model="With dryRun: how many places to return."),
]
SHOWN = LIMIT
"""Places that a dry run shows unless it is told otherwise."""
IgnoreCase = Annotated[bool, Param("whether capitals do not count", for_model="true: capitals do not count.")]


class Place(NamedTuple):
    """A place, as it is and as it becomes, with what stands around it."""

    before: str
    after: str


class Window(NamedTuple):
    """Which of the places are shown."""

    offset: int
    limit: int


def window(dry_run: bool, offset: int, limit: int) -> Window:
    """The places that are shown: a page of a dry run, the first few of a replacement that is made."""
    return Window(offset, limit) if dry_run else Window(0, SAMPLES)


class Preview(Result):
    """What a search and replace did, or would do. A subclass adds the samples, and counts what holds the places."""

    dry_run: bool
    hits: int
    note: str | None = None
    truncated: bool | None = None
    """There and true when a dry run found places behind those that it shows."""
    next_offset: int | None = None
    """The offset that shows them."""

    def told(self, holders: str) -> str:
        """The numbers in words; `holders` is how many parts or entries have a place."""
        if self.note:
            return self.note
        numbers = f"{counted(self.hits, 'place')} in {holders}"
        if not self.dry_run:
            return f"Changed {numbers}."
        more = f" More places than these: offset {self.next_offset} shows them." if self.truncated else ""
        return f"Nothing was changed (a dry run): {numbers} would be.{more}"

    def untold(self) -> frozenset[str]:
        """The sentence says the numbers."""
        return frozenset({"dry_run", "hits", "note", "truncated", "next_offset"})


class Replacing:
    """Replaces every place of a pattern in the texts of one command.

    Args:
        pattern: what to look for.
        replacement: what to put there; with the mode `regex` it may name groups.
        mode: `text`, `word` or `regex`.
        shows: which places are shown.
        ignore_case: whether capitals do not count.

    Raises:
        Invalid: the pattern is empty or no regular expression.
    """

    def __init__(self, pattern: str, replacement: str, mode: str, shows: Window, *, ignore_case: bool) -> None:
        self.pattern = pattern
        self.shows = shows
        self.hits = 0
        """The places in all texts so far."""
        self._search = Search(pattern, mode, case_sensitive=not ignore_case)
        self._replacement = replacement
        self._groups = mode == "regex"

    def replace(self, text: str) -> tuple[str, list[Place]] | None:
        """The text with every place replaced, and those of its places that are shown; None without a place.

        Raises:
            Invalid: the replacement names a group that the pattern does not have.
            Refused: the time of the command is used up.
        """
        pieces: list[str] = []
        places: list[Place] = []
        end = 0
        for match in self._search.find(text):
            new = expanded(match, self._replacement) if self._groups else self._replacement
            pieces += [text[end : match.start()], new]
            end = match.end()
            self.hits += 1
            if self.shows.offset < self.hits <= self.shows.offset + self.shows.limit:
                before, after = around(text, match.start(), match.end(), 25)
                places.append(Place(before + _short(match.group()) + after, before + _short(new) + after))
        return ("".join([*pieces, text[end:]]), places) if pieces else None

    def page(self, dry_run: bool, shown: int) -> dict[str, Any]:
        """The fields of `Preview` that tell of the places behind those that a dry run shows."""
        fields = page_fields(self.hits, self.shows.offset, shown) if dry_run else {}
        return {name: fields[name] for name in ("truncated", "next_offset")} if fields.get("truncated") else {}

    def check_limit(self, max_hits: int) -> None:
        """Refuses more places than were allowed.

        Raises:
            Refused: there are more.
        """
        if self.hits > max_hits:
            raise Refused(
                f"{quoted(self.pattern)} is there {self.hits:,} times, more than maxHits ({max_hits:,}): nothing was "
                f"changed. Make the pattern narrower, or give maxHits {self.hits}."
            )


def check_omissions(old: str, new: str) -> None:
    """Refuses a replacement that leaves a mark such as `[...]` behind.

    Raises:
        Invalid: it does.
    """
    if added := new_omissions(old, new):
        raise Invalid(
            f"The replacement would leave {quoted(added[0])} in the text, which stands for words that are left "
            "out: nothing was changed."
        )


def _short(text: str) -> str:
    return text if len(text) <= 120 else text[:119] + "\u2026"


def expanded(match: "regex.Match[str]", template: str) -> str:
    """What a replacement with groups becomes at a place.

    Raises:
        Invalid: it names a group that the pattern does not have.
    """
    try:
        return match.expand(template)
    except (regex.error, IndexError, KeyError) as error:
        raise Invalid(
            f"The replacement {quoted(template)} names a group that the pattern does not have ({error}): "
            r"\1 is the first pair of brackets in it."
        ) from None
