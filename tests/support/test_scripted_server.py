import json
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from tests.support.scripted_server import Pause, ScriptedServer, by_results, chunk, cut, error, stream, text


def post(url: str, body: dict[str, Any]) -> bytes:
    request = urllib.request.Request(
        url + "/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=10) as response:
        answer: bytes = response.read()
        return answer


ASK: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}


def test_a_list_is_answered_in_order_and_ends() -> None:
    with ScriptedServer([text("one"), text("two")]) as server:
        assert b"one" in post(server.url, ASK)
        assert b"two" in post(server.url, ASK)
        try:
            post(server.url, ASK)
        except urllib.error.HTTPError as over:
            assert (over.code, b"over" in over.read()) == (500, True)
            over.close()
        assert [body["messages"][0]["content"] for body in server.bodies] == ["Hi"] * 3


def test_a_function_answers_what_is_asked() -> None:
    with ScriptedServer(by_results([text("first"), text("second")])) as server:
        result = {"role": "tool", "tool_call_id": "x", "content": "ok"}
        assert b"first" in post(server.url, ASK)
        assert b"second" in post(server.url, {**ASK, "messages": [*ASK["messages"], result]})
        assert b"second" in post(server.url, {**ASK, "messages": [*ASK["messages"], result, result]})


def test_a_key_is_asked_for() -> None:
    with ScriptedServer([text("x")], key="right") as server:
        try:
            post(server.url, ASK)
        except urllib.error.HTTPError as refused:
            assert refused.code == 401
            refused.close()


def test_a_client_that_leaves_is_noted() -> None:
    release = threading.Event()
    with ScriptedServer([stream(chunk({"content": "x"}), Pause(release))]) as server:
        with socket.create_connection(("127.0.0.1", server.port)) as client:
            client.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}")
            (request,) = server.wait_for(1)
            assert client.recv(10)
            assert not request.gone.is_set()
        assert request.gone.wait(10)
        assert request.gone_at > request.at


def test_closing_leaves_no_thread() -> None:
    before = threading.active_count()
    server = ScriptedServer([stream(chunk({"content": "x"}), Pause(threading.Event()))])
    client = socket.create_connection(("127.0.0.1", server.port))
    client.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}")
    server.wait_for(1)
    server.close()
    client.close()
    assert threading.active_count() == before


def test_a_cut_has_no_end() -> None:
    with ScriptedServer([cut("so far")]) as server, socket.create_connection(("127.0.0.1", server.port)) as client:
        client.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}")
        body = b""
        while piece := client.recv(4096):
            body += piece
        assert b"so far" in body
        assert not body.endswith(b"0\r\n\r\n")


def test_errors_have_their_headers() -> None:
    with ScriptedServer([error(429, "later", headers=[("Retry-After", "7")])]) as server:
        try:
            post(server.url, ASK)
        except urllib.error.HTTPError as limited:
            assert (limited.code, limited.headers["Retry-After"]) == (429, "7")
            limited.close()


def test_it_runs_as_a_program(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    replies = [{"calls": [{"name": "read", "arguments": {"p": 1}}], "usage": [9, 2]}, {"text": ["a", "b"]}]
    script.write_text(json.dumps({"by": "results", "replies": replies}))
    with subprocess.Popen(
        [sys.executable, "-m", "tests.support.scripted_server", str(script)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
    ) as program:
        assert program.stdout is not None
        assert program.stdin is not None
        port = int(program.stdout.readline())
        answer = post(f"http://127.0.0.1:{port}/v1", ASK)
        assert b'"read"' in answer
        assert b"[DONE]" in answer
        program.stdin.close()
        assert program.wait(10) == 0
