"""From what a server said to the class of a fault.

Servers agree on little: the status, a type, a code and a sentence are all looked at, the sentence last. The
order of the rules matters; each is a small pattern over public wordings of such servers.
"""

import email.utils
import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from marginalia_tui.domain.chat import ModelDefinition
from marginalia_tui.llm.errors import ModelFault, Reason, clean, describe


@dataclass(frozen=True, slots=True)
class Said:
    """What a server told about a fault: its words, its word for the kind, a status, limits."""

    message: str = ""
    kind: str = ""
    status: int | None = None
    context_limit: int | None = None
    retry_after: float | None = None
    page: bool = False
    """It was a web page and not JSON."""


PATIENCE = 120.0
"""Seconds of waiting that still count as a passing limit."""

_CONTEXT = re.compile(
    r"exceed_context|context_length|context length|context size|context window|maximum context|"
    r"prompt (?:is )?too long|input (?:is )?too long|too many (?:input )?tokens|input token count|"
    r"reduce the length|maximum (?:number of )?(?:input )?tokens|string_above_max_length",
    re.IGNORECASE,
)
_QUOTA_SURE = re.compile(
    r"insufficient_quota|insufficient (?:credits?|balance|funds)|billing_|credit balance|out of credits",
    re.IGNORECASE,
)
_QUOTA_MAYBE = re.compile(r"quota|billing", re.IGNORECASE)
_RATE = re.compile(r"rate.?limit|too many requests|resource_exhausted|overloaded|slow down", re.IGNORECASE)
_KEY = re.compile(
    r"(?:invalid|incorrect|wrong|missing|expired|no)\W{0,3}(?:\w+\W{1,2})?api.?key|"
    r"api.?key.{0,24}(?:not valid|invalid|incorrect|missing|expired|required)|authentication_error|invalid_api_key",
    re.IGNORECASE,
)
_NO_MODEL = re.compile(
    r"model_not_found|model\b.{0,120}?(?:not found|does not exist|not exist|unknown|not a valid|not available|"
    r"no such)|(?:no such|unknown|invalid|not a valid) model|no endpoints found|try pulling it",
    re.IGNORECASE | re.DOTALL,
)
_LOADING = re.compile(
    r"(?<!error )(?<!failed )loading model|model (?:is )?(?:currently )?loading|still loading|warming up", re.IGNORECASE
)
_CALL = re.compile(
    r"does not match the expected|failed to parse (?:the )?(?:tool|function).?call|tool call.{0,40}"
    r"(?:could not|can't|cannot|failed)|tool_use_failed|malformed.function.call|arguments as json",
    re.IGNORECASE,
)
_REFUSED = re.compile(r"not supported|unsupported|invalid_request|not_supported", re.IGNORECASE)
_LIMIT = re.compile(
    r"(?:maximum context length is|context size \(|context (?:window|length) of|maximum number of tokens allowed \()"
    r"\D{0,4}(\d{3,9})",
    re.IGNORECASE,
)


def fault_of(
    definition: ModelDefinition, said: Said, *, secret: str | None = None, patience: float = PATIENCE
) -> ModelFault:
    """The fault that a server's words are.

    Args:
        definition: the model that was asked.
        said: what the server told.
        secret: the key that was sent, to keep it out of the sentence.
        patience: seconds of waiting that still count as a passing limit when a quota is spoken of.
    """
    reason = _reason(said, patience)
    words = "" if said.page else clean(said.message, secret)
    message = describe(reason, definition, words, wait=said.retry_after)
    if said.page and reason in (Reason.BROKEN, Reason.NOTHING_THERE):
        message += " It sent a web page instead of JSON."
    return ModelFault(
        reason,
        message,
        status=said.status,
        retry_after=said.retry_after,
        context_limit=said.context_limit,
    )


def _reason(said: Said, patience: float) -> Reason:
    words = f"{said.kind}\n{said.message}"[:4000]
    status = said.status or 0
    if said.page and status < 400:
        return Reason.BROKEN
    by_words = _by_words(words, status, said.retry_after, patience)
    if by_words is not None:
        return by_words
    return _by_status(status)


def _by_words(words: str, status: int, wait: float | None, patience: float) -> Reason | None:
    """The first rule that holds; `status` 0 is an error inside of a stream that named none."""
    limited = status == 429 or (status in (0, 403) and bool(_RATE.search(words)))
    passing = wait is not None and wait <= patience
    rules = (
        (Reason.QUOTA, status == 402 or _QUOTA_SURE.search(words)),
        (Reason.LOADING, status in (0, 503) and _LOADING.search(words)),
        (Reason.QUOTA, limited and not passing and _QUOTA_MAYBE.search(words)),
        (Reason.RATE_LIMITED, limited),
        (Reason.BAD_KEY, status in (0, 400, 403) and _KEY.search(words)),
        (Reason.CONTEXT, status != 401 and (status == 413 or _CONTEXT.search(words))),
        (Reason.UNREADABLE_CALL, _CALL.search(words)),
        (Reason.UNKNOWN_MODEL, status in (0, 400, 404, 422) and _NO_MODEL.search(words)),
        (Reason.REJECTED, status >= 500 and _REFUSED.search(words)),
    )
    return next((reason for reason, holds in rules if holds), None)


def _by_status(status: int) -> Reason:
    match status:
        case 401:
            return Reason.BAD_KEY
        case 403:
            return Reason.NOT_ALLOWED
        case 404 | 405 | 410:
            return Reason.NOTHING_THERE
        case 408 | 524:
            return Reason.TIMEOUT
        case 501:
            return Reason.REJECTED
    if 300 <= status < 400:
        return Reason.NOTHING_THERE
    if 400 <= status < 500:
        return Reason.REJECTED
    return Reason.SERVER


def read_body(status: int, body: bytes, headers: Mapping[str, str], *, now: float | None = None) -> Said:
    """What an answer with an error status says.

    Args:
        status: the HTTP status.
        body: the start of the body; it may be cut.
        headers: names in lower case.
        now: seconds since 1970, for a `Retry-After` that is a date.
    """
    wait = retry_after(headers, time.time() if now is None else now)
    text = body.decode("utf-8", "replace").strip()
    if 300 <= status < 400:
        return Said(f"moved to {headers.get('location', 'somewhere else')}", status=status)
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        page = text[:200].lower().startswith(("<!doctype", "<html", "<?xml", "<head", "<body"))
        return Said("" if page else text, status=status, retry_after=wait, page=page)
    return read_error(value, status=status, wait=wait)


def read_error(value: Any, *, status: int | None = None, wait: float | None = None) -> Said:
    """What an error object says, in any of the shapes that servers use.

    Args:
        value: the JSON: an object with `error`, `message`, `detail` or `errors`, a list of such, or a text.
        status: the HTTP status; None inside of a stream, where the object may carry one.
        wait: what the headers ask to wait.
    """
    outer = value
    while isinstance(outer, list) and outer:
        outer = outer[0]
    if not isinstance(outer, dict):
        return Said(_text(outer), status=status, retry_after=wait)
    inner = next((outer[name] for name in ("error", "errors", "detail") if outer.get(name)), outer)
    while isinstance(inner, list) and inner:
        inner = inner[0]
    if not isinstance(inner, dict):
        inner = {"message": inner}
    message = _text(inner.get("message") or inner.get("msg") or inner.get("error") or inner.get("detail") or inner)
    kind = " ".join(_text(inner.get(name)) for name in ("type", "code", "status") if inner.get(name))
    if status is None:
        status = _status(inner.get("code")) or _status(inner.get("status")) or _status(outer.get("code"))
    limit = inner.get("n_ctx")
    found = _LIMIT.search(message)
    if not isinstance(limit, int) and found:
        limit = int(found.group(1))
    return Said(
        message,
        kind,
        status,
        limit if isinstance(limit, int) else None,
        wait if wait is not None else _delay(inner.get("details")),
    )


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds that the headers ask to wait: `retry-after-ms`, or `retry-after` in seconds or as a date."""
    exact = _number(headers.get("retry-after-ms"))
    if exact is not None:
        return exact / 1000
    text = headers.get("retry-after")
    if text is None:
        return None
    seconds = _number(text)
    if seconds is not None:
        return seconds
    try:
        return max(0.0, email.utils.parsedate_to_datetime(text).timestamp() - now)
    except (ValueError, OverflowError):
        return None


def _number(text: str | None) -> float | None:
    if text is None or not re.fullmatch(r"\s*\d{1,12}(?:\.\d{1,6})?\s*", text):
        return None
    return float(text)


def _delay(details: Any) -> float | None:
    """The `retryDelay` of Google's error details, such as `34s`."""
    if not isinstance(details, list):
        return None
    for one in details:
        delay = one.get("retryDelay") if isinstance(one, dict) else None
        if isinstance(delay, str) and delay.endswith("s"):
            return _number(delay[:-1])
    return None


def _status(value: Any) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdigit():
        value = int(value[:4])
    return value if isinstance(value, int) and 400 <= value < 600 else None


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False, default=str)
