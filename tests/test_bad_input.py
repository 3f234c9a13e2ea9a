"""Bad input, from the disk, the network and the author: each ends in one sentence that says what to do.

What is refused leaves nothing behind, and what was there stays as it was.
"""

import json
import os
import sqlite3
import struct
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from marginalia_tui import cli
from marginalia_tui.agent import transcript
from marginalia_tui.agent.runs import list_runs
from marginalia_tui.domain.chat import Request
from marginalia_tui.domain.errors import StoreError
from marginalia_tui.llm.openai_chat import wire_messages
from marginalia_tui.llm.retry import Retries
from marginalia_tui.store.journal import Act
from marginalia_tui.store.store import Store
from tests.conftest import NewHome
from tests.support.scripted_server import (
    Cut,
    Reply,
    ScriptedServer,
    by_results,
    calls,
    chunk,
    cut,
    error,
    garbage,
    hang,
    html,
    json_reply,
    stream,
    text,
)

ROOT = Path(__file__).parents[1]
HOSTILE = "Evil \x1b]0;OWNED\x07\x1b[2J\x9b31m [red]x[/] {b} \u202e\u2066back \x08 end"
"""Escapes, markup, directions, a bell."""


class Said:
    """What one call of the program answered."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def json(self) -> Any:
        """The one JSON document."""
        return json.loads(self.out)

    def refused(self, *words: str) -> str:
        """Checks that it was refused in one sentence that has the words, on both streams; answers the sentence."""
        assert self.code == 1, (self.code, self.out, self.err)
        assert self.err.startswith("Error: ")
        assert self.err.count("\n") == 1
        assert not set(self.err[:-1]) & set(map(chr, [*range(32), 127, *range(128, 160)]))
        message = self.json["error"]["message"]
        assert isinstance(message, str)
        assert message.rstrip(")”").endswith((".", "?", "!", "`")) or "The server says: “" in message
        for word in words:
            assert word in message
        return message


Program = Callable[..., Said]


@pytest.fixture
def home(new_home: NewHome, tmp_path: Path) -> Path:
    return new_home(tmp_path / "home")


@pytest.fixture
def program(home: Path, capsys: pytest.CaptureFixture[str]) -> Program:
    """Runs `marginalia --home HOME ...` in this process."""

    def run(*arguments: object, as_json: bool = True) -> Said:
        capsys.readouterr()
        options = ["--home", str(home), *(["--json"] if as_json else []), *map(str, arguments)]
        with pytest.raises(SystemExit) as ended:
            cli.main(options)
        out, err = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return Said(ended.value.code, out, err)

    return run


@pytest.fixture
def unchanged(program: Program, home: Path, tmp_path: Path) -> Iterator[None]:
    """A book stands in the library, and after the test it stands there alone and as it was."""
    path = tmp_path / "kept.md"
    path.write_text("# Kept\n\n## One\n\nAll of it.\n", encoding="utf-8")
    program("import", path)
    before = program("books").json
    yield
    assert program("books").json == before
    assert program("exec", "--book", "Kept", "/get-part 1").json["result"]["text"] == "All of it."
    assert program("doctor").code == 0


def _file(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


# Files


@pytest.mark.usefixtures("unchanged")
class TestFiles:
    """What can't be read as a book."""

    def test_an_empty_file(self, program: Program, tmp_path: Path) -> None:
        program("import", _file(tmp_path, "empty.md", b"")).refused("empty.md")
        program("import", _file(tmp_path, "blank.txt", b" \n\t\r\n\xef\xbb\xbf")).refused("blank.txt")

    @pytest.mark.parametrize("name", ["picture.png", "book.md", "book.txt", "book.epub", "no-suffix"])
    def test_a_binary_file(self, program: Program, tmp_path: Path, name: str) -> None:
        data = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 40
        program("import", _file(tmp_path, name, data)).refused(name)

    def test_an_epub_that_is_no_zip(self, program: Program, tmp_path: Path) -> None:
        path = _file(tmp_path, "book.epub", b"PK\x03\x04 and then nothing that a zip has")
        program("import", path).refused("book.epub")
        program("import", path, "--format", "epub").refused("book.epub")

    def test_a_zip_that_is_cut_off(self, program: Program, tmp_path: Path) -> None:
        whole = tmp_path / "whole.epub"
        with zipfile.ZipFile(whole, "w") as archive:
            archive.writestr("mimetype", "application/epub+zip")
            archive.writestr("META-INF/container.xml", "<container/>" * 100)
        program("import", _file(tmp_path, "cut.epub", whole.read_bytes()[:300])).refused("cut.epub")

    def test_f53_a_zip_bomb(self, program: Program, tmp_path: Path) -> None:
        path = tmp_path / "bomb.epub"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("mimetype", "application/epub+zip")
            archive.writestr("META-INF/container.xml", b" " * 200_000_000)
        program("import", path).refused("bomb.epub")

    def test_f53_a_path_outside(self, program: Program, tmp_path: Path) -> None:
        container = (
            '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0"><rootfiles>'
            '<rootfile full-path="../../outside.opf" media-type="application/oebps-package+xml"/>'
            "</rootfiles></container>"
        )
        path = tmp_path / "outside.epub"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("mimetype", "application/epub+zip")
            archive.writestr("META-INF/container.xml", container)
            archive.writestr("../../outside.opf", "<package/>")
            archive.writestr("/etc/absolute.xhtml", "<p>x</p>")
        program("import", path).refused("outside.epub")
        assert not (tmp_path.parent / "outside.opf").exists()

    def test_a_file_of_200_mb(self, program: Program, tmp_path: Path) -> None:
        for name in ("huge.md", "huge.txt", "huge.epub"):
            path = tmp_path / name
            with path.open("wb") as file:
                file.truncate(200_000_000)
            program("import", path).refused(name)

    def test_a_file_without_an_end(self, program: Program) -> None:
        program("import", "/dev/zero").refused()

    def test_a_pipe_without_a_writer(self, program: Program, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe.md")
        program("import", tmp_path / "pipe.md").refused("pipe.md")

    def test_nothing_there(self, program: Program, tmp_path: Path) -> None:
        for path in (tmp_path / "none.md", "~nobody-has-this-name/book.md", "", "\udcff.md"):
            program("import", path).refused()

    def test_a_format_or_a_level_that_there_is_not(self, program: Program, tmp_path: Path) -> None:
        path = _file(tmp_path, "book.md", b"# A\n\ntext\n")
        assert program("import", path, "--format", "docx").code == 2
        assert program("import", path, "--level", "9").code == 2

    def test_an_export_that_can_not_be_written(self, program: Program, tmp_path: Path) -> None:
        file = _file(tmp_path, "file", b"mine")
        os.mkfifo(tmp_path / "pipe")
        for path in (file / "below.md", "/proc/nowhere/book.md", tmp_path / "pipe", tmp_path):
            program("export", "Kept", "--format", "markdown", "--output", path, "--force").refused()
        assert (tmp_path / "pipe").is_fifo()
        assert file.read_bytes() == b"mine"
        assert program("export", "Kept", "--format", "docx", "--output", tmp_path / "x").code == 2


def test_broken_utf_8_is_imported_and_told(program: Program, tmp_path: Path) -> None:
    """Nothing is lost: what is no UTF-8 is read in the encoding that it fits, and the author is told."""
    path = _file(tmp_path, "latin.md", "# Übung\n\nEin Häuschen für drei Mäuse, schön groß.\n".encode("latin-1"))
    said = program("import", path)
    assert said.code == 0, said.err
    rows = program("exec", "--book", said.json["book"], "/list-parts").out
    assert "Übung" in rows
    good = "Schöne Mäuse für Änne, größer noch — „ja“.\n\n".encode()
    for broken in (b"\xff", b"\xc3", b"\xed\xa0\x80"):
        program("import", _file(tmp_path, "mixed.md", good * 9 + broken + good)).refused("mixed.md", "line 19")


def test_a_book_of_5000_headings(program: Program, tmp_path: Path) -> None:
    lines = [f"## Chapter {number}\n\nText {number}.\n" for number in range(5_000)]
    said = program("import", _file(tmp_path, "many.md", ("# Many\n\n" + "\n".join(lines)).encode()))
    assert (said.code, said.json["parts"]) == (0, 5_000)
    assert program("exec", "--book", "Many", "/get-part 5000").json["result"]["text"] == "Text 4999."
    out = tmp_path / "out.md"
    assert program("export", "Many", "--format", "markdown", "--output", out).code == 0
    assert out.read_text(encoding="utf-8").count("\n## ") == 5_000


def test_titles_with_escapes_and_markup_are_shown_and_not_obeyed(program: Program, tmp_path: Path) -> None:
    program("import", _file(tmp_path, "null.md", f"# {HOSTILE}\x00\n\ntext\n".encode()))
    body = f"# {HOSTILE}\n\n## {HOSTILE}\n\n{HOSTILE}\n"
    path = _file(tmp_path, "hostile.md", body.encode())
    controls = set(map(chr, [*range(9), *range(11, 32), 127, *range(128, 160), 0x202E, 0x2066]))
    for as_json in (True, False):
        said = program("import", path, as_json=as_json)
        assert said.code == 0
        assert not set(said.out + said.err) & controls
    title = program("books").json[0]["title"]
    book = program("books").json[0]["book"]
    assert "[red]x[/] {b}" in title
    for verb in (
        ["books"],
        ["exec", "--book", book, "/list-parts"],
        ["exec", "--book", book, "/get-part 1"],
        ["exec", "--book", book, '/find-occurrences "[red]x[/]"'],
        ["exec", "--book", book, '/search-replace-parts "x[/]" "y" 10 true'],
        ["exec", "--book", book, f'/edit-part 1 "{HOSTILE[:8]}" "b"'],
        ["export", "Nothing " + HOSTILE, "--format", "markdown", "--output", "x"],
    ):
        said = program(*verb, as_json=False)
        assert not set(said.out + said.err) & controls, verb


@pytest.mark.parametrize(
    "line",
    ["", "   ", "/", "//", "/nothing", '/get-part "', "/get-part 99999999999999999999", "/get-part -1", "/get-part \\",
     "/find-occurrences", '/find-occurrences ""', "/find-occurrences (a+)+$ true", "/edit-part 1",
     "/edit-part 1 a a a a a a", '/set-book-info ""', "\x00", "/get-part \x1b[31m", "/count-tokens 7"],
)  # fmt: skip
@pytest.mark.usefixtures("unchanged")
def test_a_line_that_is_no_command(program: Program, line: str) -> None:
    said = program("exec", "--book", "Kept", line)
    assert said.code in (0, 1)
    if said.code == 1:
        assert said.json["ok"] is False
        assert said.err.startswith("Error: ")
        assert said.err.count("\n") == 1
        assert "Traceback" not in said.err


# Servers


SCRIPT = [
    calls(("edit-part", {"part": "h:m1", "old": "All", "new": "Most"})),
    calls(("finish", {"report": "Done."})),
]


def _agent(program: Program, url: str) -> None:
    assert program("model", "add", "served", "--base-url", url, "--model", "m", "--timeout", "1").code == 0
    assert program("agent", "add", "Worker", "--book", "Kept", "--model", "served").code == 0


@pytest.fixture
def once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every request is tried once."""
    monkeypatch.setattr("marginalia_tui.llm.models.Retries", lambda: Retries(attempts=1, loading_attempts=1))


HALF = b'data: {"choices": [{"index": 0, "delta": {"content": "Hel'
SERVERS: dict[str, Reply] = {
    "hangs": hang(),
    "hangs in the middle": stream(chunk({"content": "I beg"})).then(*hang().before),
    "sends half a chunk": stream(chunk({"content": "I begin. "}), HALF, Cut()),
    "closes in the middle": cut("I begin. "),
    "answers with a page": html(),
    "answers with a page of an error": html(502),
    "does not know the model": error(404, "The model 'm' does not exist", "not_found_error"),
    "does not know the address": Reply(status=404, headers=(("Content-Type", "text/plain"),), steps=(b"404",)),
    "wants a key": error(401, "Incorrect API key provided: sk-secret", "invalid_request_error"),
    "is out of money": error(429, "You exceeded your current quota", "insufficient_quota"),
    "fails": error(500, "\x1b[31mInternal\x1b[0m error " + "x" * 10_000),
    "sends garbage": garbage(),
    "sends an empty list": json_reply([]),
    "sends nothing": Reply(steps=()),
    "sends no choices": json_reply({"choices": []}),
    "says an error in the stream": stream(b'data: {"error": {"message": "out of memory"}}\n\n'),
    "redirects": Reply(status=302, headers=(("Location", "http://127.0.0.1:1/"),), steps=(b"",), length=True),
}


@pytest.mark.usefixtures("unchanged", "once")
@pytest.mark.parametrize("name", SERVERS)
def test_a_server_that(program: Program, home: Path, name: str) -> None:
    """The run pauses with the sentence, the transcript stays whole, and with a good server the run goes on."""
    broken, good = [SERVERS[name]], by_results(SCRIPT)

    def script(body: dict[str, Any]) -> Reply:
        return broken[0] if broken else good(body)

    with ScriptedServer(script) as server:
        _agent(program, server.url)
        said = program("run", "start", "Worker")
        assert said.code == 3, said.out
        rest = json.loads(said.out.splitlines()[-1])
        assert rest["status"] in ("PAUSED", "IDLE"), rest
        assert rest["reason"]
        assert "sk-secret" not in said.out + said.err
        assert "\x1b" not in said.out
        assert len(rest["reason"]) <= 2_000
        broken.clear()
        if rest["status"] == "PAUSED":
            assert program("run", "resume", "latest").code == 0
        else:
            assert program("run", "send", "latest", "Go on.").code == 0
        (item,) = program("run", "review", "latest").json["items"]
        assert item["fields"][0]["agent"] == "Most of it."
    with closing(Store.open(home)) as store, store.read() as tx:
        (run,) = list_runs(tx)
        rows = transcript.entries(tx, run.uuid)
    messages = wire_messages(Request(system="", messages=tuple(row.message for row in rows)))
    wanted = [call["id"] for message in messages for call in message.get("tool_calls", ())]
    assert wanted == [message["tool_call_id"] for message in messages if message["role"] == "tool"]


@pytest.mark.usefixtures("unchanged", "once")
@pytest.mark.parametrize("url", ["http://127.0.0.1:9/v1", "http://nowhere.invalid/v1", "http://[::1]:9/v1"])
def test_a_server_that_refuses_or_is_not_there(program: Program, url: str) -> None:
    _agent(program, url)
    said = program("run", "start", "Worker")
    assert said.code == 3
    rest = json.loads(said.out.splitlines()[-1])
    assert rest["status"] == "PAUSED"
    assert "served" in rest["reason"]
    program("model", "test", "served").refused("served")


def test_the_test_of_a_model_ends_in_a_sentence_whatever_the_server_does(
    program: Program, once: None, tmp_path: Path
) -> None:
    for reply in SERVERS.values():
        with ScriptedServer([reply] * 3) as server:
            program("model", "add", "served", "--base-url", server.url, "--model", "m", "--timeout", "1")
            said = program("model", "test", "served")
            assert said.code in (0, 1)
            if said.code:
                said.refused()
            program("model", "remove", "served")


@pytest.mark.parametrize(
    "options",
    [["--base-url", "no address"], ["--base-url", "http://"], ["--base-url", "http://x:99999/v1"],
     ["--base-url", "http://x\x1b[31m/v1"], ["--base-url", "http://u:p@x/v1"],
     ["--base-url", "http://x/v1", "--temperature", "nan"], ["--base-url", "http://x/v1", "--timeout", "-1"],
     ["--base-url", "http://x/v1", "--context", "-5"]],
)  # fmt: skip
def test_a_model_that_can_not_be(program: Program, options: list[str]) -> None:
    said = program("model", "add", "bad", "--model", "m", *options)
    assert said.code in (1, 2)
    if said.code == 1:
        said.refused()
    assert len(program("model", "list").json) == 1


# The store and the home


def _hold(home: Path) -> sqlite3.Connection:
    other = sqlite3.connect(home / "studio.db", isolation_level=None, check_same_thread=False)
    other.execute("BEGIN EXCLUSIVE")
    return other


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever holds the store is not waited for as long as usual."""
    monkeypatch.setattr("marginalia_tui.store.engine.BUSY_SECONDS", 0.05)


@pytest.mark.usefixtures("unchanged", "impatient")
def test_a_store_that_another_program_holds(program: Program, home: Path, tmp_path: Path) -> None:
    path = _file(tmp_path, "new.md", b"# New\n\ntext\n")
    with closing(_hold(home)) as other:
        program("import", path).refused("Another program holds the store")
        program("exec", "--book", "Kept", '/edit-part 1 "All" "None"')
        assert program("books").code == 0
        other.execute("ROLLBACK")


@pytest.mark.usefixtures("impatient")
def test_a_store_that_another_program_does_not_even_let_be_read(program: Program, home: Path) -> None:
    with closing(sqlite3.connect(home / "studio.db", isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode=EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        other.execute("CREATE TABLE taken (x)")
        program("books").refused("Another program holds the store")
        assert program("doctor").code == 1
        other.execute("ROLLBACK")
    assert program("books").json == []


@pytest.mark.usefixtures("impatient", "once")
def test_a_store_that_is_held_while_a_run_works_pauses_it(program: Program, home: Path, tmp_path: Path) -> None:
    program("import", _file(tmp_path, "kept.md", b"# Kept\n\n## One\n\nAll of it.\n"))
    taken: list[sqlite3.Connection] = []
    good = by_results(SCRIPT)

    def script(body: dict[str, Any]) -> Reply:
        reply = good(body)
        if reply is SCRIPT[1] and not taken:
            taken.append(_hold(home))
        return reply

    with ScriptedServer(script) as server:
        _agent(program, server.url)
        said = program("run", "start", "Worker")
        assert "Another program holds the store" in said.out
        assert "Traceback" not in said.err
        taken[0].execute("ROLLBACK")
        taken[0].close()
        assert program("run", "work", "latest").code == 0
        (item,) = program("run", "review", "latest").json["items"]
        assert item["fields"][0]["agent"] == "Most of it."


def test_a_store_of_a_newer_version(program: Program, home: Path) -> None:
    with closing(sqlite3.connect(home / "studio.db")) as other:
        other.execute("UPDATE alembic_version SET version_num = '9999'")
        other.commit()
    before = (home / "studio.db").read_bytes()
    program("books").refused("newer Marginalia")
    assert program("doctor").code == 1
    assert (home / "studio.db").read_bytes() == before


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: b"This is no database at all, but a text.\n" * 100,
        lambda data: data[:100] + os.urandom(4_000) + data[4_100:],
        lambda data: data[: len(data) // 2],
        lambda data: b"\0" * len(data),
        lambda data: data[:28] + struct.pack(">I", 7) + data[32:],
    ],
    ids=["a text", "noise", "half of it", "zeros", "a wrong size"],
)
def test_a_store_that_is_damaged(program: Program, home: Path, spoil: Callable[[bytes], bytes]) -> None:
    path = home / "studio.db"
    spoilt = spoil(path.read_bytes())
    path.write_bytes(spoilt)
    said = program("books")
    if said.code:
        said.refused()
    assert "Traceback" not in said.err
    looked = program("doctor")
    assert looked.code == 1
    store = next(each for each in looked.json["findings"] if each["what"] == "store")
    assert store["ok"] is False


def test_a_store_of_another_program(program: Program, home: Path) -> None:
    (home / "studio.db").unlink()
    with closing(sqlite3.connect(home / "studio.db")) as other:
        other.execute("CREATE TABLE theirs (x)")
        other.commit()
    program("books").refused("another program")
    with closing(sqlite3.connect(home / "studio.db")) as other:
        assert other.execute("SELECT name FROM sqlite_master").fetchall() == [("theirs",)]


@pytest.mark.parametrize("name", ["studio.db", "studio.turn", "leases", "logs", "settings.json", "studio.turn.next"])
def test_something_else_stands_in_the_place_of(program: Program, home: Path, name: str) -> None:
    """A folder where a file should be, or a file where a folder should be."""
    path = home / name
    if name in ("leases", "logs"):
        if path.exists():
            path.rmdir()
        path.write_bytes(b"mine")
    else:
        path.unlink(missing_ok=True)
        path.mkdir()
    program("books").refused(name)
    assert path.exists()


@pytest.mark.parametrize(
    ("body", "word"),
    [
        (b"{", "settings.json"),
        (b"\xff\xfe", "settings.json"),
        (b"[]", "settings.json"),
        (b'{"theme": 5}', "theme"),
        (b'{"max_running": 0}', "max_running"),
        (b'{"nobody_knows_this": 1}', "nobody_knows_this"),
        (b'{"keymap": {"app.quit": 5}}', "keymap"),
        (b"[" * 100_000, "settings.json"),
        (b'{"theme": "\\u001b[31m"}', ""),
    ],
)
def test_settings_that_are_broken(program: Program, home: Path, body: bytes, word: str) -> None:
    (home / "settings.json").write_bytes(body)
    said = program("books")
    if word:
        said.refused(word)
    else:
        assert said.code == 0
    assert (home / "settings.json").read_bytes() == body


@pytest.mark.usefixtures("unchanged", "once")
@pytest.mark.parametrize(
    ("body", "mode", "word"),
    [
        (b'{"served": "sk-secret"}', 0o644, "chmod 600"),
        (b"{", 0o600, "keys.json"),
        (b'["sk-secret"]', 0o600, "keys.json"),
        (b'{"served": "sk-secret\\nX-Evil: 1"}', 0o600, "key"),
        (b'{"served": 5}', 0o600, "keys.json"),
    ],
)
def test_keys_that_others_can_read_or_that_are_none(
    program: Program, home: Path, body: bytes, mode: int, word: str
) -> None:
    with ScriptedServer(SCRIPT) as server:
        _agent(program, server.url)
        (home / "keys.json").write_bytes(body)
        (home / "keys.json").chmod(mode)
        said = program("run", "start", "Worker")
        assert said.code == 3
        assert word in json.loads(said.out.splitlines()[-1])["reason"]
        assert "sk-secret" not in said.out + said.err + (home / "logs" / "studio.log").read_text(encoding="utf-8")
        assert not server.requests
        (home / "keys.json").unlink()
        assert program("run", "resume", "latest").code == 0


WITHOUT_RIGHTS = """
import ctypes, os, sys
# The right of root to pass over the rights of files, which others never had.
ctypes.CDLL(None).prctl(24, 1, 0, 0, 0)
os.execv(sys.executable, [sys.executable, "-m", "marginalia_tui", *sys.argv[1:]])
"""


def _alone(code: str, *arguments: object) -> Said:
    """Runs the program in a process of its own, by a script that first sets something up."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=environment)
    return Said(done.returncode, done.stdout, done.stderr)


def test_a_home_that_is_read_only(program: Program, home: Path, tmp_path: Path) -> None:
    program("import", _file(tmp_path, "kept.md", b"# Kept\n\n## One\n\nAll of it.\n"))
    files = [home, *home.rglob("*")]
    modes = {path: path.stat().st_mode & 0o777 for path in files}
    try:
        for path in files:
            path.chmod(0o500 if path.is_dir() else 0o400)
        for verb in (["books"], ["run", "list"], ["import", tmp_path / "kept.md"]):
            _alone(WITHOUT_RIGHTS, "--home", home, "--json", *verb).refused("read-only")
        looked = _alone(WITHOUT_RIGHTS, "--home", home, "--json", "doctor")
        assert looked.code == 1
        assert "Traceback" not in looked.err
    finally:
        for path, mode in modes.items():
            path.chmod(mode)
    assert [row["title"] for row in program("books").json] == ["Kept"]


def test_a_home_below_a_folder_that_is_read_only(tmp_path: Path) -> None:
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o500)
    _alone(WITHOUT_RIGHTS, "--home", folder / "home", "--json", "books").refused("can't be used")
    folder.chmod(0o700)
    assert list(folder.iterdir()) == []


LITTLE_DISK = """
import resource, sys
from marginalia_tui import cli
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), int(sys.argv[1])))
cli.main(sys.argv[2:])
"""
FULL_DISK = """
import sys
from sqlalchemy import Engine, event
from marginalia_tui import cli

@event.listens_for(Engine, "connect")
def connected(connection, _):
    connection.execute(f"PRAGMA max_page_count={sys.argv[1]}")

cli.main(sys.argv[2:])
"""


def test_a_disk_that_takes_no_more(program: Program, home: Path, tmp_path: Path) -> None:
    """Files can't grow any more; then they can again, and nothing of what was there is lost."""
    program("import", _file(tmp_path, "kept.md", b"# Kept\n\n## One\n\nAll of it.\n"))
    big = _file(
        tmp_path,
        "big.md",
        b"# Big\n\n" + b"".join(b"## %d\n\n%s\n\n" % (n, os.urandom(900).hex().encode()) for n in range(900)),
    )
    limit = (home / "studio.db").stat().st_size + 200_000
    for code, number in ((LITTLE_DISK, limit), (FULL_DISK, limit // 4096)):
        said = _alone(code, number, "--home", home, "--json", "import", big)
        said.refused("disk")
        assert [row["title"] for row in program("books").json] == ["Kept"]
        assert program("doctor").code == 0
    out = tmp_path / "out.md"
    _alone(
        LITTLE_DISK, 5, "--home", home, "--json", "export", "Kept", "--format", "markdown", "--output", out
    ).refused()
    assert not out.exists()
    assert program("import", big).code == 0


def test_a_disk_that_is_full_when_the_home_is_made(tmp_path: Path) -> None:
    home = tmp_path / "home"
    _alone(LITTLE_DISK, 40_000, "--home", home, "--json", "books").refused()
    said = _alone(LITTLE_DISK, 50_000_000, "--home", home, "--json", "books")
    assert (said.code, said.json) == (0, [])


def test_a_disk_that_gets_full_while_a_run_works(program: Program, home: Path, tmp_path: Path) -> None:
    program("import", _file(tmp_path, "kept.md", b"# Kept\n\n## One\n\nAll of it.\n"))
    long = "".join(chr(97 + n * 7919 % 26) for n in range(300_000))
    script = [
        calls(("append-to-part", {"part": "h:m1", "text": long})),
        calls(("finish", {"report": "Done."})),
    ]
    with ScriptedServer(by_results(script)) as server:
        _agent(program, server.url)
        pages = (home / "studio.db").stat().st_size // 4096 + 30
        said = _alone(FULL_DISK, pages, "--home", home, "--json", "run", "start", "Worker")
        assert "The disk is full" in said.out
        assert "Traceback" not in said.err
        assert said.code == 3
        again = program("run", "work", "latest")
        if again.code == 1:
            again = program("run", "resume", "latest")
        assert again.code == 0
        (item,) = program("run", "review", "latest").json["items"]
        assert item["fields"][0]["agent"].count(long) == 1


def test_one_who_waits_for_the_writer_is_told(home: Path) -> None:
    """A change that takes very long is no fault of the thread that looks for commits of others."""
    with closing(Store.open(home)) as store:
        store._writer.pool._timeout = 0.05  # type: ignore[attr-defined]
        go, there = threading.Event(), threading.Event()

        def long() -> None:
            with store.write(Act(actor="author", label="long")):
                there.set()
                assert go.wait(20)

        writer = threading.Thread(target=long)
        writer.start()
        assert there.wait(20)
        try:
            with pytest.raises(StoreError, match="too long"):
                store._foreign_commits()
        finally:
            go.set()
            writer.join(20)


def test_a_model_that_answers_far_too_much_is_taken_whole(program: Program, tmp_path: Path) -> None:
    program("import", _file(tmp_path, "kept.md", b"# Kept\n\n## One\n\nAll of it.\n"))
    with ScriptedServer([text(*["word "] * 50_000), text("Hm."), text("Hm.")]) as server:
        _agent(program, server.url)
        assert program("run", "start", "Worker").code == 3
    rows = program("run", "transcript", "latest").json
    assert max(len(row["text"]) for row in rows) == 250_000
