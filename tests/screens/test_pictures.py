"""Pictures of the screens, compared with those that were looked at and kept."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing, contextmanager
from math import inf
from pathlib import Path
from typing import Protocol

import pytest
from textual.pilot import Pilot

from marginalia_tui.app import MarginaliaApp
from marginalia_tui.desk.opening import Desk
from marginalia_tui.screens import working
from marginalia_tui.store.store import Store
from marginalia_tui.studio import Studio
from tests.screens.rig import LAMP, FixedClock, Rig, add_book, lamp_home

SIZES = [(80, 24), (120, 40)]


class SnapCompare(Protocol):
    """The fixture of the plugin."""

    def __call__(
        self,
        app: MarginaliaApp,
        *,
        terminal_size: tuple[int, int],
        run_before: Callable[[Pilot[int]], Awaitable[None]],
    ) -> bool: ...


@contextmanager
def posing(home: Path) -> Iterator[MarginaliaApp]:
    """An app with a clock of its own, which is closed afterwards."""
    clock = FixedClock(later=1000)
    app = MarginaliaApp(home, opener=lambda home: Desk(Studio(home, pace=0, clock=clock)))
    yield app
    app.end()


def before(app: MarginaliaApp, *keys: str) -> Callable[[Pilot[int]], Awaitable[None]]:
    """Waits for the studio, then presses keys; `~text` writes a text, `?text` waits until a text is seen.

    `!` takes the notices away, which a dialog would only take when they are old enough.
    """

    async def run(pilot: Pilot[int]) -> None:
        rig = Rig(app, pilot)
        await rig.until(lambda: app.desk is not None and app.news is not None)
        await rig.settle()
        for key in keys:
            if key.startswith("?"):
                await rig.until(lambda text=key[1:]: rig.sees(text), key)  # type: ignore[misc]
            elif key == "!":
                app.clear_notifications()
            else:
                await (rig.write(key[1:]) if key.startswith("~") else rig.press(key))
        for area in app.screen.query("TextArea"):
            area.cursor_blink = False  # type: ignore[attr-defined]
        await rig.settle()

    return run


PICTURES: dict[str, tuple[str, ...]] = {
    "library": (),
    "trash": ("d", "y", "t"),
    "book": ("enter", "down"),
    "book-find": ("enter", "ctrl+f", "~lamp", "enter", "n"),
    "book-branches": ("enter", "2", "s", "!", "v"),
    "book-facts": ("enter", "i"),
    "editor": ("enter", "e", "~More. ", "?16 words"),
    "editor-not-saved": ("enter", "e", "~More. ", "?16 words", "escape"),
    "bar": ("enter", "slash", "~edit-part 1 "),
    "result": ("enter", "slash", "~list-parts", "enter"),
    "confirm": ("enter", "2", "d"),
    "settings-models": ("f5",),
    "settings-model-form": ("f5", "enter", "n"),
    "settings-look": ("f5", "3", "enter"),
    "settings-limits": ("f5", "5", "enter"),
    "import": ("i",),
}


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("name", PICTURES)
def test_picture(
    home: Path, snap_compare: SnapCompare, monkeypatch: pytest.MonkeyPatch, name: str, size: tuple[int, int]
) -> None:
    # A slow machine would show the line of a command that waits.
    monkeypatch.setattr(working, "SHOWN_AFTER", inf)
    clock = FixedClock()
    lamp_home(home, clock)
    with closing(Store.open(home, clock=clock)) as store:
        add_book(store, "A Short History of the Harbour", LAMP[:2])
        add_book(store, "雾中的灯塔", LAMP[1:])
    with posing(home) as app:
        assert snap_compare(app, terminal_size=size, run_before=before(app, "2", *PICTURES[name]))


@pytest.mark.parametrize("theme", ["paper", "ansi-dark"])
def test_picture_in_another_theme(home: Path, snap_compare: SnapCompare, theme: str) -> None:
    lamp_home(home, FixedClock())
    (home / "settings.json").write_text(f'{{"theme": "{theme}"}}')
    with posing(home) as app:
        assert snap_compare(app, terminal_size=(80, 24), run_before=before(app, "enter", "ctrl+f", "~lamp", "enter"))


def test_picture_of_the_smallest_terminal(home: Path, snap_compare: SnapCompare) -> None:
    lamp_home(home, FixedClock())
    with posing(home) as app:
        assert snap_compare(app, terminal_size=(40, 12), run_before=before(app, "enter", "enter"))


def test_picture_of_an_empty_library(home: Path, snap_compare: SnapCompare) -> None:
    with posing(home) as app:
        assert snap_compare(app, terminal_size=(80, 24), run_before=before(app))


def test_picture_of_a_terminal_that_is_too_small(home: Path, snap_compare: SnapCompare) -> None:
    with posing(home) as app:
        assert snap_compare(app, terminal_size=(30, 8), run_before=before(app))
