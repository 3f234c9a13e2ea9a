import subprocess
import sys

import pytest
from hypothesis import given, settings

from marginalia_tui.llm.offline import concerns as module
from marginalia_tui.llm.offline.concerns import MOST_OF_A_PART, concerns
from marginalia_tui.llm.offline.habits import Style
from tests.llm.offline.drafts import drafts

BED = "She went down to the harbour in the evening and looked at the boats.\n\n"
CURLY = Style(quotes="curly", curly_apostrophes=True)


def kinds(passage: str, style: Style = CURLY) -> list[str]:
    return [each.kind for each in concerns(BED + passage, style)]


@pytest.mark.parametrize(
    ("passage", "kind"),
    [
        ("It was the end of it’s mast in the night.", "confused words?"),
        ("She said that its a long way to the bay.", "confused words?"),
        ("It was there own house, and they were in it.", "confused words?"),
        ("Their was a boat in the bay.", "confused words?"),
        ("The boat was larger then the house.", "confused words?"),
        ("It was a apple that he had in his hand.", "confused words?"),
        ("He went up up the stairs in in the dark.", "doubled word?"),
        ("It was the end of the day of the day he left.", "repeated phrase?"),
        ("He could of gone to the harbour.", "spelling?"),
        ("For all intensive purposes it was over.", "mistaken word?"),
        ("He went to an ATM machine in the town.", "says it twice?"),
        ("“I went home. He turned away from the sea and left.", "quotation marks?"),
    ],
)
def test_what_needs_a_person(passage: str, kind: str) -> None:
    assert kind in kinds(passage)


@pytest.mark.parametrize(
    "passage",
    [
        "He had had enough, and it was a very long long night.",
        "It went round and round and round in the bay.",
        "He could of course have gone to the harbour.",
        "It’s a fine boat, and its mast is new; it is their own.",
        "“I went down to the harbour, and there I saw the boats in the evening, and the men who were in them, and "
        "nobody spoke to me.\n\n“Then I went home.”",
        "An honest man had a one-eyed dog and a European boat.",
        "She was very very tired, and it was unique and dark as pitch!",
    ],
)
def test_what_needs_nobody(passage: str) -> None:
    assert kinds(passage) == []


def test_code_is_no_concern() -> None:
    assert kinds("```\nhe could of gone, their was a apple\n```\n\nIt was `could of` in the book.") == []


def test_other_languages_are_no_concern() -> None:
    assert concerns("Il est là , et c’est c’est tout, a a.", CURLY) == ()


def test_a_concern_quotes_its_line_and_nothing_else() -> None:
    text = BED + "The boat was gone from the harbour in the evening of the day, and it was\nmast in in the night of it."
    (found,) = concerns(text, CURLY)
    assert found.quote == "mast in in the night of it."


def test_a_part_is_told_by_a_bounded_number() -> None:
    assert len(kinds("\n\n".join("He went up the stairs in in the dark of it." for _ in range(200)))) == MOST_OF_A_PART


def test_long_texts_are_linted_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LARGEST_PIECE", 400)
    text = BED + "\n\n".join(f"He could of gone to house {n} of the town." for n in range(30))
    module.concerns.cache_clear()
    found = concerns(text, CURLY)
    module.concerns.cache_clear()
    assert [text[each.start : each.end] for each in found] == ["could of"] * 30


@given(drafts)
@settings(max_examples=60, deadline=None)
def test_places_lie_in_the_text_in_order(text: str) -> None:
    found = concerns(text, CURLY)
    assert [each.start for each in found] == sorted({each.start for each in found})
    assert all(0 <= each.start < each.end <= len(text) for each in found)


def test_the_linter_is_loaded_when_the_first_text_is_linted_and_not_before() -> None:
    code = "import sys, marginalia_tui.llm.offline.provider; print('proselint' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "False"
