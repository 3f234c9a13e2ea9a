from hypothesis import given
from hypothesis import strategies as st

from marginalia_tui.widgets.live import OPEN, LiveAnswer, LiveText

PIECES = st.lists(
    st.sampled_from(["word ", "\n", "\n\n", "```", "```py\n", "- item\n", "~~~\n", "x" * 900, " ", "灯台"]), max_size=60
)


@given(PIECES)
def test_no_character_is_lost_and_closed_blocks_stay(pieces: list[str]) -> None:
    live = LiveText()
    for piece in pieces:
        before = list(live.blocks)
        first = live.append(piece)
        assert live.blocks[:first] == before[:first]
        assert first >= len(before) - 1
    assert live.text == "".join(pieces)
    assert live.size == len(live.text)


@given(PIECES, st.integers(100, 3_000))
def test_the_newest_characters_are_kept(pieces: list[str], limit: int) -> None:
    live = LiveText(limit)
    for piece in pieces:
        live.append(piece)
        assert live.size <= limit
        assert all(not block.text for block in live.blocks[: live.dropped])
    assert "".join(pieces).endswith(live.text)


def test_f48_an_open_block_stays_small_even_without_blank_lines() -> None:
    live = LiveText()
    for number in range(3_000):
        live.append(f"word{number} ")
        assert len(live.blocks[-1].text) <= 2 * OPEN
    fenced = LiveText()
    fenced.append("```\n")
    for number in range(3_000):
        fenced.append(f"line {number}\n")
    assert len(fenced.blocks) > 3
    assert all(block.fence for block in fenced.blocks[1:])
    fenced.append("```\nafter\n\nthat")
    assert [block.fence for block in fenced.blocks][-2:] == ["", ""]
    assert fenced.blocks[-1].text == "that"


def test_voices_in_turns() -> None:
    answer = LiveAnswer()
    answer.add("reasoning", "hm")
    answer.add("reasoning", ", so")
    answer.add("text", "Yes.")
    assert len(answer) == 0 and answer.waiting
    assert answer.take() == set()
    assert [(voice, block.text, first) for voice, block, first in map(answer.block, range(2))] == [
        ("reasoning", "hm, so", True),
        ("text", "Yes.", True),
    ]
    answer.add("text", " No.\n\nPerhaps.")
    assert answer.take() == {1}
    assert [answer.block(number)[1].text for number in range(3)] == ["hm, so", "Yes. No.\n\n", "Perhaps."]
    assert answer.text("text") == "Yes. No.\n\nPerhaps."
