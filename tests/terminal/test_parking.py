"""How a run outlives the program that works it: quits, signals, hang-ups, kills; and goes on to the same end."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from marginalia_tui.domain.runs import RunStatus
from tests.support import warm
from tests.support.scripted_server import ScriptedServer
from tests.terminal.homes import AGENT, Held, check_exactly_once, furnish, only_run, until_run
from tests.terminal.support import ENTER, ESCAPE, SECONDS, Terminal, environment, program, say

PARKED = "The studio was closed while it worked."
RECOVERED = "The studio ended while it worked."


def _start_in_studio(seen: Terminal) -> None:
    """From the library to the agents, and a run."""
    seen.until("[Library]", "The Book")
    seen.send("A")
    seen.until(AGENT, "s start")
    seen.send("s")


def _go_on(seen: Terminal, why: str) -> None:
    """Opens the console of the run that rests, and has it go on to its end."""
    seen.until("[Library]", "The Book")
    seen.send("A")
    seen.until(AGENT, "paused", "Enter console")
    seen.send(ENTER)
    seen.until(why, "r lets it go on, as does a message")
    seen.send("r")
    seen.until("a word for the agent?")
    seen.send(ENTER)
    seen.until("It is done: v reviews", gone=["agent working"])


def test_a_quit_parks_the_run_and_the_next_studio_goes_on(home: Path) -> None:
    held = Held(2)
    with ScriptedServer(held) as server:
        book = furnish(home, server.url)
        with Terminal("--home", home) as seen:
            _start_in_studio(seen)
            seen.until("I am in the middle of it.")
            seen.send(ESCAPE)
            seen.until("Status", "working", gone=["I am in the middle"])
            seen.send("q")
            assert seen.ended() == 0
        assert only_run(home).status is RunStatus.PAUSED
        with Terminal("--home", home) as seen:
            _go_on(seen, PARKED)
            seen.send("q")
            assert seen.ended() == 0
        check_exactly_once(home, book)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_to_the_studio_parks_the_run(home: Path, number: signal.Signals) -> None:
    held = Held(1)
    with ScriptedServer(held) as server:
        book = furnish(home, server.url)
        with Terminal("--home", home) as seen:
            _start_in_studio(seen)
            seen.until("I am in the middle of it.")
            seen.signal(number)
            assert seen.ended() == 128 + number, seen.text
        run = only_run(home)
        assert run.status is RunStatus.PAUSED
        assert run.reason.startswith(PARKED)
        assert say(home, "run", "work", "latest").returncode == 0
        check_exactly_once(home, book)


def test_a_terminal_that_goes_away_parks_the_run(home: Path) -> None:
    held = Held(1)
    with ScriptedServer(held) as server:
        book = furnish(home, server.url)
        with Terminal("--home", home) as seen:
            _start_in_studio(seen)
            seen.until("I am in the middle of it.")
            assert seen.hang_up() == 128 + signal.SIGHUP
        assert only_run(home).status is RunStatus.PAUSED
        assert say(home, "run", "work", "latest").returncode == 0
        check_exactly_once(home, book)


WAITS = """
import signal, subprocess, sys
signal.signal(signal.SIGHUP, lambda *_: None)
sys.exit(subprocess.run(sys.argv[1:]).returncode)
"""


def test_a_terminal_that_goes_away_parks_the_run_when_only_the_parent_is_told(home: Path) -> None:
    """As under make, which gets the signal of the terminal, passes it on to nobody, and waits."""
    held = Held(1)
    with ScriptedServer(held) as server:
        book = furnish(home, server.url)
        with Terminal("--home", home, under=[sys.executable, "-c", WAITS]) as seen:
            _start_in_studio(seen)
            seen.until("I am in the middle of it.")
            assert seen.hang_up() == 128 + signal.SIGHUP
        assert only_run(home).status is RunStatus.PAUSED
        assert say(home, "run", "work", "latest").returncode == 0
        check_exactly_once(home, book)


def test_f16_a_studio_that_is_killed_is_recovered_by_the_next(home: Path) -> None:
    held = Held(3)
    with ScriptedServer(held) as server:
        book = furnish(home, server.url)
        with Terminal("--home", home) as seen:
            _start_in_studio(seen)
            seen.until("I am in the middle of it.")
            seen.kill()
        assert only_run(home).status is RunStatus.RUNNING
        with Terminal("--home", home) as seen:
            _go_on(seen, RECOVERED)
            seen.send("q")
            assert seen.ended() == 0
        check_exactly_once(home, book)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_to_run_start_parks_the_run(home: Path, number: signal.Signals) -> None:
    held = Held(2)
    with ScriptedServer(held) as server:
        book = furnish(home, server.url)
        process = warm.Popen(
            program("--home", home, "--json", "run", "start", AGENT),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), text=True,
        )  # fmt: skip
        assert held.there.wait(SECONDS)
        process.send_signal(number)
        out, err = process.communicate(timeout=SECONDS)
        assert process.returncode == 128 + number
        assert '"event": "rest"' in out.splitlines()[-1]
        assert err == ""
        run = only_run(home)
        assert run.status is RunStatus.PAUSED
        assert run.reason.startswith(PARKED)
        assert say(home, "run", "work", "latest").returncode == 0
        check_exactly_once(home, book)


def test_f16_a_run_start_that_is_killed_is_taken_up(home: Path) -> None:
    held = Held(2)
    with ScriptedServer(held) as server:
        book = furnish(home, server.url)
        process = warm.Popen(
            program("--home", home, "run", "start", AGENT), stdout=subprocess.DEVNULL, env=environment()
        )
        assert held.there.wait(SECONDS)
        process.kill()
        process.wait(SECONDS)
        assert say(home, "run", "work", "latest").returncode == 0
        check_exactly_once(home, book)


def test_one_who_follows_a_run_hears_that_its_process_died(home: Path) -> None:
    held = Held(2)
    with ScriptedServer(held) as server:
        furnish(home, server.url)
        process = warm.Popen(
            program("--home", home, "run", "start", AGENT), stdout=subprocess.DEVNULL, env=environment()
        )
        assert held.there.wait(SECONDS)
        follower = warm.Popen(
            program("--home", home, "run", "attach", "latest"),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), text=True,
        )  # fmt: skip
        assert follower.stdout is not None
        assert "RUNNING" in follower.stdout.readline()
        process.kill()
        process.wait(SECONDS)
        _, err = follower.communicate(timeout=SECONDS)
        assert follower.returncode == 1
        assert "run work" in err
        assert err.count("\n") == 1


def test_a_studio_sees_that_the_process_of_a_run_died(home: Path) -> None:
    """The death of another process commits nothing: it is found when the agents are looked at again."""
    held = Held(2)
    with ScriptedServer(held) as server:
        book = furnish(home, server.url)
        process = warm.Popen(
            program("--home", home, "run", "start", AGENT), stdout=subprocess.DEVNULL, env=environment()
        )
        assert held.there.wait(SECONDS)
        until_run(home, lambda run: run.rounds == 2)
        process.kill()
        process.wait(SECONDS)
        with Terminal("--home", home) as seen:
            _go_on(seen, RECOVERED)
            seen.send("q")
            assert seen.ended() == 0
        check_exactly_once(home, book)
