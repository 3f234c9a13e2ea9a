"""What is imported when: told by the modules, not by a stopwatch."""

import subprocess
import sys

import pytest

HEAVY = {
    "sqlalchemy",
    "alembic",
    "httpx",
    "pydantic",
    "orjson",
    "proselint",
    "lxml",
    "ebooklib",
    "PIL",
    "rapidfuzz",
    "spellchecker",
}


def imported(code: str) -> set[str]:
    """The modules of a process that ran the code, by full name."""
    code += "\nimport sys\nprint('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    return set(done.stdout.split())


def roots(modules: set[str]) -> set[str]:
    return {name.split(".")[0] for name in modules}


def test_the_command_line_imports_neither_toolkit_nor_store() -> None:
    found = roots(imported("import marginalia_tui.cli"))
    assert not found & (HEAVY | {"textual", "rich", "prompt_toolkit"})


def test_the_grammar_of_the_verbs_imports_neither() -> None:
    found = roots(imported("import marginalia_tui.cli; marginalia_tui.cli.parser()"))
    assert not found & (HEAVY | {"textual", "rich", "prompt_toolkit"})


def test_the_first_picture_imports_no_store() -> None:
    found = imported("import marginalia_tui.app")
    assert not roots(found) & (HEAVY | {"markdown_it", "prompt_toolkit"})
    ours = {name.removeprefix("marginalia_tui.") for name in found if name.startswith("marginalia_tui.")}
    shown = {name for name in ours if name.split(".")[0] in ("app", "screens", "widgets")}
    assert ours - shown == {"desk", "desk.look", "domain", "domain.errors", "domain.visible"}
    assert {"screens.book", "screens.settings", "screens.agents", "widgets.page"} & shown == set()


def test_the_first_picture_imports_little_beside_the_toolkit() -> None:
    toolkit = imported("import textual.app")
    found = imported("import marginalia_tui.app")
    assert len(found - toolkit) < 90


@pytest.mark.parametrize("package", ["screens", "widgets"])
def test_no_screen_imports_the_store(package: str) -> None:
    code = f"""
import importlib, pkgutil
import marginalia_tui.{package} as package
for module in pkgutil.iter_modules(package.__path__):
    importlib.import_module("marginalia_tui.{package}." + module.name)
"""
    found = imported(code)
    assert not roots(found) & (HEAVY - {"rapidfuzz"})
    layers = ("studio", "agent", "commands", "services", "llm", "store")
    assert not [name for name in found if name.startswith(tuple(f"marginalia_tui.{layer}" for layer in layers))]


def test_the_opening_imports_no_migrations_and_no_formats() -> None:
    found = roots(imported("import marginalia_tui.desk.opening"))
    assert not found & {"textual", "alembic", "ebooklib", "PIL", "spellchecker"}
