"""Every binding that can be changed: by its id, with what it does and where."""

import importlib
from collections.abc import Iterator
from dataclasses import dataclass

from textual.binding import Binding
from textual.dom import DOMNode

from marginalia_tui import screens, widgets


@dataclass(frozen=True, slots=True)
class KeyRow:
    """A binding: its id, the keys that it has by itself, what it does, and the class that has it."""

    id: str
    keys: str
    words: str
    place: str


PLACES = {
    "app": "everywhere",
    "view": "lists and pages",
    "rows": "lists",
    "table": "tables",
    "page": "pages",
    "submit": "boxes to write in",
    "bar": "the command bar",
}
"""Beginning of an id -> where it holds; other ids begin with the name of their screen."""


def load_all() -> None:
    """Imports every screen and widget, so that their bindings are known."""
    import pkgutil  # with all that looks for modules; the first picture needs none of it

    for package in (screens, widgets):
        for module in pkgutil.iter_modules(package.__path__):
            importlib.import_module(f"{package.__name__}.{module.name}")


def all_bindings() -> list[KeyRow]:
    """The bindings of the app, its screens and widgets as far as they were loaded, by id."""
    found: dict[str, KeyRow] = {}
    for cls in our_classes():
        for binding in Binding.make_bindings(cls.__dict__.get("BINDINGS", ())):
            if binding.id and binding.description:
                place = binding.id.split(".")[0]
                row = found.get(binding.id)
                keys = binding.key if row is None else f"{row.keys},{binding.key}"
                found[binding.id] = KeyRow(binding.id, keys, binding.description, PLACES.get(place, place))
    return sorted(found.values(), key=lambda row: row.id)


def our_classes() -> Iterator[type[DOMNode]]:
    """The app, the screens and the widgets that were imported."""
    waiting: list[type[DOMNode]] = [DOMNode]
    seen: set[type[DOMNode]] = set()
    while waiting:
        here = waiting.pop()
        if here in seen:
            continue
        seen.add(here)
        if here.__module__.startswith("marginalia_tui"):
            yield here
        waiting.extend(here.__subclasses__())


def clashes(rows: list[KeyRow], keymap: dict[str, str], id: str, keys: str) -> list[str]:
    """The other bindings of the same place, or of everywhere, that have one of these keys."""
    wanted = {key.strip() for key in keys.split(",") if key.strip()}
    place = id.split(".")[0]
    found = []
    for row in rows:
        there = row.id.split(".")[0]
        if row.id == id or (there != place and "app" not in (there, place)):
            continue
        if wanted & {key.strip() for key in keymap.get(row.id, row.keys).split(",")}:
            found.append(row.id)
    return found
