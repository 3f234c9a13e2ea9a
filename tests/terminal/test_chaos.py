"""Many processes on one home, of which some are killed: no fault, nobody waits for ever, and the store is sound."""

import random
import signal
import subprocess
import threading
from pathlib import Path

import pytest

from tests.support import warm
from tests.support.scripted_server import ScriptedServer, by_results
from tests.terminal.homes import AGENT, REPLIES, furnish
from tests.terminal.support import SECONDS, environment, program, say

HANDS, ACTS = 3, 9
"""Processes at once, and how many one after the other."""
KILLED = 0.3
"""Of these, so many are ended in the middle."""

VERBS = (
    "run start Corrector", "run start Corrector", "run resume latest", "run work latest", "run pause latest --now",
    "run stop latest --keep", "run stop latest --discard", "run send latest hello", "run finish latest",
    "run apply latest --all --take book", "run review latest", "run show latest", "run transcript latest", "books",
    "exec --book|The Book|/undo", "exec --book|The Book|/edit-part 1 One Uno",
    "exec --book|The Book|/append-to-part 2 x",
    "exec --yes --book|The Book|/delete-part 3", "exec --book|The Book|/redo",
)  # fmt: skip


def _words(verb: str) -> list[str]:
    head, *quoted = verb.split("|")
    return [*head.split(), *quoted]


@pytest.mark.timeout(300)
@pytest.mark.parametrize("seed", [1, 2])
def test_f40_whatever_many_processes_do_at_once(home: Path, tmp_path: Path, seed: int) -> None:
    wrong: list[tuple[object, ...]] = []

    def hand(number: int) -> None:
        dice = random.Random(seed * 100 + number)
        for _ in range(ACTS):
            words = _words(dice.choice(VERBS))
            process = warm.Popen(
                program("--home", home, "--json", *words),
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(),
            )  # fmt: skip
            end = None
            if dice.random() < KILLED:
                end = dice.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
                try:
                    process.wait(dice.random())
                except subprocess.TimeoutExpired:
                    process.send_signal(end)
            try:
                out, err = process.communicate(timeout=SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                wrong.append(("it hangs", words, *process.communicate()))
                continue
            if "Traceback" in err or "has a fault" in out or (end is None and process.returncode not in (0, 1, 3)):
                wrong.append((words, end, process.returncode, out, err))

    with ScriptedServer(by_results(REPLIES)) as server:
        furnish(home, server.url)
        threads = [threading.Thread(target=hand, args=[number]) for number in range(HANDS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not wrong
        looked = say(home, "doctor")
        assert looked.returncode == 0, looked.stdout
        log = (home / "logs" / "studio.log").read_text(encoding="utf-8")
        assert "Traceback" not in log, log[-3000:]
    assert AGENT in say(home, "agent", "list").stdout
