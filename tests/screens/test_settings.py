import json
import stat
from contextlib import closing
from pathlib import Path

import pytest

from marginalia_tui.app import MarginaliaApp
from marginalia_tui.desk.look import read_look
from marginalia_tui.screens.keypress import KeyPress
from marginalia_tui.screens.keys import KeyRow, clashes
from marginalia_tui.screens.library import LibraryScreen
from marginalia_tui.screens.results import ResultScreen
from marginalia_tui.screens.settings import SettingsScreen
from marginalia_tui.services.models import list_models
from marginalia_tui.store.store import Store
from marginalia_tui.widgets.dialogs import Confirm, Form
from marginalia_tui.widgets.filepicker import FilePicker
from tests.screens.rig import Rig, play


async def open_section(rig: Rig, number: str) -> SettingsScreen:
    await rig.press("f5")
    screen = await rig.reach(SettingsScreen)
    await rig.press(number, "enter")
    return screen


def kept(home: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads((home / "settings.json").read_text())
    return found


def test_a_model_is_added_changed_and_removed(home: Path) -> None:
    async def steps(rig: Rig) -> None:
        await open_section(rig, "1")
        assert rig.sees("proofreader (no language model)")
        await rig.press("n")
        await rig.reach(Form)
        await rig.write("local")
        await rig.press("tab")
        await rig.write("localhost")
        await rig.press("tab")
        await rig.write("qwen")
        await rig.press("tab")
        await rig.write("secret1")
        await rig.press("ctrl+s")
        await rig.reach(Form)
        await rig.until(lambda: rig.notices)
        assert "http://" in rig.notices[0]
        assert rig.sees("localhost") and rig.sees("qwen")
        await rig.press("tab", "home")
        await rig.pilot.press(*("h", "t", "t", "p", "colon", "slash", "slash"))
        await rig.press("ctrl+s")
        await rig.reach(SettingsScreen)
        await rig.until(lambda: rig.sees("http://localhost"))
        assert rig.sees("file")
        await rig.press("enter")
        await rig.reach(Form)
        await rig.press("tab", "end")
        await rig.write("2")
        await rig.press("ctrl+s")
        await rig.reach(SettingsScreen)
        await rig.until(lambda: rig.sees("qwen2"))
        await rig.press("d")
        await rig.reach(Confirm)
        await rig.press("y")
        await rig.until(lambda: not rig.sees("qwen2"))

    play(home, steps, size=(140, 50))
    with closing(Store.open(home)) as store, store.read() as tx:
        assert len(list_models(tx)) == 1
    assert stat.S_IMODE((home / "keys.json").stat().st_mode) == 0o600
    assert "secret1" not in (home / "keys.json").read_text()
    assert b"secret1" not in (home / "studio.db").read_bytes()


def test_a_model_is_tested(home: Path) -> None:
    async def steps(rig: Rig) -> None:
        await open_section(rig, "1")
        await rig.press("t")
        await rig.reach(ResultScreen)
        assert rig.sees("first token") and rig.sees("calls tools")

    play(home, steps)


def test_the_embedded_proofreader_stays(home: Path) -> None:
    async def steps(rig: Rig) -> None:
        await open_section(rig, "1")
        await rig.press("d")
        await rig.until(lambda: rig.notices)
        assert "stays" in rig.notices[0]
        await rig.press("e")
        assert isinstance(rig.app.screen, SettingsScreen)

    play(home, steps)


def test_a_key_is_changed_at_once_and_for_good_and_reset(home: Path) -> None:
    async def steps(rig: Rig) -> None:
        screen = await open_section(rig, "2")
        keys = screen.table
        keys.cursor = next(number for number in range(keys.row_count()) if keys.row_key(number) == "library.new")
        await rig.press("enter")
        await rig.reach(KeyPress)
        assert rig.sees("Now: n")
        await rig.press("i")
        assert rig.sees("also: import")
        await rig.press("w", "enter")
        await rig.reach(SettingsScreen)
        await rig.until(lambda: kept(home).get("keymap") == {"library.new": "w"})
        await rig.press("f2")
        await rig.reach(LibraryScreen)
        assert rig.sees("w new")
        await rig.press("n")
        assert isinstance(rig.app.screen, LibraryScreen)
        await rig.press("w")
        await rig.until(lambda: rig.sees("Title of the new book"))

    async def again(rig: Rig) -> None:
        assert rig.sees("w new")
        screen = await open_section(rig, "2")
        keys = screen.table
        keys.cursor = next(number for number in range(keys.row_count()) if keys.row_key(number) == "library.new")
        await rig.press("r")
        await rig.until(lambda: "keymap" not in kept(home))
        await rig.press("f2")
        assert rig.sees("n new")

    play(home, steps)
    play(home, again)


def test_every_key_of_every_screen_is_in_the_table(home: Path) -> None:
    async def steps(rig: Rig) -> None:
        screen = await open_section(rig, "2")
        found = {screen.table.row_key(number) for number in range(screen.table.row_count())}
        assert {"app.bar", "library.import", "book.edit", "edit.save", "settings.test", "agents.start"} <= found
        assert {"page.next_note", "rows.find", "view.page_down", "bar.accept"} <= found

    play(home, steps)


def test_clashes_are_looked_for_where_a_key_could_be_meant() -> None:
    rows = [
        KeyRow("book.edit", "e", "edit", "book"),
        KeyRow("book.add", "a", "add", "book"),
        KeyRow("library.new", "e", "new", "library"),
        KeyRow("app.quit", "q", "quit", "everywhere"),
    ]
    assert clashes(rows, {}, "book.add", "e") == ["book.edit"]
    assert clashes(rows, {"book.edit": "w"}, "book.add", "e") == []
    assert clashes(rows, {}, "book.add", "q") == ["app.quit"]
    assert clashes(rows, {}, "app.quit", "e") == ["book.edit", "library.new"]


def test_a_theme_is_tried_on_at_once_and_kept_by_enter(home: Path) -> None:
    async def steps(rig: Rig) -> None:
        screen = await open_section(rig, "3")
        assert rig.app.theme == "ink"
        await rig.press("down")
        tried = rig.app.theme
        assert tried != "ink"
        await rig.press("escape")
        await rig.until(lambda: rig.app.theme == "ink")
        screen.table.cursor = next(n for n in range(screen.table.row_count()) if screen.table.row_key(n) == "paper")
        screen.table.focus()
        await rig.press("down", "up", "enter")
        await rig.until(lambda: (home / "settings.json").exists() and kept(home).get("theme") == "paper")

    async def again(rig: Rig) -> None:
        assert rig.app.theme == "paper"

    play(home, steps)
    play(home, again, wait=False)


def test_a_folder_is_chosen_and_reset(home: Path, tmp_path: Path) -> None:
    (home / "settings.json").write_text(json.dumps({"export_folder": str(tmp_path)}))

    async def steps(rig: Rig) -> None:
        await open_section(rig, "4")
        await rig.press("down")
        assert rig.sees("Exports go to")
        await rig.press("enter")
        await rig.reach(FilePicker)
        await rig.press("ctrl+s")
        await rig.reach(SettingsScreen)
        await rig.until(lambda: kept(home) == {"export_folder": str(tmp_path)})
        await rig.press("r")
        await rig.until(lambda: not kept(home))

    play(home, steps, size=(120, 30))


def test_a_limit_is_changed_and_what_does_not_fit_is_refused(home: Path) -> None:
    async def steps(rig: Rig) -> None:
        await open_section(rig, "5")
        await rig.press("enter")
        await rig.reach(Form)
        await rig.press("ctrl+u")
        await rig.write("0")
        await rig.press("ctrl+s")
        await rig.until(lambda: rig.notices)
        assert "Agents" in rig.notices[0]
        await rig.reach(SettingsScreen)
        await rig.press("enter")
        await rig.reach(Form)
        await rig.press("ctrl+u")
        await rig.write("7")
        await rig.press("ctrl+s")
        await rig.until(lambda: (home / "settings.json").exists() and kept(home) == {"max_agents": 7})

    play(home, steps)


def test_broken_settings_are_told_before_anything_is_changed(home: Path) -> None:
    (home / "settings.json").write_text('{"max_agents": "many"}')

    async def steps(rig: Rig) -> None:
        await rig.until(lambda: rig.sees("wrong at"))
        (home / "settings.json").unlink()
        await rig.press("r")
        await rig.until(lambda: rig.sees("The library is empty"))

    play(home, steps, wait=False)


@pytest.mark.parametrize(
    "keymap", ['{"app.quit": ""}', '{"app.quit": " , "}', '{"app.quit": "no such key"}', '{"x": "y"}']
)
def test_a_keymap_that_was_written_by_hand_can_be_wrong(home: Path, keymap: str) -> None:
    (home / "settings.json").write_text(f'{{"keymap": {keymap}}}')

    async def steps(rig: Rig) -> None:
        await rig.press("f5")
        await rig.reach(SettingsScreen)
        await rig.pilot.press("ctrl+q")
        await rig.until(lambda: rig.app._exit)

    play(home, steps)


@pytest.mark.parametrize("content", ["[]", "{", '{"theme": 3}', '{"theme": "no such theme"}', '{"keymap": []}'])
def test_the_first_picture_takes_any_settings_file(tmp_path: Path, content: str) -> None:
    (tmp_path / "settings.json").write_text(content)
    assert read_look(tmp_path).keymap == {}
    assert MarginaliaApp(tmp_path).theme == "ink"


def test_how_a_run_calls_is_chosen_and_the_webhook_is_tried(home: Path) -> None:
    async def steps(rig: Rig) -> None:
        await open_section(rig, "6")
        assert rig.sees("Terminal bell") and rig.sees("nowhere")
        await rig.press("t")
        await rig.until(lambda: rig.notices)
        assert "no webhook yet" in rig.notices[-1]
        await rig.press("down", "down", "enter")
        await rig.reach(Form)
        await rig.write("hooks.example/s3cret")
        await rig.press("ctrl+s")
        await rig.until(lambda: any("not whole" in notice for notice in rig.notices))
        await rig.press("enter")
        await rig.reach(Form)
        await rig.write("http://127.0.0.1:9/s3cret")
        await rig.press("ctrl+s")
        await rig.until(lambda: rig.sees("127.0.0.1"))
        assert not rig.sees("s3cret")
        await rig.press("t")
        await rig.until(lambda: any("allow local addresses" in notice for notice in rig.notices))
        await rig.press("r")
        await rig.until(lambda: rig.sees("nowhere"))
        await rig.press("escape", "end", "enter")
        assert rig.sees("Summary prompt") and rig.sees("the studio's own")
        await rig.press("down", "enter")
        await rig.reach(Form)
        await rig.write("Say it in three lines.")
        await rig.press("ctrl+s")
        await rig.until(lambda: rig.sees('"Say it in three lines."') or rig.sees("Say it in three lines."))
        assert rig.studio.settings.agent_compaction_prompt == "Say it in three lines."
        await rig.press("r")
        await rig.until(lambda: not rig.sees("three lines"))

    play(home, steps)
    assert "webhook_url" not in kept(home)
