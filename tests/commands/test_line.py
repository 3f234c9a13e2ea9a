import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marginalia_tui.commands.line import CommandLine

_AWKWARD = st.text(alphabet=st.sampled_from(list(' "\\/ab\n\t\u00a0')), max_size=12)
_ANY = st.one_of(_AWKWARD, st.text(max_size=40))


@pytest.mark.parametrize(
    ("text", "name", "arguments"),
    [
        ("/get-part 3", "get-part", ["3"]),
        ("/a   b    c", "a", ["b", "c"]),
        (r"/a b\ c", "a", ["b c"]),
        (r"/a b\\c", "a", [r"b\c"]),
        (r"/a b\"c", "a", ['b"c']),
        ('/a "b c" d', "a", ["b c", "d"]),
        ('/a a"b c"d', "a", ["ab cd"]),
        ('/a ""', "a", [""]),
        ('/a "" b', "a", ["", "b"]),
        ('/a "b c', "a", ["b c"]),
        ('/a "b \\" c"', "a", ['b " c']),
        ('/a "b\\\\"', "a", ["b\\"]),
        (r"/a C:\dir", "a", [r"C:\dir"]),
        ("/a b\\", "a", ["b\\"]),
        ("/a b\nc\td", "a", ["b\nc\td"]),
        ("/a /b", "a", ["/b"]),
        ("/", "", []),
        ("/ a", "", ["a"]),
    ],
)
def test_rules_of_a_line(text: str, name: str, arguments: list[str]) -> None:
    line = CommandLine.parse(text)
    assert line.is_command
    assert line.name == name
    assert line.values == arguments


@pytest.mark.parametrize("text", ["", "get-part 3", " /get-part 3", "\\/a"])
def test_text_without_a_slash_in_front_is_no_command(text: str) -> None:
    line = CommandLine.parse(text)
    assert not line.is_command
    assert line.values == []
    assert not line.typing_name
    assert line.current_argument is None


@pytest.mark.parametrize(
    ("text", "typing_name", "trailing"),
    [
        ("/", True, False),
        ("/ge", True, False),
        ("/get-part ", False, True),
        ("/get-part 3", False, False),
        ("/get-part 3  ", False, True),
        ("/get-part 3\\ ", False, False),
        ('/get-part "3 ', False, False),
    ],
)
def test_what_is_being_typed(text: str, typing_name: bool, trailing: bool) -> None:
    line = CommandLine.parse(text)
    assert line.typing_name is typing_name
    assert line.trailing_separator is trailing


def test_current_argument_can_be_replaced_in_the_source() -> None:
    text = '/edit-part 3 "the old'
    current = CommandLine.parse(text).current_argument
    assert current is not None
    assert (current.index, current.text) == (1, "the old")
    assert text[: current.start] + CommandLine.escape("the old house") == '/edit-part 3 "the old house"'


def test_a_new_argument_is_empty_and_stands_at_the_end() -> None:
    current = CommandLine.parse("/edit-part 3 ").current_argument
    assert current is not None
    assert (current.index, current.text, current.start, current.end) == (1, "", 13, 13)


def test_an_open_quote_is_told() -> None:
    assert CommandLine.parse('/a "b').arguments[0].open
    assert not CommandLine.parse('/a "b"').arguments[0].open


@pytest.mark.parametrize(
    ("argument", "written"),
    [("plain", "plain"), (r"C:\dir", r"C:\dir"), ("a b", '"a b"'), ("", '""'), ('"', r"\""), ("a\\", "a\\\\")],
)
def test_escape_is_as_plain_as_it_can_be(argument: str, written: str) -> None:
    assert CommandLine.escape(argument) == written


@given(st.lists(_ANY, max_size=5))
def test_escape_then_parse_gives_the_arguments_back(arguments: list[str]) -> None:
    line = CommandLine.parse(CommandLine.write("name", arguments))
    assert line.name == "name"
    assert line.values == arguments


@given(_ANY, _ANY)
def test_an_escaped_argument_stands_before_anything(argument: str, rest: str) -> None:
    line = CommandLine.parse("/name " + CommandLine.escape(argument) + " " + rest)
    assert line.values[0] == argument


@given(_ANY)
def test_parse_takes_any_text_and_its_offsets_hold(rest: str) -> None:
    text = "/" + rest
    line = CommandLine.parse(text)
    ends = [line.name_end]
    for argument in line.arguments:
        assert ends[-1] < argument.start <= argument.end <= len(text)
        assert text[ends[-1] : argument.start].strip(" ") == ""
        again = CommandLine.parse("/x " + text[argument.start : argument.end])
        assert again.values == [argument.text]
        ends.append(argument.end)
    assert text[ends[-1] :].strip(" ") == ""
    assert line.trailing_separator is (ends[-1] < len(text))


@given(_ANY)
def test_parse_never_raises(text: str) -> None:
    CommandLine.parse(text)


def test_a_line_of_a_megabyte_and_of_ten_thousand_arguments_is_read_at_once() -> None:
    began = time.perf_counter()
    assert len(CommandLine.parse("/a " + "x " * 10_000).arguments) == 10_000
    assert CommandLine.parse('/a "' + "word " * 200_000).values == ["word " * 200_000]
    assert CommandLine.parse("/a " + "\\\\" * 500_000).values == ["\\" * 500_000]
    assert time.perf_counter() - began < 5


# A slow reference, one character after the other, and what holds for any text at all.

EVERY = st.one_of(_AWKWARD, st.text(alphabet=st.characters(exclude_categories=[]), max_size=40))
"""Any text, with half characters, controls and marks that turn the direction."""


def reference(text: str) -> tuple[str, list[str], bool] | None:
    """The name, the arguments and whether a new one begins; None when the text is no command."""
    if text[:1] != "/":
        return None
    words: list[list[str]] = [[]]
    quoted, begun, place = False, True, 1
    while place < len(text):
        char = text[place]
        place += 1
        if char == " " and not quoted:
            begun = False
            continue
        if not begun:
            words.append([])
            begun = True
        if char == '"':
            quoted = not quoted
        elif char == "\\" and place < len(text) and text[place] in ' "\\':
            words[-1].append(text[place])
            place += 1
        else:
            words[-1].append(char)
    name, *arguments = ("".join(word) for word in words)
    return name, arguments, not begun


@given(EVERY)
def test_parse_reads_what_the_reference_reads(rest: str) -> None:
    for text in (rest, "/" + rest, "/name " + rest, '/name "' + rest):
        line = CommandLine.parse(text)
        wanted = reference(text)
        assert line.is_command is (wanted is not None)
        if wanted is not None:
            assert (line.name, line.values, line.trailing_separator) == wanted


@given(EVERY, EVERY)
def test_the_current_argument_can_be_replaced_by_any_text(rest: str, wanted: str) -> None:
    text = "/name " + rest
    line = CommandLine.parse(text)
    current = line.current_argument
    assert current is not None
    replaced = CommandLine.parse(text[: current.start] + CommandLine.escape(wanted) + text[current.end :])
    assert replaced.values[: current.index] == line.values[: current.index]
    assert replaced.values[current.index :] == [wanted]


@given(EVERY)
def test_a_line_that_is_typed_never_takes_an_argument_back(rest: str) -> None:
    """Of two beginnings of a line the longer one has at least the finished arguments of the shorter."""
    text = "/name " + rest
    finished: list[str] = []
    for end in range(len("/name"), len(text) + 1):
        line = CommandLine.parse(text[:end])
        assert line.values[: len(finished)] == finished
        finished = line.values if line.trailing_separator else line.values[:-1]


@given(EVERY)
def test_escape_is_one_argument_in_any_place(argument: str) -> None:
    written = CommandLine.escape(argument)
    line = CommandLine.parse(f"/name {written}  x {written} ")
    assert line.values == [argument, "x", argument] and line.trailing_separator
    assert not any(each.open for each in line.arguments)
    if not set(argument) & set(' "\\') and argument and not any(char.isspace() for char in argument):
        assert written == argument


def test_the_reference_can_tell_right_from_wrong() -> None:
    assert reference("x") is None
    assert reference('/a b\\ c  "d e" ') == ("a", ["b c", "d e"], True)
    assert reference('/a "') == ("a", [""], False)
