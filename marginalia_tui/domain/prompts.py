"""The prompts of a book by name: what each is for, and what its template is given.

A prompt is a template. The one that holds for a book is its own, or inherited (`domain.inherit`); the built-in ones
are files that ship with the studio.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PromptKind:
    """One of the prompts."""

    name: str
    label: str
    """The words that a person reads."""
    purpose: str
    """What it makes a model do: a few words, no full stop."""
    variables: tuple[str, ...]
    """What its template is given, beside what every template is."""


_TURN = ("sceneSetting", "povCharacter", "presentCharacters", "instructions")
_TELLING = ("narrativePov", "narrativeTense", "style")

EVERYWHERE = ("manuscriptName", "manuscriptDescription", "language", *_TELLING, *_TURN)
"""The variables of every template."""

PROMPTS: dict[str, PromptKind] = {
    each.name: each
    for each in (
        PromptKind("master", "master prompt", "how the book is written", ("backgroundLore", "summaries")),
        PromptKind("turn", "prompt of a turn", "what the next part is about", ()),
        PromptKind("summary", "summary prompt", "a summary of some parts", ("text", "backgroundLore")),
        PromptKind(
            "meta_summary", "meta summary prompt", "one summary of several", ("summaryBlocks", "backgroundLore")
        ),
        PromptKind("annotate", "prompt for notes", "notes on passages of a part", ("text", "task", "backgroundLore")),
        PromptKind("redraft", "prompt for a redraft", "a part written anew", ("text", "task", "backgroundLore")),
        PromptKind(
            "impersonate", "prompt for instructions", "instructions for the next part", ("text", "backgroundLore")
        ),
    )
}
"""Name -> prompt; `prompts` of a book or folder has these names as keys."""

LONGEST = 20_000
"""Characters of a template."""
