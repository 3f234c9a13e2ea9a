"""The models that the author set up. Their keys are not here (see `llm.keys`)."""

from collections.abc import Iterator
from dataclasses import asdict
from math import isfinite
from urllib.parse import urlsplit

import orjson
from sqlalchemy import delete, select
from sqlalchemy.dialects.sqlite import insert

from marginalia_tui.domain.chat import ModelDefinition, Sampling
from marginalia_tui.domain.errors import Invalid, NotFound
from marginalia_tui.store import tables
from marginalia_tui.store.journal import Act
from marginalia_tui.store.store import ReadTx, Store

OFFLINE = ModelDefinition(name="proofreader (no language model)", provider="offline")
"""The embedded default: always there, never stored. Rules have no context that could be full."""


def _decode(data: str) -> ModelDefinition:
    values = orjson.loads(data)
    return ModelDefinition(**{**values, "sampling": Sampling(**values["sampling"])})


def list_models(tx: ReadTx) -> list[ModelDefinition]:
    """The models by name, the embedded one last."""
    rows = tx.connection.execute(select(tables.model.c.definition).order_by(tables.model.c.name)).scalars()
    return [*(_decode(row) for row in rows), OFFLINE]


def get_model(tx: ReadTx, name: str) -> ModelDefinition:
    """The model of a name; `offline` and `proofreader` name the embedded one too.

    Raises:
        NotFound: there is none; the sentence lists those that there are.
    """
    models = list_models(tx)
    if name in ("offline", "proofreader"):
        return OFFLINE
    for model in models:
        if model.name == name:
            return model
    raise NotFound(f"There is no model {name!r}. There are: {', '.join(model.name for model in models)}.")


def check_model(model: ModelDefinition) -> None:
    """Refuses a definition that can't work.

    Raises:
        Invalid: the sentence names the field.
    """
    problems = {
        "name": "Give the model a name." if not model.name.strip() else "",
        "reserved": f"{model.name!r} is the embedded proofreader: choose another name."
        if model.name in (OFFLINE.name, "offline", "proofreader")
        else "",
        "base_url": _problem_of_address(model.base_url),
        "model": "" if model.model else "Give the id under which the server knows the model as --model.",
        "context": "" if model.context >= 0 and model.max_output >= 0 else "Token limits may not be negative.",
        "output": "The longest answer must be smaller than the context."
        if model.context and model.max_output >= model.context
        else "",
        "numbers": "" if all(map(isfinite, _numbers(model))) else "Give numbers, not nan or inf.",
        "timeout": "" if model.timeout > 0 else "The timeout must be more than 0 seconds.",
        "concurrent": "" if model.concurrent >= 1 else "At least one request at a time must be allowed.",
    }
    for sentence in problems.values():
        if sentence:
            raise Invalid(sentence)


def _problem_of_address(url: str) -> str:
    try:
        parts = urlsplit(url)
        whole = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port or an IPv6 address that can't be
        whole = False
    if not whole or not url.isprintable() or " " in url:
        return "Give the address of the server as --base-url, with http:// or https:// (it often ends in /v1)."
    if parts.username is not None or parts.password is not None:
        return "Leave user and password out of the address, which is no secret: put the key into the keys file."
    return ""


def _numbers(model: ModelDefinition) -> Iterator[float]:
    for value in (*asdict(model).values(), *asdict(model.sampling).values()):
        if isinstance(value, int | float):
            yield value


def save_model(store: Store, model: ModelDefinition) -> None:
    """Adds a model or replaces the one of that name, in a transaction of its own.

    Raises:
        Invalid: the definition can't work.
    """
    check_model(model)
    definition = orjson.dumps(asdict(model)).decode()
    row = {"name": model.name, "definition": definition, "created": store.clock.now()}
    with store.write(Act(actor="author", label="model")) as tx:
        statement = insert(tables.model).values(row)
        tx.connection.execute(statement.on_conflict_do_update(index_elements=["name"], set_={"definition": definition}))


def remove_model(store: Store, name: str) -> None:
    """Removes a model, in a transaction of its own.

    Raises:
        NotFound: there is none of that name.
    """
    with store.write(Act(actor="author", label="model")) as tx:
        gone = tx.connection.execute(delete(tables.model).where(tables.model.c.name == name))
        if gone.rowcount == 0:
            raise NotFound(f"There is no model {name!r} to remove.")
