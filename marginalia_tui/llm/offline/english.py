"""What the rules know of English: its small words, its legitimate doubles, its verbs of speech, signs of dialect.

The rules speak about English only. `speaks_english` is their gate: a text in another language, or a passage of
Latin in an English one, is left alone.
"""

import re
from functools import lru_cache

WORD = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)*")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


FUNCTION_WORDS = _words(
    "a about after again all also although always am an and another any are around as at away back be because been "
    "before being both but by came can could did do does down each even ever every few for from get go had has have "
    "he her here him his how i if in into is it its just know last less like little long made man many may me might "
    "more most much must my never no nor not nothing now of off old on once one only or other our out over own said "
    "same saw see shall she should since so some something still such than that the their them then there these they "
    "thing this those though through till time to too two under until up upon us very was way we well went were what "
    "when where which while who whom whose why will with within without would yes yet you your "
    "don't didn't wasn't isn't couldn't wouldn't can't won't i'm i'll i've i'd it's that's he's she's you're they're"
)

CERTAIN_DOUBLES = _words("a an the and or of into than because their your our its been every")
"""Words that English never says twice in a row, wherever they stand."""

NARRATED_DOUBLES = _words("i he she we they if whose")
"""Words that a narrator never says twice in a row; in speech they may be a stammer or a laugh."""

LEADING_DOUBLES = _words("in on at to for by with from through over under about after before as until while when")
"""Words that may end one clause and begin the next (`came in in the evening`), but never at the head of a clause."""

POSSESSED_DOUBLES = _words("his my this these those any such some")
"""Words that are never said twice right behind a preposition (`into his his pocket`)."""

PREPOSITIONS = _words(
    "in on at to for by with from through over under about after before into of upon against between behind beside"
)

PLAIN_DOUBLES = _words(
    "had that her is was are were do did can no so very really long far many much more never ever "
    "yes well there now come hush bye ha ho oh ah aye knock tut blah night run rub dear please go on by again too "
    "round over out who what you"
)
"""Doubles that are often meant: no concern of a person either."""

OF_BEFORE = _words("late course necessity old age right")
"""What may follow `of` when the `of` before it belongs to the clause that ends there (`thought of of late`)."""

SPEECH_VERBS = _words(
    "said says say asked asks cried cries replied replies answered answers whispered whispers muttered mutters "
    "murmured called calls shouted shouts added adds began begins continued went thought thinks told tells remarked "
    "observed exclaimed returned repeated growled snapped sighed laughed hissed breathed agreed admitted insisted "
    "suggested warned offered declared announced explained demanded inquired ejaculated protested grumbled read reads "
    "wrote writes wondered sang screamed yelled gasped grunted nodded smiled shrugged mumbled stammered managed put"
)

ELISIONS = _words(
    "tis twas twere twill twould tisn twasn em til till cause bout round neath gainst tween twixt fore cross cept "
    "scuse spose nuff nother n neither un er im ere way mongst stead"
)
"""What stands after an apostrophe at the head of a word, so that it is no opening quote."""

_DIALECT = _words(
    "ain't aint yer ye yeh d'ye ye'll ye're ye've thee thou thy hath doth dat dis dem dese dose de den wid gwine "
    "nuthin nothin' nuttin gonna wanna gotta lemme gimme dunno wot wuz sez hev hain't naw mebbe allus jest git cuz "
    "ter tew ze zis zat mon och aye wee bairn lass laddie ken dinna didna canna wouldna nae tha thar whar massa sar "
    "o' an' th' wi' fo' mo' po' yo' ol'"
)
_CLIPPED = re.compile(
    r"(?<![^\W\d_])['\u2019](?:em|un|im|er|e|is|as|ow|ave|and|ere|eard|ard|ome)\b|in['\u2019](?![^\W\d_])"
)
_STAMMER = re.compile(r"\b(\w{1,3})[-\u2010\u2011]\1|\b(\w+)(?:\u2026|\.{3}|\u2014)\s?\2\b", re.IGNORECASE)

LEAST_SHARE = 0.2
"""English prose has 40 to 55 of 100 words in `FUNCTION_WORDS`, other languages under 12."""


def words_of(text: str) -> list[str]:
    """The words of a text in lower case, apostrophes straight."""
    return [match.group().lower().replace("\u2019", "'") for match in WORD.finditer(text)]


@lru_cache(maxsize=512)
def speaks_english(text: str) -> bool:
    """Whether a text is English, as far as its small words tell; a text without words is not."""
    words = words_of(text)
    if not words:
        return False
    return sum(word in FUNCTION_WORDS for word in words) / len(words) >= LEAST_SHARE


def foreign(passage: str) -> bool:
    """Whether a paragraph of an English text is so clearly not English that nothing in it is certain."""
    words = words_of(passage)
    if len(words) < 8:
        return False
    return sum(word in FUNCTION_WORDS for word in words) / len(words) < LEAST_SHARE * 0.6


def is_dialect(passage: str) -> bool:
    """Whether a paragraph shows the marks of dialect, stammer or old speech."""
    if _STAMMER.search(passage) or _CLIPPED.search(passage):
        return True
    return any(
        match.group().lower().replace("\u2019", "'") in _DIALECT for match in re.finditer(r"[\w'\u2019]+", passage)
    )
