import pytest
from rich.color import Color as RichColor
from rich.color import ColorSystem
from textual.color import Color
from textual.pilot import Pilot
from textual.theme import Theme

from marginalia_tui.widgets.margin import Mark, MarkKind
from marginalia_tui.widgets.page import Page
from marginalia_tui.widgets.theme import MEANINGS, THEMES, meanings
from tests.widgets.support import Host, run

ON_PAGE = ("muted", "added", "removed", "changed", "conflict", "attention", "note", "lore", "by-agent", "by-author")
PAIRS = (
    ("find-foreground", "find-background"),
    ("found-foreground", "found-background"),
    ("cursor-foreground", "cursor-background"),
)


@pytest.mark.parametrize("theme", THEMES)
def test_words_are_readable_on_the_page(theme: Theme) -> None:
    assert theme.background and theme.panel
    values = {**meanings(theme), "background": theme.background}
    for name in ON_PAGE:
        assert contrast(values[name], values["background"]) >= 4.3, name
        assert contrast(values[name], theme.panel) >= 4.0, name
    for front, back in PAIRS:
        assert contrast(values[front], values[back]) >= 4.5, front


def contrast(one: str, two: str) -> float:
    def luminance(text: str) -> float:
        parts = [part / 255 for part in Color.parse(text).rgb]
        red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    high, low = sorted((luminance(one), luminance(two)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", THEMES)
def test_words_are_seen_in_sixteen_colours(theme: Theme) -> None:
    assert theme.background and theme.panel

    def number(text: str) -> int | None:
        return RichColor.parse(text).downgrade(ColorSystem.STANDARD).number

    values = meanings(theme)
    for name in ON_PAGE:
        assert number(values[name]) != number(theme.background), name
    for front, back in PAIRS:
        assert number(values[front]) != number(values[back]), front


def test_every_theme_has_a_colour_for_each_meaning() -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        app.query_one(Page).show("word " * 100, [Mark(0, 9, kind) for kind in MarkKind])
        for name in sorted(app.available_themes):
            app.theme = name
            await pilot.pause()
            assert set(MEANINGS) <= set(app.theme_variables), name
        assert {"ink", "paper", "ansi-dark", "ansi-light"} <= set(app.available_themes)

    run(lambda: [Page()], scenario)


def test_the_terminals_own_colours_are_used_in_its_themes() -> None:
    async def scenario(app: Host, pilot: Pilot[None]) -> None:
        app.theme = "ansi-dark"
        app.query_one(Page).show("one two", [Mark(0, 3, MarkKind.ADDED)])
        await pilot.pause()
        colours = [
            segment.style.color.name
            for strip in app.screen._compositor.render_strips()
            for segment in strip
            if segment.style is not None and segment.style.color is not None
        ]
        assert colours and all(not name.startswith("#") for name in colours)

    run(lambda: [Page()], scenario)
