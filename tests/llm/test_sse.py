import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marginalia_tui.llm import sse
from marginalia_tui.llm.errors import ModelFault
from marginalia_tui.llm.sse import EventParser, ServerEvent


def read(*pieces: bytes) -> list[ServerEvent]:
    parser = EventParser()
    events = [event for piece in pieces for event in parser.feed(piece)]
    return events + parser.close()


def test_an_event_ends_at_its_blank_line() -> None:
    parser = EventParser()
    assert parser.feed(b"data: one\n") == []
    assert parser.feed(b"\n") == [ServerEvent("message", "one")]
    assert parser.close() == []


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_the_three_line_ends(end: bytes) -> None:
    assert read(b"event: x" + end + b"data: a" + end + end + b"data: b" + end + end) == [
        ServerEvent("x", "a"),
        ServerEvent("message", "b"),
    ]


def test_several_data_lines_are_one_event() -> None:
    assert read(b"data: a\ndata\ndata:  b\n\n") == [ServerEvent("message", "a\n\n b")]


def test_a_line_end_in_two_pieces_is_one() -> None:
    assert read(b"data: a\r", b"\ndata: b\r", b"\n\r", b"\n") == [ServerEvent("message", "a\nb")]


def test_f34_keep_alives_are_no_events() -> None:
    parser = EventParser()
    assert parser.feed(b": ping\n\n:\n\n\n\nid: 7\nretry: 10\n\nwhatever\n\n") == []
    assert parser.comments == 2
    assert parser.feed(b"data:\n\n") == [ServerEvent("message", "")]


def test_a_byte_order_mark_is_dropped_at_the_start_only() -> None:
    assert read(b"\xef\xbb", b"\xbfdata: \xef\xbb\xbfx\n\n") == [ServerEvent("message", "\ufeffx")]


def test_what_has_no_blank_line_comes_out_at_the_end() -> None:
    assert read(b"data: a\n\ndata: b") == [ServerEvent("message", "a"), ServerEvent("message", "b")]


def test_broken_utf8_is_shown_as_such() -> None:
    assert read(b"data: \xff\xfe\n\n") == [ServerEvent("message", "\ufffd\ufffd")]


def test_a_line_without_an_end_is_an_error_and_not_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "MAX_LINE", 1000)
    parser = EventParser()
    with pytest.raises(ModelFault, match="does not end"):
        for _ in range(20):
            parser.feed(b"x" * 100)


def test_an_event_without_an_end_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "MAX_EVENT", 1000)
    parser = EventParser()
    with pytest.raises(ModelFault, match="without an end"):
        for _ in range(20):
            parser.feed(b"data: " + b"x" * 100 + b"\n")


def test_a_long_line_in_small_pieces_takes_linear_time() -> None:
    body = b"data: " + b"x" * 2_000_000 + b"\n\n"
    events = read(*(body[at : at + 64] for at in range(0, len(body), 64)))
    assert len(events[0].data) == 2_000_000


@given(
    st.lists(st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\r\n")), max_size=8),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.data(),
)
def test_pieces_of_any_size_give_the_same_events(texts: list[str], end: str, data: st.DataObject) -> None:
    body = b"".join(f": c{end}data: {json.dumps(text)}{end}{end}".encode() for text in texts)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(body)), max_size=12)))
    pieces = [body[a:b] for a, b in zip([0, *cuts], [*cuts, len(body)], strict=True)]
    assert [json.loads(event.data) for event in read(*pieces)] == texts
