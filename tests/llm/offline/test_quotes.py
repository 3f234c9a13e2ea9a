import pytest

from marginalia_tui.llm.offline.habits import Style
from marginalia_tui.llm.offline.rules import proofread

BEFORE = "She went down to the harbour in the evening and looked at the boats.\n\n"
AFTER = "\n\nHe was gone in the morning, and the boats were out in the bay."
CURLY = Style(quotes="curly", curly_apostrophes=True)
STRAIGHT = Style(quotes="straight")


def fixed(passage: str, style: Style = CURLY) -> str:
    return proofread(BEFORE + passage + AFTER, style).removeprefix(BEFORE).removesuffix(AFTER)


def straight(passage: str) -> str:
    return passage.replace("“", '"').replace("”", '"').replace("’", "'").replace("‘", "'")


MISSING = [
    ("“Go home,” he said. “It is late.", "“Go home,” he said. “It is late.”"),
    ("“I have seen the boat.", "“I have seen the boat.”"),
    ("He turned to her. “Where is the boat?", "He turned to her. “Where is the boat?”"),
    ("“Go home, he said. “It is late.”", "“Go home,” he said. “It is late.”"),
    ("“Where is it? asked Maren. “I want it.”", "“Where is it?” asked Maren. “I want it.”"),
    ("“I know it, Mr. Crake said. “It is late.”", "“I know it,” Mr. Crake said. “It is late.”"),
    ("Go home,” he said.", "“Go home,” he said."),
    ("Where is the boat?” asked Maren.", "“Where is the boat?” asked Maren."),
    ("I have seen it.”", "“I have seen it.”"),
    ("“Go,” he said. It was late when I left.”", "“Go,” he said. It was late when I left.”"),
    ("“Go,” said Maren quietly. You are late.”", "“Go,” said Maren quietly. “You are late.”"),
]


@pytest.mark.parametrize(("slip", "right"), MISSING)
def test_a_missing_mark_with_one_place_left(slip: str, right: str) -> None:
    assert fixed(slip) == right


@pytest.mark.parametrize(("slip", "right"), MISSING)
def test_a_missing_mark_in_a_book_of_straight_ones(slip: str, right: str) -> None:
    assert fixed(straight(slip), STRAIGHT) == straight(right)


@pytest.mark.parametrize(
    "passage",
    [
        "“Go home, he said.",
        "“I have seen it. He turned away to the sea.",
        "“Yes, the old man nodded.",
        "“I thought—he stopped. “It is late.",
        "He called it the “long road.",
        "He said, Go home.”",
        "He shouted Go home!”",
        "I turned to her. Go home,” I said.",
        "In these waters, the Narrow Whale,” as he calls it, is common.",
        "“Go,” he said. He turned. It is late.”",
        "“Go,” he said. He was gone by then.”",
        "“I tell you, he said so, said Maren. “And that is all.”",
        "“Then, seeing her face. And so, he said, “go home.”",
        "“The ‘Swan went out in the evening.",
        "“Look at `x = 1 now.",
    ],
)
def test_a_missing_mark_with_several_places_is_left(passage: str) -> None:
    assert fixed(passage) == passage
    assert fixed(straight(passage), STRAIGHT) == straight(passage)


@pytest.mark.parametrize("following", ["“And then I went.”", "And then I went,” he said.", "‘And then I went.’”"])
def test_speech_that_goes_on_in_the_next_paragraph_is_in_order(following: str) -> None:
    passage = f"“I went down to the harbour.\n\n{following}"
    assert fixed(passage).startswith("“I went down to the harbour.\n")


def test_speech_before_a_quotation_or_verse_or_at_the_end_of_a_part_is_left() -> None:
    assert fixed("“It said:\n\n> the tide is out in the bay") == "“It said:\n\n> the tide is out in the bay"
    end = BEFORE + "“I have seen the boat."
    assert proofread(end, CURLY) == end


@pytest.mark.parametrize(
    ("slip", "right"),
    [
        ('"Go home,” he said.', "“Go home,” he said."),
        ('“Go home," he said. "It is late."', "“Go home,” he said. “It is late.”"),
        ("“I don't know what it's for,” he said.", "“I don’t know what it’s for,” he said."),
        ("The dogs' bowls were in the house.", "The dogs’ bowls were in the house."),
        ("It was in the '90s, and 'twas late.", "It was in the ’90s, and ’twas late."),
        ("”Go home,” he said.", "“Go home,” he said."),
        ("“Go home,“ he said.", "“Go home,” he said."),
        ('"Go home,“ he said.', "“Go home,” he said."),
    ],
)
def test_marks_that_are_straight_or_turned(slip: str, right: str) -> None:
    assert fixed(slip) == right


@pytest.mark.parametrize(
    "passage",
    [
        'He was 6\'2" tall, and the board was 5" wide.',
        'He put a " there and nobody knew why.',
        "He said 'go home' to the boy and left.",
        'The lamp—"—was lit in the house.',
    ],
)
def test_straight_marks_that_may_be_something_else_stay(passage: str) -> None:
    assert fixed(passage) == passage


def test_nothing_of_quotes_is_judged_in_a_book_without_a_clear_custom() -> None:
    passage = "“Go home,” he said. “It is late."
    assert fixed(passage, Style()) == passage
