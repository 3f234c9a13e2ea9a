"""A model server that says what a test has written down, over real HTTP on 127.0.0.1.

    with ScriptedServer([text("Hello", " world", usage=(12, 2))]) as server:
        definition = ModelDefinition(name="test", base_url=server.url, model="scripted")

A script is a list of replies, taken in order, or a function from the request's body to a reply. A reply is a
status, headers and steps: bytes to send, or `Pause`, `Mark`, `Hang`, `Cut`. Nothing sleeps: what waits, waits for
an event, for the client to leave, or for the server to close. Each request is recorded, with the moment at which
its client went away.

As a program (`python -m tests.support.scripted_server script.json`) it prints its port and serves until its
standard input ends or it is killed. The file is a list of replies, or `{"by": "results", "replies": [...]}`, where
the number of tool results in the request picks the reply (the last one holds for more), so that a client that
was killed and starts anew is answered by where it stands. A reply is an object of `text` (a string or a list of
pieces), `reasoning`, `calls` ([{"name", "arguments", "id"?}]), `usage` ([prompt, completion]), `finish`, or one of
`{"status", "error", "headers"?}`, `{"html"}`, `{"hang": true}`, `{"cut": true, "text"}`.
"""

import json
import select
import socket
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

from tests.support.replies import (
    DONE,
    Body,
    Cut,
    Hang,
    Mark,
    Pause,
    Reply,
    Script,
    Step,
    by_results,
    call_chunks,
    calls,
    chunk,
    cut,
    data,
    error,
    garbage,
    hang,
    html,
    json_reply,
    stream,
    text,
    usage_chunk,
    whole,
)

__all__ = [
    "Body",
    "Cut",
    "DONE",
    "Hang",
    "Mark",
    "Pause",
    "Reply",
    "Script",
    "Step",
    "by_results",
    "call_chunks",
    "calls",
    "chunk",
    "cut",
    "data",
    "error",
    "garbage",
    "hang",
    "html",
    "json_reply",
    "stream",
    "text",
    "usage_chunk",
    "whole",
    "Recorded",
    "ScriptedServer",
]


@dataclass(slots=True)
class Recorded:
    """A request, and what became of it. Moments are of `time.monotonic`."""

    method: str
    path: str
    headers: dict[str, str]
    raw: bytes
    at: float
    answered: threading.Event = field(default_factory=threading.Event)
    gone: threading.Event = field(default_factory=threading.Event)
    gone_at: float = 0.0

    @property
    def body(self) -> Body:
        """The JSON that was sent."""
        value = json.loads(self.raw)
        assert isinstance(value, dict)
        return value

    @property
    def messages(self) -> list[Body]:
        """Its messages."""
        found = self.body["messages"]
        assert isinstance(found, list)
        return found


class ScriptedServer:
    """Serves a script; one thread for each connection, none of them left after `close`.

    Args:
        script: what is answered to chat requests. A list that is used up answers with status 500.
        key: when given, requests without it are refused with 401.
    """

    def __init__(self, script: Script = (), *, key: str | None = None) -> None:
        self.requests: list[Recorded] = []
        self._script = script
        self._taken = 0
        self._key = key
        self._changed = threading.Condition()
        self._closing = threading.Event()
        self._wake_in, self._wake_out = socket.socketpair()
        self._threads: list[threading.Thread] = []
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port: int = self._listener.getsockname()[1]
        self._start(self._accept)

    @property
    def url(self) -> str:
        """The base URL of its chat."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def bodies(self) -> list[Body]:
        """The bodies of the chat requests so far."""
        return [request.body for request in self.chats]

    @property
    def chats(self) -> list[Recorded]:
        """The chat requests so far."""
        with self._changed:
            return [request for request in self.requests if request.path.endswith("/chat/completions")]

    def wait_for(self, count: int, seconds: float = 10.0) -> list[Recorded]:
        """Wait until so many requests have come; an AssertionError when they do not."""
        with self._changed:
            came = self._changed.wait_for(lambda: len(self.requests) >= count, seconds)
            assert came, f"{len(self.requests)} of {count} requests came"
            return list(self.requests)

    def close(self) -> None:
        """End every connection and thread."""
        self._closing.set()
        self._wake_in.close()
        # shutdown, since closing alone leaves a thread in accept
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join(5)
        self._wake_out.close()

    def __enter__(self) -> "ScriptedServer":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _start(self, target: Callable[..., None], *args: Any) -> None:
        thread = threading.Thread(target=target, args=args, name="scripted-server", daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while not self._closing.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self._start(self._serve, connection)

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            held = b""
            while not self._closing.is_set():
                read = self._read(connection, held)
                if read is None:
                    return
                request, held = read
                with self._changed:
                    self.requests.append(request)
                    self._changed.notify_all()
                if not self._answer(connection, request):
                    return

    def _read(self, connection: socket.socket, held: bytes) -> tuple[Recorded, bytes] | None:
        """The next request of a connection, None at its end."""
        while b"\r\n\r\n" not in held:
            piece = self._receive(connection)
            if not piece:
                return None
            held += piece
        at = time.monotonic()
        head, _, held = held.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        method, path, _ = first.split(" ", 2)
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        size = int(headers.get("content-length", "0"))
        while len(held) < size:
            piece = self._receive(connection)
            if not piece:
                return None
            held += piece
        return Recorded(method, path, headers, held[:size], at), held[size:]

    def _receive(self, connection: socket.socket) -> bytes:
        ready, _, _ = select.select([connection, self._wake_out], [], [])
        if self._wake_out in ready:
            return b""
        try:
            return connection.recv(65536)
        except OSError:
            return b""

    def _pick(self, request: Recorded) -> Reply:
        if request.method == "GET":
            return json_reply({"object": "list", "data": [{"id": "scripted", "object": "model"}]})
        if not request.path.endswith("/chat/completions"):
            return error(404, "File Not Found", "not_found_error")
        if self._key is not None and request.headers.get("authorization") != f"Bearer {self._key}":
            return error(401, "Invalid API Key", "authentication_error")
        if not isinstance(self._script, Sequence):
            reply: Reply = self._script(request.body)
            return reply
        with self._changed:
            self._taken += 1
            if self._taken > len(self._script):
                return error(500, "The script is over.", "server_error")
            return self._script[self._taken - 1]

    def _answer(self, connection: socket.socket, request: Recorded) -> bool:
        """Send the reply; False when the connection is at its end."""
        watcher = _Watcher(connection, request)
        try:
            return self._send(connection, request, self._pick(request))
        except OSError:
            watcher.left()
            return False
        finally:
            watcher.stop()
            request.answered.set()

    def _send(self, connection: socket.socket, request: Recorded, reply: Reply) -> bool:
        for step in reply.before:
            if not self._step(connection, request, step, chunked=False):
                return False
        lines = [f"HTTP/1.1 {reply.status} Scripted"] + [f"{name}: {value}" for name, value in reply.headers]
        size = sum(len(step) for step in reply.steps if isinstance(step, bytes))
        lines.append(f"Content-Length: {size}" if reply.length else "Transfer-Encoding: chunked")
        connection.sendall("\r\n".join([*lines, "", ""]).encode())
        for step in reply.steps:
            if not self._step(connection, request, step, chunked=not reply.length):
                return False
        if not reply.length:
            connection.sendall(b"0\r\n\r\n")
        return True

    def _step(self, connection: socket.socket, request: Recorded, step: Step, *, chunked: bool) -> bool:
        match step:
            case bytes():
                if step:
                    connection.sendall(b"%x\r\n%s\r\n" % (len(step), step) if chunked else step)
                return True
            case Mark(event):
                event.set()
                return True
            case Pause(event):
                return self._wait(request, event)
            case Hang():
                self._wait(request, threading.Event())
                return False
            case Cut():
                return False

    def _wait(self, request: Recorded, event: threading.Event) -> bool:
        """Wait for an event; False when the client left or the server closes first."""
        while not event.wait(0.005):
            if request.gone.is_set() or self._closing.is_set():
                return False
        return True


class _Watcher:
    """Notes the moment at which the client of a request goes away while it is answered."""

    def __init__(self, connection: socket.socket, request: Recorded) -> None:
        self._connection = connection
        self._request = request
        self._in, self._out = socket.socketpair()
        self._thread = threading.Thread(target=self._watch, name="scripted-watcher", daemon=True)
        self._thread.start()

    def left(self) -> None:
        if not self._request.gone.is_set():
            self._request.gone_at = time.monotonic()
            self._request.gone.set()

    def stop(self) -> None:
        self._in.close()
        self._thread.join(5)
        self._out.close()

    def _watch(self) -> None:
        ready, _, _ = select.select([self._connection, self._out], [], [])
        if self._connection not in ready:
            return
        try:
            if self._connection.recv(1, socket.MSG_PEEK):
                return
        except OSError:
            pass
        self.left()


# As a program -------------------------------------------------------------------------------------------------


def read_script(value: Any) -> Script:
    """The script of a JSON file; see the head of this module."""
    if isinstance(value, dict):
        assert value.get("by") == "results", "the only way to pick a reply is by results"
        return by_results([read_reply(one) for one in value["replies"]])
    return [read_reply(one) for one in value]


def read_reply(one: Body) -> Reply:
    """One reply of a JSON file."""
    pieces = one.get("text", [])
    pieces = [pieces] if isinstance(pieces, str) else pieces
    if one.get("hang"):
        return hang()
    if one.get("cut"):
        return cut(*pieces)
    if "html" in one:
        return html(one.get("status", 200), one["html"])
    if "status" in one:
        return error(one["status"], one.get("error", ""), headers=tuple(one.get("headers", {}).items()))
    thought = one.get("reasoning", [])
    counts = one.get("usage")
    return text(
        *pieces,
        reasoning=[thought] if isinstance(thought, str) else thought,
        calls=[(call["name"], call.get("arguments", {})) for call in one.get("calls", [])],
        usage=(counts[0], counts[1]) if counts else None,
        finish=one.get("finish"),
    )


def main(path: str) -> None:
    """Serve the script of a file until standard input ends."""
    with open(path, encoding="utf-8") as file:
        script = read_script(json.load(file))
    with ScriptedServer(script) as server:
        print(server.port, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main(sys.argv[1])
