"""A conversation in pieces: all of it, in order, each piece a legal request that is not too large."""

import json
from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from marginalia_tui.agent import shrinking
from marginalia_tui.domain.chat import Call, Message, Request
from marginalia_tui.llm.history import INTERRUPTED, legal
from marginalia_tui.llm.tokens import count_request


def count(messages: Sequence[Message]) -> int:
    return count_request(Request(system="", messages=tuple(messages)))


@st.composite
def rounds(draw: st.DrawFn) -> list[Message]:
    """The rounds of a run, numbered; some with long arguments, some with long results, some of them broken."""
    found = [Message(role="user", text="Begin 0.")]
    for number in range(1, draw(st.integers(1, 12))):
        sizes = draw(st.lists(st.tuples(st.integers(0, 2_000), st.integers(0, 6_000), st.booleans()), max_size=3))
        made = tuple(
            Call(
                f"c{number}_{at}",
                "tool",
                json.dumps({"text": "word " * (size // 5), "n": number})[: -3 if broken else None],
            )
            for at, (size, _, broken) in enumerate(sizes)
        )
        found.append(Message(role="assistant", text=f"Round {number}.", calls=made))
        found += [
            Message(role="tool", text=f"{call.id} " + "rain " * (size // 5), call_id=call.id)
            for call, (_, size, _) in zip(made, sizes, strict=True)
        ]
        if draw(st.booleans()):
            found.append(Message(role="user", text=f"Word {number}."))
    return found


def pieces_of(messages: Sequence[Message], room: int, part: int) -> list[shrinking.Piece]:
    left = shrinking.units_of(messages)
    found: list[shrinking.Piece] = []
    while left:
        found.append(shrinking.next_piece(left, room if not found else part, part, count))
        assert found[-1].units > 0
        left = left[found[-1].units :]
    return found


@given(rounds(), st.integers(300, 5_000), st.integers(0, 1_000))
@settings(max_examples=25, deadline=None)
def test_f06_f09_pieces_are_all_of_it_in_order_and_legal(messages: list[Message], part: int, more: int) -> None:
    pieces = pieces_of(messages, part + more, part)
    said = [message for piece in pieces for message in piece.messages]
    wanted = [(m.role, tuple(c.id for c in m.calls), m.call_id) for m in messages]
    assert [(m.role, tuple(c.id for c in m.calls), m.call_id) for m in said] == wanted
    for number, piece in enumerate(pieces):
        assert count(piece.messages) <= (part if number else part + more)
        for message in legal(piece.messages):
            assert not message.text.startswith(("Result of an earlier call", INTERRUPTED))
            for call in message.calls:
                assert isinstance(json.loads(call.arguments), dict)


def test_what_fits_is_left_alone() -> None:
    messages = [Message(role="user", text="Begin."), Message(role="assistant", text="Yes.")]
    assert shrinking.next_piece(shrinking.units_of(messages), 100, 80, count) == shrinking.Piece(tuple(messages), 2)


def test_f12_old_results_are_shortened_before_anything_else() -> None:
    messages = [Message(role="user", text="Begin.")]
    for number in range(4):
        messages.append(Message(role="assistant", text="", calls=(Call(f"c{number}", "read", "{}"),)))
        messages.append(Message(role="tool", text="rain " * 2_000, call_id=f"c{number}"))
    (piece,) = pieces_of(messages, 6_000, 4_000)
    results = [message.text for message in piece.messages if message.role == "tool"]
    assert [len(text) < 1_100 for text in results] == [True, True, False, False]
    assert "9,000 characters are left out" in results[0]
    assert piece.messages[:2] == tuple(messages[:2])


def test_a_round_that_is_far_too_large_is_left_out_and_says_so() -> None:
    calls = tuple(Call(f"c{at}", "read", "{}") for at in range(30))
    unit = (Message(role="assistant", text="", calls=calls), *(Message(role="tool", call_id=call.id) for call in calls))
    (message,) = shrinking.squeeze(unit, 50, count)
    assert message.role == "user"
    assert "left out" in message.text
