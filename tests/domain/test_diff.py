import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marginalia_tui.domain.diff import Kind, Segment, word_diff

WORDS = st.sampled_from(
    ["the", "sea", "lamp", " ", " ", " ", "\n", "\n\n", ".", ",", "灯", "台", "don’t", "-", "\t", "\x0b", "\u2028", "é"]
)
TEXT = st.lists(WORDS, max_size=80).map("".join) | st.text(max_size=60)


def before_of(segments: list[Segment]) -> str:
    return "".join(segment.text for segment in segments if segment.kind is not Kind.ADDED)


def after_of(segments: list[Segment]) -> str:
    return "".join(segment.text for segment in segments if segment.kind is not Kind.REMOVED)


def shown(before: str, after: str) -> str:
    signs = {Kind.SAME: "{}", Kind.REMOVED: "[-{}-]", Kind.ADDED: "{{+{}+}}"}
    return "".join(signs[segment.kind].format(segment.text) for segment in word_diff(before, after))


@given(TEXT, TEXT)
def test_the_script_is_correct_for_any_two_texts(before: str, after: str) -> None:
    segments = word_diff(before, after)
    assert before_of(segments) == before
    assert after_of(segments) == after
    kinds = [segment.kind for segment in segments]
    assert all(segment.text for segment in segments)
    assert all(one is not two for one, two in zip(kinds, kinds[1:], strict=False))
    assert (Kind.ADDED, Kind.REMOVED) not in set(zip(kinds, kinds[1:], strict=False))


@given(TEXT, st.data())
def test_the_script_is_correct_for_an_edited_text(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    edited = text[:start] + data.draw(TEXT) + text[end:]
    segments = word_diff(text, edited)
    assert before_of(segments) == text
    assert after_of(segments) == edited


@pytest.mark.parametrize(
    ("before", "after", "diff"),
    [
        ("", "", ""),
        ("same", "same", "same"),
        ("", "new", "{+new+}"),
        ("old", "", "[-old-]"),
        ("the the lamp", "the lamp", "the [-the -]lamp"),
        ("a cold, cold stone lay there", "a cold stone lay there", "a [-cold, -]cold stone lay there"),
        ("my own bed. If it be", "my own bed, if it be", "my own bed[-. If-]{+, if+} it be"),
        ("他走了，没有回头。", "他慢慢走了，没有回头。", "他{+慢慢+}走了，没有回头。"),
        ("One.\n\nThree.", "One.\n\nTwo.\n\nThree.", "One.\n\n{+Two.\n\n+}Three."),
        (
            "It began at dawn.\nAnd so on.",
            "It begins at dawn.\nAnd so on.",
            "It [-began-]{+begins+} at dawn.\nAnd so on.",
        ),
        (
            "The lamp went out twice before morning.",
            "Nobody in the village had seen that boat again.",
            "[-The lamp went out twice before morning.-]{+Nobody in the village had seen that boat again.+}",
        ),
    ],
)
def test_reads_well(before: str, after: str, diff: str) -> None:
    assert shown(before, after) == diff


def _prose(seed: int, words: int, vocabulary: int) -> str:
    rng = random.Random(seed)
    return " ".join(f"w{rng.randrange(vocabulary)}" for _ in range(words))


@pytest.mark.parametrize("vocabulary", [50, 5_000, 10_000_000])
def test_forty_thousand_unrelated_words_in_a_second(vocabulary: int) -> None:
    before, after = _prose(1, 40_000, vocabulary), _prose(2, 40_000, vocabulary)
    began = time.process_time()
    segments = word_diff(before, after)
    assert time.process_time() - began < 2.0  # a second on an idle machine
    assert before_of(segments) == before and after_of(segments) == after


def test_few_edits_in_a_long_paragraph_are_found() -> None:
    words = _prose(3, 20_000, 3_000).split(" ")
    edited = list(words)
    for place in range(100, 20_000, 400):
        edited[place] = f"edited{place}"
    segments = word_diff(" ".join(words), " ".join(edited))
    assert sum(segment.kind is Kind.ADDED for segment in segments) == len(range(100, 20_000, 400))
    assert sum(len(s.text) for s in segments if s.kind is Kind.ADDED) < 1_000


def test_a_blank_line_does_not_pair_a_new_paragraph_with_an_old_one() -> None:
    old = "The lamp was lit at dusk, and nobody saw who lit it.\n\nRain fell."
    new = "It was winter.\n\nThe lamp was lit at dawn, and nobody saw who lit it.\n\nRain fell."
    kept = "".join(each.text for each in word_diff(old, new) if each.kind is Kind.SAME)
    assert kept == "The lamp was lit at , and nobody saw who lit it.\n\nRain fell."


@pytest.mark.parametrize("between", ["\n\n", " "])
def test_parts_of_two_megabytes_are_compared_in_seconds(between: str) -> None:
    def written(seed: int) -> str:
        chance = random.Random(seed)
        words = ["".join(chance.choices("abcdefgh", k=chance.randrange(2, 8))) for _ in range(20_000)]
        return between.join(" ".join(chance.choices(words, k=80)) for _ in range(4_500))

    one = written(1)
    assert len(one) > 1_900_000
    for other in (written(2), one.replace("a", "o"), one[:900_000] + " A new sentence. " + one[900_000:]):
        began = time.process_time()
        segments = word_diff(one, other)
        assert time.process_time() - began < 15
        assert before_of(segments) == one and after_of(segments) == other
