"""What books and folders say and inherit: shown with where it comes from, changed, and inherited again."""

import asyncio
import json
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import cast

from marginalia_tui.desk.book import BookDesk, BookFacts
from marginalia_tui.desk.inherited import SettingLine
from marginalia_tui.domain.items import Book, Folder
from marginalia_tui.screens.facts import ask_facts
from marginalia_tui.screens.host import Host
from marginalia_tui.screens.inherited import InheritedScreen
from marginalia_tui.screens.inheriting import change_of
from marginalia_tui.screens.library import LibraryScreen
from marginalia_tui.screens.settings import SettingsScreen
from marginalia_tui.screens.text_editor import TextEditor
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import Store
from marginalia_tui.studio import Studio
from marginalia_tui.widgets.dialogs import Ask, Confirm, Form
from marginalia_tui.widgets.fields import Field
from tests.screens.rig import Rig, lamp_home, play


def in_a_folder(home: Path) -> tuple[str, str]:
    """The small book, which says nothing, in a folder that says a language; answers both."""
    book = lamp_home(home)
    with closing(Store.open(home)) as store:
        folder = store.clock.new_uuid()
        with store.write(Act(actor="author", label="test")) as tx:
            space = tx.space(LIBRARY)
            space.put([Folder(uuid=folder, name="Winter", language="de", created=1)])
            space.put([replace(space.get(Book, book), folder=folder, language="")])
    return book, folder


def line(name: str, *, prompt: bool = False) -> SettingLine:
    return SettingLine(name, prompt, name, "", "", "", own=False, above="", above_where="")


def test_each_setting_is_changed_by_the_command_for_it() -> None:
    assert change_of("book", "b", line("tense"), "past") == ("set-book-info", "b", {"tense": "past"})
    assert change_of("book", "b", line("tense"), "") == ("set-book-info", "b", {"tense": " "})
    assert change_of("book", "b", line("model"), "") == ("set-book-model", "b", {"model": ""})
    assert change_of("book", "b", line("turn", prompt=True), "") == ("set-book-prompts", "b", {"turn": " "})
    assert change_of("folder", "f", line("model"), "") == ("update-folder", None, {"folder": "f", "model": " "})
    assert change_of("folder", "f", line("turn", prompt=True), "x") == (
        "set-folder-prompt",
        None,
        {"folder": "f", "prompt": "turn", "template": "x"},
    )


def test_a_book_says_something_itself_and_inherits_it_again(home: Path) -> None:
    book, folder = in_a_folder(home)

    async def steps(rig: Rig) -> None:
        await rig.press("down", "e")
        screen = await rig.reach(InheritedScreen)
        assert screen.table.rows[0].cells == ("Language", "de", "the folder 'Winter'")
        assert rig.sees("Winter / The Lamp")
        await rig.press("enter")
        await rig.reach(Ask)
        assert rig.sees("Empty inherits 'de'")
        await rig.write("French!")
        await rig.press("enter")
        await rig.until(lambda: any("is a code" in notice for notice in rig.notices))
        await rig.press("e")
        await rig.write("fr")
        await rig.press("enter")
        await rig.until(lambda: screen.table.rows[0].cells[1:] == ("fr", "here"))
        assert rig.sees("r takes this away. Then 'de' holds (the folder 'Winter').")
        await rig.press("r")
        await rig.until(lambda: screen.table.rows[0].cells[1:] == ("de", "the folder 'Winter'"))
        # A prompt is written over the whole screen, and the command asks.
        screen.table.cursor = 6
        await rig.press("e")
        editor = await rig.reach(TextEditor)
        editor.area.load_text("Go on, in {{language}}.")
        await rig.press("ctrl+s")
        await rig.reach(Confirm)
        await rig.press("y")
        await rig.until(lambda: screen.table.rows[6].cells[1:] == ("Go on, in {{language}}.", "here"))
        # What is left as it was is no change.
        await rig.press("e")
        await rig.reach(TextEditor)
        await rig.press("ctrl+s")
        await rig.reach(InheritedScreen)
        screen.table.cursor = 4
        await rig.press("e")
        await rig.reach(Form)
        await rig.press("right", "ctrl+s")
        await rig.until(lambda: screen.table.rows[4].cells[2] == "here")
        with rig.studio.store.read() as tx:
            found = tx.space(LIBRARY).get(Book, book)
        assert (found.language, found.prompts, bool(found.model)) == ("", {"turn": "Go on, in {{language}}."}, True)
        # The same of its folder.
        await rig.press("escape")
        await rig.reach(LibraryScreen)
        await rig.press("home", "e")
        screen = await rig.reach(InheritedScreen)
        assert screen.table.rows[0].cells == ("Language", "de", "here")
        await rig.press("r")
        await rig.until(lambda: screen.table.rows[0].cells[1:] == ("en", "built in"))
        with rig.studio.store.read() as tx:
            assert tx.space(LIBRARY).get(Folder, folder).language == ""

    play(home, steps, size=(120, 40))


class Answering:
    """Answers a form with its values, changed by name; keeps what the form asked."""

    def __init__(self, **changes: str) -> None:
        self.changes = changes
        self.fields: dict[str, Field] = {}

    async def ask(self, form: Form) -> dict[str, object]:
        """The answer."""
        self.fields = {field.name: field for field in form.fields}
        return {name: self.changes.get(name, field.value) for name, field in self.fields.items()}


def asked(facts: BookFacts, **changes: str) -> tuple[dict[str, str], dict[str, Field]]:
    """What is to be changed after an answer, and what was asked."""
    host = Answering(**changes)
    return asyncio.run(ask_facts(cast(Host, host), facts)), host.fields


def test_the_facts_of_a_book_are_those_that_hold_and_only_what_is_changed_becomes_its_own(home: Path) -> None:
    book, _ = in_a_folder(home)
    with closing(Studio(home)) as studio:
        desk = BookDesk(studio)
        facts = desk.facts(book)
        changed, fields = asked(facts)
        assert changed == {} and fields["language"].value == "de"
        assert fields["language"].help == "A code such as en or pt-BR. Inherited: the folder 'Winter'."
        assert asked(facts, author="Ada B.", language="fr")[0] == {"author": "Ada B.", "language": "fr"}
        # A line would make spaces of line feeds, and so change the text.
        broken = replace(facts, style=replace(facts.style, value="Dry.\nShort.", own=True))
        assert asked(broken)[0] == {} and asked(broken)[1]["style"].kind == "multiline"
        with studio.store.write(Act(actor="author", label="test", book=book)) as tx:
            space = tx.space(LIBRARY)
            space.put([replace(space.get(Book, book), language="fr")])
        changed, fields = asked(desk.facts(book), language="  ", author="")
        assert changed == {"language": " "}, "a space: it is inherited again"
        assert fields["language"].help == "A code such as en or pt-BR. Empty: 'de' (the folder 'Winter')."


def test_the_defaults_of_the_user_are_set_on_the_screen_of_settings(home: Path) -> None:
    def kept() -> dict[str, object]:
        path = home / "settings.json"
        found: dict[str, object] = json.loads(path.read_text()) if path.exists() else {}
        return found

    async def steps(rig: Rig) -> None:
        await rig.press("f5", "7", "enter")
        screen = await rig.reach(SettingsScreen)
        assert screen.table.rows[0].cells == ("Language", "en", "built in")
        await rig.press("enter")
        await rig.reach(Ask)
        await rig.write("de")
        await rig.press("enter")
        await rig.until(lambda: screen.table.rows[0].cells[1:] == ("de", "here"))
        screen.table.cursor = next(
            n for n, row in enumerate(screen.table.rows) if row.cells[0] == "Backup after changes"
        )
        await rig.press("enter")
        await rig.reach(Form)
        await rig.press("ctrl+u")
        await rig.write("50")
        await rig.press("ctrl+s")
        await rig.until(lambda: kept() == {"default_language": "de", "default_backup_changes": 50})
        await rig.press("r")
        await rig.until(lambda: kept() == {"default_language": "de"})
        screen.table.cursor = 0
        await rig.press("r")
        await rig.until(lambda: kept() == {})

    play(home, steps)
