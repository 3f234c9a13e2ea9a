"""Runs that go on when their terminal is gone, in a process of their own that the next studio finds and steers."""

import argparse
import os
import select
import signal
from contextlib import closing
from pathlib import Path

import pytest

from marginalia_tui.agent import agents, detached
from marginalia_tui.domain.runs import RunStatus
from marginalia_tui.headless import runs, verbs
from marginalia_tui.headless.signals import Interrupted
from marginalia_tui.settings import Settings, save_settings
from marginalia_tui.studio import Studio
from tests.support.scripted_server import ScriptedServer
from tests.terminal.homes import AGENT, Held, check_exactly_once, furnish, only_run
from tests.terminal.support import ENTER, SECONDS, Terminal, say


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


def test_a_run_is_worked_detached_and_parked_by_sigterm(home: Path) -> None:
    held = Held(1)
    with ScriptedServer(held) as server:
        book = furnish(home, server.url)
        with closing(Studio(home)) as studio:
            with studio.store.read() as tx:
                agent = agents.find_agent(tx, AGENT)
            studio.runner.start(agent.uuid)
        assert only_run(home).status is RunStatus.PAUSED
        told = say(home, "run", "work", "latest", "--detached")
        assert told.returncode == 0, told.stderr
        assert held.there.wait(SECONDS)
        pid = _worker(home)
        os.kill(pid, signal.SIGHUP)  # it has no terminal to lose
        os.kill(pid, signal.SIGTERM)
        _until_gone(pid)
        run = only_run(home)
        assert (run.status, run.interrupted) == (RunStatus.PAUSED, True)
        with closing(Studio(home)) as studio:
            studio.runner.work(run.uuid)
            studio.runner.wait(run.uuid, lambda seen: seen.status is RunStatus.DONE, SECONDS)
        check_exactly_once(home, book)
        assert (home / "logs" / "background.log").read_text() == ""


@pytest.mark.parametrize(("number", "keeps"), [(signal.SIGHUP, True), (signal.SIGHUP, False), (signal.SIGTERM, True)])
def test_a_verb_hands_its_runs_over_when_it_is_hung_up(
    home: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals, keeps: bool
) -> None:
    handed: list[Path] = []
    monkeypatch.setattr(detached, "hand_over", lambda home, runner: handed.append(home))

    def hang_up(studio: Studio, options: argparse.Namespace) -> int:
        assert studio.runner.working() == []
        raise Interrupted(number)

    monkeypatch.setitem(runs.VERBS, "list", hang_up)
    save_settings(home, Settings(keep_working=keeps))
    with pytest.raises(Interrupted):
        verbs.do(argparse.Namespace(verb="run", action="list", json=False), home)
    assert handed == ([home] if keeps and number == signal.SIGHUP else [])
