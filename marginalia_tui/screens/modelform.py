"""The form of a model."""

from typing import TYPE_CHECKING

from marginalia_tui.domain.chat import ModelDefinition
from marginalia_tui.domain.errors import MarginaliaError
from marginalia_tui.widgets.dialogs import Form
from marginalia_tui.widgets.fields import Field, FieldValue

if TYPE_CHECKING:
    from marginalia_tui.desk.opening import Desk
    from marginalia_tui.desk.settings import ModelLine
    from marginalia_tui.screens.host import Host

KEY_HELP = "Kept in keys.json in the home, which only you can read. Left empty, what is kept stays."


def _fields(definition: ModelDefinition, *, new: bool) -> list[Field]:
    model, sampling = definition, definition.sampling
    named = [Field("name", "Name", value=model.name, required=True, help="As the studio calls it.")] if new else []
    return [
        *named,
        Field("base_url", "Address", value=model.base_url, required=True, help="Of the server; it often ends in /v1."),
        Field("model", "Model id", value=model.model, required=True, help="As the server calls it."),
        Field("key", "Key", help=KEY_HELP),
        Field("key_env", "Key variable", value=model.key_env, help="Or the environment variable that holds the key."),
        Field("context", "Context", "number", model.context or None, help="Tokens that fit; empty is not known."),
        Field(
            "max_output", "Answer", "number", model.max_output or None, help="Tokens; empty leaves it to the server."
        ),
        Field("temperature", "Temperature", "number", sampling.temperature, whole=False),
        Field("top_p", "Top p", "number", sampling.top_p, whole=False),
        Field(
            "timeout",
            "Patience",
            "number",
            model.timeout,
            help="Seconds without a word until it gives up.",
            whole=False,
        ),
        Field("concurrent", "At once", "number", model.concurrent, help="Requests at the same time."),
        Field("images", "Sees images", "boolean", model.images),
        Field(
            "answers_with_call",
            "Always calls",
            "boolean",
            model.answers_with_call,
            help="Each answer has to hold a call: for models that only talk otherwise.",
        ),
        Field("streams", "In pieces", "boolean", model.streams, help="Off for servers that lose calls in a stream."),
        Field("price_in", "Price in", "number", model.price_in or None, help="Of a million tokens.", whole=False),
        Field("price_out", "Price out", "number", model.price_out or None, whole=False),
    ]


_EMPTY_IS_ZERO = ("context", "max_output", "price_in", "price_out")


async def ask_model(host: "Host", desk: "Desk", line: "ModelLine | None") -> str | None:
    """Asks for a model, new or changed, until it can be kept; answers its name, None when the author left it."""
    from dataclasses import replace

    new = line is None
    definition = ModelDefinition(name="") if line is None else line.definition
    title = "A new model" if new else f"The model {definition.name}"
    fields = _fields(definition, new=new)
    while True:
        answer = await host.ask(Form(title, fields))
        if answer is None:
            return None
        try:
            return await host.call(desk.settings.keep_model, definition, _values(answer), new)
        except MarginaliaError as error:
            host.refuse(error)
            fields = [replace(field, value=answer[field.name]) for field in fields]


def _values(answer: dict[str, FieldValue]) -> dict[str, FieldValue]:
    values = {name: value.strip() if isinstance(value, str) else value for name, value in answer.items()}
    values.update({name: 0 for name in _EMPTY_IS_ZERO if values[name] is None})
    return {name: value for name, value in values.items() if value is not None or name in ("temperature", "top_p")}
