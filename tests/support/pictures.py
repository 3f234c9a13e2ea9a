"""The pictures of the README, taken of the product itself: `python -m tests.support.pictures [name ...]`.

The app is opened on a home of its own with the sample book, a finished run and two small books, at a fixed time and
in a fixed size, so that a picture changes only when a screen does. A picture asks no other server for fonts.
"""

import asyncio
import os
import re
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path

from textual.pilot import Pilot

from marginalia_tui.app import MarginaliaApp
from marginalia_tui.desk.opening import Desk
from marginalia_tui.headless.demo import prepare, read_sample
from marginalia_tui.services.books import mark_opened
from marginalia_tui.services.models import OFFLINE
from marginalia_tui.studio import Studio
from tests.support.books import add_book, prose

FOLDER = Path(__file__).parents[2] / "docs" / "pictures"
SIZE = (120, 36)
SECONDS = 30.0
"""How long a screen may take until it shows what it should."""
BEGIN = 1_767_261_600_000_000
"""The moment at which the clock of the pictures begins: 1 January 2026, 10:00 UTC."""

_FONTS = re.compile(r"\s*@font-face \{.*?\}", re.DOTALL)

Shot = Callable[[MarginaliaApp, "Pilot[int]"], Awaitable[None]]


class PictureClock:
    """Goes on by a second at each look, and counts uuids: the same picture every time."""

    def __init__(self) -> None:
        self._now = BEGIN
        self._ids = 0

    def now(self) -> int:
        """Microseconds since 1970."""
        self._now += 1_000_000
        return self._now

    def new_uuid(self) -> str:
        """The next uuid."""
        self._ids += 1
        return f"00000000-0000-4000-8000-{self._ids:012x}"


def make_home(home: Path, clock: PictureClock) -> None:
    """Fills a home: the draft of the sample book with a finished run, and two small books, one with an agent."""
    home.mkdir(mode=0o700, exist_ok=True)
    with closing(Studio(home, pace=0, clock=clock)) as studio:
        add_book(studio.store, [prose(4, seed) for seed in range(7)], title="The Ferry")
        late, _ = add_book(studio.store, [prose(6, seed) for seed in range(12)], title="A Winter of Lamps")
        studio.add_agent(name="Second reader", book=late.uuid, model=OFFLINE.name, instructions="Report slips only.")
        reader = prepare(studio, read_sample())
        for opened in (late.uuid, reader.book):
            mark_opened(studio.store, opened)
        worker = studio.runner.worker(studio.runner.start(reader.uuid))
        if worker is not None:
            worker.done.wait()


async def until(pilot: "Pilot[int]", holds: Callable[[], bool], what: str) -> None:
    """Lets the app work until a condition holds.

    Raises:
        TimeoutError: it never did.
    """
    end = time.monotonic() + SECONDS
    while not holds():
        if time.monotonic() > end:
            raise TimeoutError(f"the picture waits for {what}")
        await pilot.pause(0.02)
    await pilot.wait_for_scheduled_animations()
    await pilot.pause(0.1)


def shows(app: MarginaliaApp, text: str) -> bool:
    """Whether a text can be read on the screen now."""
    picture = re.sub(r"<[^>]+>", "", app.export_screenshot())
    return text in picture.replace("&#160;", " ").replace("&#x27;", "'")


async def library(app: MarginaliaApp, pilot: "Pilot[int]") -> None:
    """The books."""
    await until(pilot, lambda: shows(app, "A Winter of Lamps"), "the books")


async def book(app: MarginaliaApp, pilot: "Pilot[int]") -> None:
    """The sample book with its outline, read in the middle."""
    await library(app, pilot)
    await pilot.press("end", "up", "enter")
    await until(pilot, lambda: shows(app, "An E on Page Nine"), "the book")
    await pilot.press("down", "down", "down")
    await until(pilot, lambda: shows(app, "4  Page Two Hundred and Fourteen"), "the part")


async def bar(app: MarginaliaApp, pilot: "Pilot[int]") -> None:
    """The command bar over the book."""
    await book(app, pilot)
    await pilot.press("slash")
    await pilot.press(*"find")
    await until(pilot, lambda: shows(app, "find-occurrences"), "the completions")


async def agents(app: MarginaliaApp, pilot: "Pilot[int]") -> None:
    """The agents with their runs."""
    await library(app, pilot)
    await pilot.press("f4")
    await until(pilot, lambda: shows(app, "Second reader"), "the agents")


async def console(app: MarginaliaApp, pilot: "Pilot[int]") -> None:
    """The console of the finished run, where it begins to correct."""
    await agents(app, pilot)
    await pilot.press("enter")
    await until(pilot, lambda: shows(app, "I am a set of rules"), "the transcript")
    await pilot.press("home")
    await until(pilot, lambda: shows(app, "offline proofreader"), "its first words")
    await pilot.press("pagedown")
    await until(pilot, lambda: shows(app, "edit-part"), "its first corrections")


async def review(app: MarginaliaApp, pilot: "Pilot[int]") -> None:
    """What the run changed."""
    await agents(app, pilot)
    await pilot.press("v")
    await until(pilot, lambda: shows(app, "{+"), "the changes")


SHOTS: dict[str, Shot] = {
    "library": library,
    "book": book,
    "bar": bar,
    "agents": agents,
    "console": console,
    "review": review,
}
"""Name of a picture -> what brings the app there."""


async def take(home: Path, clock: PictureClock, shot: Shot) -> str:
    """One picture, as SVG."""
    app = MarginaliaApp(home, opener=lambda folder: Desk(Studio(folder, pace=0, clock=clock)))
    async with app.run_test(size=SIZE) as pilot:
        await shot(app, pilot)
        return without_fonts(app.export_screenshot(title="Marginalia"))


def without_fonts(svg: str) -> str:
    """The picture in the reader's own monospaced font, with nothing to be loaded from elsewhere."""
    plain = _FONTS.sub("", svg).replace("Fira Code, monospace", "monospace").replace("Fira Code", "monospace")
    return plain.rstrip() + "\n"


async def main(names: list[str]) -> None:
    """Takes the pictures of these names, or all."""
    if unknown := [name for name in names if name not in SHOTS]:
        raise SystemExit(f"There is no picture {unknown[0]!r}: name one of {', '.join(SHOTS)}.")
    # Dates on the screens, and colours, must not depend on who takes the pictures.
    os.environ.update({"TZ": "UTC", "COLORTERM": "truecolor", "TERM": "xterm-256color"})
    os.environ.pop("NO_COLOR", None)
    time.tzset()
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="marginalia-pictures-") as folder:
        clock = PictureClock()
        make_home(Path(folder), clock)
        for name in names or SHOTS:
            svg = await take(Path(folder), clock, SHOTS[name])
            (FOLDER / f"{name}.svg").write_text(svg, encoding="utf-8")
            print(f"docs/pictures/{name}.svg")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
