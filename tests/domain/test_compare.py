import pytest
from hypothesis import given
from hypothesis import strategies as st

from marginalia_tui.domain.compare import CELLS, sentence_diff, sentences
from marginalia_tui.domain.diff import Kind
from marginalia_tui.domain.errors import Refused


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("A line\nanother line\n\n\nand more.", ["A line", "another line", "and more."]),
        ("\u201cStop!\u201d he said. (It was late.) So.", ["\u201cStop!\u201d", "he said.", "(It was late.)", "So."]),
        ("It cost 3.50 there... Well\u2026 no.", ["It cost 3.50 there...", "Well\u2026", "no."]),
        ("\u591c\u96e8\u3002\u706f\u3092\u6d88\u3059\u3002", ["\u591c\u96e8\u3002", "\u706f\u3092\u6d88\u3059\u3002"]),
        ("  \n \n", []),
        ("> A verse\\\n> \\\n\\\n>\n> goes on.", ["> A verse\\", "> goes on."]),
    ],
)
def test_sentences(text: str, found: list[str]) -> None:
    assert sentences(text) == found


@given(st.text(alphabet="ab.!?\u2026\u3002\u201d )\n", max_size=60))
def test_no_letter_of_a_sentence_is_lost(text: str) -> None:
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())


def told(before: str, after: str) -> list[str]:
    return [each.kind.value + each.text for each in sentence_diff(before, after)]


def test_a_diff_of_sentences() -> None:
    assert told("One. Two. Three.", "One. New. Three. Four.") == [" One.", "-Two.", "+New.", " Three.", "+Four."]
    assert told("One. Two.", "One. Two.") == [" One.", " Two."]
    assert told("", "") == []


SENTENCES = st.lists(st.sampled_from(["One.", "Two.", "Three!"]), max_size=12)


@given(SENTENCES, SENTENCES)
def test_both_texts_can_be_read_from_a_diff(old: list[str], new: list[str]) -> None:
    found = sentence_diff(" ".join(old), " ".join(new))
    assert [each.text for each in found if each.kind is not Kind.ADDED] == old
    assert [each.text for each in found if each.kind is not Kind.REMOVED] == new
    # A longest common subsequence: as long as the one of the textbook.
    lengths = [[0] * (len(new) + 1) for _ in range(len(old) + 1)]
    for i, one in enumerate(old):
        for j, two in enumerate(new):
            same = lengths[i][j] + 1
            lengths[i + 1][j + 1] = same if one == two else max(lengths[i][j + 1], lengths[i + 1][j])
    assert sum(each.kind is Kind.SAME for each in found) == lengths[-1][-1]


def test_too_many_sentences_are_refused() -> None:
    many = int(CELLS**0.5) + 1
    one = " ".join(f"a{number}." for number in range(many))
    two = " ".join(f"b{number}." for number in range(many))
    with pytest.raises(Refused, match="compare shorter parts"):
        sentence_diff(one, two)
    # What both begin or end with costs nothing.
    assert len(sentence_diff(one + " x.", one + " y.")) == many + 2
