import pytest
from hypothesis import given
from hypothesis import strategies as st

from marginalia_tui.commands.arguments import resolve
from marginalia_tui.commands.builtin import builtin_registry
from marginalia_tui.commands.completion import Completers
from marginalia_tui.commands.line import CommandLine
from marginalia_tui.desk.sheet import Sheet
from tests.commands.forms import forms_registry

REGISTRY = builtin_registry()
FORMS = forms_registry()


def sheet(line: str) -> Sheet:
    read = CommandLine.parse(line)
    return Sheet((FORMS if read.name in FORMS else REGISTRY).get(read.name), read, Completers())


def test_a_field_for_each_parameter_by_its_type() -> None:
    fields = {each.name: each for each in sheet("/search-replace-parts").forms[0].fields}
    assert fields["pattern"].kind == "text" and fields["pattern"].required
    assert fields["mode"].kind == "choice" and fields["mode"].choices == ("text", "word", "regex")
    assert fields["maxHits"].kind == "number" and fields["maxHits"].default
    assert fields["dryRun"].kind == "boolean" and fields["dryRun"].default == "false"
    assert "a whole number from 1" in fields["maxHits"].about


def test_what_is_typed_stands_in_the_fields() -> None:
    made = sheet('/find-occurrences "the lamp" regex')
    assert made.texts[:2] == ("the lamp", "regex")
    assert sheet("/find-occurrences ?").texts[0] == ""
    assert sheet("/find-occurrences a nonsense").texts[1] == "text"
    assert sheet("/aim left yes").texts == ("left", "true")
    assert sheet("/aim left yes").form == 1
    assert sheet("/gather one  'two 3").texts == ("one  'two 3",)


def test_optional_fields_are_left_out_of_the_line() -> None:
    made = sheet("/list-parts")
    assert made.write(0, ["", "", ""]) == "/list-parts"
    assert made.write(0, ["", "", "20"]) == '/list-parts "" "" 20'
    assert made.write(0, ["", "0", "50"]) == "/list-parts"
    assert made.write(0, ["2", "", ""]) == "/list-parts 2"
    made = sheet("/edit-part")
    assert made.write(0, ["3", "teh lamp", ""]) == '/edit-part 3 "teh lamp" ""'
    assert sheet("/gather").write(0, ['one "two three"']) == '/gather one "two three"'


def test_what_is_wrong_with_a_field() -> None:
    made = sheet("/list-parts")
    assert "limit is a whole number from 1 to 200, not 'x'" in made.wrong(0, 2, "x")
    assert made.wrong(0, 2, "7") == made.wrong(0, 2, "") == ""
    made = sheet("/edit-part")
    assert made.wrong(0, 0, "") == "This is needed."
    # A passage may be replaced by nothing.
    assert made.wrong(0, 2, "") == ""
    assert sheet("/aim").wrong(0, 0, "") == "This is needed."
    assert sheet("/gather").wrong(0, 0, "") == ""


@pytest.mark.parametrize("name", REGISTRY.names)
def test_every_command_has_a_sheet_that_writes_what_is_typed(name: str) -> None:
    definition = REGISTRY.get(name)
    made = Sheet(definition, CommandLine.parse(definition.example), Completers())
    line = made.write(made.form, made.texts)
    given = CommandLine.parse(line)
    meant = CommandLine.parse(definition.example)
    before = resolve(definition, meant.values, typed=True)
    after = resolve(definition, given.values, typed=True)
    assert after.values == before.values and after.form is before.form


@given(st.lists(st.text(max_size=20), min_size=3, max_size=3))
def test_the_line_says_what_stands_in_the_fields(texts: list[str]) -> None:
    assert CommandLine.parse(sheet("/edit-part").write(0, texts)).values == texts
