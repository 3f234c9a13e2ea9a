"""Several processes on one home: each sees what the others do, and no run is ever worked twice."""

import subprocess
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from pathlib import Path

from marginalia_tui.domain.runs import RunStatus
from tests.support import warm
from tests.support.scripted_server import ScriptedServer, by_results
from tests.terminal.homes import AGENT, REPLIES, Held, check_exactly_once, furnish, only_run, until_run
from tests.terminal.support import ENTER, SECONDS, Terminal, environment, program, say

RACES = 30


def test_a_second_studio_sees_the_run_of_the_first_and_pauses_it(home: Path) -> None:
    held = Held(2)
    with ScriptedServer(held) as server:
        book = furnish(home, server.url)
        with Terminal("--home", home) as first, Terminal("--home", home) as second:
            for seen in (first, second):
                seen.until("[Library]", "The Book")
                seen.send("A")
                seen.until(AGENT, "s start")
            first.send("s")
            first.until("I am in the middle of it.")
            second.until("working", "1 agent working")
            second.send(ENTER)
            second.until("worked by another process", "I come to part 2.")
            second.send("Z")
            first.until("paused", gone=["I am in the middle of it."])
            second.until("paused")
            second.send("r")
            second.until("a word for the agent?")
            second.send(ENTER)
            second.until("It is done: v reviews")
            first.until("It is done: v reviews", "I come to part 5.")
            for seen in (first, second):
                seen.send("q")
                assert seen.ended() == 0
        check_exactly_once(home, book)


def test_a_pause_and_a_message_from_another_process(home: Path) -> None:
    held = Held(1)
    with ScriptedServer(held) as server:
        book = furnish(home, server.url)
        with Terminal("--home", home) as seen:
            seen.until("[Library]", "The Book")
            seen.send("A")
            seen.until(AGENT, "s start")
            seen.send("s")
            seen.until("I am in the middle of it.")
            sent = say(home, "run", "send", "latest", "Leave the dialect as it is.")
            assert sent.returncode == 0
            seen.until("Leave the dialect as it is.")
            paused = say(home, "run", "pause", "latest", "--now")
            assert (paused.returncode, '"status": "PAUSED"' in paused.stdout) == (0, True)
            seen.until("paused")
            resumed = say(home, "run", "resume", "latest")
            assert resumed.returncode == 0
            seen.until("It is done: v reviews")
            seen.send("q")
            assert seen.ended() == 0
        check_exactly_once(home, book)


def _many(
    commands: Sequence[list[str]], when_one_has_ended: Callable[[], None] = lambda: None
) -> list[subprocess.CompletedProcess[str]]:
    """Runs them all at once."""
    processes = [
        warm.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment())
        for command in commands
    ]

    def ended(process: "subprocess.Popen[str]") -> subprocess.CompletedProcess[str]:
        out, err = process.communicate(timeout=SECONDS)
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    with ThreadPoolExecutor(len(processes)) as pool:
        done = [pool.submit(ended, process) for process in processes]
        wait(done, return_when=FIRST_COMPLETED)
        when_one_has_ended()
        return [each.result() for each in done]


def test_f40_processes_that_start_pause_and_resume_at_once_work_a_run_once(home: Path) -> None:
    """Whoever comes too late is told so in a sentence; the edits are there once, whoever made them."""
    # Whoever starts first works until the other was refused: an agent whose run is done may start anew.
    held = Held(0)
    with ScriptedServer(held) as server:
        book = furnish(home, server.url)

        def verb(*words: str) -> list[str]:
            return program("--home", home, "--json", "run", *words)

        said = _many([verb("start", AGENT), verb("start", AGENT)], held.go.set)
        races = 1
        assert sorted(each.returncode for each in said) == [0, 1]
        while only_run(home).status is not RunStatus.DONE and races < RACES:
            said += _many([verb("resume", "latest"), verb("work", "latest"), verb("pause", "latest", "--now")])
            races += 1
        for _ in range(3):
            said += _many([verb("resume", "latest"), verb("work", "latest"), verb("pause", "latest")])
        assert all(each.returncode in (0, 1, 3) for each in said)
        assert not [each.stderr for each in said if "Traceback" in each.stderr]
        assert all(each.stderr.startswith("Error: ") for each in said if each.returncode == 1)
        check_exactly_once(home, book)


def test_f40_a_run_that_is_fought_over_while_it_works(home: Path) -> None:
    """Held in the middle again and again: paused by one, taken up by the first of two others."""
    held = [Held(number) for number in range(5)]
    pick = by_results(REPLIES)
    left = list(held)

    def script(body: dict[str, object]) -> object:
        if left and pick(body) is left[0]._plain:
            return left.pop(0)(body)
        return pick(body)

    with ScriptedServer(script) as server:  # type: ignore[arg-type]
        book = furnish(home, server.url)

        def verb(*words: str) -> list[str]:
            return program("--home", home, "--json", "run", *words)

        working = [warm.Popen(verb("start", AGENT), stdout=subprocess.DEVNULL, env=environment())]
        for each in held:
            assert each.there.wait(SECONDS)
            (paused,) = _many([verb("pause", "latest", "--now")])
            assert paused.returncode == 0, paused.stderr
            until_run(home, lambda run: run.status is RunStatus.PAUSED)
            working += [
                warm.Popen(
                    verb("resume", "latest"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment()
                )
                for _ in range(2)
            ]
        codes = [process.wait(SECONDS) for process in working]
        assert codes[0] == 3
        # Of each pair one works the run, to its rest or its end, and the other is told that it came too late.
        assert sorted(codes[1:]) == [0, *[1] * 5, *[3] * 4]
        check_exactly_once(home, book)


def test_one_whose_run_is_taken_over_is_told_and_changes_nothing(home: Path) -> None:
    held = Held(2)
    with ScriptedServer(held) as server:
        book = furnish(home, server.url)
        first = warm.Popen(
            program("--home", home, "run", "start", AGENT),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(),
        )  # fmt: skip
        assert held.there.wait(SECONDS)
        (refused,) = _many([program("--home", home, "run", "work", "latest")])
        assert refused.returncode == 1
        assert "--take-over" in refused.stderr
        (taken,) = _many([program("--home", home, "--json", "run", "work", "latest", "--take-over")])
        assert taken.returncode == 0
        out, err = first.communicate(timeout=SECONDS)
        assert (first.returncode, err.count("\n")) == (1, 1)
        assert "run attach" in err
        assert "Traceback" not in out
        check_exactly_once(home, book)
