"""What the line of keys tells, keys that come before a screen has read, and where notices stand."""

import json
from pathlib import Path

from marginalia_tui.screens.book import BookScreen
from marginalia_tui.screens.lorebook import LorebookScreen
from marginalia_tui.widgets.dialogs import Form, Notice
from marginalia_tui.widgets.filepicker import FilePicker
from marginalia_tui.widgets.outline import Outline
from tests.screens.rig import Rig, lamp_home, play
from tests.screens.test_keyorder import at_once
from tests.screens.test_lorebook import lore_home


def keys(rig: Rig) -> str:
    """The line of keys."""
    return rig.lines()[-1]


def test_the_line_of_keys_tells_enter_and_hits(home: Path) -> None:
    lamp_home(home)

    async def steps(rig: Rig) -> None:
        assert "Enter open" in keys(rig)
        await rig.press("b")
        assert "Enter" not in keys(rig), "a list without rows"
        await rig.press("escape", "enter")
        book = await rig.reach(BookScreen)
        assert "Enter read" in keys(rig)
        await rig.press("enter")
        # On the page n is the key of the next part until there are hits.
        assert "n next " in keys(rig) and "next hit" not in keys(rig)
        await rig.press("f", *"lamp", "enter")
        await rig.until(lambda: "n next hit" in keys(rig))
        await rig.press("escape")
        await rig.until(lambda: "next hit" not in keys(rig))
        await rig.press("n")
        await rig.until(lambda: book.outline.cursor == 1)
        # Where / is a letter, another key opens the bar.
        await rig.press("e")
        await rig.until(lambda: "Ctrl+O command" in keys(rig))
        assert "/ command" not in keys(rig)
        await rig.press("escape")
        await rig.until(lambda: "/ command" in keys(rig))
        # A notice of one line stands over the keys and covers nothing else.
        await rig.press("ctrl+r")
        await rig.until(lambda: rig.notices)
        await rig.settle()
        assert rig.notices[-1] in keys(rig)
        assert not any(rig.notices[-1] in line for line in rig.lines()[:-1])

    play(home, steps)


def test_without_a_book_no_panel_is_offered(home: Path) -> None:
    async def steps(rig: Rig) -> None:
        await rig.press("f3")
        screen = await rig.reach(BookScreen)
        assert "notes" not in keys(rig) and "outline" not in keys(rig)
        await rig.press("m")
        assert screen.panel.name_shown is None

    play(home, steps)


def test_a_key_that_comes_before_the_lore_is_read_waits_for_it(home: Path) -> None:
    lore_home(home)

    async def steps(rig: Rig) -> None:
        await rig.press("enter")
        book = await rig.reach(BookScreen)
        for key, answer in (("n", "New entry"), ("i", "Entry Who tells it")):
            rig.app.run_worker(book.run_action("lorebooks"))
            await rig.until(lambda: isinstance(rig.app.screen, LorebookScreen))
            if key == "i":
                at_once(rig, "\n")
            at_once(rig, key)
            form = await rig.reach(Form)
            assert form.heading == answer
            await rig.press("escape")
            # Every pane is seen: Esc leaves.
            await rig.press("escape")
            assert rig.app.screen is book
        # It also leaves before anything is read, and what was typed before it is not done elsewhere.
        rig.app.run_worker(book.run_action("lorebooks"))
        await rig.until(lambda: isinstance(rig.app.screen, LorebookScreen))
        at_once(rig, "n\x1b")
        await rig.until(lambda: rig.app.screen is book)
        await rig.settle()
        assert rig.app.screen is book and book.query_one(Outline).cursor == 0

    play(home, steps, size=(160, 40))


def test_what_was_left_out_stays_until_it_is_closed(home: Path, tmp_path: Path) -> None:
    lore_home(home)
    fields = {"key": ["ferry"], "probability": 60, "sticky": 3, "cooldown": 5, "delay": 2, "vectorized": True}
    entries = {str(uid): {"uid": uid, "comment": f"Ferry {uid}", "content": "At six.", **fields} for uid in range(3)}
    file = tmp_path / "world.json"
    file.write_text(json.dumps({"name": "A long name of a lorebook from elsewhere", "entries": entries}))

    async def steps(rig: Rig) -> None:
        await rig.press("enter", "ctrl+l", "a")
        await rig.reach(FilePicker)
        await rig.press("tab")
        await rig.write(str(file))
        await rig.press("enter")
        notice = await rig.reach(Notice)
        assert "probability (3)" in notice.text and "vectorized (3)" in notice.text
        await rig.press("enter")
        assert isinstance(rig.app.screen, LorebookScreen)

    play(home, steps)
