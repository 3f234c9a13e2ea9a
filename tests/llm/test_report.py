from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from marginalia_tui.domain.chat import ModelDefinition
from marginalia_tui.llm.errors import ModelFault, Reason
from marginalia_tui.llm.keys import Keys
from marginalia_tui.llm.models import Models
from marginalia_tui.llm.report import ModelReport, plain_png
from marginalia_tui.llm.report import test_model as try_model
from marginalia_tui.llm.retry import Retries
from tests.support.scripted_server import Body, Reply, ScriptedServer, calls, error, text


@pytest.fixture
def models(tmp_path: Path) -> Iterator[Models]:
    made = Models(Keys(tmp_path, {}), retries=Retries(attempts=1))
    yield made
    made.close()


def report(models: Models, plain: Reply, tool: Reply, picture: Reply) -> tuple[ModelReport, list[Body]]:
    def script(body: Body) -> Reply:
        if "tools" in body:
            return tool
        return picture if isinstance(body["messages"][-1]["content"], list) else plain

    with ScriptedServer(script) as server:
        definition = ModelDefinition(name="test", base_url=server.url, model="m", max_output=4000)
        return try_model(models, definition), server.bodies


def test_a_model_that_can_all(models: Models) -> None:
    green: tuple[str, Any] = ("note_colour", {"colour": "green"})
    got, bodies = report(models, text("Tues", "day.", reasoning=["hm"], usage=(30, 3)), calls(green), text("Red."))
    assert got.answer == "Tuesday."
    assert (got.usage, got.tools, got.images, got.reasoning, got.notes) == (True, True, True, True, ())
    assert 0 < got.first_token <= got.seconds
    assert got.tokens_per_second > 0
    assert [body["max_tokens"] for body in bodies] == [512, 512, 512]
    assert bodies[1]["tool_choice"] == "required"
    assert bodies[2]["messages"][-1]["content"][1]["image_url"]["url"].startswith("data:image/png;base64,")


def test_a_model_that_only_talks(models: Models) -> None:
    got, _ = report(models, text("Tuesday"), text("green"), text("I see nothing."))
    assert (got.usage, got.tools, got.images, got.reasoning) == (False, False, False, False)
    assert len(got.notes) == 2


def test_a_model_whose_server_refuses(models: Models) -> None:
    refused = error(500, "image input is not supported", "server_error")
    got, _ = report(models, text("Tuesday"), calls(("note_colour", '{"colour": "gr')), refused)
    assert (got.tools, got.images) == (False, False)
    assert any("image input is not supported" in note for note in got.notes)


def test_a_model_that_does_not_answer(models: Models) -> None:
    with pytest.raises(ModelFault) as caught:
        report(models, error(401, "no"), text(""), text(""))
    assert caught.value.fault is Reason.BAD_KEY


def test_the_picture_is_one() -> None:
    with Image.open(BytesIO(plain_png(64, (214, 20, 20)))) as image:
        image.load()
        assert (image.size, image.getpixel((63, 63))) == ((64, 64), (214, 20, 20))


def test_a_server_that_can_not_be_told_to_call_is_asked_in_words(models: Models) -> None:
    def script(body: Body) -> Reply:
        if "tool_choice" in body:
            return error(400, "tool_choice 'required' is not supported by this server")
        return calls(("note_colour", {"colour": "green"})) if "tools" in body else text("Tuesday. Red.")

    with ScriptedServer(script) as server:
        got = try_model(models, ModelDefinition(name="test", base_url=server.url, model="m"))
    assert got.tools
    assert any("leave that setting off" in note for note in got.notes)
