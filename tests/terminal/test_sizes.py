"""Terminals of every size and kind: tiny, wide, changed while an answer streams, without colours, dumb."""

import re
from pathlib import Path

import pytest

from tests.support.scripted_server import ScriptedServer
from tests.terminal.homes import AGENT, Held, check_exactly_once, furnish
from tests.terminal.support import ESCAPE, Terminal

COLOUR = re.compile(rb"\x1b\[[\d;]*(?:3[0-7]|4[0-7]|9[0-7]|38;[25]|48;[25])[\d;]*m")


def test_a_terminal_that_is_too_small_says_so_and_grows_again(home: Path) -> None:
    with Terminal("--home", home, size=(20, 5), cold=True) as seen:
        seen.until("Make the terminal", "40 columns,", "12 lines.")
        seen.resize(80, 24)
        seen.until("The library is empty.", gone=["Make the terminal"])
        seen.resize(20, 5)
        seen.until("Make the terminal")
        seen.send("q")
        assert seen.ended() == 0


@pytest.mark.parametrize("size", [(40, 12), (80, 24), (200, 60)])
def test_a_run_from_start_to_review_in_a_terminal_of(home: Path, size: tuple[int, int]) -> None:
    held = Held(1)
    with ScriptedServer(held) as server:
        book = furnish(home, server.url)
        with Terminal("--home", home, size=size) as seen:
            seen.until("[Library]", "The Book")
            seen.send("A")
            seen.until(">Corrector")
            seen.send("s")
            seen.until("I am in the middle of it.")
            held.go.set()
            seen.until("It is done: v reviews")
            seen.send("v")
            seen.until("[x]", "part 1")
            seen.send("q")
            assert seen.ended() == 0
        check_exactly_once(home, book)


def test_the_size_changes_while_an_answer_streams(home: Path) -> None:
    held = Held(1, "Words that go on and on. " * 30)
    with ScriptedServer(held) as server:
        book = furnish(home, server.url)
        with Terminal("--home", home, size=(120, 40)) as seen:
            seen.until("[Library]", "The Book")
            seen.send("A")
            seen.until(AGENT, "s start")
            seen.send("s")
            seen.until("Words that go on and on.")
            for columns, lines in ((40, 12), (20, 5), (200, 60), (60, 15), (10, 3), (80, 24)):
                seen.resize(columns, lines)
                seen.until("Make the" if columns < 40 else "go on and on." if columns >= 40 else "")
            held.go.set()
            seen.until("It is done: v reviews")
            assert max(len(line) for line in seen.lines) <= 80
            seen.send("q")
            assert seen.ended() == 0
        check_exactly_once(home, book)


def test_without_colours_everything_is_still_told(home: Path) -> None:
    held = Held(1)
    with ScriptedServer(held) as server:
        furnish(home, server.url)
        with Terminal("--home", home, env={"NO_COLOR": "1"}) as seen:
            seen.until("[Library]", ">The Book")
            seen.send("A")
            seen.until(AGENT, "s start")
            seen.send("s")
            seen.until("I am in the middle of it.", "working")
            held.go.set()
            seen.until("It is done: v reviews")
            seen.send("q")
            assert seen.ended() == 0
        assert not _hues(seen.written)


def _hues(written: bytes) -> set[bytes]:
    """The colours that are no greys."""
    found = set()
    for red, green, blue in re.findall(rb"[34]8;2;(\d+);(\d+);(\d+)", written):
        if not red == green == blue:
            found.add(red + b"," + green + b"," + blue)
    return found


@pytest.mark.parametrize("term", ["dumb", "", "nobody-knows-it"])
def test_a_terminal_that_can_do_nothing_is_told_or_served(home: Path, term: str) -> None:
    """It opens, or ends with a sentence; never with a fault, never with a screen of rubbish."""
    with Terminal("--home", home, env={"TERM": term}) as seen:
        seen.wait(lambda: "The library is empty." in seen.text or "Error:" in seen.text, "the library or a sentence")
        if "Error:" in seen.text:
            assert seen.ended() == 1
            assert "Traceback" not in seen.text
        else:
            seen.send("q")
            assert seen.ended() == 0


def test_keys_that_are_typed_at_once_are_all_taken(home: Path) -> None:
    """A slow line brings many keys in one piece."""
    with Terminal("--home", home) as seen:
        seen.until("The library is empty.")
        seen.send("n")
        seen.until("Title of the new book")
        seen.send("A Book With A Long Title")
        seen.until("A Book With A Long Title")
        seen.send(ESCAPE)
        seen.until("The library is empty.", gone=["A Book"])
        seen.send("q")
        assert seen.ended() == 0
