"""The words of one change under review: what is said about it, and one comparison or two."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from marginalia_tui.domain.visible import visible_line
from marginalia_tui.widgets.worddiff import WordDiff

if TYPE_CHECKING:
    from marginalia_tui.desk.review import Comparison

_STYLES = {"strong": "bold", "plain": "$foreground", "muted": "$muted", "attention": "bold $attention"}


class ReviewDetail(Vertical):
    """`say` writes the lines above, `compare` the words below."""

    DEFAULT_CSS = """
    ReviewDetail {
        & #about { height: auto; max-height: 7; padding: 0 1; }
        & .head { height: 1; padding: 0 1; color: $muted; }
        & #words { height: 1fr; }
        & #first { height: 1fr; width: 1fr; }
        & #second { display: none; height: 1fr; width: 1fr; }
        & #diff, & #other { padding: 0 1; }
        &.-two #second { display: block; }
    }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._about = Static("", id="about", markup=False)
        self._heads = [Static("", id=name, classes="head", markup=False) for name in ("head", "other-head")]
        self._words = [WordDiff(empty="Nothing differs.", id=name) for name in ("diff", "other")]

    def compose(self) -> ComposeResult:
        """The lines, and two places for words."""
        yield self._about
        with Vertical(id="words"):
            for place, head, words in zip(("first", "second"), self._heads, self._words, strict=True):
                with Vertical(id=place):
                    yield head
                    yield words

    @property
    def panes(self) -> list[WordDiff]:
        """The words that are seen, the second ones only where both sides are compared."""
        return self._words[: 1 + self.has_class("-two")]

    def say(self, lines: Sequence[tuple[str, str]]) -> None:
        """Lines, each with a tone: `strong`, `plain`, `muted` or `attention`."""
        parts = [Content(visible_line(text)).stylize(_STYLES[tone]) for tone, text in lines]
        self._about.update(Content("\n").join(parts))

    def compare(self, compared: "Sequence[Comparison]") -> None:
        """Shows one comparison, or two beside or below each other; none empties the place."""
        self.set_class(len(compared) > 1, "-two")
        for number, (head, words) in enumerate(zip(self._heads, self._words, strict=True)):
            title = ""
            if number < len(compared):
                words.show(compared[number].segments, unfolded=not compared[number].folds)
                title = compared[number].title + (f"   {words.changes} paragraphs" if words.changes > 1 else "")
            else:
                words.show((), unfolded=True)
            head.update(title)
