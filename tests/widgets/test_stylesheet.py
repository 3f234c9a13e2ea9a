import pytest
from textual.css.errors import StylesheetError
from textual.css.stylesheet import Stylesheet, StylesheetParseError

from marginalia_tui.widgets import stylesheet
from marginalia_tui.widgets.stylesheet import KeptStylesheet

CSS = "Label { color: $ink; } #one { width: 3; &.-wide { width: 9; } }"


def filled(sheet: Stylesheet, css: str = CSS) -> Stylesheet:
    sheet.add_source(css, read_from=("here", "Page.CSS"), is_default_css=True, tie_breaker=1, scope="Page")
    sheet.add_source("Page { height: 1; }", read_from=("there", ""))
    return sheet


def test_rules_are_those_of_the_toolkit() -> None:
    ours, theirs = KeptStylesheet(variables={"ink": "#FF0000"}), Stylesheet(variables={"ink": "#FF0000"})
    for colours in ({"ink": "#FF0000"}, {"ink": "#0000FF"}, {"ink": "#FF0000"}):
        for sheet in (ours, theirs):
            filled(sheet).set_variables(colours)
            sheet.reparse()
        assert ours.css == theirs.css and colours["ink"] in ours.css
        assert [rule.is_default_rules for rule in ours.rules] == [rule.is_default_rules for rule in theirs.rules]
        assert [rule.tie_breaker for rule in ours.rules] == [rule.tie_breaker for rule in theirs.rules]


def test_a_piece_is_parsed_once_for_each_set_of_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str] = []

    def parse(self: Stylesheet, css: str, *rest: object) -> object:
        parsed.append(css)
        return plain(self, css, *rest)  # type: ignore[arg-type]

    plain = Stylesheet._parse_rules
    monkeypatch.setattr(Stylesheet, "_parse_rules", parse)
    monkeypatch.setattr(stylesheet, "_parsed", type(stylesheet._parsed)(16))
    for colours in ({"ink": "#FF0000"}, {"ink": "#0000FF"}, {"ink": "#FF0000"}):
        sheet = filled(KeptStylesheet(variables=colours))
        sheet.reparse()
        sheet.reparse()
        assert sheet.rules
    assert len(parsed) == 4


def test_a_fault_is_told_and_breaks_no_rule_that_was_read() -> None:
    sheet = filled(KeptStylesheet(variables={"ink": "#FF0000"}))
    before = sheet.css
    sheet.add_source("Label { colour: red; }", read_from=("new", ""))
    with pytest.raises((StylesheetError, StylesheetParseError)):
        sheet.reparse()
    assert "\n\n".join(rule.css for rule in sheet._rules) == before
