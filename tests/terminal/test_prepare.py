import pytest

from marginalia_tui.domain.errors import Refused
from marginalia_tui.terminal import prepare


def test_without_a_terminal_the_verbs_are_named() -> None:
    with pytest.raises(Refused, match="--help"):
        prepare({"TERM": "xterm"}, is_terminal=False)


@pytest.mark.parametrize("environment", [{}, {"TERM": "dumb"}])
def test_a_terminal_without_pictures_is_refused(environment: dict[str, str]) -> None:
    with pytest.raises(Refused, match="drawn"):
        prepare(environment, is_terminal=True)


def test_a_slow_line_gets_fewer_pictures() -> None:
    near, far = {"TERM": "xterm"}, {"TERM": "xterm", "SSH_CONNECTION": "1.2.3.4 5 6.7.8.9 22"}
    prepare(near, is_terminal=True)
    prepare(far, is_terminal=True)
    assert "TEXTUAL_FPS" not in near
    assert far["TEXTUAL_FPS"] == "15"


def test_input_methods_work_in_iterm() -> None:
    alone, inside = (
        {"TERM": "xterm", "TERM_PROGRAM": "iTerm.app"},
        {
            "TERM": "tmux",
            "TERM_PROGRAM": "iTerm.app",
            "TMUX": "x",
        },
    )
    prepare(alone, is_terminal=True)
    prepare(inside, is_terminal=True)
    assert alone["TEXTUAL_DISABLE_KITTY_KEY"] == "1"
    assert "TEXTUAL_DISABLE_KITTY_KEY" not in inside


def test_what_the_author_set_stays() -> None:
    environment = {"TERM": "xterm", "SSH_CONNECTION": "x", "TEXTUAL_FPS": "60", "TEXTUAL_ANIMATIONS": "full"}
    prepare(environment, is_terminal=True)
    assert environment["TEXTUAL_FPS"] == "60"
    assert environment["TEXTUAL_ANIMATIONS"] == "full"
