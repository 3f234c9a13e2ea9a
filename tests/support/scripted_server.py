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
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any

Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Pause:
    """Wait until a test sets the event (or the client leaves)."""

    event: threading.Event


@dataclass(frozen=True, slots=True)
class Mark:
    """Set the event: all steps before have been sent."""

    event: threading.Event


@dataclass(frozen=True, slots=True)
class Hang:
    """Say nothing until the client leaves."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Close the connection here, without an end of the body."""


Step = bytes | Pause | Mark | Hang | Cut


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What is sent. `before` are steps ahead of the status line; `length` sends it as one body of known length."""

    status: int = 200
    headers: tuple[tuple[str, str], ...] = (("Content-Type", "text/event-stream"),)
    steps: tuple[Step, ...] = ()
    before: tuple[Step, ...] = ()
    length: bool = False

    def split(self, size: int) -> "Reply":
        """The same, sent in pieces of `size` bytes."""
        steps: list[Step] = []
        for step in self.steps:
            if isinstance(step, bytes):
                steps.extend(step[at : at + size] for at in range(0, len(step), size))
            else:
                steps.append(step)
        return replace(self, steps=tuple(steps))

    def then(self, *steps: Step) -> "Reply":
        """The same with more steps at its end."""
        return replace(self, steps=self.steps + steps)

    def after(self, *steps: Step) -> "Reply":
        """The same with steps ahead of its status line."""
        return replace(self, before=steps + self.before)


Script = Sequence[Reply] | Callable[[Body], Reply]


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


# Replies ------------------------------------------------------------------------------------------------------


def data(value: Any) -> bytes:
    """One event of a stream."""
    return b"data: " + (value if isinstance(value, bytes) else json.dumps(value).encode()) + b"\n\n"


def chunk(delta: Body | None = None, finish: str | None = None, **more: Any) -> bytes:
    """One chunk of a streamed answer, as the servers of today send it."""
    choice = {"index": 0, "delta": delta or {}, "finish_reason": finish}
    return data({"id": "chat-1", "object": "chat.completion.chunk", "model": "scripted", "choices": [choice], **more})


def usage_chunk(prompt: int, completion: int, cached: int = 0) -> bytes:
    """The chunk that counts, which has no choice."""
    counts = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
    counts_and = {**counts, "prompt_tokens_details": {"cached_tokens": cached}}
    return data({"id": "chat-1", "object": "chat.completion.chunk", "choices": [], "usage": counts_and})


DONE = data(b"[DONE]")


def stream(*steps: Step) -> Reply:
    """A streamed answer of these steps."""
    return Reply(steps=steps)


def text(
    *pieces: str,
    reasoning: Iterable[str] = (),
    calls: Iterable[tuple[str, Any]] = (),
    usage: tuple[int, int] | None = None,
    finish: str | None = None,
) -> Reply:
    """A whole streamed answer: thinking, text, calls (name, arguments), usage, `[DONE]`."""
    steps: list[Step] = [chunk({"role": "assistant", "content": None})]
    steps += [chunk({"reasoning_content": piece}) for piece in reasoning]
    steps += [chunk({"content": piece}) for piece in pieces]
    made = list(calls)
    for index, (name, arguments) in enumerate(made):
        steps += call_chunks(index, name, arguments)
    steps.append(chunk({}, finish or ("tool_calls" if made else "stop")))
    if usage is not None:
        steps.append(usage_chunk(*usage))
    steps.append(DONE)
    return Reply(steps=tuple(steps))


def calls(*made: tuple[str, Any], said: str = "", usage: tuple[int, int] | None = None) -> Reply:
    """A whole streamed answer of calls: (name, arguments as an object or as text)."""
    return text(*([said] if said else []), calls=made, usage=usage)


def call_chunks(index: int, name: str, arguments: Any, call_id: str | None = None) -> list[Step]:
    """A call in chunks: the name first, then the arguments in two halves."""
    written = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    half = len(written) // 2
    own = f"srv-{index}-{name}" if call_id is None else call_id
    head = {"index": index, "id": own, "type": "function", "function": {"name": name, "arguments": ""}}
    rest = [{"index": index, "function": {"arguments": part}} for part in (written[:half], written[half:]) if part]
    return [chunk({"tool_calls": [one]}) for one in (head, *rest)]


def json_reply(value: Any, status: int = 200, headers: Iterable[tuple[str, str]] = ()) -> Reply:
    """A reply of one JSON text."""
    kinds = (("Content-Type", "application/json"), *headers)
    return Reply(status=status, headers=kinds, steps=(json.dumps(value).encode(),), length=True)


def whole(message: Body, finish: str | None = "stop", usage: tuple[int, int] | None = None) -> Reply:
    """An answer that is not streamed, though it was asked for as a stream."""
    value: Body = {"object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": finish}]}
    if usage is not None:
        value["usage"] = {"prompt_tokens": usage[0], "completion_tokens": usage[1]}
    return json_reply(value)


def error(status: int, message: str, kind: str = "", headers: Iterable[tuple[str, str]] = (), **more: Any) -> Reply:
    """A refusal in JSON."""
    return json_reply({"error": {"message": message, "type": kind, "code": status, **more}}, status, headers)


def html(status: int = 200, body: str = "<!DOCTYPE html><html><body>Welcome</body></html>") -> Reply:
    """A web page where JSON was expected."""
    return Reply(status=status, headers=(("Content-Type", "text/html"),), steps=(body.encode(),), length=True)


def hang() -> Reply:
    """Not even headers."""
    return Reply(before=(Hang(),))


def cut(*pieces: str, half: bytes = b"") -> Reply:
    """Text, perhaps half a chunk, then the connection is closed."""
    steps: list[Step] = [chunk({"role": "assistant", "content": None})]
    steps += [chunk({"content": piece}) for piece in pieces]
    return Reply(steps=(*steps, half, Cut()))


def garbage(body: bytes = b"\x00\xff\x13 not a chat server \x1b[31m") -> Reply:
    """Bytes that mean nothing."""
    return Reply(headers=(("Content-Type", "application/octet-stream"),), steps=(body,), length=True)


def by_results(replies: Sequence[Reply]) -> Callable[[Body], Reply]:
    """A script that answers by how many tool results the request holds; the last reply holds for more."""

    def pick(body: Body) -> Reply:
        results = len([message for message in body["messages"] if message.get("role") == "tool"])
        return replies[min(results, len(replies) - 1)]

    return pick


# The server ---------------------------------------------------------------------------------------------------


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
