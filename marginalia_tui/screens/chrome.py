"""What stands at the edges of every full screen: the line of modes at the top, the line of keys at the bottom."""

from dataclasses import replace
from typing import Any, ClassVar

from rich.segment import Segment
from textual import events
from textual.binding import Binding
from textual.dom import DOMNode
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Static

from marginalia_tui.domain.visible import visible_line
from marginalia_tui.screens.host import Host
from marginalia_tui.widgets.rows import RowView
from marginalia_tui.widgets.text import cells, crop

MODES = (("library", "Library"), ("book", "Book"), ("agents", "Agents"), ("settings", "Settings"))
"""The modes by name and title, in the order of their tabs."""
SMALLEST = (40, 12)
"""Columns and lines of the smallest terminal."""


_BAR, _BAR_ALWAYS = "app.bar", "app.bar_always"
_LAST = (_BAR, "app.help", "app.quit")
"""The keys that end the line of keys."""


class HeaderLine(Widget):
    """One line: the modes, where the author is, and what the agents do."""

    DEFAULT_CSS = """
    HeaderLine {
        dock: top; height: 1; background: $panel; color: $foreground;
        & > .header--mode { color: $muted; }
        & > .header--here { color: $accent; text-style: bold; }
        & > .header--place { text-style: bold; }
        & > .header--facts { color: $muted; }
        & > .header--asks { color: $attention; text-style: bold; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "header--mode",
        "header--here",
        "header--place",
        "header--facts",
        "header--asks",
    }

    def __init__(self) -> None:
        super().__init__()
        self.mode = ""
        """The name of the mode whose tab is marked."""
        self.place = ""
        self.facts = ""
        self._drawn: list[tuple[str, str]] = []

    def say(self, place: str, facts: str) -> None:
        """Where the author is, and facts about it."""
        if (place, facts) != (self.place, self.facts):
            self.place, self.facts = place, facts
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """Textual: the line."""
        width = self.size.width
        right = f"  {_right(self.host)} " if _right(self.host) else ""
        place = visible_line(self.place)
        facts = f"  {visible_line(self.facts)}" if self.facts else ""
        tabs = self._drawn = self._tabs(width - cells(right) - cells(place) - cells(facts))
        room = width - sum(cells(text) for text, _ in tabs) - cells(right)
        if cells(place) + cells(facts) > room:
            facts = crop(facts, room - cells(place)) if room - cells(place) > 12 else ""
        place = crop(place, max(0, room - cells(facts)))
        gap = " " * max(0, room - cells(place) - cells(facts))
        pieces = [*tabs, (place, "place"), (facts, "facts"), (gap, "facts"), (right, "facts")]
        segments = [Segment(text, self.get_component_rich_style(f"header--{kind}")) for text, kind in pieces if text]
        return Strip(segments).crop(0, width)

    @property
    def host(self) -> Host:
        """The app."""
        host = self.app
        assert isinstance(host, Host)
        return host

    def _tabs(self, room: int) -> list[tuple[str, str]]:
        """The modes; only this one, and the one that asks, where there is no room for all."""
        asking = len(self.host.news.asking) if self.host.news else 0
        tabs: list[tuple[str, str]] = [(" ", "mode")]
        short: list[tuple[str, str]] = [(" ", "mode")]
        for name, title in MODES:
            here = name == self.mode
            tab = [(f"[{title}]" if here else title, "here" if here else "mode")]
            if name == "agents" and asking:
                tab.append((f" {asking}!", "asks"))
            tab.append(("  ", "mode"))
            tabs.extend(tab)
            if here or len(tab) > 2:
                short.extend(tab)
        return tabs if sum(cells(text) for text, _ in tabs) <= room else short

    def on_click(self, event: events.Click) -> None:
        """A click on a mode goes to it."""
        names = {title: name for name, title in MODES}
        place = 0
        for text, kind in self._drawn:
            title = text.strip("[]")
            if kind in ("mode", "here") and title in names and place <= event.x < place + cells(text):
                self.host.switch_mode(names[title])
                return
            place += cells(text)


def _right(host: Host) -> str:
    if host.running:
        return visible_line(host.running)
    if host.news is None or not host.news.working:
        return ""
    return f"{host.news.working} agent{'s' if host.news.working > 1 else ''} working"


class KeyLine(Widget):
    """One line: the keys that matter here, as they are set now."""

    DEFAULT_CSS = """
    KeyLine {
        dock: bottom; height: 1; background: $panel; color: $muted;
        & > .keys--key { color: $accent; text-style: bold; }
        & > .keys--words { color: $muted; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {"keys--key", "keys--words"}

    def __init__(self) -> None:
        super().__init__()
        self._shown: list[tuple[int, int, str, Any]] = []

    def on_mount(self) -> None:
        """Other bindings, another line."""
        self.screen.bindings_updated_signal.subscribe(self, lambda _: self.refresh())

    def render_line(self, y: int) -> Strip:
        """Textual: the line."""
        width = self.size.width
        key_style = self.get_component_rich_style("keys--key")
        word_style = self.get_component_rich_style("keys--words")
        segments: list[Segment] = []
        self._shown.clear()
        used = 0
        for key, binding, node in self._fitting(width):
            pieces = f" {key}", f" {binding.description} "
            segments.extend([Segment(pieces[0], key_style), Segment(pieces[1], word_style)])
            size = sum(map(cells, pieces))
            self._shown.append((used, used + size, binding.action, node))
            used += size
        return Strip(segments).extend_cell_length(width, self.rich_style).crop(0, width)

    def _fitting(self, width: int) -> list[tuple[str, Binding, Any]]:
        """The keys that there is room for; the way out and those that end the line give way last."""
        keys = self._keys()
        sizes = [3 + cells(key) + cells(binding.description) for key, binding, _ in keys]
        while sum(sizes) > width and keys:
            own = [place for place, each in enumerate(keys) if each[1].id not in _LAST and each[1].key != "escape"]
            gone = own[-1] if own else len(keys) - 1
            del keys[gone], sizes[gone]
        return keys

    def _keys(self) -> list[tuple[str, Binding, Any]]:
        """The bindings that are shown, those of the focus first, each with its first key."""
        found: dict[tuple[str, str], tuple[str, Binding, Any]] = {}
        active_keys = self.screen.active_bindings
        focused = self.screen.focused
        writing = focused is not None and focused.check_consume_key("slash", "/")
        # A key that goes before one of the focus stands in its place there: here each owner's keys stay together.
        # A key that was changed keeps the place that it had.
        rank: dict[tuple[DOMNode, str], int] = {}
        for owner, _ in self.screen._modal_binding_chain:
            for key, bindings in owner._bindings.key_to_bindings.items():
                for each in bindings:
                    rank.setdefault((owner, each.id or key), len(rank))
        for active in sorted(active_keys.values(), key=lambda it: rank[it.node, it.binding.id or it.binding.key]):
            binding = active.binding
            if writing and binding.id == _BAR and binding.key == "slash":
                # Textual knows this key by another name than its sign, and would offer it where it is a letter.
                continue
            if writing and binding.id == _BAR_ALWAYS:
                binding = replace(binding, id=_BAR, description="command", show=True)
            if entering := _does_enter(binding, active.node):
                binding = replace(binding, description=entering, show=True)
            if binding.show and active.enabled:
                known = (binding.action, binding.description)
                found.setdefault(known, (self.app.get_key_display(binding), binding, active.node))
        # What belongs to every screen stands behind what belongs to this one.
        return sorted(found.values(), key=lambda each: _LAST.index(each[1].id) + 1 if each[1].id in _LAST else 0)

    async def on_click(self, event: events.Click) -> None:
        """A click does what the key does."""
        for start, end, action, node in self._shown:
            if start <= event.x < end:
                await self.app.run_action(action, node)
                return


def _does_enter(binding: Binding, node: DOMNode) -> str:
    """What the key of a list that opens a row does with its rows; empty for every other key."""
    opens = isinstance(node, RowView) and binding.action == "select" and node.row_count() > 0
    return node.enter if opens and isinstance(node, RowView) else ""


class TooSmall(Static):
    """What a terminal that is too small shows instead of everything else."""

    DEFAULT_CSS = "TooSmall { display: none; width: 100%; height: 100%; content-align: center middle; }"

    def __init__(self) -> None:
        columns, lines = SMALLEST
        super().__init__(f"Make the terminal larger: {columns} columns, {lines} lines.", markup=False)
