"""The shell without a terminal: lines from a pipe, and the words that are said while a line is typed."""

import io
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import Annotated

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marginalia_tui import cli
from marginalia_tui.commands.completion import Completers
from marginalia_tui.commands.context import Context
from marginalia_tui.commands.declare import command, define, form
from marginalia_tui.commands.definition import Param, Severity
from marginalia_tui.commands.line import CommandLine
from marginalia_tui.commands.results import Result
from marginalia_tui.desk.answer import Facts, Rows, Words
from marginalia_tui.desk.bar import Bar
from marginalia_tui.desk.sheet import Sheet
from marginalia_tui.domain.visible import visible
from marginalia_tui.headless import shell_text
from marginalia_tui.headless.shell_form import fill_in
from marginalia_tui.services.books import mark_opened
from marginalia_tui.store.store import Store
from marginalia_tui.studio import Studio
from marginalia_tui.widgets.text import cells
from tests.conftest import NewHome
from tests.support.runs import add_book
from tests.test_import_hygiene import imported, roots

ORDERS = "\x1b]0;OWNED\x07\x9b1m\u202e"


@pytest.fixture
def home(new_home: NewHome, tmp_path: Path) -> Path:
    home = new_home(tmp_path / "home")
    with closing(Store.open(home)) as store:
        add_book(store, ["There sat teh cat.", "Two words."], title="Emma")
    return home


class Said:
    """What one call of the shell answered."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def objects(self) -> list[dict[str, object]]:
        return [json.loads(line) for line in self.out.splitlines()]


class Pipe:
    """The shell in this process, with lines from a pipe."""

    def __init__(self, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._home, self._monkeypatch, self._capsys = home, monkeypatch, capsys

    def __call__(self, lines: str | bytes, *options: str, book: str | None = "Emma", as_json: bool = True) -> Said:
        data = lines if isinstance(lines, bytes) else lines.encode("utf-8", "surrogatepass")
        self._monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"))
        self._capsys.readouterr()
        named = [] if book is None else ["--book", book]
        with pytest.raises(SystemExit) as ended:
            cli.main(["--home", str(self._home), *(["--json"] if as_json else []), "shell", *named, *options])
        out, err = self._capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return Said(ended.value.code, out, err)


@pytest.fixture
def pipe(home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Pipe:
    return Pipe(home, monkeypatch, capsys)


# The pipe


def test_lines_are_run_one_after_another(pipe: Pipe) -> None:
    said = pipe('/edit-part 1 teh the\nfind-occurrences "the cat"\n')
    assert said.code == 0
    assert [(each["command"], each["ok"]) for each in said.objects] == [("edit-part", True), ("find-occurrences", True)]
    assert "the cat" in json.dumps(said.objects[1]["result"])
    assert said.err == ""


def test_an_object_of_a_line_is_that_of_exec(pipe: Pipe, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = pipe("/list-parts\n/get-part 9\n")
    for line, same in zip(said.out.splitlines(), ("/list-parts", "/get-part 9"), strict=True):
        with pytest.raises(SystemExit):
            cli.main(["--home", str(home), "--json", "exec", "--book", "Emma", same])
        assert line == capsys.readouterr().out.rstrip("\n")


def test_one_that_fails_is_a_sentence_and_the_rest_goes_on(pipe: Pipe) -> None:
    said = pipe("/lst-parts\n/get-part 1 2 3 4 5 6 7 8\n/list-parts\n")
    assert said.code == 1
    assert [each["ok"] for each in said.objects] == [False, False, True]
    assert said.err.count("Error: ") == said.err.count("\n") == 2
    assert "list-parts" in said.err


def test_empty_lines_and_remarks_are_skipped(pipe: Pipe) -> None:
    said = pipe("\ufeff# a remark\r\n\r\n   \n  # another\n  list-parts\r\n")
    assert said.code == 0
    assert [each["command"] for each in said.objects] == ["list-parts"]


def test_nothing_is_no_fault(pipe: Pipe) -> None:
    assert pipe("").code == 0
    assert pipe("\n").out == ""


@pytest.mark.parametrize("word", ["exit", "/exit", "quit", " /quit "])
def test_a_word_ends_it(pipe: Pipe, word: str) -> None:
    said = pipe(f"list-parts\n{word}\nnope\n")
    assert said.code == 0
    assert len(said.objects) == 1


def test_answers_for_people_are_parted_by_an_empty_line(pipe: Pipe) -> None:
    said = pipe("list-parts\nget-part 2", as_json=False)
    first, second = said.out.split("Chapter 2", 1)[0], said.out
    assert first.startswith("2 parts.")
    assert "\n\nposition: 2\n" in second
    assert second.endswith("Two words.\n")


def test_a_question_is_refused_unless_yes(pipe: Pipe) -> None:
    said = pipe("/delete-part 1\n/list-parts\n")
    assert said.code == 1
    assert "--yes" in said.err
    assert said.objects[0]["error"] == {"kind": "refused", "message": said.err.removeprefix("Error: ").rstrip("\n")}
    assert len(said.objects[1]["result"]["parts"]) == 2  # type: ignore[index]
    assert pipe("/delete-part 1\n", "--yes").code == 0


def test_without_a_name_it_is_the_book_that_was_opened_last(pipe: Pipe, home: Path) -> None:
    said = pipe("/get-book-info\n", book=None)
    assert said.code == 1
    assert said.err.startswith("No book is open")
    with closing(Store.open(home)) as store:
        add_book(store, ["x"], title="Never opened")
        mark_opened(store, add_book(store, ["x"], title=f"Persuasion {ORDERS}"))
    said = pipe("/get-book-info\n", book=None)
    assert said.code == 0
    assert "Persuasion" in said.err
    assert "opened last" in said.err
    assert not set(ORDERS) & set("\x1b\x07\x9b\u202e") & set(said.err + said.out)
    assert "Persuasion" in said.out


def test_a_book_is_named_by_title_uuid_or_its_beginning(pipe: Pipe, home: Path) -> None:
    with closing(Store.open(home)) as store:
        uuid = add_book(store, ["x"], title="Persuasion")
    assert pipe("list-parts\n", book=uuid).code == 0
    assert pipe("list-parts\n", book=uuid[:-1]).code == 0
    said = pipe("list-parts\n", book="Emna")
    assert said.code == 1
    assert "Emma" in said.err


BAD = [
    "x" * 1_000_000,
    "/get-part " + "9 " * 10_000,
    f"/get-part {ORDERS}",
    f"/{ORDERS}",
    '/get-part "never closed',
    "/get-part 1\\",
    "/get-part " + "9" * 5_000,
    f"/get-part {10**400}",
    "/list-parts 1 NaN",
    "/list-parts 1 -1",
    "/list-parts 1 0 1e999",
    "/search-parts cat TEXTT",
    "/get-part h:m17",
    "/get-part 01234567-89ab-7cde-8f01-23456789abcd",
    "/get-part \x00",
    "/",
    "//",
    "/get-part {}",
]


@pytest.mark.parametrize("line", BAD, ids=range(len(BAD)))
def test_bad_lines_are_a_sentence_each(pipe: Pipe, line: str) -> None:
    said = pipe(f"{line}\n/list-parts\n")
    assert [each["ok"] for each in said.objects] == [False, True]
    assert said.err.startswith("Error: ")
    assert said.err.count("\n") == 1
    assert len(said.err) < 1_000
    assert not set(said.err[:-1]) & set(map(chr, [*range(32), 127, *range(128, 160), 0x202E]))


def test_a_line_that_is_no_text_is_a_sentence(pipe: Pipe) -> None:
    said = pipe(b"/list-parts\n/get-part \xff\xfe\n/list-parts\n")
    assert [each["ok"] for each in said.objects] == [True, False, True]
    assert "Line 2 is no UTF-8" in said.err


def test_a_line_without_an_end_to_it_is_a_sentence(pipe: Pipe, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("marginalia_tui.headless.shell.LONGEST", 1_000)
    said = pipe("/get-part " + "x" * 10_000 + "\n/list-parts\n" + "y" * 5_000)
    assert [each["ok"] for each in said.objects] == [False, True, False]
    assert "Line 1 is longer than 1,000 bytes" in said.err
    assert "Line 3 is longer" in said.err


def test_what_is_written_in_a_book_is_not_obeyed(pipe: Pipe, home: Path) -> None:
    with closing(Store.open(home)) as store:
        add_book(store, [f"Text {ORDERS} end"], title="Evil")
    said = pipe("/get-part 1\n/list-parts\n", book="Evil", as_json=False)
    assert "Text" in said.out
    assert not set(said.out) & {"\x1b", "\x07", "\x9b", "\u202e"}


def test_lines_of_a_pipe_are_not_kept_in_the_history(pipe: Pipe, home: Path) -> None:
    assert pipe("/list-parts\n").code == 0
    with closing(Studio(home)) as studio:
        assert list(Bar(studio).history()) == []


def _program(home: Path, *arguments: str) -> list[str]:
    return [sys.executable, "-m", "marginalia_tui", "--home", str(home), "shell", *arguments]


def test_a_real_pipe(home: Path) -> None:
    done = subprocess.run(
        _program(home, "--book", "Emma"), input="/list-parts\nnope\n", capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stdout.startswith("2 parts.")
    assert done.stderr.startswith("Error: There is no command 'nope'.")


def test_a_reader_that_is_gone_ends_it_quietly(home: Path) -> None:
    process = subprocess.Popen(
        _program(home, "--book", "Emma"),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdin.write("/get-part 1\n")
    process.stdin.flush()
    assert process.stdout.readline() == "position: 1\n"
    process.stdout.close()
    process.stdin.write("/get-part 1\n" * 3)
    process.stdin.close()
    assert process.wait(45) == 0
    assert process.stderr.read() == ""
    process.stderr.close()


def test_a_closed_standard_input_is_an_empty_one(home: Path) -> None:
    command = subprocess.list2cmdline(["exec", *_program(home, "--book", "Emma")]) + " 0>&-"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_pipe_needs_no_prompt(home: Path) -> None:
    code = f"""
import io, sys
sys.stdin = io.TextIOWrapper(io.BytesIO(b"/list-parts"))
sys.stdout = io.StringIO()
from marginalia_tui import cli
try:
    cli.main(["--home", {str(home)!r}, "shell", "--book", "Emma"])
except SystemExit as end:
    assert end.code == 0
sys.stdout = sys.__stdout__
"""
    assert not roots(imported(code)) & {"prompt_toolkit", "textual"}


# Words


@pytest.fixture
def bar(home: Path) -> Iterator[Bar]:
    with closing(Studio(home)) as studio:
        bar = Bar(studio)
        with studio.store.read() as tx:
            book = tx.space(1).books()[0].uuid
        bar.read_names(book)
        yield bar


@given(st.text())
def test_a_line_means_a_command_or_nothing(line: str) -> None:
    command = shell_text.command_of(line)
    assert command == "" or CommandLine.parse(command).is_command
    shell_text.asked_about(line)


@pytest.mark.parametrize(
    ("line", "about"),
    [
        ("?", "/"), ("/?", "/"), ("edi?", "/edi"), ("/edit-part ?", "/edit-part "), ("edit-part 1 ?", "/edit-part 1 "),
        ("/edi\t", "/edi"), ("edit-part \t", "/edit-part "),
        ('find-occurrences "?"', None), ('find-occurrences "is it ?', None), ("find-occurrences why?", None),
        ("find-occurrences \\ ?", None), ("find-occurrences ? ", None), ("", None), ("list-parts", None),
    ],
)  # fmt: skip
def test_a_question_mark_at_the_end_asks(line: str, about: str | None) -> None:
    assert shell_text.asked_about(line) == about


@pytest.mark.parametrize("before", ["/edi", "edi", "  edi", "  /edi"])
def test_proposals_have_the_places_of_the_line_as_it_was_typed(bar: Bar, before: str) -> None:
    best = shell_text.proposals(bar, before)[0]
    assert before[: best.start].strip() in ("", "/")
    assert (before[: best.start] + best.text).strip().removeprefix("/") == "edit-part"
    assert best.end == len(before)


def test_proposals_of_an_empty_line_are_the_commands(bar: Bar) -> None:
    assert {"edit-part", "help"} <= {each.label for each in shell_text.proposals(bar, "")}


def test_a_part_is_proposed_by_its_number_and_title(bar: Bar) -> None:
    assert [each.label for each in shell_text.proposals(bar, "get-part ")] == ["1 Chapter 1", "2 Chapter 2"]


def test_the_form_is_told_with_what_is_being_typed(bar: Bar) -> None:
    hint = shell_text.hint_of(bar, "edit-part 1 ")
    assert hint is not None
    assert [word for word, current in shell_text.form_words(hint) if current] == ["<old>"]
    assert shell_text.explained(hint).startswith("old: ")
    assert shell_text.hint_of(bar, "qui") is None
    wrong = shell_text.hint_of(bar, "list-parts 1 x ")
    assert wrong is not None
    assert shell_text.explained(wrong) == wrong.error != ""


def test_what_is_asked_is_told_in_lines_that_fit(bar: Bar) -> None:
    for line in ("/", "/edi", "/edit-part ", "/edit-part 1 ", "/search-replace-parts a b ", "/nothing-so "):
        told = shell_text.told_about(bar, line, 40)
        assert told
        assert max(map(cells, told.split("\n"))) <= 40
    assert "/edit-part <part> <old>" in shell_text.told_about(bar, "/edit-part ", 80)
    assert "1 Chapter 1" in shell_text.told_about(bar, "/edit-part ", 80)
    assert "ignoreCase" in shell_text.told_about(bar, "/search-replace-parts ", 200)


def _asked(answers: list[str]) -> tuple[list[str], Callable[[str], str]]:
    told: list[str] = []
    waiting = iter(answers)

    def ask(word: str) -> str:
        told.append(word)
        return next(waiting)

    return told, ask


def test_a_form_makes_the_line_of_what_is_answered(bar: Bar) -> None:
    sheet = bar.sheet("/edit-part ?")
    assert sheet is not None
    answers = ["", "1", 'a "quoted" one', "", ""]
    told, ask = _asked(answers)
    line = fill_in(sheet, ask, told.append, 40)
    assert CommandLine.parse(line).values[:3] == ["1", 'a "quoted" one', ""]
    assert "This is needed." in told
    assert all(cells(part) <= 40 for each in told for part in each.split("\n"))


def test_a_form_says_what_does_not_fit_and_asks_again(bar: Bar) -> None:
    sheet = bar.sheet("/list-parts ?")
    assert sheet is not None
    told, ask = _asked(["", "", "many", "7"])
    assert fill_in(sheet, ask, told.append, 80) == '/list-parts "" "" 7'
    assert [each for each in told if "whole number" in each and "many" in each]


def test_the_form_of_a_command_with_several_asks_which(bar: Bar) -> None:
    sheet = Sheet(define(_by_number, _by_date), CommandLine.parse("/look ?"), Completers())
    told, ask = _asked(["3", "two", "2", "2026-03-14"])
    assert fill_in(sheet, ask, told.append, 80) == "/look 2026-03-14"
    told, ask = _asked(["", "5"])
    assert fill_in(sheet, ask, told.append, 80) == "/look 5"


@command("look", title="Look", severity=Severity.READ, returns="nothing", example="/look 1")
def _by_number(ctx: Context, number: Annotated[int, Param("a number")]) -> Result:
    """Looks by number."""
    return Result()


@form(_by_number)
def _by_date(ctx: Context, day: Annotated[date, Param("a day")]) -> Result:
    """Looks by day."""
    return Result()


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=300), st.integers(20, 60))
def test_a_wrapped_text_fits_and_loses_no_word(text: str, width: int) -> None:
    wrapped = shell_text.wrapped(text, width)
    assert max(map(cells, wrapped.split("\n"))) <= width
    assert "".join(wrapped.split()) == "".join(visible(text).split())


def test_a_table_stays_one_where_it_fits() -> None:
    rows = Rows("parts", ["position", "title"], [["1", "One"], ["12", "The long way home"]], [True, False])
    assert shell_text.laid_out([rows], 40).split("\n") == [
        "position  title",
        "       1  One",
        "      12  The long way home",
    ]
    assert shell_text.laid_out([Words("All."), Facts([("branch", "1")]), rows], 22).split("\n") == [
        "All.", "", "branch: 1", "", "position 1; title One", "position 12; title The", "  long way home",
    ]  # fmt: skip


def test_the_name_before_the_cursor_is_short_and_harmless() -> None:
    assert shell_text.named("Emma", 40) == "Emma> "
    name = shell_text.named(f"A very long title of a book {ORDERS}", 40)
    assert cells(name) <= 15
    assert not set(shell_text.named(ORDERS, 80)) & set(ORDERS) & {"\x1b", "\x07", "\x9b", "\u202e"}
