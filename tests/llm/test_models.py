"""The whole way over real HTTP: threads, loop, httpx, a scripted server."""

import logging
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from marginalia_tui.domain.chat import (
    Answer,
    CallArguments,
    Finished,
    Message,
    ModelDefinition,
    ReasoningDelta,
    Request,
    StreamEvent,
    TextDelta,
    Usage,
)
from marginalia_tui.domain.errors import Cancelled, Refused
from marginalia_tui.llm import http
from marginalia_tui.llm.errors import ModelFault, Reason
from marginalia_tui.llm.keys import Keys
from marginalia_tui.llm.models import Models, Pending
from marginalia_tui.llm.retry import Retries, Waiting
from tests.support.scripted_server import (
    DONE,
    Body,
    Cut,
    Hang,
    Mark,
    Pause,
    Reply,
    Script,
    ScriptedServer,
    calls,
    chunk,
    cut,
    error,
    garbage,
    hang,
    html,
    stream,
    text,
    usage_chunk,
    whole,
)

SECRET = "sk-the-key-that-nobody-sees"
ASK = Request(system="Be brief.", messages=(Message(role="user", text="Hi"),))
QUICK = Retries(attempts=3, base=0.01, loading=0.01)


@pytest.fixture
def models(tmp_path: Path) -> Iterator[Models]:
    made = Models(Keys(tmp_path, {"TEST_KEY": SECRET}), retries=QUICK)
    yield made
    made.close()


@pytest.fixture
def serve() -> Iterator[Callable[[Script], ScriptedServer]]:
    servers: list[ScriptedServer] = []

    def start(script: Script) -> ScriptedServer:
        servers.append(ScriptedServer(script))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


Serve = Callable[[Script], ScriptedServer]


def model(server: ScriptedServer, **more: Any) -> ModelDefinition:
    return ModelDefinition(**{"name": "test", "base_url": server.url, "model": "m", "timeout": 30.0, **more})


def ask(models: Models, server: ScriptedServer, **more: Any) -> Answer:
    return models.ask(model(server, **more), ASK).future.result(20)


def fault(models: Models, server: ScriptedServer, **more: Any) -> ModelFault:
    with pytest.raises(ModelFault) as caught:
        ask(models, server, **more)
    return caught.value


class Heard:
    """The events of a question, and the moment of the first."""

    def __init__(self) -> None:
        self.events: list[StreamEvent] = []
        self.first = threading.Event()

    def __call__(self, event: StreamEvent) -> None:
        self.events.append(event)
        self.first.set()


def test_an_answer_is_streamed(models: Models, serve: Serve) -> None:
    release = threading.Event()
    server = serve([stream(chunk({"content": "Hel"}), Pause(release), chunk({"content": "lo"}, "stop"), DONE)])
    heard = Heard()
    pending = models.ask(model(server), ASK, heard)
    assert heard.first.wait(10)
    assert heard.events == [TextDelta("Hel")]
    assert not pending.future.done()
    assert pending.partial().text == "Hel"
    release.set()
    answer = pending.future.result(10)
    assert heard.events == [TextDelta("Hel"), TextDelta("lo"), Finished("stop")]
    assert (answer.text, answer.complete) == ("Hello", True)
    assert 0 < answer.first_token <= answer.seconds


def test_thinking_calls_and_usage(models: Models, serve: Serve) -> None:
    server = serve([text("Sure.", reasoning=["h", "m"], calls=[("read", {"part": "é"})], usage=(40, 9)).split(3)])
    heard = Heard()
    answer = models.ask(model(server), ASK, heard).future.result(10)
    assert [type(event) for event in heard.events[:2]] == [ReasoningDelta, ReasoningDelta]
    assert any(isinstance(event, CallArguments) for event in heard.events)
    assert (answer.text, answer.reasoning, answer.finish) == ("Sure.", "hm", "calls")
    assert answer.calls[0].arguments == '{"part": "é"}'
    assert (answer.usage, answer.usage_estimated) == (Usage(40, 9), False)


def test_a_server_that_counts_nothing_is_counted_for(models: Models, serve: Serve) -> None:
    answer = ask(models, serve([text("one two three four")]))
    assert answer.usage_estimated
    assert answer.usage.completion == 4
    assert 5 < answer.usage.prompt < 40


def test_what_the_server_counts_corrects_our_own(models: Models, serve: Serve) -> None:
    long = Request(system="", messages=(Message(role="user", text="lamps were lit " * 100),))
    server = serve([text("x", usage=(610, 1)), text("y")])
    definition = model(server)
    before = models.count(definition, long)
    models.ask(definition, long).future.result(10)
    assert abs(models.count(definition, long) - 610) <= 1
    assert models.correction(definition).ratio == pytest.approx(610 / before)
    assert models.ask(definition, long).future.result(10).usage.prompt == models.count(definition, long)


def test_the_key_is_sent_and_seen_nowhere(models: Models, serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    server = serve([text("x"), error(401, f"Invalid API key {SECRET}")])
    with caplog.at_level(logging.DEBUG, logger="marginalia_tui"):
        ask(models, server, key_env="TEST_KEY")
        told = fault(models, server, key_env="TEST_KEY")
    assert server.requests[0].headers["authorization"] == f"Bearer {SECRET}"
    assert told.fault is Reason.BAD_KEY
    assert SECRET not in caplog.text + told.message + repr(told) + repr(models)
    assert logging.getLogger("httpx").getEffectiveLevel() >= logging.WARNING


def test_without_a_key_no_header_is_sent(models: Models, serve: Serve) -> None:
    server = serve([text("x")])
    ask(models, server)
    assert "authorization" not in server.requests[0].headers
    assert server.requests[0].headers["accept-encoding"] == "identity"


def test_a_key_that_is_not_set_asks_nobody(models: Models, serve: Serve) -> None:
    server = serve([text("x")])
    assert "NO_SUCH_KEY" in fault(models, server, key_env="NO_SUCH_KEY").message
    assert server.requests == []


def test_a_keys_file_that_others_read_asks_nobody(models: Models, serve: Serve, tmp_path: Path) -> None:
    (tmp_path / "keys.json").write_text("{}")
    (tmp_path / "keys.json").chmod(0o644)
    server = serve([text("x")])
    with pytest.raises(Refused, match="chmod 600"):
        ask(models, server)
    assert server.requests == []


# Cancelling -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "reply",
    [
        hang(),
        stream(Hang()),
        stream(chunk({"content": "x"}), Hang()),
        Reply(steps=(b"{", Hang()), headers=(("Content-Type", "application/json"),)),
    ],
    ids=["before the headers", "before the first byte", "in the midst", "in a whole answer"],
)
def test_cancelling_closes_the_connection_within_100_ms(models: Models, serve: Serve, reply: Reply) -> None:
    sent = threading.Event()
    mark = Mark(sent)
    before = (mark, *reply.before)
    steps = (*reply.steps[:-1], mark, *reply.steps[-1:])
    server = serve([Reply(headers=reply.headers, before=before if reply.before else (), steps=steps)])
    pending = models.ask(model(server), ASK)
    assert sent.wait(10)
    begun = time.monotonic()
    pending.cancel()
    (request,) = server.wait_for(1)
    assert request.gone.wait(10)
    assert request.gone_at - begun < 0.1
    with pytest.raises(Cancelled):
        pending.future.result(10)
    assert not pending.partial().complete


def test_cancelling_right_after_asking_sends_nothing_or_closes(models: Models, serve: Serve) -> None:
    server = serve(lambda body: hang())
    for _ in range(20):
        pending = models.ask(model(server, concurrent=20), ASK)
        pending.cancel()
        with pytest.raises(Cancelled):
            pending.future.result(10)
    for request in server.requests:
        assert request.gone.wait(10)
    assert_alive(models)


def assert_alive(models: Models) -> None:
    with ScriptedServer([text("alive")]) as server:
        assert ask(models, server, name="other").text == "alive"


def test_no_event_is_given_after_cancelling(models: Models, serve: Serve) -> None:
    # In one piece: between its events the loop has no moment at which it could cancel the task.
    pieces = [step for step in text(*["x"] * 500).steps if isinstance(step, bytes)]
    server = serve([stream(b"".join(pieces))])
    got: list[StreamEvent] = []
    asked: Future[Pending] = Future()

    def stop(event: StreamEvent) -> None:
        got.append(event)
        asked.result(10).cancel()

    pending = models.ask(model(server), ASK, stop)
    asked.set_result(pending)
    with pytest.raises(Cancelled):
        pending.future.result(10)
    assert len(got) == 1


def test_cancelling_again_or_late_is_nothing(models: Models, serve: Serve) -> None:
    pending = models.ask(model(serve([text("x")])), ASK)
    assert pending.future.result(10).text == "x"
    pending.cancel()
    pending.cancel()
    assert pending.future.result(0).text == "x"
    assert not pending.given_up


def test_many_cancelled_connections_clog_nothing(models: Models, serve: Serve) -> None:
    server = serve(lambda body: stream(chunk({"content": "x"}), Hang()))
    for _ in range(30):
        heard = Heard()
        pending = models.ask(model(server), ASK, heard)
        assert heard.first.wait(10)
        pending.cancel()
        pending.cancel()
        with pytest.raises(Cancelled):
            pending.future.result(10)
    assert_alive(models)


# Limits of time -------------------------------------------------------------------------------------------------


def test_f39_silence_in_the_midst_is_a_timeout_with_what_came(models: Models, serve: Serve) -> None:
    server = serve([stream(chunk({"content": "so far"}), Hang())])
    told = fault(models, server, timeout=0.1)
    assert told.fault is Reason.TIMEOUT
    assert told.partial is not None
    assert (told.partial.text, told.partial.complete) == ("so far", False)
    assert len(server.requests) == 1


@pytest.mark.parametrize("reply", [hang(), stream(Hang())])
def test_f39_silence_before_the_first_byte_is_not_asked_again(models: Models, serve: Serve, reply: Reply) -> None:
    server = serve([reply, text("x")])
    begun = time.monotonic()
    told = fault(models, server, timeout=0.05)
    assert told.fault is Reason.TIMEOUT
    assert told.partial is None
    assert time.monotonic() - begun >= 0.05 * http.LOCAL_PATIENCE
    assert len(server.requests) == 1
    assert server.requests[0].gone.wait(10)


def test_f34_signs_of_life_keep_an_answer_alive(models: Models, serve: Serve) -> None:
    sent: list[Any] = []
    for _ in range(12):
        sent += [b": ping\n\n", Pause(ticking(0.05))]
    server = serve([stream(chunk({"content": "a"}), *sent, chunk({"content": "b"}, "stop"), DONE)])
    assert ask(models, server, timeout=0.4).text == "ab"


def ticking(seconds: float) -> threading.Event:
    """An event that a timer sets a while after the first who waits for it."""

    class Ticking(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            return super().wait(seconds) or True

    return Ticking()


def test_silence_after_the_end_of_an_answer_is_no_fault(
    models: Models, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "GRACE", 0.05)
    answer = ask(models, serve([stream(chunk({"content": "x"}, "stop"), Hang())]))
    assert (answer.text, answer.complete) == ("x", True)


def test_done_ends_it_though_the_server_keeps_the_connection(models: Models, serve: Serve) -> None:
    server = serve([stream(chunk({"content": "x"}, "stop"), DONE, Hang())])
    assert ask(models, server).text == "x"
    assert server.requests[0].gone.wait(10)


# Trying again ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [429, 500, 502, 503, 529])
def test_the_start_is_tried_again(models: Models, serve: Serve, status: int) -> None:
    server = serve([error(status, "not now"), error(status, "not now"), text("at last")])
    waits: list[Waiting] = []
    pending = models.ask(model(server), ASK, on_wait=waits.append)
    assert pending.future.result(10).text == "at last"
    assert [wait.attempt for wait in waits] == [2, 3]
    assert len({request.raw for request in server.requests}) == 1


def test_the_tries_end(models: Models, serve: Serve) -> None:
    server = serve(lambda body: error(500, "never"))
    assert fault(models, server).fault is Reason.SERVER
    assert len(server.requests) == QUICK.attempts


def test_f27_a_used_up_quota_is_shown_at_once(models: Models, serve: Serve) -> None:
    server = serve([error(429, "You exceeded your current quota", "insufficient_quota"), text("x")])
    assert fault(models, server).fault is Reason.QUOTA
    assert len(server.requests) == 1


def test_f27_a_wait_of_days_is_not_waited(models: Models, serve: Serve) -> None:
    server = serve([error(429, "later", headers=[("Retry-After", "259200")]), text("x")])
    told = fault(models, server)
    assert "in 3 days" in told.message
    assert len(server.requests) == 1


def test_f27_the_wait_is_what_the_server_asks_and_can_be_cancelled(models: Models, serve: Serve) -> None:
    server = serve([error(429, "later", headers=[("Retry-After", "100")]), text("x")])
    waits: list[Waiting] = []
    waiting = threading.Event()

    def note(wait: Waiting) -> None:
        waits.append(wait)
        waiting.set()

    pending = models.ask(model(server), ASK, on_wait=note)
    assert waiting.wait(10)
    assert 100 <= waits[0].seconds < 101
    begun = time.monotonic()
    pending.cancel()
    with pytest.raises(Cancelled):
        pending.future.result(10)
    assert time.monotonic() - begun < 0.5


def test_a_loading_server_is_waited_for(models: Models, serve: Serve) -> None:
    loading = error(503, "Loading model", "unavailable_error")
    server = serve([loading] * 8 + [text("ready")])
    assert ask(models, server).text == "ready"


def test_an_answer_that_has_begun_is_never_asked_again(models: Models, serve: Serve) -> None:
    broken = stream(chunk({"content": "so far"}), b'data: {"error": {"code": 503, "message": "worker lost"}}\n\n')
    server = serve([broken, text("x")])
    told = fault(models, server)
    assert told.fault is Reason.SERVER
    assert "worker lost" in told.message
    assert told.partial is not None
    assert told.partial.text == "so far"
    assert len(server.requests) == 1


def test_an_error_at_the_start_of_a_stream_is_tried_again(models: Models, serve: Serve) -> None:
    early = stream(chunk({"role": "assistant"}), b'data: {"error": {"code": 503, "message": "busy"}}\n\n')
    assert ask(models, serve([early, text("x")])).text == "x"


def test_a_refused_connection_is_tried_again_then_told(models: Models) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    waits: list[Waiting] = []
    definition = ModelDefinition(name="test", base_url=f"http://127.0.0.1:{port}/v1", model="m")
    pending = models.ask(definition, ASK, on_wait=waits.append)
    with pytest.raises(ModelFault) as caught:
        pending.future.result(10)
    assert caught.value.fault is Reason.CANNOT_CONNECT
    assert f"http://127.0.0.1:{port}/v1" in caught.value.message
    assert len(waits) == QUICK.attempts - 1


def test_a_connection_closed_before_the_answer_is_tried_again(models: Models, serve: Serve) -> None:
    assert ask(models, serve([Reply(before=(Cut(),)), text("x")])).text == "x"


# Bad input ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("half", [b"", b'data: {"choices": [{"delta": {"con'])
def test_f32_a_cut_answer_is_kept_and_not_whole(models: Models, serve: Serve, half: bytes) -> None:
    answer = ask(models, serve([cut("so ", "far", half=half)]))
    assert (answer.text, answer.complete, answer.finish) == ("so far", False, "other")


def test_f32_a_stream_that_just_ends_is_not_whole(models: Models, serve: Serve) -> None:
    assert not ask(models, serve([stream(chunk({"content": "so far"}))])).complete


@pytest.mark.parametrize("reply", [html(), garbage(), stream(), Reply(steps=(b"{}",), length=True), stream(Cut())])
def test_what_is_no_answer_is_told(models: Models, serve: Serve, reply: Reply) -> None:
    server = serve([reply])
    assert fault(models, server).fault is Reason.BROKEN
    assert len(server.requests) == 1


def test_a_web_page_as_a_refusal(models: Models, serve: Serve) -> None:
    told = fault(models, serve([html(404)]))
    assert told.fault is Reason.NOTHING_THERE
    assert "/v1" in told.message


def test_a_model_that_does_not_exist(models: Models, serve: Serve) -> None:
    told = fault(models, serve([error(404, "The model `m` does not exist", code="model_not_found")]))
    assert told.fault is Reason.UNKNOWN_MODEL
    assert "'m'" in told.message


def test_a_full_context_names_the_limit(models: Models, serve: Serve) -> None:
    words = "request (30020 tokens) exceeds the available context size (4096 tokens), try increasing it"
    told = fault(models, serve([error(400, words, "exceed_context_size_error", n_ctx=4096)]))
    assert (told.fault, told.context_limit) == (Reason.CONTEXT, 4096)


@pytest.mark.parametrize("url", ["", "not a url", "ftp://example.org/v1", "http://[::1", "http://127.0.0.1:99999/v1"])
def test_a_base_url_that_is_none(models: Models, url: str) -> None:
    definition = ModelDefinition(name="test", base_url=url, model="m")
    with pytest.raises(ModelFault) as caught:
        models.ask(definition, ASK).future.result(10)
    assert caught.value.fault in (Reason.NOTHING_THERE, Reason.CANNOT_CONNECT)


def test_a_proxy_that_cannot_be_used_is_told(models: Models, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "carrier-pigeon://user:sk-hidden-key@roof")
    definition = ModelDefinition(name="test", base_url="https://models.example/v1", model="m")
    with pytest.raises(ModelFault, match="ALL_PROXY") as caught:
        models.ask(definition, ASK).future.result(10)
    assert "hidden" not in caught.value.message


def test_no_proxy_stands_before_a_server_on_this_machine(
    models: Models, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    assert ask(models, serve([text("x")])).text == "x"


def test_an_answer_that_is_not_streamed(models: Models, serve: Serve) -> None:
    answer = ask(models, serve([whole({"role": "assistant", "content": "Hello"}, usage=(7, 1))]))
    assert (answer.text, answer.complete, answer.usage) == ("Hello", True, Usage(7, 1))


def test_f05_a_call_cut_by_the_limit_is_seen(models: Models, serve: Serve) -> None:
    server = serve([stream(*calls(("run", '{"command": "ec')).steps[:-2], chunk({}, "length"), DONE)])
    answer = ask(models, server)
    assert (answer.finish, answer.calls[0].arguments) == ("length", '{"command": "ec')


def test_a_model_that_wants_the_newer_name_of_the_limit(models: Models, serve: Serve) -> None:
    def script(body: Body) -> Reply:
        if "max_tokens" in body:
            words = "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead."
            return error(400, words, "invalid_request_error")
        return text(str(body["max_completion_tokens"]))

    server = serve(script)
    assert ask(models, server, max_output=64).text == "64"
    assert ask(models, server, max_output=65).text == "65"
    assert len(server.requests) == 3


# The thread -----------------------------------------------------------------------------------------------------


def test_questions_to_one_model_wait_their_turn(models: Models, serve: Serve) -> None:
    release = threading.Event()
    server = serve(lambda body: stream(Pause(release), chunk({"content": "x"}, "stop"), DONE))
    first = [models.ask(model(server, concurrent=2), ASK) for _ in range(4)]
    other = models.ask(model(server, name="other"), ASK)
    server.wait_for(3)
    assert len(server.requests) == 3
    first[2].cancel()
    release.set()
    assert other.future.result(10).text == "x"
    assert [first[at].future.result(10).text for at in (0, 1, 3)] == ["x", "x", "x"]
    with pytest.raises(Cancelled):
        first[2].future.result(10)
    assert len(server.requests) == 4


def test_one_connection_serves_one_question_after_another(models: Models, serve: Serve) -> None:
    server = serve(lambda body: text("x"))
    for _ in range(3):
        ask(models, server)
    assert threading.active_count() < 20
    assert sum(thread.name == "models" for thread in threading.enumerate()) >= 1


def test_closing_ends_everything_quickly(tmp_path: Path, serve: Serve) -> None:
    sent = threading.Event()
    server = serve([stream(chunk({"content": "x"}), Mark(sent), Hang()), hang()])
    models = Models(Keys(tmp_path, {}))
    streaming = models.ask(model(server), ASK)
    queued = models.ask(model(server), ASK)
    assert sent.wait(10)
    begun = time.monotonic()
    models.close()
    assert time.monotonic() - begun < 1
    for pending in (streaming, queued):
        with pytest.raises(Cancelled):
            pending.future.result(0)
    assert server.requests[0].gone.wait(1)
    assert not any(thread.name == "models" for thread in threading.enumerate())
    with pytest.raises(Cancelled):
        models.ask(model(server), ASK)
    models.close()


def test_closing_does_not_wait_for_a_callback_that_hangs(
    tmp_path: Path, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("marginalia_tui.llm.models.CLOSING", 0.1)
    models = Models(Keys(tmp_path, {}))
    inside, release = threading.Event(), threading.Event()

    def stuck(event: StreamEvent) -> None:
        inside.set()
        release.wait(10)

    pending = models.ask(model(serve([text("x")])), ASK, stuck)
    assert inside.wait(10)
    models.close()
    with pytest.raises(Cancelled):
        pending.future.result(0)
    (thread,) = (thread for thread in threading.enumerate() if thread.name == "models")
    release.set()
    thread.join(10)
    assert not thread.is_alive()


def test_closing_what_never_asked_starts_no_thread(tmp_path: Path) -> None:
    models = Models(Keys(tmp_path, {}))
    models.close()
    assert not any(thread.name == "models" for thread in threading.enumerate())


def test_a_callback_that_raises_fails_its_question_alone(models: Models, serve: Serve) -> None:
    def bad(event: StreamEvent) -> None:
        raise KeyError("mine")

    server = serve([stream(chunk({"content": "x"}), Hang()), text("y")])
    with pytest.raises(KeyError):
        models.ask(model(server), ASK, bad).future.result(10)
    assert server.requests[0].gone.wait(10)
    assert ask(models, server).text == "y"


def test_a_provider_that_nobody_registered_is_a_fault_of_the_studio(models: Models) -> None:
    with pytest.raises(RuntimeError, match="offline"):
        models.ask(ModelDefinition(name="x", provider="offline"), ASK).future.result(10)


def test_a_question_inside_of_a_transaction_is_a_programming_error(tmp_path: Path) -> None:
    def check() -> None:
        raise RuntimeError("a write transaction is open")

    models = Models(Keys(tmp_path, {}), check=check)
    with pytest.raises(RuntimeError, match="transaction"):
        models.ask(ModelDefinition(name="x"), ASK)


def test_importing_the_models_imports_no_http(tmp_path: Path) -> None:
    code = "import sys, marginalia_tui.llm.models; sys.exit('httpx' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[2])


def test_usage_that_comes_before_the_end(models: Models, serve: Serve) -> None:
    reply = stream(usage_chunk(5, 0), chunk({"content": "x"}, "stop"), usage_chunk(5, 2), DONE)
    assert ask(models, serve([reply])).usage == Usage(5, 2)


@pytest.mark.parametrize(
    ("url", "net"),
    [
        ("http://127.0.0.1:8080/v1", "loopback"),
        ("http://localhost/v1", "loopback"),
        ("http://[::1]:80/v1", "loopback"),
        ("http://192.168.1.5/v1", "near"),
        ("http://workstation:11434/v1", "near"),
        ("http://box.local/v1", "near"),
        ("https://api.example.com/v1", "far"),
        ("https://8.8.8.8/v1", "far"),
        ("", "far"),
        ("http://[", "far"),
    ],
)
def test_what_is_near(url: str, net: str) -> None:
    assert (http.is_loopback(url), http.is_local(url)) == (net == "loopback", net != "far")
