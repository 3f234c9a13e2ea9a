"""The store, the settings, the keys and the disk in bad shape: one sentence, and nothing is lost."""

import json
import os
import sqlite3
import struct
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from marginalia_tui.domain.errors import StoreError
from marginalia_tui.store.journal import Act
from marginalia_tui.store.store import Store
from tests.bad_input.program import SCRIPT, Program, Said, add_agent, file_of
from tests.support.scripted_server import (
    Reply,
    ScriptedServer,
    by_results,
    calls,
    text,
)

ROOT = Path(__file__).parents[2]


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
    path = file_of(tmp_path, "new.md", b"# New\n\ntext\n")
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
    program("import", file_of(tmp_path, "kept.md", b"# Kept\n\n## One\n\nAll of it.\n"))
    taken: list[sqlite3.Connection] = []
    good = by_results(SCRIPT)

    def script(body: dict[str, Any]) -> Reply:
        reply = good(body)
        if reply is SCRIPT[1] and not taken:
            taken.append(_hold(home))
        return reply

    with ScriptedServer(script) as server:
        add_agent(program, server.url)
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
        add_agent(program, server.url)
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
    program("import", file_of(tmp_path, "kept.md", b"# Kept\n\n## One\n\nAll of it.\n"))
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
    program("import", file_of(tmp_path, "kept.md", b"# Kept\n\n## One\n\nAll of it.\n"))
    big = file_of(
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
    program("import", file_of(tmp_path, "kept.md", b"# Kept\n\n## One\n\nAll of it.\n"))
    long = "".join(chr(97 + n * 7919 % 26) for n in range(300_000))
    script = [
        calls(("append-to-part", {"part": "h:m1", "text": long})),
        calls(("finish", {"report": "Done."})),
    ]
    with ScriptedServer(by_results(script)) as server:
        add_agent(program, server.url)
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
    program("import", file_of(tmp_path, "kept.md", b"# Kept\n\n## One\n\nAll of it.\n"))
    with ScriptedServer([text(*["word "] * 50_000), text("Hm."), text("Hm.")]) as server:
        add_agent(program, server.url)
        assert program("run", "start", "Worker").code == 3
    rows = program("run", "transcript", "latest").json
    assert max(len(row["text"]) for row in rows) == 250_000
