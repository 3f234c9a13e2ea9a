"""What is printed and reaches nobody: a reader that has seen enough, a full disk, a closed output, a narrow locale."""

import json
import subprocess
from pathlib import Path
from typing import IO, Any

import pytest

from marginalia_tui.domain.runs import RunStatus
from tests.support.runs import add_book
from tests.support.scripted_server import ScriptedServer, by_results
from tests.terminal.homes import AGENT, REPLIES, Held, check_exactly_once, furnish, only_run
from tests.terminal.support import SECONDS, environment, program, say


def _run(*arguments: object, env: dict[str, str] | None = None, **options: Any) -> subprocess.CompletedProcess[str]:
    defaults: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.run(
        program(*arguments),
        text=True, timeout=SECONDS, check=False, env=environment(**(env or {})), **{**defaults, **options},
    )  # fmt: skip


@pytest.mark.parametrize("as_json", [True, False])
def test_a_run_whose_reader_has_seen_enough_is_paused_and_goes_on(home: Path, as_json: bool) -> None:
    held = Held(1)
    with ScriptedServer(held) as server:
        book = furnish(home, server.url)
        options = ["--json"] if as_json else []
        process = subprocess.Popen(
            program("--home", home, *options, "run", "start", AGENT),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), text=True,
        )  # fmt: skip
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        assert held.there.wait(SECONDS)
        process.stdout.close()
        held.go.set()
        assert process.wait(SECONDS) == 3
        told = process.stderr.read()
        process.stderr.close()
        assert "run resume" in told
        assert told.count("\n") == 1
        run = only_run(home)
        assert run.status is RunStatus.PAUSED
        assert "reached nobody" in run.reason
        assert say(home, "run", "work", "latest").returncode == 0
        check_exactly_once(home, book)


def test_a_run_on_a_full_disk_for_its_output_is_paused_and_goes_on(home: Path) -> None:
    with ScriptedServer(by_results(REPLIES)) as server, open("/dev/full", "w", encoding="utf-8") as full:
        book = furnish(home, server.url)
        done = _run("--home", home, "run", "start", AGENT, stdout=full)
        assert done.returncode == 3
        assert "Traceback" not in done.stderr
        assert only_run(home).status is RunStatus.PAUSED
        assert _run("--home", home, "run", "resume", "latest").returncode == 0
        check_exactly_once(home, book)


def test_one_who_follows_and_has_seen_enough_leaves_the_run_alone(home: Path) -> None:
    held = Held(1)
    with ScriptedServer(held) as server:
        book = furnish(home, server.url)
        working = subprocess.Popen(
            program("--home", home, "run", "start", AGENT), stdout=subprocess.DEVNULL, env=environment()
        )
        assert held.there.wait(SECONDS)
        follower = subprocess.Popen(
            program("--home", home, "run", "attach", "latest"),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), text=True,
        )  # fmt: skip
        assert follower.stdout is not None
        assert follower.stderr is not None
        assert "RUNNING" in follower.stdout.readline()
        follower.stdout.close()
        held.go.set()
        assert follower.wait(SECONDS) == 0
        assert follower.stderr.read() == ""
        follower.stderr.close()
        assert working.wait(SECONDS) == 0
        check_exactly_once(home, book)


@pytest.mark.parametrize("verb", [["books"], ["--json", "books"], ["commands"], ["doctor"], ["--json", "run", "list"]])
def test_a_reader_that_is_gone_is_no_fault(home: Path, verb: list[str]) -> None:
    process = subprocess.Popen(
        program("--home", home, *verb), stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), text=True
    )
    assert process.stdout is not None
    process.stdout.close()
    assert process.wait(SECONDS) in (0, 1)
    assert process.stderr is not None
    assert process.stderr.read() == ""
    process.stderr.close()


@pytest.mark.parametrize("verb", [["books"], ["--json", "books"], ["--json", "agent", "show", "nobody"]])
def test_a_full_disk_for_the_output_is_one_sentence(home: Path, verb: list[str]) -> None:
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = _run("--home", home, *verb, stdout=full)
    assert done.returncode == 1
    assert "No space left" in done.stderr
    assert all(line.startswith("Error: ") for line in done.stderr.splitlines())


@pytest.mark.parametrize("closed", ["stdin", "stdout", "stderr"])
@pytest.mark.parametrize("verb", [["books"], ["--json", "books"], ["doctor"], ["exec", "--book", "x", "/help"]])
def test_a_closed_stream_is_no_fault(home: Path, closed: str, verb: list[str]) -> None:
    number = ("stdin", "stdout", "stderr").index(closed)
    command = subprocess.list2cmdline(["exec", *program("--home", home, *verb)]) + f" {number}>&-"
    kept: dict[str, int | IO[str]] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    done = subprocess.run(
        ["sh", "-c", command], text=True, timeout=SECONDS, check=False, env=environment(), **kept  # type: ignore[call-overload]
    )  # fmt: skip
    assert done.returncode in (0, 1)
    assert "Traceback" not in done.stderr
    assert "Error:" not in done.stdout


def test_signs_that_the_locale_does_not_know_are_printed_as_escapes(home: Path) -> None:
    from contextlib import closing

    from marginalia_tui.store.store import Store

    with closing(Store.open(home)) as store:
        add_book(store, ["One."], title="Ærø 雪 🙂")
    done = _run("--home", home, "books", env={"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0
    assert "\\u96ea" in done.stdout
    raw = subprocess.run(
        program("--home", home, "--json", "books"),
        capture_output=True, timeout=SECONDS, check=True, env=environment(PYTHONIOENCODING="latin-1"),
    )  # fmt: skip
    assert json.loads(raw.stdout.decode("utf-8"))[0]["title"] == "Ærø 雪 🙂"


def test_a_name_that_is_no_text_is_told_as_what_it_is(home: Path) -> None:
    """A path of broken UTF-8 stands in the sentence, on both streams."""
    done = subprocess.run(
        [*program("--home", home, "--json", "import"), b"/nowhere/\xff\x1b.md"],
        capture_output=True, timeout=SECONDS, check=False, env=environment(),
    )  # fmt: skip
    assert done.returncode == 1
    assert json.loads(done.stdout)["error"]["kind"] == "not_found"
    assert done.stderr.count(b"\n") == 1
    assert b"\x1b" not in done.stderr


@pytest.mark.parametrize("home_named", ["~nobody-has-this-name/studio", "/proc/nowhere/studio", "/dev/null/studio"])
def test_a_home_that_can_not_be_is_one_sentence(home_named: str, tmp_path: Path) -> None:
    done = _run("--home", home_named, "books", cwd=tmp_path)
    if home_named.startswith("~"):
        assert done.returncode == 0
        assert (tmp_path / home_named).is_dir()
    else:
        assert done.returncode == 1
        assert done.stderr.startswith("Error: The folder ")
        assert done.stderr.count("\n") == 1
