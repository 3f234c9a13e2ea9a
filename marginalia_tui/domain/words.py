"""Counting words: one rule, everywhere.

A run of letters, digits and marks is a word (an apostrophe or a hyphen inside does not part it); each Han
character and each kana counts as one, since those scripts write no spaces.
"""

import re

_SINGLE = (
    "\u3005\u3007\u3041-\u309f\u30a0-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd"
)
_LETTERS = rf"[^\W_{_SINGLE}]++"
_WORD = re.compile(rf"{_LETTERS}(?:['\u2019\u2010\u2011-]{_LETTERS})*+|[{_SINGLE}]")


def find_words(text: str) -> list[str]:
    """The words of a text, in order."""
    return _WORD.findall(text)


def count_words(text: str) -> int:
    """The number of words of a text."""
    return len(_WORD.findall(text))
