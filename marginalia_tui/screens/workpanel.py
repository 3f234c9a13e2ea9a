"""The lines above the keys that show the commands which take long: what each does, how far it is, how long it runs."""

from dataclasses import dataclass
from typing import ClassVar

from rich.segment import Segment
from textual.strip import Strip
from textual.widget import Widget

from marginalia_tui.domain.visible import visible_line
from marginalia_tui.widgets.text import cells, crop


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a command is."""

    title: str
    words: str
    seconds: float
    done: int | None = None
    total: int | None = None
    uninterruptible: bool = False

    @property
    def share(self) -> float | None:
        """How much of it is done, 0 to 1; None where that is not known."""
        if self.done is None or not self.total:
            return None
        return max(0.0, min(1.0, self.done / self.total))


LINES = 3
"""Commands that are shown; further ones are counted."""
_BAR = 12
"""Cells of a bar."""


class WorkPanel(Widget):
    """One line for each command that has run for a while; nothing, and no room, while there is none."""

    DEFAULT_CSS = """
    WorkPanel {
        height: auto; display: none; background: $panel; color: $foreground;
        &.-shown { display: block; }
        & > .work--title { text-style: bold; }
        & > .work--status { color: $muted; }
        & > .work--bar { color: $accent; }
        & > .work--key { color: $accent; text-style: bold; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {"work--title", "work--status", "work--bar", "work--key"}

    def __init__(self) -> None:
        super().__init__()
        self._work: tuple[Progress, ...] = ()
        self._key = ""

    def show(self, work: tuple[Progress, ...], key: str) -> None:
        """Shows commands, the oldest first, and the key that stops the last of them."""
        self._work, self._key = work, key
        lines = min(len(work), LINES)
        self.set_class(lines > 0, "-shown")
        self.styles.height = max(1, lines)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Textual: a command; the newest are at the bottom."""
        shown = self._work[-LINES:]
        width = self.size.width
        if y >= len(shown):
            return Strip.blank(width, self.rich_style)
        each = shown[y]
        right = f" {clock(each.seconds)} "
        last = self._last(y, len(shown))
        share = each.share
        bar = "" if share is None else "█" * round(share * _BAR) + "░" * (_BAR - round(share * _BAR)) + f" {share:4.0%}"
        room = width - cells(right) - cells(last) - cells(bar) - 3
        if room < 24 and bar:
            bar, room = "", room + cells(bar)
        title = crop(visible_line(each.title), max(8, room // 2 if each.words else room))
        words = crop(visible_line(each.words), max(0, room - cells(title) - 2))
        gap = " " * max(0, room - cells(title) - cells(words) - 1)
        pieces = ((f" {title}  ", "title"), (words + gap, "status"), (bar, "bar"), (right, "status"), (last, "key"))
        segments = [Segment(text, self.get_component_rich_style(f"work--{kind}")) for text, kind in pieces if text]
        return Strip(segments).extend_cell_length(width, self.rich_style).crop(0, width)

    def _last(self, y: int, shown: int) -> str:
        """What stands at the end of a line: of the last the key that stops it, of the first how many are not shown."""
        stop = f"{self._key} stop "
        if y == shown - 1:
            return "writing ".ljust(len(stop)) if self._work[-1].uninterruptible else stop
        more = len(self._work) - shown
        return (f"{more} more" if y == 0 and more else "").ljust(len(stop))


def clock(seconds: float) -> str:
    """A length of time: `0:07`, `1:02:03`."""
    minutes, second = divmod(int(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"
