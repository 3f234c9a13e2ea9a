"""Which words of a text are spelled, and under which forms a word may stand in a dictionary.

Pure rules, no dictionary: addresses, code, labels of footnotes, words with digits or all in capitals, and single
letters are not spelled; a word of another script than the dictionary's can't be judged and is left alone.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator

Knows = Callable[[str], bool]
"""Whether a word, in small letters with straight apostrophes, is right."""

_SKIP = r"https?://\S+|www\.\S+|[\w.+-]+@[\w-]+\.\w\S*|`[^`\n]*`|\[\^[^\]\n]*\]|\]\([^)\n]*\)|&#?\w+;"
_LETTERS = r"(?:[^\W_][\u0300-\u036f\u064b-\u0652]*)+"
_TOKEN = re.compile(rf"(?:{_SKIP})|(?P<word>{_LETTERS}(?:['\u2019\u02bc]{_LETTERS})*)")
_DIGIT = re.compile(r"\d")
LONGEST = 40
"""Letters of a word; a longer run of letters is none."""

_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f\u1e00-\u1eff\u0300-\u036f'\u2019\u02bc\ufb00-\ufb06]+")
_ARABIC = re.compile(r"[\u0600-\u06ff\u0750-\u077f'\u2019]+")
_SCRIPTS = {"ar": _ARABIC}
"""Language -> the letters of its script; the others are Latin."""

_NAMES = {
    "english": "en", "british english": "en", "american english": "en", "german": "de", "deutsch": "de",
    "french": "fr", "fran\u00e7ais": "fr", "spanish": "es", "espa\u00f1ol": "es", "italian": "it", "italiano": "it",
    "portuguese": "pt", "portugu\u00eas": "pt", "dutch": "nl", "nederlands": "nl", "latvian": "lv", "basque": "eu",
    "arabic": "ar", "eng": "en", "deu": "de", "ger": "de", "fra": "fr", "spa": "es", "ita": "it", "por": "pt",
    "nld": "nl",
}  # fmt: skip

_SUFFIXES = frozenset({"s", "d", "ll", "ve", "re", "m", "t", "em", "n"})
_ENGLISH = (
    (re.compile(r"our(?=(?:s|ed|ing|ful|less|able|er|ers|ite|ites|al|ally|ably|hood|hoods|man|men|y)?$)"), "or"),
    (re.compile(r"is(?=(?:e|ed|es|er|ers|ing|ation|ations|able)$)"), "iz"),
    (re.compile(r"ys(?=(?:e|ed|es|er|ers|ing)$)"), "yz"),
    (re.compile(r"tre(?=s?$)"), "ter"),
    (re.compile(r"bre(?=s?$)"), "ber"),
    (re.compile(r"ll(?=(?:ed|ing|er|ers|ous|ously|en)$)"), "l"),
    (re.compile(r"ence(?=s?$)"), "ense"),
    (re.compile(r"mould"), "mold"),
    (re.compile(r"kerb"), "curb"),
    (re.compile(r"cheque"), "check"),
    (re.compile(r"jewellery"), "jewelry"),
    (re.compile(r"programme"), "program"),
    (re.compile(r"scept"), "skept"),
    (re.compile(r"pyjama"), "pajama"),
    (re.compile(r"^aero"), "air"),
    (re.compile(r"draught"), "draft"),
    (re.compile(r"gaol"), "jail"),
    (re.compile(r"oeuv"), "euv"),
    (re.compile(r"^oe"), "e"),
    (re.compile(r"aemi"), "emi"),
    (re.compile(r"aluminium"), "aluminum"),
    (re.compile(r"maths$"), "math"),
    (re.compile(r"dreamt$"), "dreamed"),
)
"""British ways to write a word, and the American one that stands in the dictionary."""
_SHORTEST = 4
"""Letters of a word that may be a British one."""


def language_code(language: str) -> str:
    """The language of a book as two letters: `en-GB` and `English` are `en`."""
    name = language.strip().casefold()
    return _NAMES.get(name) or _NAMES.get(re.split(r"[-_ ]", name)[0]) or re.split(r"[-_]", name)[0]


def plain(word: str) -> str:
    """A word as it is looked up: composed, small, with straight apostrophes."""
    return unicodedata.normalize("NFC", word).replace("\u2019", "'").replace("\u02bc", "'").lower()


def words_of(text: str) -> Iterator[tuple[int, int]]:
    """The places, from and to, of the words that are spelled."""
    for found in _TOKEN.finditer(text):
        word = found["word"]
        if word is None or len(word) < 2 or len(word) > LONGEST or _DIGIT.search(word):
            continue
        if word.isupper() and word.lower() != word:
            continue
        yield found.span()


def in_script(word: str, language: str) -> bool:
    """Whether a word is written in the script of a language."""
    return _SCRIPTS.get(language, _LATIN).fullmatch(word) is not None


def is_right(word: str, language: str, knows: Knows) -> bool:
    """Whether a word is right in one of the forms that a dictionary leaves out.

    Args:
        word: as `plain` makes it.
        language: two letters.
        knows: the dictionary and the words that count as right.
    """
    if knows(word):
        return True
    if "'" in word:
        pieces = [piece for piece in word.split("'") if piece]
        if language == "en":
            return len(pieces) > 1 and pieces[-1] in _SUFFIXES and all(knows(piece) for piece in pieces[:-1])
        return all(_elided(piece, knows) for piece in pieces[:-1]) and _elided(pieces[-1], knows)
    if language == "en":
        return len(word) >= _SHORTEST and any(
            (other := pattern.sub(new, word)) != word and knows(other) for pattern, new in _ENGLISH
        )
    return language in ("de", "nl") and _compound(word, knows)


def _elided(piece: str, knows: Knows) -> bool:
    """A piece beside an apostrophe: short, or a word, or one that lost its last vowel."""
    return len(piece) <= 2 or knows(piece) or any(knows(piece + vowel) for vowel in "aeo")


def _compound(word: str, knows: Knows) -> bool:
    """Two words in one, with or without an s between them."""
    for cut in range(4, len(word) - 3):
        head, tail = word[:cut], word[cut:]
        if knows(tail) and (knows(head) or (head.endswith("s") and len(head) > 4 and knows(head[:-1]))):
            return True
    return False


def like(word: str, model: str) -> str:
    """A word with the capitals of another: a suggestion in the place of what was typed."""
    if len(model) > 1 and model.isupper():
        return word.upper()
    return word[:1].upper() + word[1:] if model[:1].isupper() else word
