import pytest

from marginalia_tui.commands.omissions import new_omissions, omissions


@pytest.mark.parametrize(
    "text",
    [
        "He sat. [...] She left.",
        "[\u2026]",
        "(...)",
        "(rest unchanged)",
        "(the rest of the chapter is unchanged)",
        "[rest of scene]",
        "... rest of the text remains the same ...",
        "\u2026 rest of chapter unchanged \u2026",
        "[text truncated]",
        "He sat.\u2026[truncated]",
        "<unchanged>",
        "[The scene continues as before]",
        "(original text)",
        "[Remaining paragraphs omitted]",
        "(same as above)",
        "// ... existing text ...",
    ],
)
def test_f07_marks_of_omission_are_seen(text: str) -> None:
    assert omissions(text)


@pytest.mark.parametrize(
    "text",
    [
        "She (the rest of the party had left) sat down.",
        "... and then the rest of it.",
        "(rest)",
        "# Rest",
        "Chapter IV (continued)",
        "[1]",
        "* * *",
        "He said... nothing.",
        "(a text that nobody had read before)",
        "The rest is unchanged, he thought.",
        "(",
        "(" * 5000,
    ],
)
def test_prose_is_no_mark_of_omission(text: str) -> None:
    assert not omissions(text)


def test_f07_marks_that_the_old_text_has_are_allowed() -> None:
    old = "He read: [...] and [...]"
    assert new_omissions(old, "He wrote: [...] or [...]") == []
    assert new_omissions(old, "[...] [...] [...]") == ["[...]"]
    assert new_omissions("", "(rest unchanged)") == ["(rest unchanged)"]
