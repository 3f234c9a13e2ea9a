"""What can go wrong between the studio and a model, in plain words.

Every fault has a class (`Reason`) and one sentence that says what to do. A server's own words are quoted,
since they often name the cause, but never trusted: bounded, on one line, without control characters, and
without anything that looks like a key.
"""

import re
import unicodedata
from enum import StrEnum
from urllib.parse import urlsplit

from marginalia_tui.domain.chat import Answer, ModelDefinition
from marginalia_tui.domain.errors import ModelError

QUOTE_LIMIT = 300
"""Characters of a server's message that are shown."""


class Reason(StrEnum):
    """The classes of faults."""

    BAD_KEY = "bad_key"
    NOT_ALLOWED = "not_allowed"
    UNKNOWN_MODEL = "unknown_model"
    NOTHING_THERE = "nothing_there"
    CONTEXT = "context_exceeded"
    RATE_LIMITED = "rate_limited"
    QUOTA = "quota"
    SERVER = "server_error"
    TIMEOUT = "timeout"
    CANNOT_CONNECT = "cannot_connect"
    REJECTED = "rejected"
    LOADING = "loading"
    BROKEN = "broken_answer"
    UNREADABLE_CALL = "unreadable_call"


class ModelFault(ModelError):
    """A fault with what is known beside its sentence.

    Attributes:
        status: the HTTP status, when there was one.
        retry_after: seconds that the server asks to wait.
        context_limit: tokens that fit, when the server said so.
        partial: what had arrived of the answer when it broke off; None when nothing had.
    """

    def __init__(
        self,
        reason: Reason,
        message: str,
        *,
        status: int | None = None,
        retry_after: float | None = None,
        context_limit: int | None = None,
    ) -> None:
        super().__init__(reason.value, message)
        self.status = status
        self.retry_after = retry_after
        self.context_limit = context_limit
        self.partial: Answer | None = None

    @property
    def fault(self) -> Reason:
        """The class of the fault."""
        return Reason(self.reason)


def refuses_choice(fault: ModelFault) -> bool:
    """Whether a server refuses what a request says about calls: it knows no `tool_choice`, or not this one."""
    return bool(_CHOICE.search(fault.message)) and fault.partial is None


_CHOICE = re.compile(r"tool.?choice", re.IGNORECASE)
_KEY_LIKE = re.compile(
    r"\b(?:sk|pk|rk|gsk|xai|key|hf|AIza)[-_][\w*.\-]{6,}"
    r"|\bAIza[\w\-]{10,}"
    r"|\b(bearer)\s+[\w.~+/=*\-]{6,}",
    re.IGNORECASE,
)


def clean(text: str, secret: str | None = None, limit: int = QUOTE_LIMIT) -> str:
    """Make a server's words fit to be shown.

    Args:
        text: what the server said.
        secret: a key that must not appear in it.
        limit: characters at most; a longer text ends in an ellipsis.

    Returns:
        One line without control characters and keys.
    """
    head = text[: limit * 20]
    if secret:
        head = head.replace(secret, "[key]")
        # A secret cut by the bound above must not show its first half.
        for size in range(min(len(secret) - 1, len(head)), 3, -1):
            if head.endswith(secret[:size]):
                head = head[:-size]
                break
    head = _KEY_LIKE.sub("[key]", head)
    head = "".join(" " if unicodedata.category(sign) in _UNSEEN else sign for sign in head)
    head = " ".join(head.split())
    return head if len(head) <= limit else head[: limit - 1].rstrip() + "…"


_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def place(definition: ModelDefinition) -> str:
    """The address of a model without user names, passwords and parameters."""
    try:
        parts = urlsplit(definition.base_url)
        host = parts.hostname or ""
        host = f"[{host}]" if ":" in host else host
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return repr(clean(definition.base_url, limit=80))
    return clean(f"{parts.scheme}://{host}{port}{parts.path}", limit=120)


def describe(reason: Reason, definition: ModelDefinition, said: str = "", *, wait: float | None = None) -> str:
    """The sentence of a fault.

    Args:
        reason: its class.
        definition: the model that was asked.
        said: the server's own words, already clean.
        wait: seconds that the server asks to wait.
    """
    name, url = repr(definition.name), place(definition)
    quote = f" The server says: “{said}”" if said else ""
    key = f"the environment variable {definition.key_env}" if definition.key_env else "the keys file"
    later = f" in {spell(wait)}" if wait else " later"
    match reason:
        case Reason.BAD_KEY:
            told = f"The server of {name} does not accept the key: set the right one in {key}."
        case Reason.NOT_ALLOWED:
            told = f"The key of {name} may not use this model: allow it at the provider, or choose another model."
        case Reason.UNKNOWN_MODEL:
            told = f"The server at {url} has no model {definition.model!r}: correct the model id of {name}."
        case Reason.NOTHING_THERE:
            told = f"Nothing answers for chat at {url}: correct the base URL of {name} (it usually ends in /v1)."
        case Reason.CONTEXT:
            told = f"The request is longer than what {name} can read at once: shorten it or choose a larger model."
        case Reason.RATE_LIMITED:
            told = f"The server of {name} limits how often it is asked: try again{later}."
        case Reason.QUOTA:
            told = f"The account of {name} is used up: look at its plan and billing, or choose another model."
        case Reason.SERVER:
            told = f"The server of {name} failed: try again, or look at its log."
        case Reason.TIMEOUT:
            told = f"{name} sent nothing for too long: try again, or raise its timeout."
        case Reason.CANNOT_CONNECT:
            told = f"No connection to {url}: start the server of {name}, or correct its base URL."
        case Reason.REJECTED:
            told = f"The server of {name} refuses the request: correct what it names."
        case Reason.LOADING:
            told = f"The server of {name} is still loading the model: try again in a minute."
        case Reason.BROKEN:
            told = f"{name} answered with something that is no answer: check that {url} is a chat server."
        case Reason.UNREADABLE_CALL:
            told = f"{name} wrote a call that can't be read: ask again, or choose a model that can use tools."
    return told + quote


def spell(seconds: float) -> str:
    """A length of time for people."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    if seconds < 5400:
        return f"{round(seconds / 60)} min"
    if seconds < 129_600:
        return f"{round(seconds / 3600)} h"
    return f"{round(seconds / 86_400)} days"
