"""Chat completions over HTTP: one request, streamed, with limits on silence.

httpx is imported by this module, and this module at the first request, since it takes time that the first
screen does not have.

- Limits: 10 s to connect; `definition.timeout` seconds of silence; a server on this machine or in the local
  net may take `LOCAL_PATIENCE` times as long for its first byte, since it reads a long prompt slowly. Any byte,
  a comment too, is a sign of life.
- Closing the iterator, or cancelling the task that reads it, closes the connection.
- Connections are not limited here (the gate does that): a pool with a limit can be clogged by requests that
  were cancelled while they connected. Kept ones are dropped before servers usually do it.
"""

import asyncio
import ipaddress
import logging
from collections.abc import AsyncGenerator, Awaitable, Iterator
from contextlib import aclosing, contextmanager
from typing import Any, Literal, TypeVar
from urllib.parse import urlsplit

import httpx
import orjson

from marginalia_tui.domain.chat import ModelDefinition, Request, StreamEvent
from marginalia_tui.llm.errors import ModelFault, Reason, clean, describe
from marginalia_tui.llm.faults import fault_of, read_body
from marginalia_tui.llm.growing import Conversations
from marginalia_tui.llm.keys import Keys
from marginalia_tui.llm.openai_chat import AnswerReader, body_with

CONNECT = 10.0
"""Seconds to connect."""
LOCAL_PATIENCE = 4.0
"""How much longer a local server may be silent before its first byte."""
GRACE = 5.0
"""Seconds that the count of tokens may follow after the end of the answer."""
ERROR_BODY = 64 * 1024
"""Bytes of the body of an error that are read."""
KEEP = 3.0
"""Seconds that an idle connection is kept; many servers drop theirs after five."""

T = TypeVar("T")


class OpenAIProvider:
    """The provider `openai`.

    Args:
        keys: where keys come from.
        connect: seconds to connect.
    """

    def __init__(self, keys: Keys, *, connect: float = CONNECT) -> None:
        self._keys = keys
        self._connect = connect
        self._clients: dict[bool, httpx.AsyncClient] = {}
        self._renamed: set[tuple[str, str]] = set()
        self._conversations = Conversations()
        # At their lower levels these name addresses and headers, which may hold keys.
        for name in ("httpx", "httpcore"):
            logging.getLogger(name).setLevel(logging.WARNING)

    async def aclose(self) -> None:
        """Close the kept connections."""
        clients, self._clients = list(self._clients.values()), {}
        for client in clients:
            await client.aclose()

    async def stream(self, definition: ModelDefinition, request: Request) -> AsyncGenerator[StreamEvent, None]:
        """Ask, once; see `Provider`."""
        body = body_with(definition, request, self._conversations.messages(request), streamed=definition.streams)
        async with aclosing(self.send(definition, body, request.session)) as events:
            async for event in events:
                yield event

    async def send(
        self, definition: ModelDefinition, body: dict[str, Any], session: str = ""
    ) -> AsyncGenerator[StreamEvent, None]:
        """Send a body as it is (of `openai_chat`) and read the answer; `session` names its conversation.

        Raises:
            ModelFault: the model did not answer, or broke off with an error.
            MarginaliaError: the key can't be read.
        """
        secret = self._keys.get(definition)
        where = (definition.base_url, definition.model)
        if where in self._renamed:
            body = _rename_limit(body)
        try:
            async with aclosing(self._once(definition, body, secret, session)) as events:
                async for event in events:
                    yield event
            return
        except ModelFault as fault:
            # Some models want the limit under its newer name and say so; asked again, it is remembered.
            if "max_tokens" not in body or fault.status != 400 or "max_completion_tokens" not in fault.message:
                raise
        self._renamed.add(where)
        async with aclosing(self._once(definition, _rename_limit(body), secret, session)) as events:
            async for event in events:
                yield event

    async def _once(
        self, definition: ModelDefinition, body: dict[str, Any], secret: str | None, session: str
    ) -> AsyncGenerator[StreamEvent, None]:
        client = self._client(is_loopback(definition.base_url))
        first = definition.timeout * (LOCAL_PATIENCE if is_local(definition.base_url) else 1.0)
        try:
            _ = urlsplit(definition.base_url).port  # raises for one out of range, which asyncio meets later
            message = client.build_request(
                "POST",
                definition.base_url.rstrip("/") + "/chat/completions",
                content=orjson.dumps(body),
                headers=_headers(secret, session),
            )
        except (httpx.InvalidURL, ValueError) as error:
            raise ModelFault(
                Reason.NOTHING_THERE, describe(Reason.NOTHING_THERE, definition, clean(str(error), secret))
            ) from None
        with _translated(definition, secret):
            response = await _within(first, client.send(message, stream=True))
            try:
                if not response.is_success:
                    raise await _refusal(definition, response, secret)
                async with aclosing(_read(definition, response, first, secret)) as events:
                    async for event in events:
                        yield event
            finally:
                await response.aclose()

    def _client(self, loopback: bool) -> httpx.AsyncClient:
        """The client for servers on this machine, which no proxy stands before, or for all others."""
        client = self._clients.get(loopback)
        if client is None:
            try:
                client = httpx.AsyncClient(
                    timeout=httpx.Timeout(None, connect=self._connect),
                    limits=httpx.Limits(max_connections=None, max_keepalive_connections=8, keepalive_expiry=KEEP),
                    follow_redirects=False,
                    trust_env=not loopback,
                )
            except (ImportError, ValueError, httpx.InvalidURL) as error:
                why = clean(str(error))
                raise ModelFault(
                    Reason.REJECTED,
                    f"The proxy can't be used ({why}): correct HTTPS_PROXY, HTTP_PROXY or ALL_PROXY.",
                ) from None
            self._clients[loopback] = client
        return client


async def _read(
    definition: ModelDefinition, response: httpx.Response, first: float, secret: str | None
) -> AsyncGenerator[StreamEvent, None]:
    """The events of a body.

    A connection that breaks ends the stream, which leaves an answer without its `Finished`. Silence after the
    end of an answer is no fault: only the count of tokens is missing then.
    """
    reader = AnswerReader(definition, secret=secret)
    limit = first
    pieces = response.aiter_bytes()
    while not reader.done:
        try:
            piece = await _within(limit, anext(pieces, None))
        except TimeoutError:
            if not reader.ended:
                raise
            break
        except (httpx.ReadError, httpx.RemoteProtocolError):
            break
        if piece is None:
            break
        for event in reader.feed(piece):
            yield event
        limit = min(GRACE, definition.timeout) if reader.ended else definition.timeout
    for event in reader.close():
        yield event


async def _refusal(definition: ModelDefinition, response: httpx.Response, secret: str | None) -> ModelFault:
    """The fault of an answer with an error status; as much of its body as comes is read."""
    body = b""
    try:
        async with asyncio.timeout(CONNECT):
            async for piece in response.aiter_bytes():
                body += piece
                if len(body) > ERROR_BODY:
                    break
    except (TimeoutError, httpx.TransportError, httpx.DecodingError):
        body = body or b"(its reason did not arrive)"
    return fault_of(definition, read_body(response.status_code, body, response.headers), secret=secret)


async def _within(seconds: float, step: Awaitable[T]) -> T:
    async with asyncio.timeout(seconds):
        return await step


@contextmanager
def _translated(definition: ModelDefinition, secret: str | None) -> Iterator[None]:
    """Faults of the connection in plain words."""
    try:
        yield
    except TimeoutError:
        raise ModelFault(Reason.TIMEOUT, describe(Reason.TIMEOUT, definition)) from None
    except httpx.RequestError as error:
        reason = _reason(error)
        told = describe(reason, definition)
        why = clean(str(error) or type(error).__name__, secret)
        raise ModelFault(reason, f"{told} (Its connection: {why}.)") from None


def _reason(error: httpx.RequestError) -> Reason:
    match error:
        case httpx.UnsupportedProtocol() | httpx.LocalProtocolError():
            return Reason.NOTHING_THERE
        case httpx.ConnectError() if "certificate" in str(error).lower():
            return Reason.NOTHING_THERE
        case httpx.DecodingError():
            return Reason.BROKEN
        case _:
            return Reason.CANNOT_CONNECT


def _headers(secret: str | None, session: str) -> dict[str, str]:
    headers = {
        "Content-Type": "application/json",
        "Accept": "text/event-stream, application/json",
        "Accept-Encoding": "identity",
        "User-Agent": "marginalia",
    }
    if secret:
        headers["Authorization"] = f"Bearer {secret}"
    if session:
        headers["X-Session-ID"] = session
    return headers


def _rename_limit(body: dict[str, Any]) -> dict[str, Any]:
    return {"max_completion_tokens" if name == "max_tokens" else name: value for name, value in body.items()}


def is_loopback(base_url: str) -> bool:
    """Whether a server is on this machine."""
    return _net(base_url) == "loopback"


def is_local(base_url: str) -> bool:
    """Whether a server is on this machine or in the local net."""
    return _net(base_url) != "far"


def _net(base_url: str) -> Literal["loopback", "near", "far"]:
    try:
        host = urlsplit(base_url).hostname or ""
    except ValueError:
        return "far"
    if host == "localhost" or host.endswith(".localhost"):
        return "loopback"
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return "near" if host.endswith((".local", ".lan", ".internal")) or (host and "." not in host) else "far"
    if address.is_loopback:
        return "loopback"
    return "near" if address.is_private or address.is_link_local else "far"
