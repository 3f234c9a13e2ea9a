"""The prompt of the shell in a terminal that can draw: completions, history, a hint below the line.

The only module that imports prompt-toolkit, and is imported only when such a prompt is shown.
"""

import signal
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from shutil import get_terminal_size
from types import FrameType

from prompt_toolkit import PromptSession
from prompt_toolkit.application import run_in_terminal
from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.history import History
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.layout.processors import Processor, Transformation, TransformationInput
from prompt_toolkit.styles import Style

from marginalia_tui.desk.bar import Bar
from marginalia_tui.domain.visible import visible_line
from marginalia_tui.headless.output import print_text
from marginalia_tui.headless.shell_terminal import width
from marginalia_tui.headless.shell_text import (
    command_of,
    described,
    explained,
    form_words,
    hint_of,
    laid_out,
    proposals,
)

_STYLE = Style.from_dict({"hint.current": "bold underline", "hint.error": "bold"})
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

_MENU = 8
"""Lines that are kept free below the prompt for what fits, fewer in a low terminal, where they hide the answers."""


class _Completer(Completer):
    def __init__(self, bar: Bar) -> None:
        self._bar = bar

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """Prompt-toolkit: what fits at the cursor."""
        before = document.text_before_cursor
        for each in proposals(self._bar, before):
            yield Completion(each.text, each.start - len(before), each.label, described(each))


class _Past(History):
    """The history of the bar, which keeps a line when it is run."""

    def __init__(self, bar: Bar, book: str | None) -> None:
        super().__init__()
        self._bar = bar
        self._book = book

    def load_history_strings(self) -> Iterable[str]:
        """Prompt-toolkit: the lines, the newest first."""
        return reversed(self._bar.history(self._book))

    def store_string(self, string: str) -> None:
        """Prompt-toolkit: keep a line; whoever runs it does."""


class _Visible(Processor):
    """Shows what a terminal would obey as signs, one for one."""

    def apply_transformation(self, transformation_input: TransformationInput) -> Transformation:
        """Prompt-toolkit: how a line is shown."""
        return Transformation([(each[0], visible_line(each[1])) for each in transformation_input.fragments])


class DrawnPrompt:
    """Reads lines with everything that the bar knows.

    Args:
        bar: what is asked while a line is typed.
        book: whose lines come first in the history.
    """

    def __init__(self, bar: Bar, book: str | None) -> None:
        self._bar = bar
        self._came: list[int] = []
        self._session: PromptSession[str] = PromptSession(
            completer=_Completer(bar),
            complete_in_thread=True,
            history=_Past(bar, book),
            auto_suggest=AutoSuggestFromHistory(),
            bottom_toolbar=self._toolbar,
            input_processors=[_Visible()],
            key_bindings=self._keys(),
            enable_suspend=True,
            reserve_space_for_menu=max(2, min(_MENU, get_terminal_size().lines // 4)),
            style=_STYLE,
        )

    def read(self, name: str) -> str:
        """A line.

        Args:
            name: what stands before the cursor.

        Raises:
            KeyboardInterrupt: Ctrl-C.
            EOFError: Ctrl-D, or the terminal is gone.
        """
        with self._signals():
            return self._session.prompt([("", name)], handle_sigint=False, pre_run=self._leave_if_told)

    def _keys(self) -> KeyBindings:
        keys = KeyBindings()

        @keys.add("f1")
        def _(event: KeyPressEvent) -> None:
            """The page of the command that is typed, above the line."""
            page = self._bar.page(command_of(event.current_buffer.text))
            run_in_terminal(lambda: print_text(laid_out(page.blocks, width())))

        return keys

    @contextmanager
    def _signals(self) -> Iterator[None]:
        """Signals end the prompt, which gives the terminal back, and do then what they always do."""
        self._came.clear()
        before = {each: signal.signal(each, self._caught) for each in _SIGNALS}
        try:
            yield
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)
            for number in list(self._came):
                signal.raise_signal(number)

    def _caught(self, number: int, frame: FrameType | None) -> None:
        self._came.append(number)
        loop = self._session.app.loop
        if loop is not None:
            loop.call_soon_threadsafe(self._leave_if_told)

    def _leave_if_told(self) -> None:
        app = self._session.app
        if self._came and app.is_running and not app.is_done:
            app.exit(exception=EOFError())

    def _toolbar(self) -> StyleAndTextTuples:
        """Two lines: the form that fits so far, and what is being typed, or is wrong."""
        hint = hint_of(self._bar, self._session.default_buffer.document.text_before_cursor)
        if hint is None:
            return [("", "/help lists the commands, Tab completes, F1 explains, exit ends\n ")]
        shown: StyleAndTextTuples = []
        for word, current in form_words(hint):
            shown += [("class:hint.current" if current else "", visible_line(word)), ("", " ")]
        style = "class:hint.error" if hint.error else ""
        return [*shown, ("", "\n"), (style, visible_line(explained(hint)) or " ")]
