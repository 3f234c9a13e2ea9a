"""The manual, the README and the map say what the code says, as far as that can be checked simply."""

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from marginalia_tui import __version__, app, resources
from marginalia_tui.commands.builtin import builtin_registry
from marginalia_tui.commands.line import CommandLine
from marginalia_tui.domain.runs import RunStatus
from marginalia_tui.headless.grammar import build
from marginalia_tui.screens.host import key_words
from marginalia_tui.screens.keys import all_bindings, load_all
from marginalia_tui.settings import Settings

ROOT = Path(__file__).parents[1]
PAGES = resources.manual_pages()
DOCUMENTS = {
    **{f"manual/{name}": ROOT / "data" / "manual" / f"{name}.md" for name in PAGES},
    **{name: ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")},
}
EXPECTED = {
    "agents", "book", "commands", "console", "diagnostics", "extensions", "headless", "images", "import-export", "keys",
    "keys-writing", "library", "lore", "models", "review", "safety", "settings", "shell", "start", "statistics",
    "troubleshooting",
}  # fmt: skip
COMMON = ("app", "view", "rows", "table", "submit", "confirm", "bar", "result", "form", "ask")
PLACES = {
    "library": ("library", "trash", "picker"),
    "book": ("book", "edit", "replace", "spelling", "select", "lookup", "jump", "page", "find", "branches", "outline"),
    "agents": ("agents",),
    "console": ("agents", "console", "transcript", "context", "diagnostics", "findings"),
    "diagnostics": ("console", "transcript"),
    "review": ("agents", "console", "review", "diff", "text_editor", "book"),
    "settings": ("settings",),
    "models": ("settings", "console"),
    "import-export": ("library", "book"),
    "start": ("library", "book", "edit", "agents", "review"),
    "safety": ("book", "review"),
    "statistics": ("statistics", "book", "library"),
    "troubleshooting": ("agents", "console"),
    "commands": ("work",),
    "extensions": (),
    "lore": ("lorebook", "lorebooks", "book", "library"),
    "headless": (),
    "images": (),
    "shell": (),
}
"""Page -> the beginnings of the ids of the keys that it may name, beside those of everywhere."""
NAMED_KEYS = {"Enter", "Space", "Tab", "Esc", "Up", "Down", "Left", "Right", "Home", "End", "Backspace", "Delete"}
_KEY = re.compile(r"(?<!`)`(?:[^`\s]|F\d{1,2}|(?:Ctrl|Alt)\+\S+|PgUp|PgDn|" + "|".join(NAMED_KEYS) + ")`(?!`)")
_CLAIM = re.compile(r"((?:`[^`]+`(?:,\s+)?)+)\s[^`()]*\(([a-z_]+\.[a-z_]+)\)")


def text_of(name: str) -> str:
    return DOCUMENTS[name].read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def bindings() -> dict[str, frozenset[str]]:
    """Id of a binding -> its keys as people write them."""
    assert app.MarginaliaApp.BINDINGS
    load_all()
    return {row.id: frozenset(key_words(key.strip()) for key in row.keys.split(",")) for row in all_bindings()}


def verbs(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    return {
        name: verb
        for action in parser._actions
        if isinstance(action, argparse._SubParsersAction)
        for name, verb in action.choices.items()
    }


def test_the_manual_has_its_pages() -> None:
    assert set(PAGES) == EXPECTED
    # `/help NAME` looks for a command first.
    assert not EXPECTED & set(builtin_registry().names)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_document_has_one_title_and_no_control_characters(name: str) -> None:
    text = text_of(name)
    inside = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    titles = [line for line in inside.splitlines() if line.startswith("# ")]
    assert len(titles) == 1
    assert text.startswith(titles[0])
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", text)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_of_the_manual_is_short(name: str) -> None:
    lines = resources.manual_page(name).splitlines()
    assert len(lines) <= 120
    # Pages are also read as they stand, in a terminal.
    assert not [line for line in lines if "|---" in line]


def command_lines(text: str) -> Iterator[str]:
    for found in re.finditer(r"`(/[a-z]+(?:-[a-z]+)*(?=[ `])[^`]*)`", text):
        yield found[1]
    for found in re.finditer(r"^(?: {4})?(/[a-z]+(?:-[a-z]+)*(?= |$).*)$", text, re.MULTILINE):
        yield found[1]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_command_that_is_named_is_in_the_registry(name: str) -> None:
    registry = builtin_registry()
    lines = [line for line in command_lines(text_of(name)) if CommandLine.parse(line).name not in ("command", "name")]
    unknown = [line for line in lines if CommandLine.parse(line).name not in registry and "/" not in line[1:]]
    assert not unknown
    for line in lines:
        parsed = CommandLine.parse(line)
        definition = registry.find(parsed.name)
        if definition is not None:
            assert len(parsed.arguments) <= len(definition.parameters), line


def test_the_manual_names_every_command() -> None:
    told: set[str] = set()
    for name in PAGES:
        page = resources.manual_page(name)
        told |= {CommandLine.parse(line).name for line in command_lines(page)}
        told |= set(re.findall(r"`/([a-z-]+)`", page))
    assert set(builtin_registry().names) <= told


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_verb_that_is_named_is_in_the_grammar(name: str) -> None:
    known = verbs(build(__version__))
    # In backticks, or on a line of an indented or fenced example.
    for found in re.finditer(r"(?:`|^(?: {4})?(?:\$ )?)marginalia ([a-z]+)(?: ([a-z]+))?", text_of(name), re.MULTILINE):
        verb, action = found[1], found[2]
        assert verb in known, found[0]
        actions = verbs(known[verb])
        if actions:
            assert action in actions, found[0]


@pytest.mark.parametrize("name", [*(name for name in DOCUMENTS if name.startswith("manual/")), "README.md"])
def test_every_option_that_is_named_is_in_the_grammar(name: str) -> None:
    options = {"--jinja", "--port", "--ctx-size"}  # of the model server that is an example
    waiting = [build(__version__)]
    while waiting:
        parser = waiting.pop()
        options.update(each for action in parser._actions for each in action.option_strings)
        waiting.extend(verbs(parser).values())
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text_of(name)))
    assert named - options == set()


def test_the_page_of_verbs_names_every_verb() -> None:
    page = resources.manual_page("headless")
    for verb, parser in verbs(build(__version__)).items():
        assert f"marginalia {verb}" in page
        for action in verbs(parser):
            assert re.search(rf"`(?:marginalia )?(?:{verb} )?{action}\b", page), f"{verb} {action}"


def test_the_page_of_keys_agrees_with_the_code(bindings: dict[str, frozenset[str]]) -> None:
    page = text_of("manual/keys") + text_of("manual/keys-writing")
    claims = {found[2]: frozenset(re.findall(r"`([^`]+)`", found[1])) for found in _CLAIM.finditer(page)}
    wrong = {id: (keys, bindings.get(id)) for id, keys in claims.items() if bindings.get(id) != keys}
    assert not wrong
    assert not set(bindings) - set(claims), "keys that the page does not have"


@pytest.mark.parametrize("name", sorted(EXPECTED - {"keys", "keys-writing"}))
def test_a_page_names_only_keys_of_its_screens(name: str, bindings: dict[str, frozenset[str]]) -> None:
    places = (*COMMON, *PLACES[name])
    there = {key for id, keys in bindings.items() if id.split(".")[0] in places for key in keys}
    # In these pages such signs are no keys.
    signs = {
        "commands": {"/"},
        "book": {"*"},
        "review": {"!"},
        "agents": {"!"},
        "library": {"@"},
        "headless": {"/"},
        "shell": {"y", "#"},
        "lore": {"*"},
    }
    named = {found[0].strip("`") for found in _KEY.finditer(text_of(f"manual/{name}"))}
    assert named - there - signs.get(name, set()) == set()


def test_the_pages_name_only_statuses_that_there_are() -> None:
    statuses = {status.value for status in RunStatus}
    shape = re.compile(r"\b(?:RUNNING|IDLE|[A-Z]+_(?:APPROVAL|KEPT|DISCARDED)|PAUS\w+|STOP\w+|DONE|APPLIED|FAILED)\b")
    for name in DOCUMENTS:
        assert set(shape.findall(text_of(name))) - statuses == set()


def test_the_page_of_settings_names_every_field() -> None:
    page = resources.manual_page("settings")
    assert [name for name in Settings.model_fields if f'"{name}"' not in page] == []


def modules_of_the_map() -> set[str]:
    """The modules that the map lists: a heading with a folder, bullets that begin with names of files."""
    found: set[str] = set()
    folder = ""
    for line in text_of("ARCHITECTURE.md").splitlines():
        if line.startswith("#"):
            heading = re.fullmatch(r"### `([\w/]+/)`", line)
            folder = heading[1] if heading else ""
        elif folder and (bullet := re.match(r"- ((?:`\w+\.py`(?:, )?)+): \S", line)):
            found.update(folder + name for name in re.findall(r"`(\w+\.py)`", bullet[1]))
    return found


def test_the_map_has_every_module_and_no_other() -> None:
    package = ROOT / "marginalia_tui"
    modules = {
        str(path.relative_to(ROOT))
        for path in package.rglob("*.py")
        if path.name != "__init__.py" and "migrations" not in path.parts
    }
    assert modules - modules_of_the_map() == set()
    assert modules_of_the_map() - modules == set()


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_path_that_is_named_exists(name: str) -> None:
    paths = set(re.findall(r"`((?:marginalia_tui|data|tests|bench|docs)/[\w./-]*)`", text_of(name)))
    assert [path for path in sorted(paths) if not (ROOT / path).exists()] == []


def test_every_file_that_a_document_links_to_exists() -> None:
    for name, path in DOCUMENTS.items():
        for target in re.findall(r"\]\(([^)#]+)\)", re.sub(r"`[^`\n]*`", "", path.read_text(encoding="utf-8"))):
            assert "://" not in target, name
            assert (path.parent / target).exists(), (name, target)


def test_pictures_ask_nobody_for_anything() -> None:
    pictures = sorted((ROOT / "docs" / "pictures").glob("*.svg"))
    assert {path.stem for path in pictures} >= {"library", "book", "agents", "console", "review"}
    for path in pictures:
        assert not re.search(r"url\(['\"]?https?:|href=|@font-face", path.read_text(encoding="utf-8")), path.name


def test_the_newest_entry_of_the_changelog_is_this_version() -> None:
    found = re.search(r"^## (\S+)", text_of("CHANGELOG.md"), re.MULTILINE)
    assert found is not None
    assert found[1] == __version__
