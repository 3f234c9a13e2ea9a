from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.screen import ModalScreen

from marginalia_tui.widgets.dialogs import Ask, Confirm, Form, Notice
from marginalia_tui.widgets.fields import Field, FieldValue
from marginalia_tui.widgets.filepicker import FilePicker, list_folder, readable_size
from marginalia_tui.widgets.table import Table
from tests.widgets.support import Host, Scenario, run, seen, until

UNANSWERED = object()


def ask(dialog: ModalScreen[Any], scenario: Scenario, size: tuple[int, int] = (80, 24)) -> Any:
    """Pushes a dialog, plays a scenario; its answer."""
    answers: list[Any] = []

    async def play(app: Host, pilot: Pilot[None]) -> None:
        app.push_screen(dialog, answers.append)
        await pilot.pause()
        await scenario(app, pilot)
        await pilot.pause()

    run(tuple, play, size)
    return answers[0] if answers else UNANSWERED


def keys(*pressed: str) -> Scenario:
    async def press(app: Host, pilot: Pilot[None]) -> None:
        await pilot.press(*pressed)

    return press


@pytest.mark.parametrize(("key", "answer"), [("y", True), ("n", False), ("escape", False), ("enter", UNANSWERED)])
def test_confirm(key: str, answer: object) -> None:
    assert ask(Confirm("Delete it?", severity="removes"), keys(key)) is answer


def test_a_question_is_text_and_a_long_one_scrolls() -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        rows = "\n".join(seen(app))
        assert "This removes" in rows and "[b]Chapter[/b] ␛[2J" in rows
        assert "y yes   n no" in rows

    ask(Confirm("Delete [b]Chapter[/b] \x1b[2J? " + "It is long. " * 80, severity="removes"), scenario, (40, 12))


def test_notice() -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        assert "[b]Export[/b] [@click=app.quit]x[/]" in "\n".join(seen(app))
        await pilot.press("enter")

    assert ask(Notice("Done.", title="[b]Export[/b] [@click=app.quit]x[/]"), scenario) is None


def test_ask_checks_its_answer() -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        await pilot.press("enter")
        await pilot.pause()
        assert "error: A title is needed." in "\n".join(seen(app))
        await pilot.press(*"Dracula", "enter")

    check = {"": "A title is needed."}.get
    assert ask(Ask("Title", check=check), scenario) == "Dracula"
    assert ask(Ask("Title", "Old"), keys("!", "enter")) == "Old!"
    assert ask(Ask("Title", "Old"), keys("escape")) is None


def together(values: Mapping[str, FieldValue]) -> dict[str, str]:
    return {"name": "This name is taken."} if values["name"] == "taken" else {}


FIELDS = (
    Field("name", "Name", required=True),
    Field("kind", "Kind", "choice", "b", (("a", "Alpha"), ("b", "Beta"), ("c", "Gamma"))),
    Field("context", "Context", "number", 4096, help="Tokens."),
    Field("heat", "Heat", "number", None, whole=False),
    Field("images", "Images", "boolean", False),
    Field("note", "Note", "multiline", "one\ntwo"),
)


def test_a_form_answers_typed_values() -> None:
    pressed = [*"qwen", "enter", "right", "tab", "backspace", "enter", *"0.7", "tab", "space", "tab"]
    pressed += ["ctrl+end", "enter", *"x", "ctrl+s"]
    assert ask(Form("Model", FIELDS), keys(*pressed)) == {
        "name": "qwen",
        "kind": "c",
        "context": 409,
        "heat": 0.7,
        "images": True,
        "note": "one\ntwo\nx",
    }


def test_a_form_says_what_is_wrong_below_the_field() -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        await pilot.press("tab", "tab", "x", "ctrl+s")
        await pilot.pause()
        text = "\n".join(seen(app))
        assert "error: This is needed." in text and "error: Write a whole number." in text
        assert app.focused is not None and app.focused.id == "field-0"
        await pilot.press(*"taken", "tab", "tab", "backspace", "ctrl+s")
        await pilot.pause()
        assert "error: This name is taken." in "\n".join(seen(app))
        assert "whole number" not in "\n".join(seen(app))
        await pilot.press("escape")

    assert ask(Form("Model", FIELDS, check=together), scenario) is None


def test_a_form_is_usable_in_a_small_terminal() -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        for label in ("Name", "Kind", "Context", "Heat", "Images"):
            assert any(label in row for row in seen(app)), label
            await pilot.press("down")
            await pilot.pause()
        assert "Ctrl+S saves" in "\n".join(seen(app))

    ask(Form("Model", FIELDS), scenario, (40, 12))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "drafts").mkdir()
    (tmp_path / "drafts" / "inner.md").write_text("inner")
    (tmp_path / "book.md").write_text("x" * 2_100)
    (tmp_path / "[b]odd\x1b[2J.md").write_text("odd")
    (tmp_path / "picture.png").write_text("png")
    (tmp_path / ".hidden.md").write_text("hidden")
    (tmp_path / "link.md").symlink_to(tmp_path / "drafts" / "inner.md")
    (tmp_path / "nowhere.md").symlink_to(tmp_path / "gone.md")
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    return tmp_path


def test_a_folder_is_listed_without_surprises(folder: Path) -> None:
    listing = list_folder(folder, (".md",))
    assert [entry.name for entry in listing.entries] == ["drafts", "[b]odd\x1b[2J.md", "book.md", "link.md"]
    assert listing.entries[3].target == (folder / "drafts" / "inner.md").resolve()
    assert ".hidden.md" in [entry.name for entry in list_folder(folder, hidden=True).entries]
    assert "can't be read" in list_folder(folder / "gone").error
    assert [readable_size(size) for size in (5, 2_100, 21_000, 3_000_000, 4 * 10**9)] == [
        "5 B", "2.1 kB", "21 kB", "3.0 MB", "4.0 GB",
    ]  # fmt: skip


def picked(app: Host, name: str) -> bool:
    screen = app.screen
    return isinstance(screen, FilePicker) and name in [row.key for row in screen.query_one(Table).rows]


def test_a_file_is_picked_by_keyboard(folder: Path) -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        await until(pilot, lambda: picked(app, "book.md"))
        await pilot.pause()
        text = "\n".join(seen(app))
        assert "[b]odd␛[2J.md" in text and "2.1 kB" in text and f"link.md @ {folder}"[:12] in text
        await pilot.press("down", "enter")
        await until(pilot, lambda: picked(app, "inner.md"))
        await pilot.press("backspace")
        await until(pilot, lambda: picked(app, "book.md"))
        await pilot.press("down", "down", "down", "enter")

    assert ask(FilePicker("Import", folder, suffixes=(".md",)), scenario) == folder / "book.md"


def test_a_link_answers_what_it_points_at(folder: Path) -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        await until(pilot, lambda: picked(app, "link.md"))
        await pilot.press("end", "enter")

    assert ask(FilePicker("Import", folder, suffixes=(".md",)), scenario) == (folder / "drafts" / "inner.md").resolve()


def test_a_path_can_be_typed(folder: Path) -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        await until(pilot, lambda: picked(app, "book.md"))
        await pilot.press("tab", *"gone.md", "enter")
        await pilot.pause()
        assert "error: That path does not work" in "\n".join(seen(app))
        await pilot.press("ctrl+u", *"drafts/inner.md", "enter")

    assert ask(FilePicker("Import", folder), scenario) == folder / "drafts" / "inner.md"


def test_saving_refuses_a_link(folder: Path) -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        await until(pilot, lambda: picked(app, "book.md"))
        await pilot.press("enter")
        await pilot.pause()
        assert "That is a link" in "\n".join(seen(app))
        await pilot.press("ctrl+u", *"new.md", "enter")

    assert ask(FilePicker("Export", folder, mode="save", name="nowhere.md"), scenario) == folder / "new.md"


def test_a_folder_can_be_chosen(folder: Path) -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        await until(pilot, lambda: picked(app, "drafts"))
        await pilot.press("down", "enter")
        await until(pilot, lambda: picked(app, "inner.md"))
        await pilot.press("ctrl+s")

    assert ask(FilePicker("Folder", folder, mode="folder"), scenario) == folder / "drafts"
    assert ask(FilePicker("Folder", folder), keys("escape")) is None
