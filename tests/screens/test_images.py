"""A part with images on the screen of the book: named where they stand, listed below the text."""

from contextlib import closing
from dataclasses import replace
from pathlib import Path

from marginalia_tui.domain.items import Book, Part
from marginalia_tui.screens.book import BookScreen
from marginalia_tui.services import images
from marginalia_tui.services.parts import story_tree
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import Store
from tests.screens.rig import Rig, lamp_home, play
from tests.support.images import picture


def illustrate(store: Store, book: str) -> None:
    """Two images for the first part, one of them named by its text, and one for a part without any text."""
    data = picture(size=(640, 480))
    with store.write(Act(actor="author", label="illustrate", book=book)) as tx:
        space = tx.space(LIBRARY)
        first, _, last = story_tree(space, space.get(Book, book)).active
        part = space.get(Part, first)
        space.put(
            [
                replace(part, text=f"{part.text}\n\nSee ![the old map](map.png) there."),
                replace(space.get(Part, last), text=""),
            ]
        )
        for name, caption in (("map.png", "The \x1b[31mbay"), ("lamp.png", "")):
            images.add_image(space, first, images.image_of(data, name, caption=caption), data)
        images.add_image(space, last, images.image_of(data, "plate.png", caption="[b]A plate[/b]"), data)


def test_images_are_named_in_the_text_and_listed_below_it(home: Path) -> None:
    book = lamp_home(home)
    with closing(Store.open(home)) as store:
        illustrate(store, book)

    async def steps(rig: Rig) -> None:
        await rig.press("enter")
        screen = await rig.reach(BookScreen)
        await rig.until(lambda: rig.sees("See [map.png: the old map] there."))
        below = [line for line in rig.lines() if "640 x 480" in line]
        assert "map.png  PNG, 640 x 480, 2 kB: The " in below[0] and "\x1b" not in below[0]
        assert "lamp.png  PNG, 640 x 480, 2 kB" in below[1]
        # What stands below is no part of the text: nothing in it is a place of its own.
        page = screen.page
        assert screen._part is not None and page.source == screen._part.text
        await rig.press("n", "n")
        await rig.until(lambda: rig.sees("plate.png  PNG"))
        assert rig.sees("[b]A")
        # A change of the images alone is seen.
        with rig.studio.store.write(Act(actor="author", label="take out", book=book)) as tx:
            space = tx.space(LIBRARY)
            last = story_tree(space, space.get(Book, book)).active[-1]
            images.change_image(space, space.get(Part, last), "plate.png", None)
        await rig.until(lambda: not rig.sees("plate.png"))

    play(home, steps)
