"""A call that waits for the author's word, over the whole screen: what it is given, and what it would change."""

from typing import TYPE_CHECKING, ClassVar, Literal

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from marginalia_tui.domain.visible import visible, visible_line
from marginalia_tui.widgets.worddiff import WordDiff

if TYPE_CHECKING:
    from marginalia_tui.desk.waiting import Waiting
    from marginalia_tui.screens.host import Host

Answer = Literal["allow", "always", "refuse"]


def keys_of(host: "Host") -> str:
    """The line of keys, as they are set now."""
    ways = (("allow", "allows it"), ("always", "allows it for the run"), ("refuse", "refuses it"), ("close", "back"))
    named = [(host.key_of(ApprovalScreen, f"approval.{name}"), words) for name, words in ways]
    return "   ".join(f"{key} {words}" for key, words in named if key)


class ApprovalScreen(ModalScreen[Answer | None]):
    """Dismissed with the author's word; Esc gives none, and the call waits on.

    Args:
        waiting: the call.
        agent: who asks.
        keys: what allows, allows always, refuses, as people write the keys.
    """

    DEFAULT_CSS = """
    ApprovalScreen {
        & > Vertical { background: $background; }
        & #asks { height: 1; padding: 0 1; background: $panel; color: $accent; text-style: bold; }
        & #given { height: auto; max-height: 40%; padding: 0 1; border-bottom: solid $rule; }
        & #given > Static { height: auto; }
        & WordDiff { height: 1fr; padding: 0 1; }
        & #ways { height: 1; padding: 0 1; background: $panel; color: $muted; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer('allow')", "allow", id="approval.allow"),
        Binding("Y", "answer('always')", "allow always", id="approval.always"),
        Binding("d", "answer('refuse')", "refuse", id="approval.refuse"),
        Binding("escape,w", "close", "back", id="approval.close"),
    ]

    def __init__(self, waiting: "Waiting", agent: str, keys: str) -> None:
        super().__init__()
        self.waiting, self._agent, self._keys = waiting, agent, keys
        self.words = WordDiff(empty="It changes no words.", id="would")
        """What it would change."""

    def compose(self) -> ComposeResult:
        """The call, its arguments, the words, the keys."""
        call = self.waiting
        with Vertical():
            yield Static(visible_line(f"{self._agent} asks: {call.title} ({call.command})"), id="asks", markup=False)
            with VerticalScroll(id="given", can_focus=False):
                given = [Content(visible(f"{name}: {value}")) for name, value in call.arguments]
                if call.problem:
                    given.append(
                        Content(f"It can't be made as it is: {visible(call.problem)}").stylize("bold $attention")
                    )
                yield Static(Content("\n").join(given), markup=False)
            yield self.words
            yield Static(self._keys, id="ways", markup=False)

    def on_mount(self) -> None:
        """The words have the focus."""
        self.words.show(self.waiting.segments)
        self.words.focus()

    def action_answer(self, answer: Answer) -> None:
        """The author's word."""
        self.dismiss(answer)

    def action_close(self) -> None:
        """It waits on."""
        self.dismiss(None)
