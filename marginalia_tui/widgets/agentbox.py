"""The box to an agent that completes a command: a line that begins with `/`.

It knows no command: what fits is asked off the screen's loop, and an answer for a line that has changed is dropped.
"""

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widgets import TextArea

from marginalia_tui.widgets.background import Latest
from marginalia_tui.widgets.completion import Choice, Choices
from marginalia_tui.widgets.prompt import PromptBox

Complete = Callable[[str, int], Sequence[Choice]]
"""The text and the place of the cursor -> what fits there, best first."""


class AgentBox(PromptBox):
    """The box. While the list is seen Tab takes its marked line, Up and Down move in it, Esc hides it.

    Args:
        choices: the list, which stands right above the box.
        placeholder: what an empty box says.
        id: of the widget.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "take", "Complete a command", show=False, priority=True, id="box.take"),
        Binding("up", "choose(-1)", "Completion before", show=False, priority=True, id="box.up"),
        Binding("down", "choose(1)", "Completion after", show=False, priority=True, id="box.down"),
        Binding("escape", "hide", "Hide the completions", show=False, priority=True, id="box.hide"),
    ]

    def __init__(self, choices: Choices, *, placeholder: str = "", id: str | None = None) -> None:
        super().__init__(placeholder=placeholder, id=id)
        self.choices = choices
        self.complete: Complete | None = None
        """Asked on a thread; None completes nothing."""
        self._asked = Latest(self)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """The keys of the list are those of the box and the screen while it is not seen."""
        if action in ("take", "choose", "hide"):
            return bool(self.choices.display and self.choices.choices)
        return True

    def on_mount(self) -> None:
        """Nothing is proposed yet."""
        self.choices.show(())

    def on_blur(self) -> None:
        """The list belongs to the box that is written in."""
        self.choices.show(())

    def on_text_area_selection_changed(self, event: TextArea.SelectionChanged) -> None:
        """Another text, or another place in it."""
        complete, text, cursor = self.complete, self.content, self.cursor_index
        if complete is None or not text.startswith("/") or "\n" in text or not self.has_focus:
            self.choices.show(())
            return
        self._asked.ask(lambda: (text, cursor, tuple(complete(text, cursor))), self._show)

    def _show(self, answer: tuple[str, int, tuple[Choice, ...]]) -> None:
        text, cursor, found = answer
        if (self.content, self.cursor_index) == (text, cursor) and self.has_focus:
            self.choices.show([each for each in found if text[each.start : each.end] != each.text])

    def action_take(self) -> None:
        """Puts the marked completion into the box."""
        choice = self.choices.choices[self.choices.current]
        text = self.content
        self.choices.show(())
        self.content = text[: choice.start] + choice.text + text[choice.end :]
        self.move_cursor(self.location_of(choice.start + len(choice.text)))

    def action_choose(self, step: int) -> None:
        """Marks another completion."""
        self.choices.move(step)

    def action_hide(self) -> None:
        """Hides the list; the text stays."""
        self.choices.show(())
