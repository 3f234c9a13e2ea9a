import base64
import stat
from collections.abc import Sequence
from pathlib import Path

from marginalia_tui.widgets.clipboard import LIMIT, copy, osc52, run_tool, tools


class Tools:
    def __init__(self, *working: str) -> None:
        self.working = working
        self.asked: list[str] = []

    def __call__(self, command: Sequence[str], text: bytes) -> bool:
        self.asked.append(command[0])
        return command[0] in self.working


def test_the_terminal_comes_first_and_always() -> None:
    written: list[str] = []
    run = Tools("xclip")
    copied = copy("灯台", written.append, environment={"DISPLAY": ":0"}, run=run)
    assert written == ["\x1b]52;c;" + base64.b64encode("灯台".encode()).decode() + "\x07"]
    assert copied.sentence == "Copied 2 characters with xclip."


def test_over_ssh_no_tool_of_the_far_machine_is_asked() -> None:
    written: list[str] = []
    run = Tools("xclip", "pbcopy")
    copied = copy("x", written.append, environment={"DISPLAY": ":0", "SSH_CONNECTION": "a b c d"}, run=run)
    assert run.asked == [] and len(written) == 1
    assert "OSC 52" in copied.sentence


def test_inside_tmux_the_sequence_is_wrapped() -> None:
    written: list[str] = []
    copy("x", written.append, environment={"TMUX": "/tmp/t,1,0", "SSH_TTY": "1"}, run=Tools())
    assert written == ["\x1bPtmux;\x1b\x1b]52;c;eA==\x07\x1b\\"]
    assert osc52("x", tmux=True) == written[0]


def test_what_is_too_long_goes_to_a_file_of_the_owner(tmp_path: Path) -> None:
    written: list[str] = []
    text = "é" * LIMIT
    copied = copy(text, written.append, environment={}, run=Tools(), folder=tmp_path)
    assert written == []
    assert copied.path is not None and copied.path.read_text("utf-8") == text
    assert stat.S_IMODE(copied.path.stat().st_mode) == 0o600
    assert str(copied.path) in copied.sentence
    with_tool = copy(text, written.append, environment={}, run=Tools("pbcopy"), folder=tmp_path)
    assert with_tool.path is None and written == []


def test_text_never_ends_the_sequence_early() -> None:
    assert osc52("\x07\x1b\\\x9c").count("\x07") == 1


def test_tools_by_their_environment() -> None:
    assert [command[0] for command in tools({"WAYLAND_DISPLAY": "w", "DISPLAY": ":0"})][:3] == [
        "wl-copy",
        "xclip",
        "xsel",
    ]
    assert run_tool(["no-such-tool-of-this-name"], b"") is False
    assert run_tool(["true"], b"x") is True
    assert run_tool(["false"], b"x") is False
