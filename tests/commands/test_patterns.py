import contextlib
import re
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marginalia_tui.commands.pattern_guard import check_pattern
from marginalia_tui.commands.patterns import Search, around, first_words
from marginalia_tui.domain.errors import Invalid, Refused


@pytest.mark.parametrize(
    "pattern",
    [
        "a{65000}",
        "(?:a{1000}){1000}",
        "((ab){1000}){1000}",
        "(?:a{1,300}){3000}",
        "(?:[)(]{2000}){200}",
        r"(?:\){2000}){200}",
        "a{99999999999999999999}",
        "(?R)",
        "(a(?1))",
        "(?P<x>a(?&x))",
        "(?P<x>a(?P>x))",
    ],
)
def test_f52_patterns_that_would_fill_the_memory_are_refused(pattern: str) -> None:
    with pytest.raises(Invalid):
        Search(pattern, "regex")


@pytest.mark.parametrize(
    "pattern",
    [
        r"\d{4}-\d{2}",
        ".{0,300}x.{0,300}y.{0,300}",
        "(?:(?:a|b){20}){90}",
        "((a+)+)+",
        "{}",
        "a{",
        "[(]",
        r"\(",
        "()" * 50,
        ")(",
    ],
)
def test_patterns_of_a_common_size_are_let_through(pattern: str) -> None:
    check_pattern(pattern)


@given(st.text(alphabet=r"ab(){}[]\|?*+,0123R&P>^$.", max_size=30))
def test_any_pattern_is_searched_or_refused_with_a_sentence(pattern: str) -> None:
    try:
        list(Search(pattern, "regex").find("abba (ab) {3}"))
    except (Invalid, Refused) as error:
        assert error.message


@given(st.text(alphabet="aA b.\n\u00a0'\u2019\"-\u2014e\u0301\u00e9(*", min_size=1, max_size=10))
def test_a_text_is_found_in_itself(text: str) -> None:
    for tolerant in (False, True):
        spans = [match.span() for match in Search(text, tolerant=tolerant, case_sensitive=True).find(f"{text}")]
        assert spans[:1] == [(0, len(text))]


def test_f52_the_time_is_that_of_the_whole_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("marginalia_tui.commands.patterns.SECONDS", 0.3)
    search = Search("(a|aa)+$", "regex")
    began = time.monotonic()
    with pytest.raises(Refused, match="took longer than"):
        list(search.find("a" * 60 + "!"))
    with pytest.raises(Refused, match="took longer than"):
        list(search.find("a" * 60 + "!"))
    assert time.monotonic() - began < 5


def test_f52_the_screen_lives_while_a_pattern_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("marginalia_tui.commands.patterns.SECONDS", 1.0)
    ended = threading.Event()

    def search() -> None:
        with contextlib.suppress(Refused):
            list(Search("(a|aa)+$", "regex").find("a" * 60 + "!"))
        ended.set()

    thread = threading.Thread(target=search)
    thread.start()
    turns = 0
    while not ended.wait(0.005):
        turns += 1
    thread.join()
    assert turns > 20


def test_words_are_whole_in_every_script() -> None:
    text = "Licht, Lichter, licht\u00e4hnlich; \u00e9t\u00e9 \u00e9t\u00e9s"
    assert [match.group() for match in Search("licht", "word").find(text)] == ["Licht"]
    assert [match.span() for match in Search("\u00e9t\u00e9", "word").find(text)] == [
        (text.index("\u00e9"), text.index("\u00e9") + 3)
    ]


def test_what_stands_around_a_place() -> None:
    text = "One two three four five six\nseven eight nine ten eleven"
    start = text.index("six")
    before, after = around(text, start, start + 3, 12)
    assert (before, after) == ("four five ", " seven")
    assert around("six", 0, 3) == ("", "")
    assert re.fullmatch(r"One two three four\u2026", first_words(text, 20))
    assert first_words("short\n text") == "short text"
