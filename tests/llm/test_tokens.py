import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marginalia_tui.domain.chat import Answer, Call, Message, Request, Tool
from marginalia_tui.llm import tokens
from marginalia_tui.llm.tokens import (
    LEAST_RATIO,
    MOST_RATIO,
    Correction,
    count_answer,
    count_request,
    count_tokens,
)

# Counted by the tokenizer of a public model of 1.5 billion parameters (a vocabulary of 152,000).
MEASURED = {
    "English prose": (
        "The ferry came in late, as it always did in October, with its lamps lit and half of its seats empty. "
        "Mrs. Aldous stood at the rail and counted the houses on the hill; there was one fewer than last year. "
        "“You'll want your coat,” the mate said, and she answered that she had wanted it since Tuesday.",
        70,
    ),
    "modern Chinese": (
        "清晨的雾还没有散去，老码头上已经有了人声。我站在栏杆旁边，看着船工们把一箱一箱的货物搬上岸，"
        "心里却一直想着昨天晚上她对我说的那句话。她说，如果你真的想知道答案，就不要再问我，"
        "去问那些从来没有离开过这座城市的人。",
        67,
    ),
    "Russian": (
        "Утренний туман ещё не рассеялся, а на старой пристани уже слышались голоса. Я стоял у перил и смотрел, "
        "как матросы носят ящики на берег, но всё время думал о том, что она сказала мне вчера вечером.",
        74,
    ),
    "German": (
        "Der Morgennebel hatte sich noch nicht verzogen, doch auf dem alten Anleger waren schon Stimmen zu hören. "
        "Ich stand am Geländer und sah zu, wie die Matrosen die Kisten an Land trugen, dachte aber unablässig an "
        "das, was sie mir gestern Abend gesagt hatte.",
        69,
    ),
    "JSON": (
        '{"name":"edit-part","arguments":{"part":"h:m3","old":"teh cat","new":"the cat"},"count":12,"ok":true}',
        34,
    ),
}


@pytest.mark.parametrize("name", MEASURED)
def test_prose_is_counted_within_15_percent(name: str) -> None:
    text, measured = MEASURED[name]
    assert abs(count_tokens(text) / measured - 1) <= 0.15


def test_a_text_of_nothing_has_no_tokens() -> None:
    assert count_tokens("") == 0
    assert count_tokens("a") == 1


@given(st.text(max_size=200), st.text(max_size=200))
def test_more_text_is_never_fewer_tokens_by_much(one: str, two: str) -> None:
    both = count_tokens(one + two)
    assert 0 <= both <= 4 * len(one + two) + 2
    assert both >= 0.5 * max(count_tokens(one), count_tokens(two)) - 2


def test_a_novel_is_counted_quickly() -> None:
    text = "She said, “the lamps of Harbour Street were lit”; nobody else had seen it. " * 40_000
    begun = time.perf_counter()
    count_tokens(text)
    assert time.perf_counter() - begun < 5


def test_a_request_is_the_sum_of_its_parts() -> None:
    words = "The lamps were lit before the ferry came in. " * 20
    plain = Request(system="", messages=(Message(role="user", text=words),))
    call = Message(role="assistant", calls=(Call("a", "read", '{"part": "h:m3"}'),))
    tool = Tool("read", words, {"type": "object", "properties": {"part": {"type": "string"}}})
    base = count_request(plain)
    assert base >= count_tokens(words)
    assert count_request(Request(system=words, messages=plain.messages)) > 1.9 * base
    assert count_request(Request(system="", messages=(*plain.messages, call))) > base
    assert count_request(Request(system="", messages=plain.messages, tools=(tool,))) > 1.9 * base
    assert count_answer(Answer(text=words, calls=call.calls)) > count_tokens(words)


def test_reasoning_counts_only_when_it_is_sent_back() -> None:
    thought = "I weigh the one against the other. " * 20
    kept = Message(role="assistant", text="Yes", reasoning=thought, reasoning_field="reasoning")
    dropped = Message(role="assistant", text="Yes", reasoning=thought)
    assert count_request(Request(system="", messages=(kept,))) > 100
    assert count_request(Request(system="", messages=(dropped,))) < 20


def test_a_correction_follows_what_the_server_reports() -> None:
    known = Correction().learned(1000, 2000)
    assert known == Correction(2.0, 1)
    assert known.apply(500) == 1000
    for _ in range(30):
        known = known.learned(1000, 1200)
    assert abs(known.ratio - 1.2) < 0.01


def test_a_correction_stays_in_bounds_and_passes_over_little() -> None:
    assert Correction().learned(20, 80) == Correction()
    assert Correction().learned(1000, 0) == Correction()
    assert Correction().learned(1000, 10**9).ratio == MOST_RATIO
    assert Correction().learned(10**6, 1).ratio == LEAST_RATIO


def test_a_conversation_that_grows_is_counted_message_by_message(monkeypatch: pytest.MonkeyPatch) -> None:
    counter = tokens.RequestCounter()
    tool = Tool("edit-part", "Replaces a passage.", {"type": "object"})
    said = [Message(role="user", text=f"Chapter {number} is next.") for number in range(20)]
    counted: list[Message] = []
    one = tokens.count_message

    def count_one(message: Message) -> int:
        counted.append(message)
        return one(message)

    monkeypatch.setattr(tokens, "count_message", count_one)
    for length in range(len(said) + 1):
        for system in ("Write.", "Write well."):
            counter.count(Request(system=system, messages=tuple(said[:length]), tools=(tool,)))
    assert len(counted) == 2 * len(said)
    for request in (
        Request(system="Write.", messages=tuple(said), tools=(tool,)),
        Request(system="Write.", messages=tuple(said[:3]), tools=(tool,)),
        Request(system="Write.", messages=tuple(said)),
        Request(system="", messages=tuple(reversed(said))),
    ):
        assert counter.count(request) == count_request(request)
