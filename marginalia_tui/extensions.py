"""Extensions: packages that add commands, tools of agents, ways to merge data, and screens.

An extension names a function in the entry point group `marginalia.extensions`. It is called once when a studio is
opened, with an `Extension` to which it adds what it brings:

    def load(extension: Extension) -> None:
        extension.add_suite(my_package.commands)

What it adds is taken whole or not at all. One that fails is named with its error, and the studio starts without it.
"""

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from marginalia_tui.agent.merge.json3 import JsonMerge
from marginalia_tui.agent.tools import RUN_TOOLS, AddedTool
from marginalia_tui.commands.registry import Registry, Suite
from marginalia_tui.domain.errors import Invalid
from marginalia_tui.domain.visible import visible_line

log = logging.getLogger(__name__)

GROUP = "marginalia.extensions"


@dataclass(frozen=True, slots=True)
class AddedScreen:
    """A screen that the palette offers."""

    title: str
    make: Callable[[], Any]
    """Makes a Textual screen; called when it is opened."""


@dataclass
class Extension:
    """What one extension brings. Nothing of it counts before its function has returned."""

    name: str
    suites: list[Suite] = field(default_factory=list)
    tools: dict[str, AddedTool] = field(default_factory=dict)
    merges: dict[str, JsonMerge] = field(default_factory=dict)
    screens: list[AddedScreen] = field(default_factory=list)

    def add_suite(self, *suites: Suite) -> None:
        """Adds suites of commands: modules with functions under `@command`, or such functions."""
        self.suites.extend(suites)

    def add_tool(self, tool: AddedTool) -> None:
        """Adds a tool that every agent has beside its commands. It reads: what changes a book is a command."""
        self.tools[tool.tool.name] = tool

    def add_merge(self, attribute: str, merge: JsonMerge) -> None:
        """Says how the data under one key of the attributes of an item is merged when both sides changed it."""
        self.merges[attribute] = merge

    def add_screen(self, title: str, make: Callable[[], Any]) -> None:
        """Adds a screen to the palette."""
        self.screens.append(AddedScreen(title, make))


@dataclass(frozen=True)
class Extensions:
    """What all extensions brought."""

    loaded: tuple[str, ...] = ()
    failed: tuple[tuple[str, str], ...] = ()
    """The names of those that failed, each with its error in a line."""
    tools: tuple[AddedTool, ...] = ()
    merges: dict[str, JsonMerge] = field(default_factory=dict)
    screens: tuple[AddedScreen, ...] = ()


def load_extensions(registry: Registry, found: Iterable[EntryPoint] | None = None) -> Extensions:
    """Loads every extension that is installed and registers its commands.

    Args:
        registry: gets the commands.
        found: the entry points; those that are installed when None.
    """
    points = entry_points(group=GROUP) if found is None else found
    loaded: list[Extension] = []
    failed: list[tuple[str, str]] = []
    for point in sorted(points, key=lambda each: each.name):
        extension = Extension(point.name)
        try:
            point.load()(extension)
            _check(extension, loaded)
            if extension.suites:
                registry.register(*extension.suites)
        except Exception as error:
            log.exception("the extension %s failed to load", point.name)
            failed.append((point.name, visible_line(f"{type(error).__name__}: {error}")[:300]))
        else:
            loaded.append(extension)
    return Extensions(
        loaded=tuple(each.name for each in loaded),
        failed=tuple(failed),
        tools=tuple(tool for each in loaded for tool in each.tools.values()),
        merges={key: merge for each in loaded for key, merge in each.merges.items()},
        screens=tuple(screen for each in loaded for screen in each.screens),
    )


def _check(extension: Extension, others: list[Extension]) -> None:
    """Refuses what another extension, or the studio, has already."""
    for name, added in extension.tools.items():
        if name in RUN_TOOLS or any(name in other.tools for other in others):
            raise Invalid(f"There is a tool {name!r} already: give this one another name.")
        if not added.tool.description.strip():
            raise Invalid(f"The tool {name!r} lacks a description.")
    for key in extension.merges:
        if any(key in other.merges for other in others):
            raise Invalid(f"There is a way to merge {key!r} already.")
