"""Runs that go on when their terminal is gone, in a process of their own that the next studio finds and steers."""

import os
import select
import signal
import subprocess
import threading
from pathlib import Path

from marginalia_tui.domain.runs import RunStatus
from marginalia_tui.settings import Settings, save_settings
from tests.support.scripted_server import ScriptedServer
from tests.terminal.homes import AGENT, Held, check_exactly_once, furnish, only_run, until_run
from tests.terminal.support import ENTER, SECONDS, Terminal, environment, program, say


class HeldTwice(Held):
    """Stops again for the one who asks anew after the first was given up."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self._left = 2


def _worker(home: Path) -> int:
    """The process that works the run."""
    worked_by = only_run(home).worked_by
    assert worked_by is not None
    return int(worked_by.partition("@")[0])


def _until_gone(pid: int) -> None:
    try:
        fd = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        assert select.select([fd], [], [], SECONDS)[0], "the process without a terminal does not end"
    finally:
        os.close(fd)


def test_a_run_works_on_without_its_terminal_and_the_next_studio_steers_it(home: Path) -> None:
    held = HeldTwice(2)
    with ScriptedServer(held) as server:
        book = furnish(home, server.url)
        save_settings(home, Settings(keep_working=True))
        with Terminal("--home", home) as seen:
            seen.until("[Library]", "The Book")
            seen.send("A")
            seen.until(AGENT, "s start")
            seen.send("s")
            seen.until("I am in the middle of it.")
            first = _worker(home)
            held.there.clear()
            assert seen.hang_up() == 128 + signal.SIGHUP
        assert held.there.wait(SECONDS)
        assert only_run(home).status is RunStatus.RUNNING
        second = _worker(home)
        assert second != first
        with Terminal("--home", home) as seen:
            seen.until("[Library]", "The Book", "1 agent working")
            seen.send("A")
            seen.until(AGENT, "working", "Enter console")
            seen.send(ENTER)
            seen.until("I am in the middle of it.", "worked by another process")
            seen.send("Z")
            seen.until("paused", gone=["I am in the middle of it."])
            _until_gone(second)
            seen.send("r")
            seen.until("a word for the agent?")
            seen.send(ENTER)
            seen.until("It is done: v reviews")
            seen.send("q")
            assert seen.ended() == 0
        check_exactly_once(home, book)


def test_a_verb_works_on_without_its_terminal_and_is_parked_by_sigterm(home: Path) -> None:
    held = HeldTwice(1)
    with ScriptedServer(held) as server:
        book = furnish(home, server.url)
        save_settings(home, Settings(keep_working=True))
        process = subprocess.Popen(
            program("--home", home, "--json", "run", "start", AGENT), stdout=subprocess.PIPE, env=environment()
        )
        assert held.there.wait(SECONDS)
        held.there.clear()
        process.send_signal(signal.SIGHUP)
        told = threading.Thread(target=process.communicate)
        told.start()
        assert held.there.wait(SECONDS)
        told.join(SECONDS)
        assert process.returncode == 128 + signal.SIGHUP
        pid = _worker(home)
        assert pid != process.pid
        os.kill(pid, signal.SIGHUP)  # it has no terminal to lose
        assert say(home, "run", "work", "latest", "--detached").returncode == 1
        os.kill(pid, signal.SIGTERM)
        _until_gone(pid)
        assert only_run(home).status is RunStatus.PAUSED
        again = say(home, "run", "work", "latest", "--detached")
        assert again.returncode in (0, 3), again.stderr
        until_run(home, lambda run: run.status is RunStatus.DONE)
        _until_gone(_worker(home))
        check_exactly_once(home, book)
        assert (home / "logs" / "background.log").read_text() == ""
