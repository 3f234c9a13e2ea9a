import pytest
from hypothesis import given
from hypothesis import strategies as st

from marginalia_tui.commands.builtin import builtin_registry
from marginalia_tui.commands.completion import Completers, complete
from marginalia_tui.commands.hint import Hint, facts_of, hint, wants_form
from marginalia_tui.commands.line import CommandLine
from tests.commands.forms import forms_registry

REGISTRY = builtin_registry()
FORMS = forms_registry()


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


@pytest.mark.parametrize(
    ("source", "parameter", "error"),
    [
        ("/aim ", "part", ""),
        ("/aim 1", "part", ""),
        ("/aim l", "side", ""),
        ("/aim left", "side", ""),
        ("/aim left ", "firmly", ""),
        ("/aim left f", "firmly", ""),
        ("/aim 12 f", "how", ""),
        ("/aim 12 ", "how", ""),
        ("/aim 2026", "day", ""),
        ("/aim 2026-03-1", "day", ""),
        ("/aim 2026-03-14 1e", "weight", ""),
        ("/aim 2026-03-14 1 go", "words", ""),
        ("/aim up", None, "aim: the argument"),
        ("/aim left maybe", "firmly", "firmly is true or false"),
        ("/aim 12 nearer", "how", "how is one of near, far"),
        ("/aim 2026-02-30 ", "weight", "day is a date"),
        ("/aim 2026-03-14 1 go further", None, "takes 3 arguments"),
        ("/gather a b c d", "things", ""),
    ],
)
def test_of_several_forms_the_one_is_told_that_still_fits(source: str, parameter: str | None, error: str) -> None:
    found = hint(FORMS, source)
    assert found is not None
    if parameter is not None:
        assert found.parameter is not None and found.parameter.name == parameter
    assert error in found.error
    assert bool(found.error) is bool(error)


@pytest.mark.parametrize(
    ("typed", "may_become"),
    [("1", True), ("12", True), ("2", False), ("20", False), ("0", True), ("+", True), ("-", False), ("1x", False)],
)
def test_a_number_that_can_still_get_into_its_bounds_is_no_error(typed: str, may_become: bool) -> None:
    found = hint(FORMS, f"/aim {typed}")
    assert found is not None
    assert (found.parameter is not None and found.parameter.name == "part" and not found.error) is may_become or (
        # A day may begin so as well.
        typed in ("2", "20") and found.parameter is not None and found.parameter.name == "day"
    )


def test_a_text_is_too_long_at_once() -> None:
    found = hint(FORMS, "/aim 2026-03-14 1 abcde")
    assert found is not None and not found.error
    found = hint(FORMS, "/aim 2026-03-14 1 abcdef")
    assert found is not None and "words is a text of at most 5 characters" in found.error


def test_what_may_be_given_and_what_it_is_without() -> None:
    facts = {each.name: facts_of(each) for each in REGISTRY.get("list-parts").parameters}
    assert facts["limit"] == "a whole number from 1 to 200, without it 50"
    assert facts["branch"] == ""
    facts = {each.name: facts_of(each) for each in REGISTRY.get("find-occurrences").parameters}
    assert facts["mode"] == "one of text, word, regex, without it text"
    assert facts["caseSensitive"].startswith("true or false, without it ")


@pytest.mark.parametrize(
    ("source", "asks"),
    [("/edit-part ?", True), ("/edit-part  ? ", True), ('/search-parts "?"', False), ("/edit-part 3 ?", False)],
)
def test_a_question_mark_alone_asks_for_the_form(source: str, asks: bool) -> None:
    assert wants_form(CommandLine.parse(source)) is asks
    assert of(source).wants_form is asks
    assert not of(source).error


@given(st.one_of(st.text(max_size=30), st.text(alphabet='/edit-part "\\3', max_size=30)))
def test_no_line_breaks_hint_or_completion(text: str) -> None:
    for source in (text, "/" + text, "/edit-part " + text, "/list-parts " + text):
        hint(REGISTRY, source)
        complete(REGISTRY, Completers(), source)
    for source in ("/aim " + text, "/gather " + text):
        hint(FORMS, source)
        complete(FORMS, Completers(), source)
