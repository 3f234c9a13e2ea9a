"""The shell in a real terminal: drawn, dumb and narrow, without colour; Ctrl-C, questions, the history, signals."""

import re
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import pytest

from marginalia_tui.desk.bar import Bar
from marginalia_tui.studio import Studio
from marginalia_tui.widgets.text import cells
from tests.support.runs import add_book
from tests.terminal import support
from tests.terminal.support import BACKSPACE, CTRL_C, ENTER, ROOT, TAB, UP, Terminal, say

CTRL_D, CTRL_R, F1 = "\x04", "\x12", "\x1bOP"
DUMB = {"TERM": "dumb"}
ORDERS = "\x1b]0;OWNED\x07\x9b1m\u202e"


class Shell(Terminal):
    """The shell on a book, in a terminal that tells where its cursor is."""

    def __init__(
        self, home: Path, *options: str, book: str = "Emma", size: tuple[int, int] = (100, 30),
        env: Mapping[str, str] | None = None,
    ) -> None:  # fmt: skip
        # Nothing that it imports reads the environment then.
        super().__init__("--home", home, "shell", "--book", book, *options, size=size, env=env, cold=False)
        vars(self.screen)["write_process_input"] = self.send

    def enter(self, line: str) -> None:
        """Types a line."""
        self.send(line, ENTER)

    def leave(self) -> None:
        """Ends it by a word, which may be typed before the prompt is there, unlike a key."""
        self.enter("exit")
        assert self.ended() == 0


@pytest.fixture
def emma(home: Path) -> Path:
    with closing(Studio(home)) as studio:
        add_book(studio.store, ["There sat teh cat.", "Two words."], title="Emma")
    return home


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Has the program know commands that wait."""
    file = ROOT / "tests" / "terminal" / "patient.py"
    monkeypatch.setattr(support, "program", lambda *arguments: [sys.executable, str(file), *map(str, arguments)])


def parts(home: Path) -> int:
    return say(home, "exec", "--book", "Emma", "/list-parts").stdout.count('"position"')


KINDS = [
    pytest.param((), {}, id="drawn"),
    pytest.param((), DUMB, id="dumb"),
    pytest.param(("--plain",), {}, id="plain"),
]
Kind = tuple[tuple[str, ...], Mapping[str, str]]


# Everywhere


@pytest.mark.parametrize(("options", "env"), KINDS)
def test_a_line_is_run_and_the_next_one_can_be_typed(
    emma: Path, options: tuple[str, ...], env: Mapping[str, str]
) -> None:
    with Shell(emma, *options, env=env) as seen:
        seen.until("The book is 'Emma'", "Emma>")
        seen.enter("list-parts")
        seen.until("2 parts.", "Chapter 2")
        seen.enter("nothing-of-this-name")
        seen.until("Error: There is no command 'nothing-of-this-name'.")
        seen.enter("/help edit-part")
        seen.until("Replaces one passage", "/edit-part <part> <old>", "Emma>")
        seen.enter("exit")
        assert seen.ended() == 0


@pytest.mark.parametrize(("options", "env"), KINDS)
def test_ctrl_c_drops_the_line_and_ends_nothing(emma: Path, options: tuple[str, ...], env: Mapping[str, str]) -> None:
    with Shell(emma, *options, env=env) as seen:
        seen.until("Emma>")
        for typed in ("", "", "delete-part 1"):
            seen.screen.reset()
            seen.send(typed, CTRL_C)
            seen.until("Emma>")
        seen.enter("get-part 2")
        seen.until("Two words.")
        seen.leave()
    assert parts(emma) == 2


@pytest.mark.parametrize(("options", "env"), KINDS)
def test_a_question_shows_what_would_change_and_is_answered_with_no(
    emma: Path, options: tuple[str, ...], env: Mapping[str, str]
) -> None:
    line = "search-replace-parts teh the"
    with Shell(emma, *options, env=env) as seen:
        for answer in (ENTER, f"n{ENTER}", f"maybe{ENTER}", CTRL_D, CTRL_C):
            seen.until("Emma>")
            seen.screen.reset()
            seen.enter(line)
            seen.until("Replace 'teh' by 'the'", "[y/N]", "There sat teh cat")
            seen.send(answer)
            seen.until("Error: ", "nothing was changed", "Emma>")
        assert "teh" in say(emma, "exec", "--book", "Emma", "/get-part 1").stdout
        seen.screen.reset()
        seen.enter(line)
        seen.until("[y/N]")
        seen.enter("y")
        seen.until("1 place", "Emma>")
        seen.leave()
    assert "There sat the cat." in say(emma, "exec", "--book", "Emma", "/get-part 1").stdout


@pytest.mark.parametrize(("options", "env"), KINDS)
@pytest.mark.parametrize("command", ["wait-here", "wait-short"])
@pytest.mark.usefixtures("patient")
def test_ctrl_c_stops_a_command_that_takes_long(
    emma: Path, tmp_path: Path, command: str, options: tuple[str, ...], env: Mapping[str, str]
) -> None:
    file = tmp_path / "f"
    with Shell(emma, *options, env=env, size=(160, 30)) as seen:
        seen.until("Emma>")
        seen.enter(f"{command} {file}")
        seen.until("Waiting for a file")
        seen.send(CTRL_C)
        seen.until(f"Error: {command} was stopped: nothing was changed.", "Emma>")
        assert b"\x1b[31mred" not in seen.written
        seen.screen.reset()
        seen.enter(f"{command} {file}")
        seen.until("Waiting for a file")
        file.touch()
        seen.until("The file is there.", "Emma>")
        seen.leave()


@pytest.mark.usefixtures("patient")
def test_ctrl_c_at_a_question_stops_the_command(emma: Path, tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.touch()
    with Shell(emma, env=DUMB) as seen:
        seen.until("Emma>")
        seen.enter(f"wait-asking {file}")
        seen.until("Is it there?", "second line")
        assert b"\x1b" not in seen.written
        seen.send(CTRL_C)
        seen.until("wait-asking was stopped", "Emma>")
        seen.leave()


@pytest.mark.usefixtures("patient")
def test_what_was_typed_before_answers_no_question(emma: Path, tmp_path: Path) -> None:
    file = tmp_path / "f"
    with Shell(emma, env=DUMB) as seen:
        seen.until("Emma>")
        seen.enter(f"wait-asking {file}")
        seen.until("Waiting for a file")
        seen.enter("y")
        file.touch()
        seen.until("Is it there?")
        seen.enter("n")
        seen.until("The answer was no", "Emma>")
        assert "The file is there" not in seen.text
        seen.leave()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize(("options", "env"), KINDS)
def test_a_signal_ends_it_and_gives_the_terminal_back(
    emma: Path, options: tuple[str, ...], env: Mapping[str, str], number: signal.Signals
) -> None:
    import termios

    with Shell(emma, *options, env=env) as seen:
        seen.until("Emma>")
        seen.signal(number)
        assert seen.ended() == 128 + number
        assert termios.tcgetattr(seen._child.fileno())[3] & termios.ICANON


@pytest.mark.usefixtures("patient")
def test_a_signal_ends_it_while_a_command_runs(emma: Path, tmp_path: Path) -> None:
    with Shell(emma, size=(160, 30)) as seen:
        seen.until("Emma>")
        seen.enter(f"wait-here {tmp_path / 'f'}")
        seen.until("Waiting for a file")
        seen.signal(signal.SIGTERM)
        assert seen.ended() == 143


@pytest.mark.parametrize(("options", "env"), KINDS)
def test_a_terminal_that_goes_away_ends_it(emma: Path, options: tuple[str, ...], env: Mapping[str, str]) -> None:
    with Shell(emma, *options, env=env) as seen:
        seen.until("Emma>")
        assert seen.hang_up() == 129


@pytest.mark.parametrize(("options", "env"), KINDS)
def test_nothing_of_a_book_is_obeyed(home: Path, options: tuple[str, ...], env: Mapping[str, str]) -> None:
    with closing(Studio(home)) as studio:
        book = add_book(studio.store, [f"Text {ORDERS} end"], title=f"Evil {ORDERS}")
    with Shell(home, *options, book=book, env=env) as seen:
        seen.until("Evil ")
        seen.enter("get-part 1")
        seen.until("Text ", " end")
        seen.send(f"find-occurrences \u202etxet{ENTER}")
        seen.until("0 places.")
        seen.leave()
        for order in (b"\x1b]0;OWNED", b"\x07", b"\xc2\x9b", b"\xe2\x80\xae"):
            assert order not in seen.written


@pytest.mark.parametrize(("options", "env"), KINDS)
def test_ctrl_d_ends_it(emma: Path, options: tuple[str, ...], env: Mapping[str, str]) -> None:
    with Shell(emma, *options, env=env) as seen:
        seen.until("Emma>")
        seen.send(CTRL_D)
        assert seen.ended() == 0


# Dumb


def test_a_dumb_terminal_of_40_columns(emma: Path) -> None:
    with Shell(emma, size=(40, 24), env=DUMB) as seen:
        seen.until("Emma>")
        seen.enter("/help edit-part")
        seen.until("For example: ", "Emma>")
        seen.screen.reset()
        seen.enter("/get-part 1 ?")
        seen.until("get-part <part>", "Emma>")
        seen.screen.reset()
        seen.enter("/edit-part ")
        seen.until("needs the argument part", "Emma>")
        seen.screen.reset()
        seen.send("delete-p", TAB, ENTER)
        seen.until("delete-part", "asks first", "Emma>")
        seen.screen.reset()
        seen.enter("find-occurrences teh")
        seen.until("1 place.", "There sat  teh    cat.", "Emma>")
        seen.send("lisst", BACKSPACE, BACKSPACE, BACKSPACE, "st-parts", ENTER)
        seen.leave()
        assert seen.written.count(b"Error") == 1
        written = seen.written.decode()
    assert not re.search(r"[\x00-\x09\x0b\x0c\x0e-\x1f\x7f]", written)
    lines = re.split(r"[\r\n]+", written)
    # A prompt and what follows it stand on one line here, since what is typed is not echoed.
    pieces = [piece for line in lines for piece in line.split("Emma> ")]
    assert max(map(cells, pieces)) <= 40


def test_a_line_that_the_terminal_cuts_is_not_run(emma: Path) -> None:
    with Shell(emma, env=DUMB) as seen:
        seen.until("Emma>")
        seen.enter("append-to-part 1 " + "x" * 6_000)
        seen.until("Error: The line is longer than this terminal takes", "Emma>")
        seen.leave()
    assert "xxx" not in say(emma, "exec", "--book", "Emma", "/get-part 1").stdout


# Drawn


def test_what_fits_is_shown_while_a_line_is_typed(emma: Path) -> None:
    with Shell(emma) as seen:
        seen.until("Emma>", "/help lists the commands, Tab completes")
        seen.send("edit-p")
        seen.until("Replaces one passage", "changes")
        seen.send(TAB)
        seen.until("Emma> edit-part", "/edit-part <part> <old>", "part: ")
        seen.send("1 ")
        seen.until("old: ")
        seen.send('"teh cat" "the cat"', ENTER)
        seen.until('Emma> edit-part 1 "teh cat" "the cat"', "Part 1 is changed")
        seen.send("list-parts 1 x ")
        seen.until("offset ", "whole number")
        seen.send(CTRL_C)
        seen.leave()
    assert "the cat" in say(emma, "exec", "--book", "Emma", "/get-part 1").stdout


def test_f1_shows_the_page_of_the_command_and_keeps_the_line(emma: Path) -> None:
    with Shell(emma, size=(120, 40)) as seen:
        seen.until("Emma>", "F1 explains")
        seen.send("list-parts ", F1)
        seen.until("It reads.", "Emma> list-parts")
        seen.send(ENTER)
        seen.until("2 parts.")
        seen.leave()


@pytest.mark.parametrize(("options", "env"), KINDS)
def test_the_form_asks_for_all_options(emma: Path, options: tuple[str, ...], env: Mapping[str, str]) -> None:
    with Shell(emma, *options, env=env, size=(120, 40)) as seen:
        seen.until("Emma>")
        for end in (CTRL_C, CTRL_D):
            seen.enter("search-replace-parts ?")
            seen.until("[dryRun]", "pattern:")
            seen.send(end)
            seen.screen.reset()
            seen.until("Emma>")
        seen.enter("search-replace-parts ?")
        for field, text in (
            ("pattern:", "teh"), ("replacement:", "the"), ("mode:", "wrod"), ("mode:", "word"), ("maxHits:", ""),
            ("dryRun:", "true"), ("part:", ""), ("ignoreCase:", ""), ("offset:", ""), ("limit:", ""),
        ):  # fmt: skip
            seen.wait(lambda field=field: seen.lines[seen.screen.cursor.y].endswith(field), field)  # type: ignore[misc]
            seen.enter(text)
        seen.until("/search-replace-parts teh the word", "true", "1 place", "Emma>")
        seen.leave()
    assert "teh" in say(emma, "exec", "--book", "Emma", "/get-part 1").stdout


def test_the_history_is_that_of_the_bar_and_is_kept(emma: Path) -> None:
    with Shell(emma) as seen:
        seen.until("Emma>")
        seen.enter("get-part 2")
        seen.until("Two words.")
        seen.leave()
    with closing(Studio(emma)) as studio:
        assert list(Bar(studio).history())[-1] == "/get-part 2"
    with Shell(emma) as seen:
        seen.until("Emma>", "Tab completes")
        seen.send(UP)
        seen.until("Emma> /get-part 2")
        seen.send(ENTER)
        seen.until("Two words.", "Tab completes")
        seen.send(CTRL_R, "get")
        seen.until("(reverse-i-search)", "/get-part 2")
        seen.send(CTRL_C)
        seen.leave()


def test_without_colour_there_is_none(emma: Path) -> None:
    colour = re.compile(rb"\x1b\[[0-9;]*?(?<![0-9])(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])(?:;[0-9;]*)?m")
    for env, expected in (({}, True), ({"NO_COLOR": "1"}, False)):
        with Shell(emma, env=env) as seen:
            seen.until("Emma>", "Tab completes")
            seen.send("edit-p")
            seen.until("Replaces one passage")
            seen.send(CTRL_C)
            seen.leave()
            assert bool(colour.search(seen.written)) is expected


def test_the_drawn_prompt_in_a_tiny_terminal(emma: Path) -> None:
    with Shell(emma, size=(40, 10)) as seen:
        seen.until("Emma>")
        seen.send("get-p")
        seen.until("get-part")
        seen.enter("art 2")
        seen.until("Two words.", "Emma>")
        seen.resize(100, 30)
        seen.enter("list-parts")
        seen.until("2 parts.", "Emma>")
        seen.leave()


def test_answers_go_to_a_file_and_the_prompt_does_not(
    emma: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "answers"
    plain = support.program
    monkeypatch.setattr(
        support,
        "program",
        lambda *arguments: ["sh", "-c", f"exec {subprocess.list2cmdline(plain(*arguments))} > {file}"],
    )
    with Shell(emma) as seen:
        seen.until("Emma>")
        seen.enter("list-parts")
        seen.wait(lambda: seen.text.count("Emma>") == 2, "another prompt")
        seen.leave()
        assert b"\x1b" not in seen.written
    assert file.read_text(encoding="utf-8").startswith("2 parts.")


@pytest.mark.usefixtures("patient")
def test_ctrl_c_ends_a_pipe(emma: Path, tmp_path: Path) -> None:
    process = subprocess.Popen(
        support.program("--home", emma, "--json", "shell", "--book", "Emma"),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=support.environment(),
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"list-parts\nwait-here {tmp_path / 'f'}\nlist-parts\n")
    process.stdin.flush()
    assert process.stdout.readline().startswith('{"command": "list-parts", "ok": true')
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=support.SECONDS)
    assert (process.returncode, out, err) == (130, "", "")
