"""SIGTERM at many moments of `run start`: the run is parked, or was done, and goes on to the same end."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from marginalia_tui.domain.runs import RunStatus
from tests.conftest import NewHome
from tests.support import warm
from tests.support.scripted_server import ScriptedServer, by_results
from tests.terminal.homes import AGENT, REPLIES, check_exactly_once, furnish, runs_of
from tests.terminal.support import SECONDS, environment, say

SPREAD = 10
"""Moments over the whole of the run."""
BEGINNING = range(24, 40, 2)
"""And those about the commit that begins it."""


def _start(home: Path, at: int) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.support.killer", "--at", str(at), "--signal", "TERM", "--"]
    command += ["--home", str(home), "--json", "run", "start", AGENT]
    ended = warm.run(command, capture_output=True, text=True, timeout=SECONDS, env=environment())
    assert isinstance(ended, subprocess.CompletedProcess)
    return ended


@pytest.fixture(scope="module")
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer(by_results(REPLIES)) as opened:
        yield opened


@pytest.fixture(scope="module")
def moments(new_home: NewHome, server: ScriptedServer, tmp_path_factory: pytest.TempPathFactory) -> int:
    """How many moments an undisturbed run has."""
    home = new_home(tmp_path_factory.mktemp("count"))
    furnish(home, server.url)
    done = _start(home, 0)
    assert done.returncode == 0
    return int(done.stderr.split()[-1])


def _check(home: Path, server: ScriptedServer, at: int) -> None:
    book = furnish(home, server.url)
    ended = _start(home, at)
    assert ended.returncode == 128 + signal.SIGTERM
    assert ended.stderr.strip().isdigit(), ended.stderr
    runs = runs_of(home)
    if not runs:
        assert say(home, "run", "start", AGENT).returncode == 0
    elif runs[0].status is not RunStatus.DONE:
        assert runs[0].status is RunStatus.PAUSED
        assert say(home, "run", "work", "latest").returncode == 0
    check_exactly_once(home, book)


@pytest.mark.parametrize("part", range(SPREAD))
def test_f16_a_signal_at_any_moment_parks_the_run(home: Path, server: ScriptedServer, moments: int, part: int) -> None:
    _check(home, server, 1 + part * (moments - 40) // (SPREAD - 1))


@pytest.mark.parametrize("at", BEGINNING)
def test_f16_a_signal_while_a_run_begins(home: Path, server: ScriptedServer, at: int) -> None:
    _check(home, server, at)


WRAPPED = """
import os, signal
from marginalia_tui import cli

class Mark:
    def __set_name__(self, owner, name):
        os.kill(os.getpid(), signal.SIGTERM)

def make(arguments):
    class Made:
        mark = Mark()

cli._done = make
cli.main()
"""


def test_a_signal_while_a_class_is_made_ends_the_program_as_any_other() -> None:
    """Python 3.11 wraps what is raised there."""
    command = [sys.executable, "-c", WRAPPED]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False, env=environment())
    assert (ended.returncode, ended.stderr) == (128 + signal.SIGTERM, "")
