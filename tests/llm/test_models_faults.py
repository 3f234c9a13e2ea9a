"""Servers that refuse, break off or send something else, over real HTTP."""

import socket
import threading
import time

import pytest

from marginalia_tui.domain.chat import (
    ModelDefinition,
    Usage,
)
from marginalia_tui.domain.errors import Cancelled
from marginalia_tui.llm.errors import ModelFault, Reason
from marginalia_tui.llm.models import Models
from marginalia_tui.llm.retry import Waiting
from tests.support.asking import ASK, QUICK, Serve, ask, fault, model
from tests.support.scripted_server import (
    DONE,
    Body,
    Cut,
    Reply,
    calls,
    chunk,
    cut,
    error,
    garbage,
    html,
    stream,
    text,
    whole,
)


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
