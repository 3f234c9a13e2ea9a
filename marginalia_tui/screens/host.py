"""What a screen may ask of the app: work off the loop, the desk, notices, dialogs, the command bar.

The app derives from `Host`; screens know this and never the app. The desk (and with it the store) is None until the
studio is open; until then, and after a failure, there is simply nothing to read.
"""

import logging
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from textual.binding import Binding
from textual.dom import DOMNode
from textual.keys import format_key
from textual.reactive import reactive
from textual.screen import Screen

from marginalia_tui.domain.errors import Cancelled, Declined, MarginaliaError
from marginalia_tui.screens.crew import Crew
from marginalia_tui.widgets.clipboard import copy
from marginalia_tui.widgets.keyorder import OrderedKeys

if TYPE_CHECKING:
    from marginalia_tui.desk.answer import Shown
    from marginalia_tui.desk.news import News
    from marginalia_tui.desk.opening import Desk

T = TypeVar("T")

log = logging.getLogger(__name__)

_KEYS = {"escape": "Esc", "pageup": "PgUp", "pagedown": "PgDn", "full_stop": "."}


def key_words(key: str) -> str:
    """A key by its name in a binding, as people write it."""
    *modifiers, last = key.split("+")
    if last in _KEYS:
        name = _KEYS[last]
    elif len(last) == 1:
        name = last.upper() if modifiers else last
    else:
        shown = format_key(last)
        name = shown if len(shown) == 1 and shown.isprintable() and shown.isascii() else last.capitalize()
    return "+".join([*(modifier.capitalize() for modifier in modifiers), name])


class Host(OrderedKeys[int]):
    """The app as the screens see it."""

    CSS = """
    ToastRack { margin-bottom: 0; }
    Toast { width: auto; max-width: 100%; margin-top: 0; padding: 0 1; }
    """
    """Notices stand over the line of keys, as short as they are: what is read is not covered by those of one line."""

    desk: "Desk | None" = None
    news: "reactive[News | None]" = reactive(None, init=False)
    """The runs in short; None until the studio is open."""
    opened: reactive[str | None] = reactive(None, init=False)
    """The uuid of the book that is open: what the command bar works on."""
    running: reactive[str] = reactive("", init=False)
    """What else goes on (an import, the test of a model), in words; empty when nothing does."""

    def __init__(self, home: Path) -> None:
        super().__init__()
        self.home = home
        self.rescued: list[Path] = []
        """The files with what was typed and could not be kept in the store."""
        self.crew = Crew()
        self.leaving = False
        """Whether the studio is being closed."""

    def get_key_display(self, binding: Binding) -> str:
        """A key as people write it: `Ctrl+S`, `Esc`, `?`."""
        return binding.key_display or key_words(binding.key)

    def key_of(self, owner: type[DOMNode], binding: str) -> str:
        """The key of a binding of a widget or screen as it is set now, as people write it."""
        changed = self.desk.studio.settings.keymap.get(binding) if self.desk is not None else None
        found = [each for each in Binding.make_bindings(owner.BINDINGS) if each.id == binding]
        if not changed and found[0].key_display:
            return found[0].key_display
        keys = changed.split(",") if changed else [each.key for each in found]
        return min((key_words(key.strip()) for key in keys), key=len)

    # Work off the loop

    async def call(self, fn: Callable[..., T], *args: Any) -> T:
        """The value of `fn(*args)`, run on a thread of our own; what it raises is raised here."""
        return await self.crew.call(fn, *args)

    def do(self, work: Coroutine[Any, Any, object]) -> None:
        """Lets a coroutine run beside the messages; an error for people becomes a notice."""
        self.run_worker(self._done(work), exit_on_error=True)

    async def _done(self, work: Coroutine[Any, Any, object]) -> None:
        try:
            await work
        except MarginaliaError as error:
            self.refuse(error)
        except Exception:
            if not self.leaving:
                raise
            # It read while the store was being closed: nobody is there any more to show it to.
            log.info("work ended with the studio", exc_info=True)

    # Telling

    def refuse(self, error: MarginaliaError) -> None:
        """Shows what was refused, or failed, as a notice; once, however often it comes while that is seen."""
        if any(notice.message == error.message for notice in self._notifications):
            return
        if isinstance(error, Declined | Cancelled):
            self.tell(error.message)
        else:
            self.notify(error.message, title="Not done", severity="error", timeout=12, markup=False)

    def tell(self, sentence: str, *, title: str = "") -> None:
        """Shows a sentence as a notice."""
        self.notify(sentence, title=title, markup=False)

    async def ask(self, dialog: Screen[T]) -> T | None:
        """Shows a dialog and waits for its answer. Only inside `do`, so that messages go on."""
        return await self.push_screen_wait(dialog)

    def copy(self, text: str) -> None:
        """Copies a text and says by which way."""
        self.do(self._copy(text))

    async def _copy(self, text: str) -> None:
        driver = self._driver
        write: Callable[[str], object] = (lambda _: None) if driver is None else driver.write
        try:
            copied = await self.call(lambda: copy(text, write))
        except OSError as error:
            self.notify(f"The text can't be copied: {error.strerror}.", severity="error", markup=False)
            return
        self.tell(copied.sentence)

    # What the app gives

    def settings_changed(self) -> None:
        """Takes theme and keys from the settings; whoever changed them calls it."""
        raise NotImplementedError

    def open_book(self, book: str) -> None:
        """Opens a book and goes to it."""
        raise NotImplementedError

    def open_run(self, run: str) -> None:
        """Goes to the console of a run."""
        raise NotImplementedError

    def seen(self, run: str) -> None:
        """Takes back the notice of a run, which the author sees now."""
        raise NotImplementedError

    def open_bar(self, text: str | None = None) -> None:
        """Opens the command bar on the screen that is seen."""
        raise NotImplementedError

    def run_line(self, line: str) -> None:
        """Runs a command line in the author's scope of the open book, and shows its result."""
        raise NotImplementedError

    async def command(self, name: str, **arguments: object) -> "Shown":
        """Runs a command that a key stands for, in the author's scope of the open book; only inside `do`.

        Raises:
            MarginaliaError: it was refused, stopped or failed.
        """
        return await self.command_on(self.opened, name, **arguments)

    async def command_on(self, book: str | None, name: str, /, **arguments: object) -> "Shown":
        """The same for another book than the one that is open, or for none.

        Raises:
            MarginaliaError: it was refused, stopped or failed.
        """
        raise NotImplementedError
