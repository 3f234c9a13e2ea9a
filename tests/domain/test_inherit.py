from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marginalia_tui.domain.inherit import INHERITED, Effective, Level, Source, folders_above, inherit
from marginalia_tui.domain.items import Book, Folder, Json
from marginalia_tui.domain.prompts import PROMPTS
from marginalia_tui.resources import prompt

DEFAULTS = Level(Source.DEFAULTS, values={"tense": "present"}, prompts={"turn": "the user's"})
BUILT_IN = Level(Source.BUILT_IN, values={"language": "en"}, prompts={"turn": "the studio's", "master": "the studio's"})
NEAR = Folder(uuid="near", name="Winter", style="dry", pov="  ", prompts={"turn": " "})
FAR = Folder(uuid="far", name="Series", style="lush", pov="first person", model="llama", prompts={"turn": "a folder's"})


def test_the_nearest_that_says_something_wins() -> None:
    holds = inherit(Book(uuid="b", title="B", language=""), [NEAR, FAR], DEFAULTS, BUILT_IN)
    assert holds.value("style") == Effective("dry", Source.FOLDER, "Winter")
    assert holds.value("pov") == Effective("first person", Source.FOLDER, "Series"), "spaces say nothing"
    assert holds.value("model") == Effective("llama", Source.FOLDER, "Series")
    assert holds.value("tense") == Effective("present", Source.DEFAULTS)
    assert holds.value("language") == Effective("en", Source.BUILT_IN)
    assert holds.prompt("turn") == Effective("a folder's", Source.FOLDER, "Series")
    assert holds.prompt("master") == Effective("the studio's", Source.BUILT_IN)
    assert [holds.value(name).where for name in ("style", "tense", "language")] == [
        "the folder 'Winter'",
        "your defaults",
        "built in",
    ]


def test_what_the_book_says_is_its_own() -> None:
    book = Book(uuid="b", title="B", language="de", model="qwen", prompts={"turn": "mine"})
    holds = inherit(book, [NEAR, FAR], DEFAULTS, BUILT_IN)
    assert [holds.value(name).own for name in INHERITED] == [True, False, False, False, True]
    assert holds.prompt("turn") == Effective("mine", Source.BOOK)
    assert holds.without_book().prompt("turn").value == "a folder's"
    assert holds.values()["model"].where == "the book"


def test_a_prompt_that_is_no_text_says_nothing() -> None:
    strange: Sequence[Json] = (None, 3, {"a": 1}, [], True)
    for value in strange:
        book = Book(uuid="b", title="B", prompts={"turn": value})
        assert inherit(book, [], DEFAULTS, BUILT_IN).prompt("turn").value == "the user's"


def test_nothing_said_anywhere_is_empty_and_built_in() -> None:
    holds = inherit(Book(uuid="b", title="B"), [], Level(Source.DEFAULTS), BUILT_IN)
    assert holds.value("style") == Effective("", Source.BUILT_IN)


@given(st.lists(st.one_of(st.none(), st.integers(0, 8)), min_size=9, max_size=9), st.integers(0, 9))
def test_the_way_up_ends_whatever_stands_above_what(parents: list[int | None], start: int) -> None:
    folders = {
        str(place): Folder(uuid=str(place), name=str(place), parent=None if above is None else str(above))
        for place, above in enumerate(parents)
    }
    found = [each.uuid for each in folders_above(folders, str(start))]
    assert len(found) == len(set(found))
    assert found[:1] == ([str(start)] if start < 9 else [])
    for below, above in zip(found, found[1:], strict=False):
        assert folders[below].parent == above


@pytest.mark.parametrize("name", PROMPTS)
def test_every_prompt_has_a_template_that_ships(name: str) -> None:
    template = prompt(f"default-{name}")
    assert 40 < len(template) < 2_000
    for variable in PROMPTS[name].variables:
        assert f"{{{{{variable}}}}}" in template
    assert template.count("{{#if") == template.count("{{/if}}")
