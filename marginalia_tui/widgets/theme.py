"""The look of the studio: paper and ink, light and dark, and the words for what colours mean.

Widgets use Textual's own variables and the ones of `MEANINGS`; an app that shows them derives from
`ThemedApp`, which gives every theme (Textual's and the terminal's own colours too) a value for each meaning.
No state is told by a colour alone: a widget that uses one of these also writes a word or a sign.
"""

from typing import TypeVar

from textual.app import App
from textual.theme import Theme

from marginalia_tui.widgets.stylesheet import KeptStylesheet

MEANINGS = (
    "muted",
    "rule",
    "added",
    "removed",
    "changed",
    "conflict",
    "attention",
    "note",
    "lore",
    "by-agent",
    "by-author",
    "mark-background",
    "find-background",
    "find-foreground",
    "found-background",
    "found-foreground",
    "cursor-background",
    "cursor-foreground",
    "selection-background",
)
"""Variables beyond Textual's own: chrome (`muted`, `rule`), changes, who wrote it, passages, hits, cursor rows."""

_LIGHT: dict[str, str] = {
    "muted": "#756c5c",
    "rule": "#cfc5b0",
    "added": "#2c6436",
    "removed": "#a13a2b",
    "changed": "#7d5600",
    "conflict": "#8b2f6b",
    "attention": "#985400",
    "note": "#23527c",
    "lore": "#56611f",
    "by-agent": "#6a4a86",
    "by-author": "#2b2823",
    "mark-background": "#e9e0c8",
    "find-background": "#ecd98f",
    "find-foreground": "#2b2823",
    "found-background": "#23527c",
    "found-foreground": "#f7f3e8",
    "cursor-background": "#dfe4e2",
    "cursor-foreground": "#1d1b17",
    "selection-background": "#c9d8e4",
}
_DARK: dict[str, str] = {
    "muted": "#8f887a",
    "rule": "#3d3e42",
    "added": "#8fbf8a",
    "removed": "#dd8d80",
    "changed": "#d4b06a",
    "conflict": "#d38fc0",
    "attention": "#e3b055",
    "note": "#8ab4d8",
    "lore": "#aab77a",
    "by-agent": "#b79fd2",
    "by-author": "#d9d3c6",
    "mark-background": "#2f3134",
    "find-background": "#5c4d1c",
    "find-foreground": "#f1ead9",
    "found-background": "#8ab4d8",
    "found-foreground": "#17191c",
    "cursor-background": "#2c343c",
    "cursor-foreground": "#f1ead9",
    "selection-background": "#34506a",
}
_ANSI: dict[str, str] = {
    "muted": "ansi_bright_black",
    "rule": "ansi_bright_black",
    "added": "ansi_green",
    "removed": "ansi_red",
    "changed": "ansi_yellow",
    "conflict": "ansi_magenta",
    "attention": "ansi_yellow",
    "note": "ansi_blue",
    "lore": "ansi_cyan",
    "by-agent": "ansi_magenta",
    "by-author": "ansi_default",
    "mark-background": "ansi_default",
    "find-background": "ansi_yellow",
    "find-foreground": "ansi_black",
    "found-background": "ansi_blue",
    "found-foreground": "ansi_bright_white",
    "cursor-background": "ansi_blue",
    "cursor-foreground": "ansi_bright_white",
    "selection-background": "ansi_cyan",
}

PAPER = Theme(
    name="paper",
    primary="#23527c",
    secondary="#756c5c",
    accent="#23527c",
    warning="#985400",
    error="#a13a2b",
    success="#2c6436",
    foreground="#2b2823",
    background="#f7f3e8",
    surface="#f7f3e8",
    panel="#efe8d8",
    boost="#efe8d8",
    dark=False,
    variables={
        **_LIGHT,
        "text": "#2b2823",
        "text-muted": "#756c5c",
        "border": "#23527c",
        "border-blurred": "#cfc5b0",
        "scrollbar": "#cfc5b0",
        "scrollbar-hover": "#b5a98f",
        "scrollbar-active": "#23527c",
        "scrollbar-background": "#f7f3e8",
        "scrollbar-background-hover": "#f7f3e8",
        "scrollbar-background-active": "#f7f3e8",
        "block-cursor-background": "#dfe4e2",
        "block-cursor-foreground": "#1d1b17",
        "block-cursor-text-style": "bold",
        "input-cursor-background": "#23527c",
        "input-cursor-foreground": "#f7f3e8",
        "input-selection-background": "#c9d8e4",
        "screen-selection-background": "#c9d8e4",
        "screen-selection-foreground": "#2b2823",
        "footer-background": "#efe8d8",
        "footer-key-foreground": "#23527c",
    },
)
"""Ink on paper: for a bright room."""

INK = Theme(
    name="ink",
    primary="#8ab4d8",
    secondary="#8f887a",
    accent="#8ab4d8",
    warning="#e3b055",
    error="#dd8d80",
    success="#8fbf8a",
    foreground="#d9d3c6",
    background="#17191c",
    surface="#17191c",
    panel="#202327",
    boost="#202327",
    dark=True,
    variables={
        **_DARK,
        "text": "#d9d3c6",
        "text-muted": "#8f887a",
        "border": "#8ab4d8",
        "border-blurred": "#3d3e42",
        "scrollbar": "#3d3e42",
        "scrollbar-hover": "#55575c",
        "scrollbar-active": "#8ab4d8",
        "scrollbar-background": "#17191c",
        "scrollbar-background-hover": "#17191c",
        "scrollbar-background-active": "#17191c",
        "block-cursor-background": "#2c343c",
        "block-cursor-foreground": "#f1ead9",
        "block-cursor-text-style": "bold",
        "input-cursor-background": "#8ab4d8",
        "input-cursor-foreground": "#17191c",
        "input-selection-background": "#34506a",
        "screen-selection-background": "#34506a",
        "screen-selection-foreground": "#f1ead9",
        "footer-background": "#202327",
        "footer-key-foreground": "#8ab4d8",
    },
)
"""Paper-coloured letters on ink: for the evening."""

THEMES = (INK, PAPER)


def meanings(theme: Theme) -> dict[str, str]:
    """A colour for each meaning that fits a theme which knows nothing of them."""
    if theme.ansi:
        return dict(_ANSI)
    return dict(_DARK if theme.dark else _LIGHT)


ReturnType = TypeVar("ReturnType")


class ThemedApp(App[ReturnType]):
    """An app in which our widgets can stand: both themes registered, a colour for each meaning in every theme."""

    def __init__(self) -> None:
        super().__init__()
        self.stylesheet = KeptStylesheet(variables=self.get_css_variables())
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = INK.name

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """The colours of the meanings for the theme that is on."""
        return meanings(self.current_theme)
