"""Spelling without a network: dictionaries of a package, the words that a book adds, and what was meant.

A dictionary is loaded at its first use, which takes a moment: on a thread. What is found right or wrong is kept, so
that asking again for the words of a line costs a look into a table.
"""

import threading
from collections.abc import Iterable
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache
from typing import TYPE_CHECKING

from marginalia_tui.domain.items import Book, Json
from marginalia_tui.domain.spelling import in_script, is_right, language_code, like, plain, words_of
from marginalia_tui.services.effective import inherited
from marginalia_tui.services.lore import entry_rows, read_tree
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY, Space
from marginalia_tui.store.store import Store

if TYPE_CHECKING:
    from spellchecker import SpellChecker

LANGUAGES = ("ar", "de", "en", "es", "eu", "fr", "it", "lv", "nl", "pt")
"""Those whose dictionary is large enough to mark by; the package has small ones of others."""
OWN = "spelling"
"""The attribute of a book with the words that its author calls right."""
SUGGESTIONS = 8
KEPT = 50_000
"""Verdicts that are kept before they are dropped."""
FAR = 12
"""Letters up to which two slips in one word are looked for: more takes seconds."""

_loading = threading.Lock()


@cache
def _checker(language: str) -> "SpellChecker":
    # The package is imported with the first dictionary: an author who wants no marks does not wait for it.
    from spellchecker import SpellChecker

    return SpellChecker(language=language)


def checker(language: str) -> "SpellChecker":
    """The dictionary of a language, loaded once."""
    with _loading:
        return _checker(language)


class Speller:
    """Tells which words of a text are wrong, for one book. Without a dictionary none is.

    Args:
        language: of the book, as its facts say it.
        names: texts whose words are right: titles of lore, of the book.
        own: the words that the author calls right.
    """

    def __init__(self, language: str, names: Iterable[str] = (), own: Iterable[str] = ()) -> None:
        self.language = language
        self._code = language_code(language)
        self._checker = checker(self._code) if self._code in LANGUAGES else None
        self._names = frozenset(plain(text[start:end]) for text in names for start, end in words_of(text))
        self.own = frozenset(map(plain, own))
        """The words that the author calls right, as they are looked up."""
        self._verdicts: dict[str, bool] = {}

    @property
    def works(self) -> bool:
        """Whether there is a dictionary."""
        return self._checker is not None

    def wrong(self, text: str) -> tuple[tuple[int, int], ...]:
        """The places, from and to, of the words that are not right."""
        if self._checker is None:
            return ()
        return tuple((start, end) for start, end in words_of(text) if not self.is_right(text[start:end]))

    def is_right(self, word: str) -> bool:
        """Whether a word is right, or can't be judged."""
        found = self._verdicts.get(word)
        if found is None:
            if len(self._verdicts) >= KEPT:
                self._verdicts.clear()
            found = self._verdicts[word] = not in_script(word, self._code) or is_right(
                plain(word), self._code, self._knows
            )
        return found

    def has(self, word: str) -> bool:
        """Whether a word is on the list of the book."""
        return plain(word) in self.own

    def _knows(self, word: str) -> bool:
        assert self._checker is not None
        return word in self._names or word in self.own or word in self._checker

    def suggest(self, word: str) -> list[str]:
        """What may have been meant, the likeliest first. It may take a moment."""
        if self._checker is None:
            return []
        sought, checker = plain(word), self._checker
        near = get_close_matches(sought, sorted(self.own | self._names), n=2, cutoff=0.8)
        found = checker.known(checker.edit_distance_1(sought))
        if not found and len(sought) <= FAR:
            found = set(checker.candidates(sought) or ())
        found.discard(sought)
        ranked = sorted(found, key=lambda each: (each[:1] != sought[:1], -checker[each], each))
        return [like(each, word) for each in dict.fromkeys([*near, *ranked])][:SUGGESTIONS]


@dataclass(frozen=True, slots=True)
class RightWords:
    """What the speller of a book is made of: its arguments."""

    language: str
    names: tuple[str, ...]
    own: tuple[str, ...]


def right_words(space: Space, book: Book) -> RightWords:
    """What holds for a book: its language, the titles and plain filters of its lore, its own words."""
    tree = read_tree(space, book)
    names = [book.title, book.author, *(each.name for each in tree.lorebooks.values())]
    for row in entry_rows(space, tree.lorebooks):
        names.append(row.name)
        if row.mode == "text":
            names.append(row.filter)
    language = inherited(space, book).value("language").value
    return RightWords(language, tuple(names), tuple(own_words(book)))


def own_words(book: Book) -> list[str]:
    """The words that the author of a book calls right; what is no list of words is taken for none."""
    kept = book.attributes.get(OWN)
    return [each for each in kept if isinstance(each, str)] if isinstance(kept, list) else []


def keep_word(store: Store, book: str, word: str, right: bool) -> None:
    """Puts a word on the list of a book, or takes it off; one change of the book.

    Raises:
        Locked: an agent holds the book.
        NotFound: the book is gone.
    """
    label = "word of the spelling list"
    with store.write(Act(actor="author", label=label, book=book)) as tx:
        space = tx.space(LIBRARY)
        now = space.get(Book, book)
        words: list[Json] = [each for each in own_words(now) if plain(each) != plain(word)]
        words = sorted([*words, word], key=str) if right else words
        attributes = {name: value for name, value in now.attributes.items() if name != OWN}
        space.put([replace(now, attributes={**attributes, OWN: words} if words else attributes)])
