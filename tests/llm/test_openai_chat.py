import json
from typing import Any

import pytest

from marginalia_tui.domain.chat import (
    Answer,
    Call,
    Finished,
    Message,
    ModelDefinition,
    Request,
    Sampling,
    StreamEvent,
    TextDelta,
    Tool,
    Usage,
    UsageReported,
)
from marginalia_tui.llm.answer import Accumulator
from marginalia_tui.llm.errors import ModelFault, Reason
from marginalia_tui.llm.openai_chat import AnswerReader, payload
from tests.support.scripted_server import DONE, Step, call_chunks, chunk, data, usage_chunk

MODEL = ModelDefinition(name="test", base_url="http://127.0.0.1:1/v1", model="m")
ROLE = chunk({"role": "assistant", "content": None})


def events(*pieces: Step, size: int = 0) -> list[StreamEvent]:
    body = b"".join(piece for piece in pieces if isinstance(piece, bytes))
    reader = AnswerReader(MODEL)
    size = size or max(1, len(body))
    out = [event for at in range(0, len(body), size) for event in reader.feed(body[at : at + size])]
    return out + list(reader.close())


def answer(*pieces: Step, size: int = 0, cap: int = 0) -> Answer:
    gathered = Accumulator(cap)
    for event in events(*pieces, size=size):
        gathered.add(event)
    return gathered.answer()


def fault(*pieces: Step) -> ModelFault:
    with pytest.raises(ModelFault) as caught:
        events(*pieces)
    return caught.value


# What is taken --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 7, 0])
def test_text_with_usage(size: int) -> None:
    body = (ROLE, chunk({"content": "Grüße"}), chunk({"content": "!"}), chunk({}, "stop"), usage_chunk(25, 3, 24), DONE)
    assert events(*body, size=size) == [
        TextDelta("Grüße"),
        TextDelta("!"),
        UsageReported(Usage(25, 3, 24)),
        Finished("stop"),
    ]


def test_a_call_with_text_before_it() -> None:
    got = answer(ROLE, chunk({"content": "Sure."}), *call_chunks(0, "read", {"p": 1}), chunk({}, "tool_calls"), DONE)
    assert (got.text, got.finish, got.complete) == ("Sure.", "calls", True)
    assert [(call.name, json.loads(call.arguments)) for call in got.calls] == [("read", {"p": 1})]


@pytest.mark.parametrize("finish", ["stop", "tool_calls", "function_call", None])
def test_f31_calls_decide_whatever_the_reason(finish: str | None) -> None:
    body = (*call_chunks(0, "read", {}), chunk({}, finish), DONE)
    assert events(*body)[-1] == Finished("calls")
    got = answer(*body)
    assert (got.finish, len(got.calls)) == ("calls", 1)


def test_f32_done_without_a_reason_is_whole() -> None:
    got = answer(chunk({"content": "x"}), DONE)
    assert (got.complete, got.finish) == (True, "stop")


def test_f32_a_reason_without_done_is_whole() -> None:
    assert answer(chunk({"content": "x"}), chunk({}, "stop"), usage_chunk(1, 1)).complete


def test_f32_a_reason_merged_with_the_last_text() -> None:
    got = answer(chunk({"content": "x"}, "length"), DONE)
    assert (got.text, got.finish) == ("x", "length")


@pytest.mark.parametrize("half", [b"", b'data: {"choices":[{"del', b"data: {", b"dat"])
def test_f32_a_cut_stream_keeps_its_text_and_is_not_whole(half: bytes) -> None:
    got = answer(ROLE, chunk({"content": "so far"}), half)
    assert (got.text, got.complete) == ("so far", False)


def test_f33_an_error_inside_of_the_stream() -> None:
    told = fault(ROLE, chunk({"content": "x"}), data({"error": {"code": 503, "message": "worker lost", "type": "x"}}))
    assert told.fault is Reason.SERVER
    assert "worker lost" in told.message


def test_f33_a_model_whose_calls_its_server_cannot_read() -> None:
    words = "The model produced output that does not match the expected peg-native format"
    assert fault(ROLE, data({"error": {"code": 500, "message": words}})).fault is Reason.UNREADABLE_CALL


def test_f33_an_error_event_by_its_name() -> None:
    assert "tired" in fault(ROLE, b'event: error\ndata: {"message":"tired"}\n\n').message


def test_an_error_that_is_null_is_none() -> None:
    assert answer(chunk({"content": "x"}, "stop", error=None), DONE).text == "x"


def test_f34_signs_of_life_between_the_chunks() -> None:
    body = (b": ping\n\n:\n\ndata:\n\ndata: : OPENROUTER\n\n", chunk({"content": "x"}), b": ping\n\n", DONE)
    assert answer(*body).text == "x"


def test_f34_only_signs_of_life_are_a_clear_fault() -> None:
    told = fault(b": ping\n\n", b": ping\n\n")
    assert told.fault is Reason.BROKEN
    assert "only signs of life" in told.message


@pytest.mark.parametrize("value", [{"choices": []}, {"id": "x"}, {"choices": None}, {"choices": [None]}, {"usage": 3}])
def test_f35_chunks_without_a_choice(value: Any) -> None:
    assert answer(data(value), chunk({"content": "x"}, "stop"), DONE).text == "x"


@pytest.mark.parametrize("value", [3, None, [], {"type": "ping"}])
def test_what_is_no_chunk_is_passed_over(value: Any) -> None:
    assert answer(data(value), chunk({"content": "x"}, "stop"), DONE).text == "x"


@pytest.mark.parametrize("name", ["reasoning", "reasoning_content"])
def test_f36_reasoning_keeps_the_name_of_its_field(name: str) -> None:
    got = answer(chunk({name: "hm "}), chunk({name: "so", "content": None}), chunk({"content": "Yes"}, "stop"), DONE)
    assert (got.reasoning, got.reasoning_field, got.text) == ("hm so", name, "Yes")


def test_f36_reasoning_under_both_names_is_taken_once() -> None:
    assert answer(chunk({"reasoning": "a", "reasoning_content": "a"}), DONE).reasoning == "a"


def test_f36_reasoning_as_details_and_as_a_part() -> None:
    details = chunk({"content": "", "reasoning_details": [{"type": "reasoning.text", "text": "a"}, {"summary": "b"}]})
    assert answer(details, DONE).reasoning == "ab"
    parts = [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "Yes"}]
    got = answer(chunk({"content": parts}, "stop"), DONE)
    assert (got.reasoning, got.text) == ("hm", "Yes")


@pytest.mark.parametrize("size", [1, 0])
def test_f37_thinking_in_tags(size: int) -> None:
    got = answer(chunk({"content": "<thi"}), chunk({"content": "nk>hm</think>\n\nYes"}, "stop"), DONE, size=size)
    assert (got.reasoning, got.reasoning_field, got.text) == ("hm", "", "Yes")


def test_f37_an_unclosed_tag_of_the_author_is_all_text() -> None:
    got = answer(chunk({"content": "<think>, he wrote"}, "stop"), DONE)
    assert (got.reasoning, got.text) == ("", "<think>, he wrote")


def test_f37_an_unclosed_tag_at_the_limit_is_thinking() -> None:
    got = answer(chunk({"content": "<think>hm"}, "length"), DONE)
    assert (got.reasoning, got.text) == ("hm", "")


def test_f37_only_a_closing_tag() -> None:
    got = answer(chunk({"content": "hm"}), chunk({"content": "\n</think>\n\nYes"}, "stop"), DONE)
    assert (got.reasoning, got.text) == ("hm", "Yes")


def test_f37_tags_stay_when_the_server_parts_thinking_itself() -> None:
    got = answer(chunk({"reasoning": "hm"}), chunk({"content": "<think>x</think>"}, "stop"), DONE)
    assert (got.reasoning, got.text) == ("hm", "<think>x</think>")


def test_an_answer_of_thinking_alone() -> None:
    got = answer(chunk({"reasoning_content": "42."}), chunk({}, "stop"), DONE)
    assert (got.text, got.reasoning, got.complete) == ("", "42.", True)


def test_an_answer_that_is_not_streamed() -> None:
    call = {"id": "x", "type": "function", "function": {"name": "read", "arguments": {"p": 1}}}
    message = {"role": "assistant", "content": "", "reasoning": "hm", "tool_calls": [call]}
    value = {
        "choices": [{"message": message, "finish_reason": None}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 2},
    }
    got = answer(json.dumps(value, indent=2).encode(), size=5)
    assert [(c.name, json.loads(c.arguments)) for c in got.calls] == [("read", {"p": 1})]
    assert (got.reasoning, got.complete, got.finish, got.usage) == ("hm", True, "calls", Usage(9, 2))


def test_a_web_page_instead_of_json() -> None:
    told = fault(b"\n<!DOCTYPE html><html>Welcome</html>")
    assert told.fault is Reason.BROKEN
    assert "web page" in told.message


@pytest.mark.parametrize("body", [b"", b"  \n", b"{", b"[]", b"{}", b"Internal error", b"\x00\xff", b"data: \xff\n\n"])
def test_what_is_no_answer(body: bytes) -> None:
    assert fault(body).fault is Reason.BROKEN


def test_a_broken_chunk_in_the_midst() -> None:
    assert fault(chunk({"content": "x"}), b"data: {broken\n\n", DONE).fault is Reason.BROKEN


def test_events_without_blank_lines() -> None:
    one, two = (chunk({"content": piece}).strip() + b"\n" for piece in "ab")
    got = answer(one, two, b"data: [DONE]\n")
    assert (got.text, got.complete) == ("ab", True)
    assert not answer(one, two, b"data: {half").complete


def test_json_on_several_data_lines() -> None:
    lines = json.dumps({"choices": [{"delta": {"content": "x"}, "finish_reason": "stop"}]}, indent=1).split("\n")
    assert answer(b"".join(b"data: %s\n" % line.encode() for line in lines), b"\n").text == "x"


def test_half_a_character_waits_for_its_other_half() -> None:
    halves = (
        b'data: {"choices":[{"delta":{"content":"a\\ud83d"}}]}\n\n',
        b'data: {"choices":[{"delta":{"content":"\\ude00b',
    )
    got = answer(*halves, b'"}}]}\n\n', DONE)
    assert got.text == "a\U0001f600b"
    alone = answer(halves[0], chunk({"content": "b"}), DONE)
    assert alone.text == "a\ufffdb"


def test_f11_a_call_in_two_formats_at_once_is_one_call() -> None:
    old = {"name": "read", "arguments": '{"p": 1}'}
    new = {"index": 0, "id": "a", "function": old}
    formats = {"tool_calls": [new]}, {"function_call": old}
    for first, second in (formats, formats[::-1]):
        for body in ((chunk({**first, **second}),), (chunk(first), chunk(second))):
            got = answer(*body, chunk({}, "tool_calls"), DONE)
            assert [(call.name, call.arguments) for call in got.calls] == [("read", '{"p": 1}')]


def test_f29_a_call_without_an_id_gets_one() -> None:
    got = answer(chunk({"tool_calls": [{"function": {"name": "read", "arguments": {"p": 1}}}]}), DONE)
    assert got.calls[0].id
    assert json.loads(got.calls[0].arguments) == {"p": 1}


def test_f35_the_count_comes_last_and_without_a_choice() -> None:
    got = answer(chunk({"content": "x"}, "stop"), usage_chunk(7, 3, cached=5), DONE)
    assert (got.usage.prompt, got.usage.completion, got.usage.cached, got.usage_estimated) == (7, 3, 5, False)


def test_f05_a_call_cut_at_the_limit_is_seen() -> None:
    got = answer(*call_chunks(0, "run", '{"command": "echo 1 2')[:2], chunk({}, "length"), usage_chunk(403, 22), DONE)
    assert got.finish == "length"
    reported_otherwise = answer(
        *call_chunks(0, "run", '{"command": "echo'), chunk({}, "tool_calls"), usage_chunk(9, 22), DONE, cap=22
    )
    assert reported_otherwise.finish == "length"


def test_calls_that_were_announced_and_not_sent() -> None:
    assert fault(ROLE, chunk({}, "tool_calls"), DONE).fault is Reason.UNREADABLE_CALL
    assert answer(chunk({"content": "x"}), chunk({}, "tool_calls"), DONE).finish == "stop"


def test_nothing_after_done_is_read() -> None:
    assert answer(chunk({"content": "x"}, "stop"), DONE, chunk({"content": "y"})).text == "x"


# What is sent ---------------------------------------------------------------------------------------------------

ASK = Request(system="Be brief.", messages=(Message(role="user", text="Hi"),))


def test_a_plain_request() -> None:
    assert payload(MODEL, ASK) == {
        "model": "m",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}],
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def test_sampling_and_limits_are_sent_when_they_are_set() -> None:
    model = ModelDefinition(name="x", model="m", sampling=Sampling(temperature=0.0, top_p=0.9), max_output=100)
    body = payload(model, ASK)
    assert (body["temperature"], body["top_p"], body["max_tokens"]) == (0.0, 0.9, 100)
    assert "presence_penalty" not in body
    limited = Request(system="", messages=ASK.messages, max_output=7)
    assert payload(model, limited)["max_tokens"] == 7
    assert payload(model, limited)["messages"][0]["role"] == "user"


@pytest.mark.parametrize("choice", ["none", "required"])
def test_tools_stay_declared_when_calls_are_forbidden(choice: Any) -> None:
    tool = Tool("read", "Reads.", {"type": "object", "properties": {}})
    body = payload(MODEL, Request(system="", messages=ASK.messages, tools=(tool,), tool_choice=choice))
    assert body["tool_choice"] == choice
    assert body["tools"] == [
        {"type": "function", "function": {"name": "read", "description": "Reads.", "parameters": tool.parameters}}
    ]


def test_f30_what_is_sent_of_calls_is_text() -> None:
    said = Message(role="assistant", calls=(Call("a", "read", '"{\\"p\\": 1}"'), Call("b", "read", '{"p": "')))
    results = (Message(role="tool", text="one", call_id="a"), Message(role="tool", text="", call_id="b"))
    wire = payload(MODEL, Request(system="", messages=(*ASK.messages, said, *results)))["messages"]
    assert [call["function"]["arguments"] for call in wire[1]["tool_calls"]] == ['{"p": 1}', "{}"]
    assert [message["content"] for message in wire[1:]] == ["", "one", "(no output)"]
    assert [message["tool_call_id"] for message in wire[2:]] == [call["id"] for call in wire[1]["tool_calls"]]


@pytest.mark.parametrize(("field", "sent"), [("reasoning", True), ("reasoning_content", True), ("", False)])
def test_f36_reasoning_goes_back_under_its_name(field: str, sent: bool) -> None:
    said = Message(role="assistant", text="Yes", reasoning="hm", reasoning_field=field)
    wire = payload(MODEL, Request(system="", messages=(*ASK.messages, said)))["messages"]
    assert wire[1] == {"role": "assistant", "content": "Yes", **({field: "hm"} if sent else {})}


def test_the_start_of_a_longer_conversation_is_the_same() -> None:
    said = Message(role="assistant", calls=(Call("a", "read", "{}"),))
    first = payload(MODEL, Request(system="s", messages=(*ASK.messages, said)))["messages"]
    more = (*ASK.messages, said, Message(role="tool", text="x", call_id="a"), said)
    assert payload(MODEL, Request(system="s", messages=more))["messages"][:3] == first[:3]
