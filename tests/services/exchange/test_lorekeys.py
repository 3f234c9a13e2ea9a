"""Filters find what keys find: measured against the rules of the program that the keys come from."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marginalia_tui.commands.lore_matching import LoreFinder
from marginalia_tui.domain.errors import Invalid
from marginalia_tui.domain.lore_needles import fold, fold_needle, needles_of
from marginalia_tui.services.exchange.jsregex import NoExpression, translate
from marginalia_tui.services.exchange.lorekeys import NEVER, Filter, Keys, Logic, filter_of, keys_of


def fits(found: Filter, text: str) -> bool:
    """As the activation of lore looks, with the quick test before it."""
    if found.mode == "text":
        return fold_needle(found.filter) in fold(text)
    needles = needles_of(found.filter)
    by_needle = needles is None or any(needle in fold(text) for needle in needles)
    by_expression = LoreFinder()(found.filter, [text]) is not None
    assert by_needle or not by_expression, "the quick test must not say no where the expression fits"
    return by_expression


def slow(keys: Keys, text: str) -> bool:
    """Plain keys as SillyTavern looks for them."""

    def one(key: str) -> bool:
        key, hay = key.strip(), text
        if not keys.case:
            key, hay = key.lower(), hay.lower()
        if keys.words and len(key.split()) == 1:
            return re.search(rf"(?:^|\W)({re.escape(key)})(?:$|\W)", hay, re.ASCII) is not None
        return key in hay

    if not any(one(key) for key in keys.primary):
        return False
    if not keys.secondary:
        return True
    found = [one(key) for key in keys.secondary]
    return {
        Logic.AND_ANY: any(found),
        Logic.AND_ALL: all(found),
        Logic.NOT_ANY: not any(found),
        Logic.NOT_ALL: not all(found),
    }[keys.logic]


WORDS = st.sampled_from(
    ["cat", "Cat", "dog", "a.b", "C++", "(x", "sea dog", "\u65e7\u949f\u697c", "\u949f", "$1", "x|y", "\u00e9t\u00e9"]
)
TEXTS = st.lists(
    st.sampled_from(
        [
            "cat",
            "CAT",
            "cats",
            "dog",
            "a.b",
            "aXb",
            "C++",
            "(x",
            "sea dog",
            "sea\ndog",
            "\u65e7\u949f\u697c",
            "a\u949fb",
            "$1",
            "\u00e9t\u00e9",
            "x|y",
            "\n",
        ]
    ),
    max_size=5,
).map(" ".join)


@settings(max_examples=150)
@given(
    st.builds(
        Keys,
        primary=st.lists(WORDS, min_size=1, max_size=3).map(tuple),
        secondary=st.lists(WORDS, max_size=3).map(tuple),
        logic=st.sampled_from(list(Logic)),
        case=st.booleans(),
        words=st.booleans(),
    ),
    TEXTS,
)
def test_plain_keys_find_what_they_found(keys: Keys, text: str) -> None:
    found = filter_of(keys)
    assert found.left == ()
    if found.mode == "text":  # looks for a space where any space stands, which no other program does
        assert fits(found, text) or not slow(keys, text)
    else:
        assert fits(found, text) == slow(keys, text)


@pytest.mark.parametrize(
    ("pattern", "flags", "text", "there"),
    [
        ("cat", "i", "a CAT", True),
        ("cat", "", "a CAT", False),
        (r"\bcat\b", "i", "cats", False),
        (r"\bcat\b", "i", "\u00e9cat\u00e9", True),  # for JavaScript an accented letter is no letter
        (r"\b\u949f", "i", "\u65e7\u949f", False),
        (r"\w+", "", "\u00e9", False),
        (r"\d", "", "\u0663", False),
        ("a.c", "i", "a\nc", False),
        ("a.c", "is", "a\nc", True),
        ("^b", "i", "a\nb", False),
        ("^b", "im", "a\nb", True),
        ("a$", "i", "a\nb", False),
        ("a$", "i", "a\n", False),
        ("a$", "im", "a\nb", True),
        (r"(a|b)\1", "i", "xaa", True),
        (r"(?<x>a|b)\k<x>", "i", "ab", False),
        ("[^]x", "", "\nx", True),
        ("[]", "", "x", False),
        ("[[a]", "", "[", True),
        (r"[\w-]", "", "-", True),
        (r"[^\d]", "", "7", False),
        (r"[\b]", "", "b", False),
        ("a{,2}", "", "a{,2}", True),
        ("a{2}", "", "aa", True),
        ("a{", "", "a{", True),
        (r"\x41\u0042", "", "AB", True),
        (r"\u{1F600}", "u", "\U0001f600", True),
        (r"\ud83d\ude00", "", "\U0001f600", True),
        (r"\p{Lu}", "u", "\u00c9", True),
        (r"\q", "", "q", True),
        (r"\cJ", "", "\n", True),
        (r"(?<!no )cat", "i", "no cat", False),
    ],
)
def test_expressions_mean_what_they_meant(pattern: str, flags: str, text: str, there: bool) -> None:
    assert (LoreFinder()(translate(pattern, flags), [text]) is not None) == there


@pytest.mark.parametrize(
    ("pattern", "flags"),
    [("(", ""), (")", ""), ("*", ""), ("a**", ""), ("a++", ""), ("[", ""), ("\\", ""), ("a{2}{3}", ""), ("a{3,2}", "")]
    + [("a", "ii"), ("a", "v"), (r"\q", "u"), ("]", "u"), ("(?*a)", "")],
)
def test_what_is_no_expression_is_a_text(pattern: str, flags: str) -> None:
    with pytest.raises(NoExpression):
        translate(pattern, flags)
    key = f"/{pattern}/{flags}"
    assert filter_of(Keys(primary=(key,))) == Filter(key, "text")


@pytest.mark.parametrize(
    ("pattern", "flags"),
    [("a", "y"), ("(?i:a)", ""), (r"\p{L}", ""), (r"\1", ""), (r"\01", ""), (r"[\W]", ""), (r"[z-a]", "")]
    + [("(?:a{999}){999}", ""), ("((((a{99}){99}){99}){99})", ""), ("x" * 3_000, ""), (r"\p{Nonsense}", "u")],
)
def test_what_can_not_be_told_is_kept_without_effect(pattern: str, flags: str) -> None:
    with pytest.raises(Invalid):
        translate(pattern, flags)
    found = filter_of(Keys(primary=(f"/{pattern}/{flags}",)))
    assert (found.filter, found.mode) == (NEVER, "regex")
    assert found.left == ("a key that is an expression of another kind",)
    beside = filter_of(Keys(primary=("cat",), secondary=(f"/{pattern}/{flags}",), logic=Logic.NOT_ANY))
    assert fits(beside, "a cat") and not fits(beside, "a dog")


def test_one_plain_key_stays_readable() -> None:
    assert filter_of(Keys(primary=("the lamp", " ", "the lamp"))) == Filter("the lamp", "text")
    assert filter_of(Keys(primary=("king", "queen"))) == Filter("king|queen", "regex")
    assert filter_of(Keys()) == Filter(NEVER, "regex", ("an entry without keys",))
    assert not fits(filter_of(Keys()), "anything")


def test_what_is_left_of_keys_is_named() -> None:
    assert filter_of(Keys(primary=("{{char}}", "<USER>"))).left == ("a macro in a key",) * 2
    both = filter_of(Keys(primary=(r"/(a)\1/", "b")))
    assert both.left == ("a key that refers to its own groups",)
    assert fits(both, "b") and not fits(both, "aa")
    assert filter_of(Keys(primary=tuple(f"{n:0500}" for n in range(50)))).filter == NEVER


def test_a_slash_inside_makes_a_text() -> None:
    assert filter_of(Keys(primary=("/a/b/",))) == Filter("/a/b/", "text")
    assert filter_of(Keys(primary=(r"/a\/b/i",))) == Filter("a/b", "regex")


@pytest.mark.parametrize(
    ("filter", "mode", "keys", "same"),
    [
        ("lamp", "text", ("lamp",), True),
        ("/lamp/", "text", (r"/\/lamp\//i",), False),
        ("king|queen", "regex", ("king", "queen"), True),
        (r"\A(?=.*a)(?!.*b)", "regex", ("/^(?=.*a)(?!.*b)/is",), True),
        (r"(?a:\b)cat(?a:\b)", "regex", (r"/\bcat\b/i",), True),
        (r"a/b|c", "regex", ("a/b", "c"), True),
        (r"[ab]/c", "regex", (r"/[ab]\/c/i",), True),
        (r"\bcat\b", "regex", (r"/\bcat\b/ims",), False),
        (NEVER, "regex", (), True),
    ],
)
def test_a_filter_as_keys(filter: str, mode: str, keys: tuple[str, ...], same: bool) -> None:
    assert keys_of(filter, mode).primary == keys
    again = filter_of(keys_of(filter, mode))
    assert ((again.filter, again.mode) == (filter, mode)) == same
