import time

import pytest

from marginalia_tui.commands.builtin import builtin_registry
from marginalia_tui.commands.completion import (
    Candidate,
    Completers,
    branch_completer,
    choices,
    command_completer,
    complete,
    part_completer,
)
from marginalia_tui.commands.definition import Severity
from marginalia_tui.commands.line import CommandLine
from marginalia_tui.domain.tree import PartRow, StoryTree
from tests.commands.forms import forms_registry

REGISTRY = builtin_registry()


def tree_of(count: int) -> StoryTree:
    rows = [
        PartRow(f"uuid-{place}", f"uuid-{place - 1}" if place > 1 else None, place, f"Chapter {place}", 10, 50, b"")
        for place in range(1, count + 1)
    ]
    return StoryTree(rows, f"uuid-{count}")


def completers_of(count: int = 12) -> Completers:
    completers = Completers()
    tree = tree_of(count)
    completers.register("part", part_completer(tree, {"uuid-2": "The lamp was lit"}))
    completers.register("branch", branch_completer(tree))
    completers.register("command", command_completer(REGISTRY))
    return completers


def labels(source: str, cursor: int | None = None) -> list[str]:
    return [each.label for each in complete(REGISTRY, completers_of(), source, cursor)]


def accept(source: str, label: str, cursor: int | None = None) -> str:
    found = next(each for each in complete(REGISTRY, completers_of(), source, cursor) if each.label == label)
    return source[: found.start] + found.text + source[found.end :]


def test_a_slash_shows_every_command_with_description_and_severity() -> None:
    found = complete(REGISTRY, Completers(), "/")
    assert [each.label for each in found] == list(REGISTRY.names)
    assert all(each.description for each in found)
    delete = next(each for each in found if each.label == "delete-part")
    assert delete.severity is Severity.REMOVE and delete.destructive


@pytest.mark.parametrize(
    ("typed", "first"),
    [
        ("/edit", "edit-part"),
        ("/part-text", "replace-part-text"),
        ("/edti-part", "edit-part"),
        ("/gtprt", "get-part"),
        ("/EDIT", "edit-part"),
        ("/occurrences", "find-occurrences"),
        ("/taken back", None),
    ],
)
def test_names_are_found_fuzzily(typed: str, first: str | None) -> None:
    found = labels(typed)
    assert (found[0] if found else None) == first


def test_letters_that_are_strewn_over_a_description_find_nothing() -> None:
    found = labels("/search")
    assert found[:4] == ["search-annotations", "search-library", "search-lore", "search-parts"]
    assert "count-tokens" not in found
    assert labels("/get-part lml") == []


def test_a_name_is_found_by_what_the_command_does() -> None:
    assert "find-occurrences" in labels("/regular")


def test_accepting_a_name_leads_to_its_first_argument() -> None:
    assert accept("/edi", "edit-part") == "/edit-part "
    assert accept("/und", "undo") == "/undo"
    assert accept("/edi 3 old", "edit-part", cursor=4) == "/edit-part 3 old"


def test_values_of_an_argument() -> None:
    assert labels("/find-occurrences lamp ") == ["text", "word", "regex"]
    assert labels("/find-occurrences lamp re") == ["regex"]
    assert labels('/search-replace-parts a b "" "" ') == ["true", "false"]
    assert labels("/help edit") == ["edit-part"]
    assert labels("/edit-part 3 old ") == []
    assert labels("/undo ") == []
    assert labels("/nothing ") == []
    assert labels("no command") == []


def test_parts_by_number_title_and_first_words() -> None:
    assert labels("/get-part 12")[0] == "12 Chapter 12"
    assert labels("/get-part 1")[:2] == ["1 Chapter 1", "10 Chapter 10"]
    assert labels('/get-part "chapter 7') == ["7 Chapter 7"]
    assert labels("/get-part lamp") == ["2 Chapter 2"]
    assert accept("/edit-part lam", "2 Chapter 2") == "/edit-part 2"
    assert accept("/edit-part lam old new", "2 Chapter 2", cursor=14) == "/edit-part 2 old new"
    assert labels("/switch-branch ") == ["1 Chapter 12"]


def test_a_value_is_quoted_as_the_line_needs_it() -> None:
    completers = Completers()
    completers.register("part", choices([Candidate('The "red" eyes')]))
    (found,) = complete(REGISTRY, completers, '/get-part "red e')
    written = '/get-part "red e'[: found.start] + found.text
    assert CommandLine.parse(written).values == ['The "red" eyes']


def test_the_values_of_all_forms_that_still_fit() -> None:
    def values(source: str) -> list[str]:
        return [each.text for each in complete(forms_registry(), Completers(), source)]

    assert values("/aim ") == ["left", "right"]
    assert values("/aim r") == ["right"]
    assert values("/aim 12 ") == ["near", "far"]
    assert values("/aim left ") == ["true", "false"]
    assert values("/aim 12 left ") == []


def test_a_kind_that_comes_later_is_completed_until_it_goes() -> None:
    completers = Completers()
    completers.register("part", choices([Candidate("one"), Candidate("two")]))
    assert [each.text for each in complete(REGISTRY, completers, "/get-part t")] == ["two"]
    completers.unregister("part")
    completers.unregister("part")
    assert complete(REGISTRY, completers, "/get-part t") == []


def test_two_thousand_parts_are_completed_in_time() -> None:
    tree = tree_of(2_000)
    completers = Completers()
    completers.register("part", part_completer(tree, {uuid: f"The lamp {uuid} was lit" for uuid in tree.rows}))
    for typed in ("", "1", "chapter", "lamp", "zzzzz", "chpter 1999"):
        best = 1.0
        for _ in range(5):
            began = time.perf_counter()
            complete(REGISTRY, completers, f'/get-part "{typed}')
            best = min(best, time.perf_counter() - began)
        assert best < 0.05, typed
