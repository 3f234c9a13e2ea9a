"""Model servers that answer badly or not at all: the run pauses with a sentence, and goes on when they are well."""

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from marginalia_tui.agent import transcript
from marginalia_tui.agent.runs import list_runs
from marginalia_tui.domain.chat import Request
from marginalia_tui.llm.openai_chat import wire_messages
from marginalia_tui.store.store import Store
from tests.bad_input.program import SCRIPT, Program, add_agent
from tests.support.scripted_server import (
    Cut,
    Reply,
    ScriptedServer,
    by_results,
    chunk,
    cut,
    error,
    garbage,
    hang,
    html,
    json_reply,
    stream,
)

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
        add_agent(program, server.url)
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
    add_agent(program, url)
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
