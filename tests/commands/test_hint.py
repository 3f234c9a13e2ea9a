import pytest
from hypothesis import given
from hypothesis import strategies as st

from marginalia_tui.commands.builtin import builtin_registry
from marginalia_tui.commands.completion import Completers, complete
from marginalia_tui.commands.hint import Hint, hint

REGISTRY = builtin_registry()


def of(source: str) -> Hint:
    found = hint(REGISTRY, source)
    assert found is not None
    return found


def test_no_command_has_no_hint() -> None:
    assert hint(REGISTRY, "edit-part") is None


@pytest.mark.parametrize(
    ("source", "parameter", "missing"),
    [
        ("/edit-part", None, ("part", "old", "new")),
        ("/edit-part ", "part", ("part", "old", "new")),
        ("/edit-part 3", "part", ("old", "new")),
        ('/edit-part 3 "teh', "old", ("new",)),
        ('/edit-part 3 "teh" ', "new", ("new",)),
        ('/edit-part 3 "teh" the', "new", ()),
        ('/edit-part 3 "teh" the ', None, ()),
    ],
)
def test_the_parameter_that_is_typed(source: str, parameter: str | None, missing: tuple[str, ...]) -> None:
    found = of(source)
    assert found.command is not None and found.command.name == "edit-part"
    assert (found.parameter.name if found.parameter else None) == parameter
    assert found.missing == missing
    assert found.error == ""


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("/", ""),
        ("/edi", ""),
        ("/edti-part", ""),
        ("/edti-part ", "Did you mean edit-part"),
        ("/qqqqzz", "There is no command"),
        ("/undo now", "takes no arguments"),
        ("/edit-part 3 a b c", "takes 3 arguments"),
        ("/list-parts 1 x", "offset is a whole number from 0"),
        ("/list-parts 1 -", ""),
        ("/list-parts 1 - ", "offset is a whole number from 0"),
        ('/list-parts "" 0 201 ', "limit is a whole number from 1 to 200"),
        ('/list-parts "" 0 20', ""),
        ("/find-occurrences a re", ""),
        ("/find-occurrences a re ", "Did you mean regex"),
        ("/find-occurrences a x", "mode is one of text, word, regex"),
        ('/find-occurrences a "" "" tr', ""),
        ('/find-occurrences a "" "" maybe', "caseSensitive is true or false"),
    ],
)
def test_an_error_is_told_as_soon_as_it_is_certain(source: str, error: str) -> None:
    found = of(source)
    assert error in found.error
    assert bool(found.error) is bool(error)


@given(st.one_of(st.text(max_size=30), st.text(alphabet='/edit-part "\\3', max_size=30)))
def test_no_line_breaks_hint_or_completion(text: str) -> None:
    for source in (text, "/" + text, "/edit-part " + text, "/list-parts " + text):
        hint(REGISTRY, source)
        complete(REGISTRY, Completers(), source)
