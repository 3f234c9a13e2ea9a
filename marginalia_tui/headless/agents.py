"""agent add, list, show, set, clone, remove."""

import argparse
from collections.abc import Callable
from typing import Any

from marginalia_tui.agent import agents
from marginalia_tui.agent.definition import AgentDefinition
from marginalia_tui.agent.runs import Run, latest_runs
from marginalia_tui.domain.errors import Invalid
from marginalia_tui.domain.items import Book
from marginalia_tui.domain.paths import typed_path
from marginalia_tui.headless.output import facts, print_json, print_text, table
from marginalia_tui.services.books import find_book
from marginalia_tui.services.models import get_model
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.studio import Studio

MAX_FILE = 1_000_000
"""Bytes of a file with instructions."""


def _read(path: str) -> str:
    try:
        with typed_path(path).open("rb") as file:
            data = file.read(MAX_FILE + 1)
        if len(data) > MAX_FILE:
            raise Invalid(f"{path} is too long for instructions.")
        return data.decode("utf-8-sig")
    except OSError as error:
        raise Invalid(f"{path} can't be read: {error.strerror}.") from error
    except UnicodeDecodeError:
        raise Invalid(f"{path} is no UTF-8 text: save it as UTF-8.") from None


def _fields(options: argparse.Namespace) -> dict[str, Any]:
    fields: dict[str, Any] = {
        name: value
        for name in ("model", "instructions", "destructive", "batch", "language")
        if (value := getattr(options, name)) is not None
    }
    fields |= {
        name: value
        for name in ("max_rounds", "token_budget", "max_cost", "max_minutes", "context_cap", "auto_compact")
        if (value := getattr(options, name)) is not None
    }
    if options.instructions_file:
        fields["instructions"] = _read(options.instructions_file)
    if options.system_prompt_file:
        fields["system_prompt"] = _read(options.system_prompt_file)
    if options.compaction_prompt_file:
        fields["compaction_prompt"] = _read(options.compaction_prompt_file)
    if options.commands:
        named = tuple(name.strip().removeprefix("/") for name in options.commands.split(",") if name.strip())
        fields["commands"] = named[0] if named in (("safe",), ("all",)) else named
    return fields


def _row(agent: AgentDefinition, book: str, run: Run | None) -> dict[str, Any]:
    return {
        "agent": agent.uuid,
        "name": agent.name,
        "book": book,
        "model": agent.model,
        "enabled": agent.enabled,
        "status": run.status.value if run else None,
        "reason": run.reason or None if run else None,
        "run": run.uuid if run else None,
    }


def _rows(studio: Studio) -> list[dict[str, Any]]:
    with studio.store.read() as tx:
        found = agents.list_agents(tx)
        newest = latest_runs(tx)
        books = tx.space(LIBRARY).get_many(Book, [agent.book for agent in found])
        return [
            _row(agent, books[agent.book].title if agent.book in books else agent.book, newest.get(agent.uuid))
            for agent in found
        ]


def _add(studio: Studio, options: argparse.Namespace) -> int:
    fields = _fields(options)
    with studio.store.read() as tx:
        book = find_book(tx, options.book)
        fields["model"] = get_model(tx, options.model).name
    agent = studio.add_agent(name=options.name, book=book.uuid, **fields)
    return _told(agent, options, f"Added the agent {agent.name!r} on {book.title!r}. `marginalia run start` starts it.")


def _set(studio: Studio, options: argparse.Namespace) -> int:
    fields = _fields(options)
    with studio.store.read() as tx:
        agent = agents.find_agent(tx, options.name)
        if "model" in fields:
            fields["model"] = get_model(tx, fields["model"]).name
    if options.rename:
        fields["name"] = options.rename
    if options.enabled is not None:
        fields["enabled"] = options.enabled
    changed = agents.change_agent(
        studio.store, studio.registry, agent.uuid, lambda now: agents.define_agent(**{**now.model_dump(), **fields})
    )
    return _told(changed, options, f"Changed the agent {changed.name!r}.")


def _clone(studio: Studio, options: argparse.Namespace) -> int:
    with studio.store.read() as tx:
        source = agents.find_agent(tx, options.name)
        book = find_book(tx, options.book)
    clone = agents.clone_agent(studio.store, studio.registry, studio.settings, source, options.new_name, book.uuid)
    return _told(clone, options, f"Added the agent {clone.name!r} on {book.title!r}.")


def _told(agent: AgentDefinition, options: argparse.Namespace, sentence: str) -> int:
    if options.json:
        print_json(agent.model_dump(mode="json"))
    else:
        print_text(sentence)
    return 0


def _list(studio: Studio, options: argparse.Namespace) -> int:
    rows = _rows(studio)
    if options.json:
        print_json(rows)
    else:
        columns = ("name", "book", "status", "model", "enabled")
        print_text(table(rows, columns, "There is no agent yet: `marginalia agent add` makes one."))
    return 0


def _show(studio: Studio, options: argparse.Namespace) -> int:
    with studio.store.read() as tx:
        agent = agents.find_agent(tx, options.name)
    row = next(row for row in _rows(studio) if row["agent"] == agent.uuid)
    shown = {**agent.model_dump(mode="json"), **row}
    if options.json:
        print_json(shown)
    else:
        print_text(facts(shown))
    return 0


def _remove(studio: Studio, options: argparse.Namespace) -> int:
    with studio.store.read() as tx:
        agent = agents.find_agent(tx, options.name)
    agents.remove_agent(studio.store, agent.uuid)
    if options.json:
        print_json({"removed": agent.name})
    else:
        print_text(f"Removed the agent {agent.name!r} with its runs.")
    return 0


VERBS: dict[str, Callable[[Studio, argparse.Namespace], int]] = {
    "add": _add,
    "set": _set,
    "clone": _clone,
    "list": _list,
    "show": _show,
    "remove": _remove,
}
