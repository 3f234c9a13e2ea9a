"""The command bar: a line that completes while it is typed.

It knows no command. A `BarModel` from outside answers what fits and which parameter is being typed; it is asked
off the screen's loop, the newest question wins, and an answer for a line that has changed since is dropped.
The lines that were run before are walked through, proposed, and searched.
"""

from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static, TextArea

from marginalia_tui.domain.visible import visible_line
from marginalia_tui.widgets.background import Latest
from marginalia_tui.widgets.completion import BarModel, Choice, Choices, Hint, HintLine
from marginalia_tui.widgets.editor import SubmitArea
from marginalia_tui.widgets.keyorder import KeyHandled
from marginalia_tui.widgets.recall import Recall

SIGN = "> "
SEARCH_SIGN = "find: "


class BarLine(SubmitArea):
    """The line itself."""

    takes_bursts = False
    DEFAULT_CSS = """
    BarLine { background: $panel; max-height: 4; width: 1fr; & .text-area--cursor-line { background: $panel; } }
    """


class CommandBar(Vertical):
    """The bar. `open()` shows it with what was typed before, `Submitted` tells the line that Enter sent.

    Tab, and Right at the end of the line, complete; up and down choose a completion or, in an empty line, walk
    through the lines that were run; Ctrl+R searches them; Esc closes and keeps what was typed. Closing gives the
    focus back to where it was.
    """

    DEFAULT_CSS = """
    CommandBar {
        dock: bottom;
        height: auto;
        display: none;
        background: $panel;
        & > Horizontal { height: auto; background: $panel; }
        & #bar-sign { width: auto; height: 1; color: $accent; text-style: bold; background: $panel; }
        &.-open { display: block; }
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "accept", "Complete", show=False, priority=True, id="bar.accept"),
        Binding("right", "right", "Complete, at the end of the line", show=False, priority=True, id="bar.right"),
        Binding("up", "move(-1)", "Previous", show=False, priority=True, id="bar.up"),
        Binding("down", "move(1)", "Next", show=False, priority=True, id="bar.down"),
        Binding("ctrl+r", "search", "Search the lines that were run", show=False, priority=True, id="bar.search"),
        Binding("ctrl+enter,ctrl+g", "fill_in", "A form for all options", show=False, priority=True, id="bar.form"),
        Binding("f1", "help", "The page of the command", show=False, priority=True, id="bar.help"),
        Binding("escape", "close", "Close", show=False, priority=True, id="bar.close"),
    ]

    @dataclass
    class Submitted(Message):
        """A line to run."""

        line: str

    @dataclass
    class Closed(Message):
        """The bar went away without a line."""

    @dataclass
    class HelpWanted(Message):
        """The page of the command that is typed is wanted.

        `lines` are the line, and the line with the marked completion taken.
        """

        lines: tuple[str, ...]

    @dataclass
    class FormWanted(Message):
        """A form for the command that is typed is wanted; `lines` as in `HelpWanted`."""

        lines: tuple[str, ...]

    def __init__(self, model: BarModel, *, id: str | None = None) -> None:
        """Makes a bar.

        Args:
            model: what is asked.
            id: of the widget.
        """
        super().__init__(id=id)
        self.model = model
        self.recall = Recall()
        self._asked = Latest(self)
        self._past = Latest(self)
        self._question: tuple[str, int, bool] | None = None
        self._answered: tuple[str, int, bool] | None = None
        """The question whose answer is shown."""
        self._accepts_next = False
        """Whether Tab was pressed before there was an answer."""
        self._kept: str | None = None
        """What stood in the line before it became the words of a search; None when nothing is searched."""
        self._before: Widget | None = None
        self._setting = False

    def compose(self) -> ComposeResult:
        """The list, the hint, the line."""
        yield Choices()
        yield HintLine()
        with Horizontal():
            yield Static(SIGN, id="bar-sign", markup=False)
            yield BarLine(id="bar-line")

    @property
    def line(self) -> BarLine:
        """The line."""
        return self.query_one(BarLine)

    @property
    def choices(self) -> Choices:
        """The list of completions."""
        return self.query_one(Choices)

    @property
    def is_open(self) -> bool:
        """Whether the bar is seen."""
        return self.has_class("-open")

    @property
    def searching(self) -> bool:
        """Whether the line holds the words of a search."""
        return self._kept is not None

    def open(self, text: str | None = None) -> None:
        """Shows the bar and gives it the focus.

        Args:
            text: what stands in the line; None keeps what was typed before, `/` when that was nothing.
        """
        if not self.is_open:
            self._before = self.screen.focused
        self.add_class("-open")
        self._end_search()
        if text is not None or not self.line.content:
            self._write(text or "/")
        self.line.focus()
        self.recall.walk = 0
        self.look_again()

    def look_again(self) -> None:
        """Asks anew what fits: the model knows more than it did."""
        if self.is_open:
            self._past.ask(lambda: list(self.model.history()), self._remember)
            self._question = None
            self._ask()

    def close(self) -> None:
        """Hides the bar; what was typed stays for the next time."""
        if self.is_open:
            self._end_search()
            self._accepts_next = False
            self.remove_class("-open")
            self.choices.show(())
            if self._before is not None and self._before.is_attached and self.line.has_focus:
                self._before.focus()
            self._before = None

    def empty(self) -> None:
        """Closes the bar and forgets what was typed."""
        self.close()
        self._write("")

    def _remember(self, lines: list[str]) -> None:
        self.recall.lines = lines
        if self.searching:
            self._question = None
            self._ask()
        else:
            self._suggest()

    def _write(self, text: str) -> None:
        self._setting = True
        self.line.content = text
        self.line.move_cursor(self.line.document.end)

    # Asking

    def _ask(self) -> None:
        text, cursor = self.line.content, self.line.cursor_index
        question = (text, cursor, self.searching)
        if question == self._question:
            return
        self._question = question
        self.line.suggestion = ""
        model, recall = self.model, self.recall

        def found() -> tuple[tuple[str, int, bool], tuple[Choice, ...], Hint]:
            if question[2]:
                past = recall.search(text)
                return question, tuple(Choice(line, line, 0, len(text)) for line in past), model.searching()
            return question, tuple(model.complete(text, cursor)), model.hint(text, cursor)

        self._asked.ask(found, self._answer)

    def _answer(self, answer: tuple[tuple[str, int, bool], tuple[Choice, ...], Hint]) -> None:
        question, choices, hint = answer
        if not self.is_open or question != (self.line.content, self.line.cursor_index, self.searching):
            return
        self._answered = question
        self.query_one(HintLine).show(hint)
        self.choices.show(choices)
        self._suggest()
        if self._accepts_next:
            self.action_accept()
            self._accepts_next = False
            self.post_message(KeyHandled())

    def on_key_handled(self, event: KeyHandled) -> None:
        """The keys behind a Tab wait with it for the answer."""
        if self._accepts_next:
            event.stop()

    def _suggest(self) -> None:
        self.line.suggestion = visible_line(self._ghost().rstrip())

    def _ghost(self) -> str:
        """How the completion goes on with what is typed; where nothing fits, how a line that was run does."""
        text = self.line.content
        if self.searching or self.line.cursor_index != len(text):
            return ""
        if self.choices.choices:
            choice = self.choices.choices[self.choices.current]
            typed = text[choice.start :]
            return choice.text[len(typed) :] if typed and choice.text.startswith(typed) else ""
        return "" if self._is_blank() else self.recall.going_on(text)[len(text) :]

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """Another text: what fits now?"""
        event.stop()
        if not self._setting:
            self.recall.walk = 0
        self._setting = False
        if self.is_open:
            self._ask()

    def on_text_area_selection_changed(self, event: TextArea.SelectionChanged) -> None:
        """Another place in the same text."""
        event.stop()
        if self.is_open:
            self._ask()

    # Keys

    def action_accept(self) -> None:
        """Puts the current completion into the line, or the rest of the past line that is proposed."""
        if self.searching:
            self._take()
        elif self._answered != (self.line.content, self.line.cursor_index, self.searching):
            self._accepts_next = True
            self._ask()
        elif self.choices.choices:
            self._accept(self.choices.choices[self.choices.current])
        elif rest := self._ghost():
            self.line.insert(rest)

    def action_right(self) -> None:
        """Right: a character on; at the end of the line the same as Tab."""
        line = self.line
        if line.cursor_location == line.document.end and line.selection.is_empty:
            self.action_accept()
        else:
            line.suggestion = ""
            line.action_cursor_right()

    def _accept(self, choice: Choice) -> None:
        line = self.line
        line.replace(choice.text, line.location_of(choice.start), line.location_of(choice.end))
        line.move_cursor(line.location_of(choice.start + len(choice.text)))

    def on_choices_picked(self, event: Choices.Picked) -> None:
        """A click on a completion."""
        event.stop()
        self.choices.current = event.index
        self.action_accept()
        self.line.focus()

    def action_move(self, step: int) -> None:
        """Up and down: lines of the text, completions, or the lines that were run."""
        row = self.line.cursor_location[0]
        if 0 <= row + step < self.line.document.line_count:
            if step < 0:
                self.line.action_cursor_up()
            else:
                self.line.action_cursor_down()
        elif not self.searching and (self.recall.walk or (step < 0 and self._is_blank())):
            past = self.recall.step(-step, self.line.content)
            if past is not None:
                self._write(past)
        else:
            self.choices.move(step)
            self._suggest()

    def _is_blank(self) -> bool:
        """Whether nothing is typed and nothing was chosen."""
        return self.line.content.strip() in ("", "/") and not self.choices.moved

    def action_close(self) -> None:
        """Esc: leaves the search, else the bar."""
        if self.searching:
            self._end_search()
        else:
            self.close()
            self.post_message(self.Closed())

    def on_submit_area_submitted(self, event: SubmitArea.Submitted) -> None:
        """Enter: a completion that was chosen, or the line."""
        event.stop()
        if self.searching or (self.choices.moved and self.choices.choices):
            self.action_accept()
            return
        if event.text.strip() in ("", "/"):
            return
        self.empty()
        self.post_message(self.Submitted(event.text))

    # The search

    def action_search(self) -> None:
        """Ctrl+R: searches the lines that were run; while that is done, the next older one."""
        if self.searching:
            self.choices.move(1)
            return
        self._kept = self.line.content
        self.query_one("#bar-sign", Static).update(SEARCH_SIGN)
        self._write("")
        self._ask()

    def _take(self) -> None:
        """Puts the line that was found into the bar."""
        if self.choices.choices:
            self._end_search(self.choices.choices[self.choices.current].text)

    def _end_search(self, line: str | None = None) -> None:
        if self._kept is not None:
            kept, self._kept = self._kept, None
            self.query_one("#bar-sign", Static).update(SIGN)
            self._write(kept if line is None else line)
            self._ask()

    # More about the command

    def action_help(self) -> None:
        """F1: the page of the command."""
        self.post_message(self.HelpWanted(self._meant()))

    def action_fill_in(self) -> None:
        """Ctrl+Enter: a form for the command."""
        self.post_message(self.FormWanted(self._meant()))

    def _meant(self) -> tuple[str, ...]:
        """The line, and what it is with the marked completion."""
        if self.searching:
            self._take()
        text = self.line.content
        if not self.choices.choices:
            return (text,)
        choice = self.choices.choices[self.choices.current]
        taken = text[: choice.start] + choice.text + text[choice.end :]
        return (taken, text) if self.choices.moved else (text, taken)
