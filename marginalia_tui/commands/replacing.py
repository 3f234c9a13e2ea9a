"""Search and replace, whatever the texts are of: the parameters, the places, the limit and the samples."""

from typing import Annotated, NamedTuple

import regex
from pydantic import Field

from marginalia_tui.commands.definition import Param
from marginalia_tui.commands.omissions import new_omissions
from marginalia_tui.commands.patterns import Pattern, Search, around
from marginalia_tui.commands.sentences import quoted
from marginalia_tui.domain.errors import Invalid, Refused

MAX_HITS = 1_000
SAMPLES = 5

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
    Param("only count, and show five places", for_model="true: change nothing, only return hits and samples."),
]
IgnoreCase = Annotated[bool, Param("whether capitals do not count", for_model="true: capitals do not count.")]


class Place(NamedTuple):
    """A place, as it is and as it becomes, with what stands around it."""

    before: str
    after: str


class Replacing:
    """Replaces every place of a pattern in the texts of one command.

    Args:
        pattern: what to look for.
        replacement: what to put there; with the mode `regex` it may name groups.
        mode: `text`, `word` or `regex`.
        ignore_case: whether capitals do not count.

    Raises:
        Invalid: the pattern is empty or no regular expression.
    """

    def __init__(self, pattern: str, replacement: str, mode: str, *, ignore_case: bool) -> None:
        self.pattern = pattern
        self.hits = 0
        """The places in all texts so far."""
        self._search = Search(pattern, mode, case_sensitive=not ignore_case)
        self._replacement = replacement
        self._groups = mode == "regex"

    def replace(self, text: str) -> tuple[str, list[Place]] | None:
        """The text with every place replaced, and its places as long as samples are wanted; None without a place.

        Raises:
            Invalid: the replacement names a group that the pattern does not have.
            Refused: the time of the command is used up.
        """
        pieces: list[str] = []
        places: list[Place] = []
        end = 0
        for match in self._search.find(text):
            new = _expanded(match, self._replacement) if self._groups else self._replacement
            pieces += [text[end : match.start()], new]
            end = match.end()
            self.hits += 1
            if self.hits <= SAMPLES:
                before, after = around(text, match.start(), match.end(), 25)
                places.append(Place(before + _short(match.group()) + after, before + _short(new) + after))
        return ("".join([*pieces, text[end:]]), places) if pieces else None

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


def _expanded(match: "regex.Match[str]", template: str) -> str:
    try:
        return match.expand(template)
    except (regex.error, IndexError, KeyError) as error:
        raise Invalid(
            f"The replacement {quoted(template)} names a group that the pattern does not have ({error}): "
            r"\1 is the first pair of brackets in it."
        ) from None
