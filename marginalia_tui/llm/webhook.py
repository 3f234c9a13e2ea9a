"""Sending a notice to an address of the author's: one request, whose answer is not read.

An address may hold a secret and lead anywhere, so it is in no error and no log; no redirect is followed and no proxy
used. The name is resolved once, every address that comes of it is judged, and the connection goes to one of these, so
that a second answer of the name server can't lead elsewhere.
"""

import ipaddress
import logging
import socket
from collections.abc import Callable, Sequence
from typing import Any, Literal
from urllib.parse import urlsplit

import httpx
import orjson

from marginalia_tui.domain.errors import Invalid, Refused

Format = Literal["plain", "discord", "gotify"]
Resolve = Callable[[str, int], Sequence[str]]
"""(host, port) -> the addresses of the host."""

MAX_URL = 2_000
"""Characters of an address."""
CONNECT_SECONDS = 5.0
ANSWER_SECONDS = 10.0
_DISCORD_LENGTH = 2_000
"""Characters of a message that Discord takes."""
_SHARED = ipaddress.ip_network("100.64.0.0/10")


def resolve(host: str, port: int) -> list[str]:
    """The addresses that the system has for a host.

    Raises:
        OSError: it has none.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(each[4][0]) for each in found))


def check_url(url: str) -> None:
    """Whether an address can be sent to, as far as its letters tell.

    Raises:
        Invalid: it can't; the sentence says what to change and not what it is.
    """
    if len(url) > MAX_URL:
        raise Invalid(f"The address of the webhook has over {MAX_URL:,} characters: shorten it.")
    if not url.isascii() or any(char <= " " or char == "\x7f" for char in url):
        raise Invalid("The address of the webhook has blanks or letters that no address has: write %20 for a blank.")
    try:
        parts = urlsplit(url)
        whole = parts.scheme in ("http", "https") and bool(parts.hostname)
        _ = parts.port
    except ValueError:
        whole = False
    if not whole:
        raise Invalid("The address of the webhook is not whole: it begins with https:// or http:// and names a host.")


def send(url: str, form: Format, title: str, text: str, *, allow_local: bool = False, find: Resolve = resolve) -> None:
    """Sends a notice; waits 5 s for the connection and 10 s for all of it.

    Args:
        url: where to.
        form: how the notice is written.
        title: who it is from.
        text: what it says.
        allow_local: whether the address may be of this machine or the local net.
        find: resolves names.

    Raises:
        Invalid: the address is wrong.
        Refused: it was not taken; the sentence says why, without the address.
    """
    check_url(url)
    # At its lower levels httpx names the addresses that it asks.
    for name in ("httpx", "httpcore"):
        logging.getLogger(name).setLevel(logging.WARNING)
    parts = urlsplit(url)
    host = parts.hostname or ""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    address = _address(host, port, allow_local, find)
    target = httpx.URL(url).copy_with(host=address)
    body, headers = _written(form, title, text)
    headers["Host"] = host if parts.port is None else f"{host}:{port}"
    timeout = httpx.Timeout(ANSWER_SECONDS, connect=CONNECT_SECONDS)
    try:
        with (
            httpx.Client(timeout=timeout, follow_redirects=False, trust_env=False) as client,
            client.stream("POST", target, content=body, headers=headers, extensions={"sni_hostname": host}) as response,
        ):
            status = response.status_code
    except httpx.TimeoutException:
        raise Refused("The webhook did not answer in time.") from None
    except httpx.HTTPError as error:
        raise Refused(f"The webhook can't be reached ({type(error).__name__}).") from None
    if not 200 <= status < 300:
        raise Refused(f"The webhook answered {status}: look at its address and its server.")


def is_local(address: str) -> bool:
    """Whether an address is of this machine, a local net or nobody's."""
    found = ipaddress.ip_address(address.split("%", 1)[0])
    if isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped is not None:
        found = found.ipv4_mapped
    return not found.is_global or found.is_multicast or (found.version == 4 and found in _SHARED)


def _address(host: str, port: int, allow_local: bool, find: Resolve) -> str:
    """The address that is connected to.

    One sentence for a local address and for a name that nobody knows, so that it tells nothing of a net's names.
    """
    try:
        addresses = find(host, port)
    except (OSError, UnicodeError):
        addresses = []
    if not addresses or (not allow_local and any(map(is_local, addresses))):
        raise Refused(
            "The webhook's host is not known, or is on this machine or in the local net: "
            "allow local addresses in the settings when that is meant."
        )
    return addresses[0]


def _written(form: Format, title: str, text: str) -> tuple[bytes, dict[str, str]]:
    """The body and the headers of a notice."""
    if form == "plain":
        headers = {"Content-Type": "text/plain; charset=utf-8"}
        if title.isascii() and title.isprintable() and title.strip():
            headers["Title"] = title.strip()
        return text.encode("utf-8", "replace"), headers
    value: dict[str, Any]
    if form == "discord":
        value = {"content": f"{title}: {text}"[:_DISCORD_LENGTH], "allowed_mentions": {"parse": []}}
    else:
        value = {"title": title, "message": text, "priority": 5}
    return orjson.dumps(value), {"Content-Type": "application/json"}
