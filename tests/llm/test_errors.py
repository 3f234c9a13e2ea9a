import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marginalia_tui.domain.chat import ModelDefinition
from marginalia_tui.llm.errors import QUOTE_LIMIT, Reason, clean, describe, place
from marginalia_tui.llm.faults import fault_of, read_body, read_error, retry_after

MODEL = ModelDefinition(name="writer", base_url="https://me:secret@models.example/v1?key=secret", model="big-1")


def told(status: int, body: Any, **headers: str) -> tuple[Reason, str]:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    fault = fault_of(MODEL, read_body(status, raw, headers), secret="sk-topsecret-123456")
    return fault.fault, fault.message


def of(message: str, kind: str = "", **more: Any) -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, **more}}


@pytest.mark.parametrize(
    ("status", "body", "reason"),
    [
        (401, of("Invalid API Key", "authentication_error", code=401), Reason.BAD_KEY),
        (401, of("You exceeded the context length"), Reason.BAD_KEY),
        (400, [of("API key not valid. Please pass a valid API key.", status="INVALID_ARGUMENT")], Reason.BAD_KEY),
        (403, of("Your API key does not have access to this model"), Reason.NOT_ALLOWED),
        (
            404,
            of("The model `big-1` does not exist or you have no access", code="model_not_found"),
            Reason.UNKNOWN_MODEL,
        ),
        (404, of('model "big-1" not found, try pulling it first'), Reason.UNKNOWN_MODEL),
        (400, of("big-1 is not a valid model ID"), Reason.UNKNOWN_MODEL),
        (404, of("File Not Found", "not_found_error"), Reason.NOTHING_THERE),
        (404, b"<html>404</html>", Reason.NOTHING_THERE),
        (404, b"404 page not found", Reason.NOTHING_THERE),
        (405, {"detail": "Method Not Allowed"}, Reason.NOTHING_THERE),
        (302, b"", Reason.NOTHING_THERE),
        (
            400,
            of("request (30020 tokens) exceeds the available context size (4096 tokens)", "exceed_context_size_error"),
            Reason.CONTEXT,
        ),
        (400, of("maximum context length is 8192 tokens", code="context_length_exceeded"), Reason.CONTEXT),
        (400, of("prompt is too long: 210000 tokens > 200000 maximum", "invalid_request_error"), Reason.CONTEXT),
        (400, of("The input token count (1200000) exceeds the maximum number of tokens allowed"), Reason.CONTEXT),
        (413, b"too large", Reason.CONTEXT),
        (500, of("context length exceeded"), Reason.CONTEXT),
        (429, of("Rate limit reached for requests"), Reason.RATE_LIMITED),
        (429, b"", Reason.RATE_LIMITED),
        (429, of("You exceeded your current quota", "insufficient_quota"), Reason.QUOTA),
        (429, of("Quota exceeded for the day"), Reason.QUOTA),
        (402, of("Payment required"), Reason.QUOTA),
        (400, of("Your credit balance is too low"), Reason.QUOTA),
        (500, of("boom", "server_error"), Reason.SERVER),
        (502, b"<html>Bad Gateway</html>", Reason.SERVER),
        (529, of("Overloaded", "overloaded_error"), Reason.SERVER),
        (504, b"", Reason.SERVER),
        (408, b"", Reason.TIMEOUT),
        (503, of("Loading model", "unavailable_error"), Reason.LOADING),
        (500, of("error loading model: file not found"), Reason.SERVER),
        (500, of("image input is not supported - hint: a projector is needed"), Reason.REJECTED),
        (501, of("This server does not support it", "not_supported_error"), Reason.REJECTED),
        (400, of("'messages' is required", "invalid_request_error"), Reason.REJECTED),
        (422, {"detail": [{"loc": ["body"], "msg": "field required"}]}, Reason.REJECTED),
        (
            400,
            of("max_tokens is too large: 50000. This model supports at most 16384 completion tokens"),
            Reason.REJECTED,
        ),
        (500, of("Failed to parse tool call arguments as JSON: parse error"), Reason.UNREADABLE_CALL),
        (400, of("litellm.APIError: Unable to read the function's arguments as JSON"), Reason.UNREADABLE_CALL),
        (500, of("The model produced output that does not match the expected format"), Reason.UNREADABLE_CALL),
    ],
)
def test_the_class_of_a_refusal(status: int, body: Any, reason: Reason) -> None:
    assert told(status, body)[0] is reason


def test_f27_a_quota_that_passes_soon_is_a_limit() -> None:
    passing = of("Quota exceeded", details=[{"retryDelay": "34s"}])
    assert told(429, passing)[0] is Reason.RATE_LIMITED
    assert told(429, of("Quota exceeded"), **{"retry-after": "7"})[0] is Reason.RATE_LIMITED
    assert told(429, of("Quota exceeded"), **{"retry-after": "86400"})[0] is Reason.QUOTA


@pytest.mark.parametrize(
    "value", [None, 3, "broke", [], {}, {"error": 3}, {"error": "no"}, {"message": "no", "type": "x"}]
)
def test_errors_of_any_shape_are_read(value: Any) -> None:
    assert isinstance(read_error(value).message, str)


def test_a_status_inside_of_a_stream_is_found() -> None:
    assert read_error({"error": {"code": "429", "message": "x"}}).status == 429
    assert read_error({"error": {"code": "nope", "message": "x"}}).status is None


def test_the_limit_of_the_context_is_read() -> None:
    assert fault_of(MODEL, read_error(of("too long, context size", n_ctx=4096))).context_limit == 4096
    said = of("This model's maximum context length is 8192 tokens. However, you asked for 9000")
    assert fault_of(MODEL, read_error(said)).context_limit == 8192


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "Thu, 01 Jan 1970 00:01:00 GMT"}, 50.0),
        ({"retry-after": "Thu, 01 Jan 1970 00:00:01 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
    ],
)
def test_what_the_headers_ask_to_wait(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, now=10.0) == seconds


def test_a_key_is_never_shown() -> None:
    words = "Incorrect API key provided: sk-topsecret-123456 (also sk-proj-abc***xyz, Bearer abcdef123456)"
    message = told(401, of(words))[1]
    assert "secret" not in message
    assert "abc" not in message
    assert "[key]" in message
    assert "secret" not in place(MODEL)


def test_a_key_cut_at_the_bound_is_not_shown() -> None:
    key = "verysecretkey"
    assert "very" not in clean("x" * (QUOTE_LIMIT * 20 - 6) + key, key, limit=QUOTE_LIMIT * 30)


def test_a_servers_words_are_bounded_and_on_one_line() -> None:
    message = told(500, of("a\x1b[31mred\r\n\u202eright\x00 " + "x" * 100_000))[1]
    assert "a [31mred right x" in message
    assert len(message) < 500


@given(st.text(), st.text(min_size=4))
def test_clean_text_can_be_shown(text: str, secret: str) -> None:
    out = clean(text + secret, secret)
    assert out == " ".join(out.split())
    assert out.isprintable() or "…" in out
    assert len(out) <= QUOTE_LIMIT


@pytest.mark.parametrize("reason", list(Reason))
def test_each_fault_says_what_to_do(reason: Reason) -> None:
    sentence = describe(reason, MODEL, "why not", wait=7200)
    assert ":" in sentence.split("The server says")[0]
    assert "“why not”" in sentence
    assert sentence.startswith(("The ", "Nothing ", "No ", "'writer' "))


def test_a_bad_base_url_can_be_named() -> None:
    assert place(ModelDefinition(name="x", base_url="http://[::1")) == "'http://[::1'"
