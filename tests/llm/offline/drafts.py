"""Drafts for property tests: English paragraphs with every kind of slip, code, addresses and markup in them.

A draft is decoded from bytes, one piece for each: fast to generate, and it shrinks to few pieces.
"""

from hypothesis import strategies as st


def _words(text: str) -> list[str]:
    return text.split()


_WORDS = _words(
    "the a of and to in it was he she I that had his her with at on for so lamp tower boat water keeper letter tide "
    "said asked old night Maren Tobias didn't don\u2019t it's its their there \u2019em o\u2019 *quite* **never** "
    "ain\u2019t went home https://a.b/c--d 5 1890 The He It"
)
_WORDS += ["the the", "and and", "`the the`", "`a  b`", "<br>", "[here](http://x.y/a--b)"]
_MARKS = (
    [", ", " , ", " ; ", "  ", "   ", "--", " -- ", " - ", "\u2014", " \u2014 ", " \u2013 ", ".  ", ". ", "? ", " . "]
    + [
        "\u201c",
        "\u201d ",
        '"',
        "\u201c",
        "\u201d\n\n",
        '" ',
        "\u2026 ",
        " he said. ",
        " said Maren. ",
        ",\u201d she asked. ",
    ]
    + [".\n\n", ".\n\n\u201c", ".\u201d\n\n\u201c", "\n", "  \n"]
)
_BLOCKS = [
    "\n\n```\nthe the  code -- here ,\n```\n\n",
    "\n\n    the the  indented ,\n\n",
    "\n\n# The the  heading ,\n\n",
    "\n\n* * *\n\n",
    "\n\n| the the | a  b |\n|---|---|\n| the the | x , |\n\n",
    "\n\nthe the line  \nof of verse ,\n\n",
    "\n\n> \u201cthe the quoted\n\n",
    "\n\n- a  list item\n\n",
    "\n\n\u201cHe was here and it was late,\u201d he said. \u201cGo home to the boat.\u201d\n\n",
    "\n\nThe tide was out\u2014it was late\u2014and the boat lay in the mud of the harbour.\n\n",
]
_PIECES = [*(f" {word}" for word in _WORDS * 3), *_MARKS, *_BLOCKS]
assert len(_PIECES) <= 256


def _decode(code: bytes) -> str:
    return "She was in the house of the keeper" + "".join(_PIECES[byte % len(_PIECES)] for byte in code)


drafts = st.binary(min_size=20, max_size=160).map(_decode)
"""One part as Markdown."""
books = st.lists(drafts, min_size=1, max_size=4)
"""Several parts."""
