"""`marginalia demo` in a real terminal: the whole of the main job, from the live run to the undo of the apply."""

from pathlib import Path

from tests.terminal.support import ENTER, ESCAPE, Terminal, say


def _words(home: Path) -> str:
    return say(home, "exec", "--book", "Let It Stand", "/get-part 1").stdout


def test_the_demo_streams_is_reviewed_applied_and_taken_back(tmp_path: Path) -> None:
    home = tmp_path / "demo"
    with Terminal("demo", "--keep", home, size=(120, 40), cold=True) as seen:
        seen.until("Proofreader on Let It Stand", "This is the offline proofreader")
        seen.until("1 agent working")
        seen.until("It is done: v reviews what it changed.", gone=["agent working"], seconds=100)
        draft = _words(home)
        seen.send("v")
        seen.until("Review: Proofreader", "12 changes, 12 picked", "An E on Page Nine")
        seen.send("A")
        seen.until("Apply 12 of 12 changes to the book?")
        seen.send("y")
        seen.until("applied 12 changes", "u takes all of it back")
        corrected = _words(home)
        assert corrected != draft
        seen.send("u")
        seen.until("12 changes, 12 picked")
        assert _words(home) == draft
        seen.send(ESCAPE)
        seen.until("It is done: v reviews what it changed.")
        seen.send("q")
        assert seen.ended() == 0
    (agent,) = [row for row in say(home, "agent", "list").stdout.splitlines() if row]
    assert '"status": "DONE"' in agent


def test_the_demo_in_the_same_folder_shows_the_run_that_is_there(tmp_path: Path) -> None:
    """A run that rests is no fault of a second start: its console opens again."""
    home = tmp_path / "demo"
    with Terminal("demo", "--keep", home, size=(120, 40), cold=True) as seen:
        seen.until("This is the offline proofreader")
        seen.send("q")
        assert seen.ended() == 0
    with Terminal("demo", "--keep", home, size=(120, 40), cold=True) as seen:
        seen.until("Proofreader on Let It Stand", "paused", "The studio was closed while it worked.")
        seen.send("r")
        seen.until("a word for the agent?")
        seen.send(ENTER)
        seen.until("1 agent working")
        seen.send("q")
        assert seen.ended() == 0
    assert '"status": "PAUSED"' in say(home, "agent", "list").stdout
