import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import get_args

import pytest

from marginalia_tui.domain.errors import Invalid, MarginaliaError, Refused
from marginalia_tui.llm import webhook


@dataclass
class Heard:
    """What a server of the author's was sent."""

    url: str
    requests: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)


@contextmanager
def server(status: int = 204) -> Iterator[Heard]:
    heard = Heard("")

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            heard.requests.append((self.path, dict(self.headers), body))
            self.send_response(status)
            self.send_header("Location", "/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    made = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    heard.url = f"http://127.0.0.1:{made.server_port}/hook/s3cret"
    thread = threading.Thread(target=made.serve_forever)
    thread.start()
    try:
        yield heard
    finally:
        made.shutdown()
        thread.join()
        made.server_close()


def test_each_form_says_it_in_its_way() -> None:
    with server() as heard:
        for form in get_args(webhook.Format):
            webhook.send(heard.url, form, "Corrector", "is done @everyone", allow_local=True)
    (path, plain, text), (_, _, discord), (_, _, gotify) = heard.requests
    assert (path, plain["Title"], text) == ("/hook/s3cret", "Corrector", b"is done @everyone")
    assert json.loads(discord) == {"content": "Corrector: is done @everyone", "allowed_mentions": {"parse": []}}
    assert json.loads(gotify) == {"title": "Corrector", "message": "is done @everyone", "priority": 5}


def test_a_name_that_is_no_header_is_left_out_of_it() -> None:
    with server() as heard:
        webhook.send(heard.url, "plain", "Кор\r\nX-Evil: 1", "text", allow_local=True)
    assert "Title" not in heard.requests[0][1]
    assert "X-Evil" not in heard.requests[0][1]


def test_the_name_is_resolved_once_and_that_address_is_asked() -> None:
    asked: list[str] = []

    def find(host: str, port: int) -> list[str]:
        asked.append(host)
        return ["127.0.0.1"]

    with server() as heard:
        url = heard.url.replace("127.0.0.1", "hooks.example")
        webhook.send(url, "plain", "A", "b", allow_local=True, find=find)
    assert asked == ["hooks.example"]
    assert heard.requests[0][1]["Host"].startswith("hooks.example:")


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "::1", "10.0.0.1", "169.254.1.1", "192.168.1.2", "100.64.0.1", "fd00::1", "fe80::1%eth0", "0.0.0.0",
     "224.0.0.1", "::ffff:127.0.0.1"],
)  # fmt: skip
def test_a_local_address_is_refused_as_a_name_that_nobody_knows(address: str) -> None:
    def unknown(host: str, port: int) -> list[str]:
        raise OSError

    with pytest.raises(Refused) as nobody:
        webhook.send("http://hooks.example/", "plain", "A", "b", find=unknown)
    for found in ([address], ["93.184.216.34", address]):
        with pytest.raises(Refused) as local:
            webhook.send("http://hooks.example/", "plain", "A", "b", find=lambda host, port, found=found: found)  # type: ignore[misc]
        assert local.value.message == nobody.value.message


@pytest.mark.parametrize("status", [302, 404, 500])
def test_what_is_not_taken_is_told_without_the_address_and_nobody_is_led_elsewhere(status: int) -> None:
    with server(status) as heard, pytest.raises(Refused, match=str(status)) as told:
        webhook.send(heard.url, "plain", "A", "b", allow_local=True)
    assert len(heard.requests) == 1
    assert "s3cret" not in told.value.message


@pytest.mark.parametrize(
    "url", ["", "ftp://x/y", "https:///path", "http://a b/", "http://x:99999/", "http://ü/", "x" * 2_001]
)
def test_an_address_that_is_none_is_told_and_not_repeated(url: str) -> None:
    with pytest.raises(Invalid) as told:
        webhook.check_url(url)
    assert url == "" or url not in told.value.message


def test_nobody_there_is_a_sentence() -> None:
    with server() as heard:
        url = heard.url
    with pytest.raises(MarginaliaError, match="can't be reached") as told:
        webhook.send(url, "plain", "A", "b", allow_local=True)
    assert "s3cret" not in str(told.value)
