"""Giving up: a question whose connection is closed, a server that is silent."""

import threading
import time
from concurrent.futures import Future
from typing import Any

import pytest

from marginalia_tui.domain.chat import (
    StreamEvent,
)
from marginalia_tui.domain.errors import Cancelled
from marginalia_tui.llm import http
from marginalia_tui.llm.errors import Reason
from marginalia_tui.llm.models import Models, Pending
from tests.support.asking import ASK, Heard, Serve, ask, assert_alive, fault, model
from tests.support.scripted_server import (
    DONE,
    Hang,
    Mark,
    Pause,
    Reply,
    chunk,
    hang,
    stream,
    text,
)


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
