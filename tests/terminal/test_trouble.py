"""The disk and the store in trouble while the studio is open: what was typed is kept somewhere."""

import signal
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from marginalia_tui.domain.runs import RunStatus
from tests.support import warm
from tests.support.scripted_server import ScriptedServer
from tests.terminal.homes import AGENT, Held, check_exactly_once, furnish, only_run
from tests.terminal.support import CTRL_Q, CTRL_S, ENTER, ESCAPE, SECONDS, Terminal, environment, program, say


def _edit(seen: Terminal, words: str) -> None:
    seen.until("[Library]", "The Book")
    seen.send(ENTER)
    seen.until("[Book]", "1 Chapter 1", "e edit")
    seen.send("e")
    seen.until("editing part 1", "saved")
    seen.send(words)
    seen.until(words, "not saved")


def test_what_is_typed_while_another_program_holds_the_store_is_put_into_a_file(home: Path) -> None:
    furnish(home, "http://127.0.0.1:9/v1")
    with Terminal("--home", home) as seen, closing(sqlite3.connect(home / "studio.db", isolation_level=None)) as other:
        seen.until("[Library]", "The Book")
        seen.send(ENTER)
        seen.until("[Book]", "1 Chapter 1", "e edit")
        seen.send("e")
        seen.until("editing part 1", "saved")
        other.execute("BEGIN IMMEDIATE")
        seen.send("Typed. ")
        seen.until("Typed. One", "not saved")
        seen.send(CTRL_Q)
        assert seen.ended() == 0
        told = seen.written.decode("utf-8", "replace").replace("\r\n", "")
        other.execute("ROLLBACK")
    (kept,) = home.glob("not-saved-*.md")
    assert kept.read_text(encoding="utf-8") == "# Chapter 1\n\nTyped. One\n"
    assert kept.stat().st_mode & 0o077 == 0
    assert kept.name in told


def test_a_home_that_is_moved_while_it_is_open_takes_nothing_more(home: Path) -> None:
    furnish(home, "http://127.0.0.1:9/v1")
    elsewhere = home.with_name("elsewhere")
    with Terminal("--home", home, size=(120, 30)) as seen:
        _edit(seen, "Typed. ")
        home.rename(elsewhere)
        seen.send(CTRL_S)
        seen.until("was moved or replaced", "not saved")
        elsewhere.rename(home)
        seen.send(CTRL_S)
        seen.until("3 words  saved" if "3 words" in seen.text else "  saved", gone=["not saved"])
        seen.send(ESCAPE)
        seen.until("Typed. One", gone=["editing"])
        seen.send("q")
        assert seen.ended() == 0
    assert "Typed. One" in say(home, "exec", "--book", "The Book", "/get-part 1").stdout


@pytest.mark.parametrize("kind", ["file", "damaged", "settings"])
def test_a_studio_that_can_not_be_opened_says_why_and_tries_again(home: Path, kind: str) -> None:
    furnish(home, "http://127.0.0.1:9/v1")
    whole = (home / "studio.db").read_bytes()
    sentence = {"file": "is a file", "damaged": "no SQLite file", "settings": "settings.json"}[kind]
    if kind == "damaged":
        (home / "studio.db").write_bytes(b"This is a text.\n" * 1000)
    elif kind == "settings":
        (home / "settings.json").write_text("{", encoding="utf-8")
    else:
        (home / "leases").rmdir()
        (home / "leases").write_bytes(b"")
    with Terminal("--home", home, size=(100, 24)) as seen:
        seen.until("The studio is not open", sentence, "r try again")
        if kind == "damaged":
            (home / "studio.db").write_bytes(whole)
        elif kind == "settings":
            (home / "settings.json").write_text("{}", encoding="utf-8")
        else:
            (home / "leases").unlink()
        seen.send("r")
        seen.until("[Library]", ">The Book", gone=["The studio is not open"])
        seen.send("q")
        assert seen.ended() == 0


def test_a_studio_that_stays_closed_ends_with_1(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"mine")
    with Terminal("--home", path) as seen:
        seen.until("The studio is not open", "q quit")
        seen.send("q")
        assert seen.ended() == 1
    assert path.read_bytes() == b"mine"


@pytest.mark.parametrize("screen", [True, False], ids=["studio", "run start"])
def test_a_signal_that_comes_again_and_again_still_parks_the_run(home: Path, screen: bool) -> None:
    held = Held(1)
    with ScriptedServer(held) as server:
        book = furnish(home, server.url)
        if screen:
            with Terminal("--home", home) as seen:
                seen.until("[Library]", "The Book")
                seen.send("A")
                seen.until(AGENT, "s start")
                seen.send("s")
                seen.until("I am in the middle of it.")
                for _ in range(20):
                    seen.signal(signal.SIGTERM)
                assert seen.ended() == 128 + signal.SIGTERM
        else:
            process = warm.Popen(
                program("--home", home, "run", "start", AGENT), stdout=subprocess.DEVNULL, env=environment()
            )
            assert held.there.wait(SECONDS)
            while process.poll() is None:
                process.send_signal(signal.SIGTERM)
            assert process.returncode == 128 + signal.SIGTERM
        assert only_run(home).status is RunStatus.PAUSED
        assert say(home, "run", "work", "latest").returncode == 0
        check_exactly_once(home, book)
