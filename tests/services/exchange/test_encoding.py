"""Encodings are recognised, and what can't be read exactly is refused with a sentence."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marginalia_tui.domain.errors import Invalid, MarginaliaError
from marginalia_tui.services.exchange.encoding import clean, decode
from tests.support.books import prose

FRENCH = "Il était une fois, près de la forêt, un garçon très âgé… « Où êtes-vous ? » dit-il. L’été s’en va, ça non !\n"
GERMAN = "Die Straße führte über die Brücke; der Müller saß müde dort. „Schön“, sagte er, „und süß“.\n"
POLISH = "Zażółć gęślą jaźń. Wieczorem łódź odpłynęła, a ślady zniknęły w gęstej mgle; żaden człowiek nie został.\n"
RUSSIAN = "Паром опоздал, и никто на пристани об этом не сказал. Она считала фонари вдоль набережной.\n"
CHINESE = "船来得很晚，码头上没有人说话。她数着岸边的灯，每一次都数出不同的数目。他们在那里等了一个下午。\n"
TAIWAN = "船來得很晚，碼頭上沒有人說話。她數著岸邊的燈，每一次都數出不同的數目。他們在那裡等了一個下午。\n"
JAPANESE = "船は遅れて来た。桟橋にいた人は誰も何も言わなかった。彼女は岸の灯りを数えていた。\n"
KOREAN = "배는 늦게 왔고 부두에 있던 사람들은 아무 말도 하지 않았다. 그녀는 등불을 세고 있었다.\n"
ENGLISH = prose(40).replace("”", "\u201d")


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (ENGLISH, "cp1252"),
        (FRENCH * 3, "cp1252"),
        (FRENCH.replace("…", "").replace("’", "'") * 3, "latin-1"),
        (GERMAN * 3, "cp1252"),
        (ENGLISH + "\n\u201cDon\u2019t,\u201d said Ren\u00e9e.\n" * 4, "mac_roman"),
        (POLISH * 5, "cp1250"),
        (POLISH * 5, "iso8859_2"),
        (RUSSIAN * 5, "cp1251"),
        (RUSSIAN * 5, "koi8_r"),
        (CHINESE, "gb18030"),
        (CHINESE * 200, "gb18030"),
        (TAIWAN, "big5"),
        (JAPANESE * 3, "cp932"),
        (JAPANESE * 3, "euc_jp"),
        (KOREAN * 3, "cp949"),
        (ENGLISH, "utf-16-le"),
        (ENGLISH, "utf-16-be"),
        (CHINESE * 9, "utf-16-le"),
        (CHINESE * 9, "utf-16-be"),
    ],
)
def test_legacy_encodings_are_read_exactly(text: str, encoding: str) -> None:
    found = decode(text.encode(encoding), "'book.txt'")
    assert found.text == text
    assert len(found.notes) == 1, "the author is told how it was read"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_byte_order_mark_decides(encoding: str) -> None:
    text = ENGLISH + CHINESE + "\U0001f40b"
    assert decode(text.encode(encoding), "'book.txt'").text == text


def test_utf8_is_read_without_a_note() -> None:
    text = FRENCH + CHINESE + "cafe\u0301 \U0001f469\u200d\U0001f680"
    found = decode(text.encode(), "'book.txt'")
    assert (found.text, found.encoding, found.notes) == (text, "utf-8", ())


def test_broken_utf8_is_refused_with_the_line_to_mend() -> None:
    data = (FRENCH * 20).encode()
    broken = data[:600] + b"\xff" + data[600:]
    with pytest.raises(Invalid, match=rf"broken bytes, the first in line {data[:600].count(10) + 1}:"):
        decode(broken, "'book.txt'")
    with pytest.raises(Invalid, match="broken bytes"):
        decode((CHINESE * 3).strip().encode()[:-1], "'book.txt'")


def test_a_mark_that_the_rest_belies_is_refused() -> None:
    with pytest.raises(Invalid, match="says that it is UTF-16"):
        decode(b"\xff\xfea\0\n", "'book.txt'")
    with pytest.raises(Invalid, match="says that it is UTF-8"):
        decode(b"\xef\xbb\xbfabc\xff", "'book.txt'")


@pytest.mark.parametrize("data", [b"\0\1\2\3PNG", b"text\0text" * 40, bytes(range(1, 32)) * 40, b"\0" * 100])
def test_binary_is_refused(data: bytes) -> None:
    with pytest.raises(Invalid, match="not a text"):
        decode(data, "'book.bin'")


def test_a_tail_of_zeros_after_a_crash_is_left_out_and_told() -> None:
    found = decode(ENGLISH.encode() + b"\0" * 512, "'book.md'")
    assert found.text == ENGLISH
    assert "512 empty bytes" in found.notes[0]


def test_line_ends_become_one_kind() -> None:
    assert decode(b"a\r\nb\rc\nd\x0ce\x0bf", "'x'").text == "a\nb\nc\nd\ne\nf"
    assert clean("a\u2028b\u2029c\x85d") == "a\nb\nc\nd"
    assert decode(b"a\tb  \n\n\n  c\n", "'x'").text == "a\tb  \n\n\n  c\n"


def test_control_characters_are_shown_and_told() -> None:
    found = decode("red \x1b[31m bell \x07 c1 \x9b2J del \x7f".encode(), "'x'")
    assert found.text == "red \u241b[31m bell \u2407 c1 \u203a2J del \u2421"
    assert found.notes == ("4 control characters are shown as signs.",)


def test_marks_of_joined_files_are_left_out() -> None:
    assert decode("\ufeff# One\n\ufeff# Two".encode("utf-8-sig"), "'x'").text == "# One\n# Two"


@given(st.text(st.characters(), max_size=60))
def test_clean_leaves_nothing_that_steers(text: str) -> None:
    cleaned = clean(text)
    cleaned.encode()
    assert not any(ord(char) < 32 and char not in "\n\t" or 127 <= ord(char) < 160 for char in cleaned)
    assert clean(cleaned) == cleaned


@given(st.binary(max_size=400))
def test_any_bytes_give_a_clean_text_or_a_sentence(data: bytes) -> None:
    try:
        text = decode(data, "'x'").text
    except MarginaliaError as error:
        assert error.message.endswith(".")
    else:
        assert clean(text) == text


def test_a_large_legacy_novel_is_read_within_a_second() -> None:
    data = (ENGLISH * 900 + FRENCH * 3000).encode("cp1252")
    assert len(data) > 3_000_000
    began = time.process_time()
    assert decode(data, "'x'").encoding == "cp1252"
    assert time.process_time() - began < 1
