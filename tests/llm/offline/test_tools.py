import pytest

from marginalia_tui.llm.offline import tools


def test_the_list_as_the_command_writes_it() -> None:
    text = (
        '{"total": 3, "offset": 1, "truncated": true, "nextOffset": 2, "branch": 1, '
        '"parts": [{"position": 2, "part": "h:m7", "title": "T", "words": 5}]}'
    )
    page = tools.read_parts(text, 1)
    assert page == tools.PartPage((tools.PartRow("h:m7", 2, "T"),), 2)


def test_the_end_of_a_list() -> None:
    page = tools.read_parts('{"total": 2, "offset": 1, "truncated": false, "parts": [{"handle": "m1"}]}', 1)
    assert page == tools.PartPage((tools.PartRow("m1", 2, ""),), None)


def test_a_list_that_does_not_say_whether_it_goes_on() -> None:
    page = tools.read_parts('{"total": 9, "parts": [{"part": "a"}, {"part": "b"}]}', 4)
    assert page is not None and page.following == 6
    assert tools.read_parts('{"total": 9, "parts": []}', 4) == tools.PartPage((), None)


def test_a_slice_as_the_command_writes_it() -> None:
    text = '{"offset": 4, "totalLength": 12, "truncated": true, "nextOffset": 8, "text": "abcd"}'
    assert tools.read_slice(text, 4) == tools.PartSlice("abcd", 4, 8)
    assert tools.read_slice('{"total": 8, "text": "abcd"}', 4) == tools.PartSlice("abcd", 4, None)


def test_text_around_the_json_is_passed_over() -> None:
    fenced = 'The part, as data:\n{"text": "a {b} c", "offset": 0, "truncated": false}\nEnd of the data.'
    assert tools.read_slice(fenced, 0) == tools.PartSlice("a {b} c", 0, None)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no",
        "[]",
        "{",
        '{"parts": 3}',
        '{"parts": [1]}',
        '{"text": 3}',
        '{"parts": [{"part": 3}]}',
        "{" * 9_000,
        '{"text": "cut',
    ],
)
def test_answers_of_another_form_are_unreadable(text: str) -> None:
    assert tools.read_parts(text, 0) is None
    assert tools.read_slice(text, 0) is None


def test_an_edit_that_left_something_else_is_noticed() -> None:
    assert tools.edit_went_well('{"result": "changed", "passage": "x the door y"}', "the door")
    assert not tools.edit_went_well('{"result": "changed", "passage": "x the Door y"}', "the door")
    assert tools.edit_went_well('{"result": "changed"}', "the door")
