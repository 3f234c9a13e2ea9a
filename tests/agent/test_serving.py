"""The socket of a process that works runs: who may use it, what it tells, and that nobody holds it up."""

import os
import socket
import stat
import tempfile
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marginalia_tui.agent import doors, serving, wire
from marginalia_tui.agent.doors import NoDoor
from marginalia_tui.agent.live import MAX_LIVE, LiveBuffer
from marginalia_tui.agent.serving import WireServer
from marginalia_tui.domain.errors import Invalid

RUN = "0123"


class Shop:
    """A server of one run, and what it was told."""

    def __init__(self, home: Path) -> None:
        self.live = LiveBuffer()
        self.looked: list[str] = []
        self.heard = threading.Event()
        self.server = WireServer(home, lambda run: self.live if run == RUN else None, self._look)
        self.live.hear(self.server.wake)
        self.server.open()

    def _look(self, run: str) -> None:
        self.looked.append(run)
        self.heard.set()

    def visit(self) -> socket.socket:
        return doors.knock(self.server.address, 10.0)

    def watch(self) -> "Reader":
        connection = self.visit()
        connection.sendall(wire.write_wish(wire.WATCH, RUN))
        return Reader(connection)


class Reader:
    """Reads the lines of a connection, and puts the answer together."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self._lines = connection.makefile("rb")
        self.text = ""

    def line(self) -> wire.Gained | None:
        gained = wire.read_answer(self._lines.readline())
        self.text = self.text + gained.text if gained else ""
        return gained

    def until(self, text: str) -> None:
        while self.text != text:
            self.line()

    def close(self) -> None:
        self._lines.close()
        self.connection.close()


@pytest.fixture
def near() -> Iterator[Path]:
    """A folder whose path is short enough."""
    with tempfile.TemporaryDirectory(prefix="m-") as folder:
        yield Path(folder)


@pytest.fixture
def shop(near: Path) -> Iterator[Shop]:
    made = Shop(near)
    yield made
    made.server.close()


def test_the_owner_alone_may_come_and_the_file_goes_at_the_end(near: Path) -> None:
    shop = Shop(near)
    address = Path(shop.server.address)
    assert address.parent == near / "sockets"
    assert address.name.startswith(f"{os.getpid()}-")
    assert stat.S_IMODE(address.lstat().st_mode) == 0o600
    assert stat.S_IMODE(address.parent.stat().st_mode) == 0o700
    shop.server.close()
    assert list(address.parent.iterdir()) == []
    shop.server.open()
    assert shop.server.address == "", "what was closed opens no more"


def test_somebody_else_is_turned_away(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(NoDoor):
        shop.visit()
    # One who comes all the same is not heard.
    with closing(socket.socket(socket.AF_UNIX)) as stranger:
        stranger.settimeout(10)
        stranger.connect(shop.server.address)
        assert stranger.recv(100) == b""


@pytest.mark.parametrize("runtime", ["r", "r" * 90])
def test_a_path_that_is_too_long_goes_to_a_runtime_folder(
    near: Path, monkeypatch: pytest.MonkeyPatch, runtime: str
) -> None:
    for name in (runtime, "tmp", "h" * 100):
        (near / name).mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(near / runtime))
    monkeypatch.setattr(tempfile, "tempdir", str(near / "tmp"))
    shop = Shop(near / ("h" * 100))
    address = Path(shop.server.address)
    assert address.parent.parent == near / (runtime if runtime == "r" else "tmp")
    assert stat.S_IMODE(address.parent.stat().st_mode) == 0o700
    shop.visit().close()
    shop.server.close()
    assert not address.parent.exists()


def test_a_folder_that_cannot_be_had_is_done_without(near: Path) -> None:
    (near / "sockets").write_text("a file")
    shop = Shop(near)
    assert shop.server.address == ""
    shop.live.begin(1)
    shop.server.close()


def test_sockets_of_the_dead_are_removed_and_those_of_the_living_stay(shop: Shop, near: Path) -> None:
    dead = near / "sockets" / "999-abc.sock"
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(dead))
    assert dead.exists()
    second = Shop(near)
    assert not dead.exists()
    shop.visit().close()
    second.server.close()
    with pytest.raises(NoDoor):
        second.visit()


def test_a_live_answer_is_told_as_a_whole_first_and_then_as_it_grows(shop: Shop) -> None:
    shop.live.begin(4)
    shop.live.add(text="The lamp", reasoning="Hm. ")
    with closing(shop.watch()) as reader:
        first = reader.line()
        assert first is not None
        assert (first.place, first.text, first.reasoning, first.text_total) == (4, "The lamp", "Hm. ", 8)
        shop.live.add(text=" was lit.")
        reader.until("The lamp was lit.")
        shop.live.add_call("edit-part", '{"part":')
        called = reader.line()
        assert called is not None and called.call == "edit-part"
        shop.live.wait("Try 2 in 3 s")
        while called is not None and called.note != "Try 2 in 3 s":
            called = reader.line()
        shop.live.end()
        assert reader.line() is None
        shop.live.begin(6)
        again = reader.line()
        assert again is not None and (again.place, again.text) == (6, "")


def test_a_word_that_the_row_is_new_arrives(shop: Shop) -> None:
    with closing(shop.visit()) as connection:
        connection.sendall(wire.write_wish(wire.LOOK, RUN))
    assert shop.heard.wait(10)
    assert shop.looked == [RUN]


@pytest.mark.parametrize(
    "bad", [b"\n", b"{\n", b"[1]\n", b'{"do":"end","run":"0123"}\n', b'{"do":"look"}\n', b'{"do":"look","run":7}\n',
            b"x" * 2_000, b'{"do":"look","run":"' + b"1" * 65 + b'"}\n', b"\xff\xfe\n"],
)  # fmt: skip
def test_bad_input_ends_its_connection_and_no_other(shop: Shop, bad: bytes) -> None:
    with closing(shop.watch()) as reader, closing(shop.visit()) as connection:
        assert reader.line() is None
        connection.sendall(bad)
        said = b"".join(iter(lambda: connection.recv(4096), b""))
        assert list(orjson.loads(said)) == ["error"]
        shop.live.begin(1)
        assert reader.line() is not None
    assert shop.looked == []


def test_one_who_never_reads_holds_nobody_up_and_gets_the_end_of_the_rest(shop: Shop) -> None:
    with closing(shop.watch()) as slow, closing(shop.watch()) as quick:
        assert (slow.line(), quick.line()) == (None, None)
        shop.live.begin(1)
        piece = "word " * 2_000
        for _ in range(60):
            shop.live.add(text=piece)
        total = 60 * len(piece)
        gained = quick.line()
        while gained is None or gained.text_total < total:
            gained = quick.line()
        # What was kept for the slow one is bounded: a line on its way, and then what is still known of the answer.
        lines: list[wire.Gained] = []
        while not lines or lines[-1].text_total < total:
            line = slow.line()
            assert line is not None
            lines.append(line)
        assert max(len(line.text) for line in lines) <= MAX_LIVE
        assert len(slow.text) < total, "the answer is longer than what is kept for one who is late"


def test_more_than_are_taken_find_it_closed(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "MOST", 1)
    with closing(shop.watch()) as first:
        assert first.line() is None
        with closing(shop.visit()) as second:
            assert second.recv(10) == b""
    with closing(shop.visit()) as third:
        third.sendall(wire.write_wish(wire.LOOK, RUN))
        shop.heard.wait(0.01)


def test_the_end_of_the_server_is_seen_at_once(shop: Shop) -> None:
    with closing(shop.watch()) as reader:
        assert reader.line() is None
        shop.server.close()
        assert reader.connection.recv(10) == b""


@given(st.binary(max_size=80))
@settings(max_examples=50)
def test_no_line_breaks_the_reading_of_either_side(line: bytes) -> None:
    for read in (wire.read_wish, wire.read_answer):
        try:
            read(line)
        except Invalid:
            continue


@given(st.lists(st.tuples(st.text(max_size=5), st.booleans()), max_size=12))
@settings(max_examples=50)
def test_what_is_told_piece_by_piece_is_the_answer(pieces: list[tuple[str, bool]]) -> None:
    live, copied, sent = LiveBuffer(), LiveBuffer(), wire.Sent()
    live.begin(2)
    copied.begin(2)
    for piece, told in [*pieces, ("", True)]:
        live.add(text=piece, reasoning=piece[::-1])
        if told and (answer := live.look(sent.version)):
            gained = wire.read_answer(wire.write_answer(answer, sent))
            assert gained is not None
            copied.copy(
                text=gained.text,
                reasoning=gained.reasoning,
                totals=(gained.text_total, gained.reasoning_total),
                call=(gained.call, gained.call_size),
                note=gained.note,
            )
    one, other = live.look(), copied.look()
    assert one is not None and other is not None
    assert (one.text, one.reasoning, one.text_total) == (other.text, other.reasoning, other.text_total)


def test_a_lone_surrogate_of_a_model_is_no_fault() -> None:
    live = LiveBuffer()
    live.begin(1)
    live.add(text="a\ud800b")
    answer = live.look()
    assert answer is not None
    gained = wire.read_answer(wire.write_answer(answer, wire.Sent()))
    assert gained is not None and gained.text == "a?b"
