"""What the tests of the whole way share: a model over a scripted server, and whoever listens."""

import threading
from collections.abc import Callable
from typing import Any

import pytest

from marginalia_tui.domain.chat import Answer, Message, ModelDefinition, Request, StreamEvent
from marginalia_tui.llm.errors import ModelFault
from marginalia_tui.llm.models import Models
from marginalia_tui.llm.retry import Retries
from tests.support.scripted_server import Script, ScriptedServer, text

SECRET = "sk-the-key-that-nobody-sees"
ASK = Request(system="Be brief.", messages=(Message(role="user", text="Hi"),))
QUICK = Retries(attempts=3, base=0.01, loading=0.01)

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


def assert_alive(models: Models) -> None:
    with ScriptedServer([text("alive")]) as server:
        assert ask(models, server, name="other").text == "alive"
