"""The whole way over real HTTP: threads, loop, httpx, a scripted server."""

import logging
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from marginalia_tui.domain.chat import (
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
from marginalia_tui.llm.errors import Reason
from marginalia_tui.llm.keys import Keys
from marginalia_tui.llm.models import Models
from tests.support.asking import ASK, SECRET, Heard, Serve, ask, fault, model
from tests.support.scripted_server import (
    DONE,
    Hang,
    Mark,
    Pause,
    chunk,
    error,
    hang,
    stream,
    text,
    usage_chunk,
)


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
