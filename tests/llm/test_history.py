import json

from hypothesis import given
from hypothesis import strategies as st

from marginalia_tui.domain.chat import Call, Message
from marginalia_tui.llm.history import INTERRUPTED, NO_OUTPUT, OPENING, legal


def user(text: str) -> Message:
    return Message(role="user", text=text)


def said(text: str, *calls: Call) -> Message:
    return Message(role="assistant", text=text, calls=calls)


def result(call_id: str, text: str) -> Message:
    return Message(role="tool", text=text, call_id=call_id)


def shape(*messages: Message) -> list[tuple[str, str]]:
    return [(message.role, message.text) for message in legal(messages)]


def test_f38_neighbours_of_one_role_are_merged() -> None:
    assert shape(user("a"), user("b"), said("c"), said("d"), user("e")) == [
        ("user", "a\n\nb"),
        ("assistant", "c\n\nd"),
        ("user", "e"),
    ]


def test_f38_the_author_is_first_and_nothing_is_empty() -> None:
    assert shape(said("a"), user(" "), said("")) == [("user", OPENING), ("assistant", "a")]
    assert shape() == [("user", OPENING)]


def test_f08_a_call_without_a_result_gets_one() -> None:
    assert shape(user("a"), said("", Call("x", "f", "{}")), user("b")) == [
        ("user", "a"),
        ("assistant", ""),
        ("tool", INTERRUPTED),
        ("user", "b"),
    ]


def test_f09_a_result_without_a_call_becomes_the_authors_word() -> None:
    assert shape(user("a"), result("x", "found")) == [("user", "a\n\nResult of an earlier call: found")]


def test_f10_ids_that_start_anew_are_paired_by_order() -> None:
    messages = legal(
        [
            user("a"),
            said("", Call("0", "f", "{}"), Call("0", "g", "{}")),
            result("0", "of f"),
            result("0", "of g"),
            said("", Call("0", "h", "{}")),
            result("0", "of h"),
        ]
    )
    ids = [call.id for message in messages for call in message.calls]
    assert len(set(ids)) == 3
    assert [(m.call_id, m.text) for m in messages if m.role == "tool"] == list(
        zip(ids, ["of f", "of g", "of h"], strict=True)
    )


def test_a_result_before_its_call_is_not_its_result() -> None:
    got = shape(user("a"), result("x", "early"), said("", Call("x", "f", "{}")), result("x", "late"))
    assert got[2:] == [("tool", "late")]
    assert "early" in got[0][1]


def test_results_come_in_the_order_of_the_calls_and_before_the_author() -> None:
    got = shape(
        user("a"), said("", Call("x", "f", "{}"), Call("y", "g", "{}")), user("b"), result("y", "2"), result("x", "")
    )
    assert got == [("user", "a"), ("assistant", ""), ("tool", NO_OUTPUT), ("tool", "2"), ("user", "b")]


def test_f04_a_broken_call_goes_out_as_an_empty_one() -> None:
    assert legal([user("a"), said("", Call("x", "f", '{"city": "Par'))])[1].calls[0].arguments == "{}"


def test_what_no_encoding_can_carry_is_replaced() -> None:
    (message,) = legal([user("a\ud800b")])
    assert message.text == "a\ufffdb"


CALLS = st.builds(Call, st.sampled_from(["0", "1", ""]), st.sampled_from(["f", ""]), st.sampled_from(["{}", "{", ""]))
TEXT = st.sampled_from(["", " ", "a", "b\ud800"])
MESSAGES = st.one_of(
    st.builds(lambda text: Message(role="user", text=text), TEXT),
    st.builds(
        lambda text, calls: Message(role="assistant", text=text, calls=tuple(calls)), TEXT, st.lists(CALLS, max_size=3)
    ),
    st.builds(
        lambda text, call_id: Message(role="tool", text=text, call_id=call_id), TEXT, st.sampled_from(["0", "1", None])
    ),
)


@given(st.lists(MESSAGES, max_size=12))
def test_any_transcript_becomes_legal_and_stays_so(messages: list[Message]) -> None:
    out = legal(messages)
    assert out[0].role == "user"
    ids: list[str] = []
    waiting: list[str] = []
    last = ""
    for message in out:
        json.dumps(message.text, ensure_ascii=False).encode()
        if message.role == "tool":
            assert message.call_id == waiting.pop(0)
            assert message.text.strip()
        else:
            assert not waiting
            assert message.role != last
            assert message.text.strip() or message.calls
            waiting = [call.id for call in message.calls]
            ids += waiting
            assert all(call.name and isinstance(json.loads(call.arguments), dict) for call in message.calls)
            waiting = list(waiting)
        last = message.role
    assert not waiting
    assert len(set(ids)) == len(ids)
    assert legal(out) == out
