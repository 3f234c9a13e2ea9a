"""The headless contract: shapes, exit codes, sentences. In process, on real stores, against the scripted server."""

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from marginalia_tui import cli
from tests.conftest import NewHome
from tests.support.scripted_server import Mark, Pause, ScriptedServer, calls, chunk, stream, text


class Said:
    """What one call of the program answered."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def json(self) -> Any:
        """The one JSON document."""
        return json.loads(self.out)

    @property
    def lines(self) -> list[dict[str, Any]]:
        """The objects of a stream."""
        return [json.loads(line) for line in self.out.splitlines()]


Program = Callable[..., Said]


@pytest.fixture
def home(new_home: NewHome, tmp_path: Path) -> Path:
    return new_home(tmp_path / "home")


@pytest.fixture
def program(home: Path, capsys: pytest.CaptureFixture[str]) -> Program:
    """Runs `marginalia --home HOME ...` in this process."""

    def run(*arguments: str, as_json: bool = True) -> Said:
        capsys.readouterr()
        options = ["--home", str(home), *(["--json"] if as_json else []), *arguments]
        with pytest.raises(SystemExit) as ended:
            cli.main(options)
        out, err = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return Said(ended.value.code, out, err)

    return run


@pytest.fixture
def novel(tmp_path: Path) -> Path:
    path = tmp_path / "novel.md"
    path.write_text("# The Novel\n\n## One\n\nThere sat teh cat.\n\n## Two\n\nTwo words.\n", encoding="utf-8")
    return path


def test_import_books_export(program: Program, novel: Path, tmp_path: Path) -> None:
    made = program("import", str(novel)).json
    assert made.keys() == {"book", "title", "parts", "swipes", "words", "notes"}
    assert (made["title"], made["parts"]) == ("The Novel", 2)
    (row,) = program("books").json
    assert row == {**row, "book": made["book"], "parts": 2, "folder": None, "locked_by": None}
    target = tmp_path / "out.md"
    written = program("export", "The Novel", "--format", "markdown", "--output", str(target)).json
    assert written == {"path": str(target), "bytes": target.stat().st_size, "notes": []}
    again = program("export", "The Novel", "--format", "markdown", "--output", str(target))
    assert again.code == 1
    assert again.json["error"]["kind"]
    assert program("export", "The Novel", "--format", "markdown", "--output", str(target), "--force").code == 0


def test_an_unknown_book_lists_what_would_fit(program: Program, novel: Path) -> None:
    program("import", str(novel))
    said = program("export", "The Nvel", "--format", "markdown", "--output", "x")
    assert said.code == 1
    assert "The Novel" in said.json["error"]["message"]
    assert said.err.startswith("Error: ")


def test_a_book_is_named_by_a_beginning_or_by_words_of_its_title(program: Program, novel: Path) -> None:
    book = str(program("import", str(novel)).json["book"])
    for name in ("the nov", "novel", "Nove", book[:18]):
        assert program("exec", "--book", name, "/get-book-info").json["result"]["book"] == book
    for name in ("the", "ovel"):  # too short to be meant; not the beginning of a word
        assert program("exec", "--book", name, "/get-book-info").code == 1


def test_an_ambiguous_book_lists_both(program: Program, novel: Path) -> None:
    program("import", str(novel))
    program("import", str(novel))
    said = program("exec", "--book", "The Novel", "/list-parts")
    assert said.code == 1
    assert said.json["error"]["kind"] == "ambiguous"


def test_exec_answers_the_result_of_the_command(program: Program, novel: Path) -> None:
    program("import", str(novel))
    said = program("exec", "--book", "The Novel", '/find-occurrences "teh cat"')
    assert (said.code, said.json["command"], said.json["ok"]) == (0, "find-occurrences", True)
    assert "teh cat" in json.dumps(said.json["result"])
    edited = program("exec", "--book", "The Novel", '/edit-part 1 "teh cat" "the cat"')
    assert edited.json["ok"]
    assert program("exec", "--book", "The Novel", "/undo").json["ok"]
    wrong = program("exec", "--book", "The Novel", "/lst-parts")
    assert (wrong.code, wrong.json["ok"], wrong.json["error"]["kind"]) == (1, False, "not_found")
    assert "list-parts" in wrong.err


def test_f22_a_question_without_a_terminal_fails_unless_yes(program: Program, novel: Path) -> None:
    program("import", str(novel))
    said = program("exec", "--book", "The Novel", "/delete-part 1")
    assert said.code == 1
    assert "--yes" in said.err
    assert len(program("exec", "--book", "The Novel", "/list-parts").json["result"]["parts"]) == 2
    assert program("exec", "--yes", "--book", "The Novel", "/delete-part 1").code == 0
    assert len(program("exec", "--book", "The Novel", "/list-parts").json["result"]["parts"]) == 1


def test_commands_show_the_registry(program: Program) -> None:
    rows = program("commands").json
    names = {row["name"] for row in rows}
    assert {"get-part", "edit-part", "undo", "search-replace-parts", "help"} <= names
    (row,) = program("commands", "edit-part").json
    assert row.keys() >= {
        "name", "human_name", "description", "forms", "returns", "severity", "destructive", "read_only", "batch",
        "async", "for_agents",
    }  # fmt: skip
    assert row["forms"][0][0].keys() == {"name", "type", "required", "default", "allowed", "description"}


def test_usage_is_exit_2(program: Program) -> None:
    assert program("import").code == 2
    assert program("no-such-verb").code == 2
    assert program("run", "checkpoints", "latest").code == 2


def test_models_are_added_shown_changed_removed(program: Program) -> None:
    program("model", "add", "local", "--base-url", "http://127.0.0.1:1/v1", "--model", "m", "--context", "4096")
    assert program("model", "show", "local").json["context"] == 4096
    program("model", "set", "local", "--temperature", "0", "--images", "--answers-with-call", "--no-stream")
    shown = program("model", "show", "local").json
    assert (shown["temperature"], shown["images"]) == (0.0, True)
    assert (shown["answers_with_call"], shown["streams"]) == (True, False)
    assert [row["provider"] for row in program("model", "list").json] == ["openai", "offline"]
    twice = program("model", "add", "local", "--base-url", "http://x/v1", "--model", "m")
    assert twice.code == 1
    bad = program("model", "add", "bad", "--base-url", "ftp://x", "--model", "m")
    assert "http" in bad.json["error"]["message"]
    assert program("model", "remove", "local").json == {"removed": "local"}
    assert program("model", "remove", "local").code == 1


def test_model_test_reports_what_works(program: Program) -> None:
    def script(body: dict[str, Any]) -> Any:
        if body.get("tools"):
            return calls(("note_colour", {"colour": "green"}), usage=(10, 5))
        return text("Tuesday", usage=(10, 2))

    with ScriptedServer(script) as server:
        program("model", "add", "local", "--base-url", server.url, "--model", "m")
        report = program("model", "test", "local").json
    assert report["tools"] is True
    assert report["usage"] is True
    assert report["first_token"] >= 0


def _agent(program: Program, novel: Path, url: str, *options: str) -> None:
    program("import", str(novel))
    assert program("model", "add", "scripted", "--base-url", url, "--model", "m").code == 0
    made = program("agent", "add", "Corrector", "--book", "The Novel", "--model", "scripted", *options)
    assert made.code == 0, made.err


SCRIPT = [
    calls(("list-parts", {}), usage=(100, 10)),
    calls(("edit-part", {"part": "h:m1", "old": "teh cat", "new": "the cat"}), said="I correct it.", usage=(150, 20)),
    calls(("finish", {"report": "One slip corrected."}), usage=(200, 5)),
]


def test_agents_are_added_shown_changed_cloned_removed(program: Program, novel: Path, tmp_path: Path) -> None:
    _agent(program, novel, "http://127.0.0.1:1/v1", "--instructions", "Correct it.", "--max-rounds", "5")
    shown = program("agent", "show", "Corrector").json
    assert (shown["instructions"], shown["max_rounds"], shown["status"]) == ("Correct it.", 5, None)
    task = tmp_path / "task.txt"
    task.write_text("Another task.", encoding="utf-8")
    program("agent", "set", "corrector", "--instructions-file", str(task), "--commands", "get-part,edit-part")
    shown = program("agent", "show", "Corrector").json
    assert (shown["instructions"], shown["commands"]) == ("Another task.", ["get-part", "edit-part"])
    second = program("agent", "add", "Second", "--book", "The Novel", "--model", "scripted")
    assert "Corrector" in second.json["error"]["message"]
    wrong = program("agent", "set", "Corrector", "--commands", "get-prat")
    assert "get-part" in wrong.json["error"]["message"]
    other = tmp_path / "other.md"
    other.write_text("# Other\n\nText.\n", encoding="utf-8")
    program("import", str(other))
    assert program("agent", "clone", "Corrector", "--book", "Other", "--as", "Clone").code == 0
    assert {row["name"] for row in program("agent", "list").json} == {"Corrector", "Clone"}
    assert program("agent", "remove", "Clone").code == 0
    assert [row["name"] for row in program("agent", "list").json] == ["Corrector"]


def test_a_run_streams_and_is_reviewed_and_applied(program: Program, novel: Path) -> None:
    with ScriptedServer(SCRIPT) as server:
        _agent(program, novel, server.url)
        ran = program("run", "start", "Corrector")
    assert ran.code == 0
    events = [line["event"] for line in ran.lines]
    assert events[0] == "status"
    assert events[-1] == "rest"
    assert ran.lines[-1]["status"] == "DONE"
    call = next(line for line in ran.lines if line["event"] == "call" and line["name"] == "edit-part")
    assert call == {
        "event": "call",
        "id": call["id"],
        "thread": None,
        "name": "edit-part",
        "arguments": {"part": "h:m1", "old": "teh cat", "new": "the cat"},
    }
    usage = next(line for line in ran.lines if line["event"] == "usage")
    assert usage == {"event": "usage", "prompt": 100, "completion": 10, "cached": 0, "context": 110}
    shown = program("run", "show", "latest").json
    assert shown.keys() == {
        "run", "agent", "book", "status", "reason", "attention", "rounds", "prompt_tokens", "completion_tokens",
        "cached_tokens", "cost", "context_tokens", "context_cap", "plan", "queued", "pending_approvals", "worked_by",
        "minutes", "limits",
    }  # fmt: skip
    assert (shown["status"], shown["rounds"], shown["prompt_tokens"]) == ("DONE", 3, 450)
    rows = program("run", "transcript", "latest").json
    assert rows[0].keys() == {
        "uuid", "thread", "ordinal", "role", "text", "reasoning", "calls", "call_id", "ok", "compacted", "rewound",
        "summary", "notice", "created",
    }  # fmt: skip
    assert [row["role"] for row in rows] == ["user", "assistant", "tool"] + ["assistant", "tool"] * 2
    review = program("run", "review", "latest").json
    (item,) = review["items"]
    assert item.keys() >= {"id", "kind", "change", "title", "fields", "problem", "depends_on"}
    assert item["fields"][0].keys() >= {"name", "type", "base", "agent", "book", "conflict"}
    assert item["fields"][0]["agent"] == "There sat the cat."
    applied = program("run", "apply", "latest", "--all").json
    assert applied == {"applied": [item["id"]], "skipped": [], "conflicts": []}
    assert program("run", "show", "latest").json["status"] == "APPLIED"
    part = program("exec", "--book", "The Novel", "/get-part 1").json["result"]
    assert part["text"] == "There sat the cat."
    assert program("run", "apply", "latest", "--all").code == 1
    assert program("exec", "--book", "The Novel", "/undo").code == 0
    assert program("run", "show", "latest").json["status"] == "DONE"


def test_a_conflict_is_never_applied_without_being_named(program: Program, novel: Path) -> None:
    with ScriptedServer(SCRIPT) as server:
        _agent(program, novel, server.url)
        program("run", "start", "Corrector")
    program("exec", "--book", "The Novel", '/edit-part 1 "teh cat" "a dog"')
    review = program("run", "review", "latest").json
    assert review["items"][0]["fields"][0]["conflict"] is True
    item = review["items"][0]["id"]
    assert program("run", "apply", "latest", "--pick", item).json["conflicts"] == [f"{item}:text"]
    assert program("run", "show", "latest").json["status"] == "DONE"
    assert program("exec", "--book", "The Novel", "/get-part 1").json["result"]["text"] == "There sat a dog."


def test_a_conflict_that_is_named_is_taken(program: Program, novel: Path, tmp_path: Path) -> None:
    with ScriptedServer(SCRIPT) as server:
        _agent(program, novel, server.url)
        program("run", "start", "Corrector")
    program("exec", "--book", "The Novel", '/edit-part 1 "teh cat" "a dog"')
    item = program("run", "review", "latest").json["items"][0]["id"]
    mine = tmp_path / "mine.md"
    mine.write_text("There sat nobody.", encoding="utf-8")
    said = program("run", "apply", "latest", "--pick", f"{item}:text", "--text", f"{item}:text={mine}")
    assert said.json["applied"] == [item]
    assert program("exec", "--book", "The Novel", "/get-part 1").json["result"]["text"] == "There sat nobody."


def test_a_run_that_rests_is_exit_3_and_goes_on(program: Program, novel: Path) -> None:
    script = [text("Hm."), text("Shall I?"), *SCRIPT]
    with ScriptedServer(script) as server:
        _agent(program, novel, server.url)
        assert program("run", "start", "Corrector").code == 3
        left = program("run", "send", "latest", "Yes.", "--detach")
        assert (left.code, left.json["queued"]) == (3, 1)
        (queued,) = program("run", "queue", "latest").json
        assert program("run", "queue", "latest", "--cancel", str(queued["id"])).json == []
        assert program("run", "queue", "latest", "--cancel", str(queued["id"])).code == 1
        ran = program("run", "command", "latest", "/list-parts")
        assert (ran.code, ran.lines[-1]["status"]) == (3, "IDLE")
        assert program("run", "command", "latest", "/delete-part 1").code == 1
        assert program("run", "send", "latest", "Yes.", "--detach").code == 3
        (queued,) = program("run", "queue", "latest").json
        assert program("run", "queue", "latest", "--force", str(queued["id"])).code == 0
        assert program("run", "queue", "latest", "--force", str(queued["id"])).code == 1
        assert server.chats[2].body["messages"][-1]["content"].endswith("Yes.")


def test_approve_and_deny(program: Program, novel: Path) -> None:
    script = [
        calls(("replace-part-text", {"part": "h:m1", "text": "New."})),
        calls(("replace-part-text", {"part": "h:m2", "text": "New too."})),
        calls(("finish", {"report": "Done."})),
    ]
    with ScriptedServer(script) as server:
        _agent(program, novel, server.url, "--commands", "all", "--destructive", "ask")
        assert program("run", "start", "Corrector").code == 3
        shown = program("run", "show", "latest").json
        assert shown["worked_by"] is None
        (waiting,) = shown["pending_approvals"]
        assert waiting["command"] == "replace-part-text"
        assert waiting["named"]["text"] == "New." and waiting["named"]["part"] in waiting["changes"][0]
        assert (len(waiting["changes"]), waiting["problem"]) == (1, None)
        attached = program("run", "attach", "latest")
        assert attached.code == 3
        assert attached.lines[-1] == {**attached.lines[-1], "event": "rest", "status": "WAITING_APPROVAL"}
        assert program("run", "approve", "latest", waiting["call"]).code == 3
        (waiting,) = program("run", "show", "latest").json["pending_approvals"]
        assert program("run", "deny", "latest", waiting["call"], "--why", "Leave it.").code == 0
        review = program("run", "review", "latest").json
    assert [item["fields"][0]["agent"] for item in review["items"]] == ["New."]


def test_stop_and_finish(program: Program, novel: Path) -> None:
    with ScriptedServer([text("Hm.")] * 6) as server:
        _agent(program, novel, server.url)
        program("run", "start", "Corrector")
        assert program("run", "stop", "latest", "--keep").json["status"] == "STOPPED_KEPT"
        assert program("run", "resume", "latest", "--note", "Go on.").code == 3
        assert program("run", "finish", "latest").json["status"] == "DONE"
        program("run", "start", "Corrector")
        assert program("run", "stop", "latest", "--discard").json["status"] == "STOPPED_DISCARDED"
        assert [row["status"] for row in program("run", "list").json] == ["STOPPED_DISCARDED", "DONE"]


def test_a_failed_model_pauses_with_exit_3(program: Program, novel: Path) -> None:
    _agent(program, novel, "http://127.0.0.1:9/v1")
    program("model", "set", "scripted", "--timeout", "1")
    from marginalia_tui.llm.retry import Retries

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("marginalia_tui.llm.models.Retries", lambda: Retries(attempts=1))
        said = program("run", "start", "Corrector")
    assert said.code == 3
    assert said.lines[-1]["status"] == "PAUSED"
    assert "127.0.0.1" in said.lines[-1]["reason"]


def test_text_for_people_shows_escapes_as_signs(program: Program, novel: Path) -> None:
    evil = stream(chunk({"content": "\x1b[31mred\x1b]0;title\x07"}), chunk({}, "stop"))
    with ScriptedServer([evil, text("Hm.")]) as server:
        _agent(program, novel, server.url)
        said = program("run", "start", "Corrector", as_json=False)
    assert "\x1b" not in said.out
    assert "␛[31mred" in said.out


def test_pause_of_a_run_of_another_thread_waits_until_it_rests(program: Program, novel: Path, home: Path) -> None:
    gate, asked = threading.Event(), threading.Event()
    slow = stream(Mark(asked), Pause(gate), chunk({"content": "Hm."}), chunk({}, "stop"))
    from marginalia_tui.studio import Studio

    with ScriptedServer([slow]) as server:
        _agent(program, novel, server.url)
        studio = Studio(home)
        try:
            with studio.store.read() as tx:
                from marginalia_tui.agent.agents import find_agent

                agent = find_agent(tx, "Corrector")
            studio.runner.start(agent.uuid)
            assert asked.wait(20)
            paused = program("run", "pause", "latest", "--now")
            assert (paused.code, paused.json["status"]) == (0, "PAUSED")
        finally:
            gate.set()
            studio.close()


def test_doctor_names_what_it_found(program: Program) -> None:
    said = program("doctor")
    assert said.json.keys() == {"ok", "version", "home", "findings"}
    assert {"encoding", "disk", "store"} <= {each["what"] for each in said.json["findings"]}


def test_doctor_compacts_old_versions_when_it_is_asked_to(
    program: Program, novel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("marginalia_tui.store.history.UNDO_REACH", 2)
    program("import", str(novel))
    for number in range(8):
        program("exec", "--yes", "--book", "The Novel", f'/replace-part-text 1 "Text{number}."')
    program("exec", "--book", "The Novel", "/set-book-history-limit 2")

    def told(*options: str) -> dict[str, str]:
        return {each["what"]: each["text"] for each in program("doctor", *options).json["findings"]}

    assert "journal" not in told()
    found = told("--compact")
    assert found["journal of 'The Novel'"] == "6 old versions of 1 part gone"
    assert found["journal"].startswith("12 texts and states freed, ")
    assert told("--compact")["journal"] == "no old version can go"
    assert "no fault found" in found["store"]
    assert program("exec", "--book", "The Novel", "/list-versions 1").json["result"]["total"] == 2


def test_a_home_that_is_a_file_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "file"
    path.write_text("x", encoding="utf-8")
    with pytest.raises(SystemExit) as ended:
        cli.main(["--home", str(path), "--json", "books"])
    out, err = capsys.readouterr()
    assert ended.value.code == 1
    assert json.loads(out)["error"]["kind"] == "store"
    assert err.count("\n") == 1
