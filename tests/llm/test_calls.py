import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marginalia_tui.domain.chat import CallArguments, CallStarted
from marginalia_tui.llm.calls import CallAssembler, read_arguments, strict_arguments

Made = list[tuple[str, str]]


def assemble(*chunks: Any) -> tuple[Made, list[str]]:
    """The calls (name, arguments) and their ids."""
    assembler = CallAssembler()
    events = [event for chunk in chunks for event in assembler.feed(chunk)]
    events += assembler.close()
    names: dict[int, str] = {}
    ids: dict[int, str] = {}
    arguments: dict[int, str] = {}
    for event in events:
        match event:
            case CallStarted(index, call_id, name):
                assert index == len(names)
                names[index], ids[index], arguments[index] = name, call_id, ""
            case CallArguments(index, text):
                arguments[index] += text
    return [(names[at], arguments[at]) for at in names], list(ids.values())


def entry(name: str | None = None, arguments: Any = None, **more: Any) -> list[dict[str, Any]]:
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    return [{**more, "function": function}]


def test_the_usual_way() -> None:
    made, ids = assemble(
        entry("read", "", index=0, id="a", type="function"),
        entry(None, '{"p"', index=0),
        entry(None, ":1}", index=0),
        entry("write", "{", index=1, id="b"),
        entry(None, "}", index=1),
    )
    assert made == [("read", '{"p":1}'), ("write", "{}")]
    assert ids == ["a", "b"]


def test_arguments_are_given_as_they_come() -> None:
    assembler = CallAssembler()
    assert list(assembler.feed(entry("f", '{"a', index=0, id="x"))) == [
        CallStarted(0, "x", "f"),
        CallArguments(0, '{"a'),
    ]
    assert list(assembler.feed(entry(None, '": 1', index=0))) == [CallArguments(0, '": 1')]


def test_f28_no_index_and_an_id_for_each_call() -> None:
    made, ids = assemble(entry("f", '{"a":1}', id="x"), entry("f", '{"a":2}', id="y"))
    assert made == [("f", '{"a":1}'), ("f", '{"a":2}')]
    assert ids == ["x", "y"]


def test_f28_index_always_zero_and_new_ids() -> None:
    made, _ = assemble(entry("f", '{"a":1}', id="x", index=0), entry("g", "{}", id="y", index=0))
    assert made == [("f", '{"a":1}'), ("g", "{}")]


def test_f28_no_id_continues_the_last() -> None:
    made, _ = assemble(entry("f", '{"a"', id="x"), entry(None, ":1"), entry(None, "}"))
    assert made == [("f", '{"a":1}')]


def test_f28_several_calls_in_one_chunk_without_index() -> None:
    made, _ = assemble(entry("f", '{"a":1}') + entry("g", '{"b":2}') + entry("g", '{"b":3}'))
    assert made == [("f", '{"a":1}'), ("g", '{"b":2}'), ("g", '{"b":3}')]


def test_f28_a_new_id_with_every_piece_of_one_call() -> None:
    made, ids = assemble(
        entry("f", "", index=0, id="x1"), entry(None, '{"a":', index=0, id="x2"), entry(None, "1}", index=0, id="x3")
    )
    assert made == [("f", '{"a":1}')]
    assert ids == ["x1"]


def test_f28_the_name_again_with_every_piece() -> None:
    made, _ = assemble(
        entry("f", '{"a"', index=0, id="x"), entry("f", ":1", index=0, id="x"), entry("f", "}", index=0, id="x")
    )
    assert made == [("f", '{"a":1}')]


def test_f28_pieces_of_two_calls_in_turn() -> None:
    made, _ = assemble(
        entry("f", "{", index=0, id="x"),
        entry("g", "{", index=1, id="y"),
        entry(None, '"a":1}', index=0),
        entry(None, '"b":2}', index=1),
    )
    assert made == [("f", '{"a":1}'), ("g", '{"b":2}')]


@pytest.mark.parametrize("wire_id", [None, "", 5])
def test_f29_an_id_that_is_missing_is_made(wire_id: Any) -> None:
    made, ids = assemble(entry("f", "{}", id=wire_id, index=0), entry("f", "{}", id=None, index=1))
    assert len(made) == len(set(ids)) == 2
    assert all(ids)


def test_f30_arguments_as_an_object() -> None:
    made, _ = assemble(entry("f", {"a": "é"}, index=0, id="x"), entry("g", {}, index=1, id="y"))
    assert [(name, json.loads(text)) for name, text in made] == [("f", {"a": "é"}), ("g", {})]


def test_f11_an_id_is_one_call_however_often_it_comes() -> None:
    whole = entry("f", '{"a":1}', index=0, id="x")
    assert assemble(whole, whole, whole)[0] == [("f", '{"a":1}')]


def test_f11_a_repeated_call_in_pieces_is_one_call() -> None:
    pieces = (entry("f", '{"a":', index=0, id="x"), entry(None, "1}", index=0, id="x"))
    assert assemble(*pieces, *pieces)[0] == [("f", '{"a":1}')]


def test_f10_one_id_for_different_calls() -> None:
    made, ids = assemble(entry("f", '{"a":1}', index=0, id="x"), entry("f", '{"a":2}', index=1, id="x"))
    assert made == [("f", '{"a":1}'), ("f", '{"a":2}')]
    assert len(set(ids)) == 2


def test_a_call_without_a_name_is_not_lost() -> None:
    assert assemble(entry(None, '{"a":1}', index=0, id="x"))[0] == [("unnamed", '{"a":1}')]


def test_a_name_that_comes_late() -> None:
    assert assemble(entry(None, None, index=0, id="x"), entry("f", "{}", index=0))[0] == [("f", "{}")]


@pytest.mark.parametrize("odd", [None, 3, "x", [None, 4, {}], [{"index": 0}], [{"function": None}], {"function": []}])
def test_odd_entries_hold_no_call(odd: Any) -> None:
    assert assemble(odd)[0] == []


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", {}),
        ("  ", {}),
        ('{"a": 1}', {"a": 1}),
        ('"{\\"a\\": 1}"', {"a": 1}),
        ('{"a": ', None),
        ("[1]", None),
        ("3", None),
        ("null", None),
        ('{"a": NaN}', None),
        ("[" * 100_000, None),
        ('{"a": ' + "9" * 5000 + "}", None),
    ],
)
def test_f04_arguments_are_an_object_or_broken(text: str, value: Any) -> None:
    assert read_arguments(text) == value
    assert json.loads(strict_arguments(text)) == (value or {})


@given(
    st.lists(
        st.tuples(st.sampled_from(["f", "g"]), st.dictionaries(st.text(max_size=3), st.integers(), max_size=3)),
        max_size=4,
    ),
    st.data(),
)
def test_any_split_of_the_usual_way_gives_the_same_calls(calls: list[tuple[str, Any]], data: st.DataObject) -> None:
    chunks: list[Any] = []
    for index, (name, arguments) in enumerate(calls):
        text = json.dumps(arguments)
        cut = data.draw(st.integers(0, len(text)))
        again = data.draw(st.booleans())
        named = {"id": f"id{index}"} if again else {}
        chunks.append(entry(name, text[:cut], index=index, id=f"id{index}"))
        chunks.append(entry(None, text[cut:], index=index, **named))
    made, ids = assemble(*chunks)
    assert [(name, json.loads(text)) for name, text in made] == calls
    assert len(set(ids)) == len(calls)
