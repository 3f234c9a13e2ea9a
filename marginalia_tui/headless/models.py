"""model add, list, show, set, remove, test."""

import argparse
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

from marginalia_tui.domain.chat import ModelDefinition
from marginalia_tui.domain.errors import Invalid
from marginalia_tui.headless.output import facts, print_json, print_text, table
from marginalia_tui.llm.report import test_model
from marginalia_tui.services import models
from marginalia_tui.studio import Studio

_FIELDS = {
    "base_url": "base_url",
    "model": "model",
    "provider": "provider",
    "api_key_env": "key_env",
    "context": "context",
    "max_output": "max_output",
    "concurrent": "concurrent",
    "images": "images",
    "price_in": "price_in",
    "price_out": "price_out",
    "timeout": "timeout",
    "answers_with_call": "answers_with_call",
    "stream": "streams",
}
"""Option -> field of the definition."""


def _given(options: argparse.Namespace, model: ModelDefinition) -> ModelDefinition:
    values = {field: getattr(options, name) for name, field in _FIELDS.items() if getattr(options, name) is not None}
    sampling = {name: getattr(options, name) for name in ("temperature", "top_p") if getattr(options, name) is not None}
    return replace(model, **values, sampling=replace(model.sampling, **sampling))


def _row(model: ModelDefinition) -> dict[str, Any]:
    values = asdict(model)
    return {**values.pop("sampling"), **values}


def _add(studio: Studio, options: argparse.Namespace) -> int:
    with studio.store.read() as tx:
        taken = any(model.name == options.name for model in models.list_models(tx))
    if taken:
        raise Invalid(f"There is a model {options.name!r} already: change it with `model set`.")
    model = _given(options, ModelDefinition(name=options.name))
    models.save_model(studio.store, model)
    return _shown(model, options, f"Added the model {model.name!r}. `marginalia model test` asks it for an answer.")


def _set(studio: Studio, options: argparse.Namespace) -> int:
    with studio.store.read() as tx:
        model = _given(options, models.get_model(tx, options.name))
    models.save_model(studio.store, model)
    return _shown(model, options, f"Changed the model {model.name!r}.")


def _shown(model: ModelDefinition, options: argparse.Namespace, sentence: str) -> int:
    if options.json:
        print_json(_row(model))
    else:
        print_text(sentence)
    return 0


def _list(studio: Studio, options: argparse.Namespace) -> int:
    with studio.store.read() as tx:
        rows = [_row(model) for model in models.list_models(tx)]
    if options.json:
        print_json(rows)
    else:
        print_text(table(rows, ("name", "provider", "model", "base_url", "context"), "There is no model."))
    return 0


def _show(studio: Studio, options: argparse.Namespace) -> int:
    with studio.store.read() as tx:
        model = models.get_model(tx, options.name)
    if options.json:
        print_json(_row(model))
    else:
        print_text(facts(_row(model)))
    return 0


def _remove(studio: Studio, options: argparse.Namespace) -> int:
    models.remove_model(studio.store, options.name)
    studio.keys.remove(options.name)
    if options.json:
        print_json({"removed": options.name})
    else:
        print_text(f"Removed the model {options.name!r}.")
    return 0


def _test(studio: Studio, options: argparse.Namespace) -> int:
    with studio.store.read() as tx:
        model = models.get_model(tx, options.name)
    report = asdict(test_model(studio.models, model))
    if options.json:
        print_json(report)
    else:
        notes = report.pop("notes")
        print_text(
            facts({key: round(value, 3) if isinstance(value, float) else value for key, value in report.items()})
        )
        for note in notes:
            print_text(note)
    return 0


VERBS: dict[str, Callable[[Studio, argparse.Namespace], int]] = {
    "add": _add,
    "set": _set,
    "list": _list,
    "show": _show,
    "remove": _remove,
    "test": _test,
}
