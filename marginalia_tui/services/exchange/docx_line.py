"""The pieces of a paragraph of a DOCX, in the order in which they come."""

from marginalia_tui.services.exchange.blocks import comment
from marginalia_tui.services.exchange.docx_remarks import ends, sign
from marginalia_tui.services.exchange.encoding import clean
from marginalia_tui.services.exchange.inline import Piece, code_span, link
from marginalia_tui.services.exchange.markdown_tokens import comment_text

_ORDER = ("strong", "em", "s", "u", "mark", "sup", "sub")


class Line:
    """The pieces of a paragraph as they come; marks are opened and closed where they change."""

    def __init__(self) -> None:
        self.pieces: list[Piece] = []
        self._open: list[str] = []
        self._code: list[str] = []
        self._hidden: list[str] = []
        self._behind: list[Piece] = []

    def anchor(self, number: int, *, end: bool) -> None:
        """Where a comment begins or ends; one that does in code has all of it."""
        piece = Piece("anchor", sign(number, end=end))
        waits = end and (self._code or self._hidden)
        (self._behind if waits else self.pieces).append(piece)

    def add(self, text: str, marks: frozenset[str], *, code: bool = False, exact: bool = False) -> None:
        """Adds text with marks; in an exact one each space counts."""
        if "hidden" in marks:
            self._hidden.append(text)
            return
        if code and not self._hidden:
            if not self._code:
                self._set(marks)
            self._code.append(text)
            return
        self._flush()
        self._set(marks)
        self.pieces.append(Piece("exact" if exact else "text", text))

    def put(self, piece: Piece, marks: frozenset[str] = frozenset()) -> None:
        """Adds a piece that is no text."""
        self._flush()
        self._set(marks)
        self.pieces.append(piece)

    def link(self, address: str, pieces: list[Piece], title: str) -> None:
        """A link around pieces; a comment on some of them is on all of it."""
        anchors = [piece for piece in pieces if piece.kind == "anchor"]
        self.pieces += (piece for piece in anchors if not ends(piece.text))
        for each in link(clean(address), [piece for piece in pieces if piece.kind != "anchor"], title=clean(title)):
            self.put(each)
        self.pieces += (piece for piece in anchors if ends(piece.text))

    def end(self) -> list[Piece]:
        """The pieces, with every mark closed."""
        self._flush()
        self._set(frozenset())
        return self.pieces

    def _set(self, marks: frozenset[str]) -> None:
        if not self._open and not marks:
            return
        while self._open and not marks.issuperset(self._open):
            self.pieces.append(Piece("close", self._open.pop()))
        for each in _ORDER:
            if each in marks and each not in self._open:
                self.pieces.append(Piece("open", each))
                self._open.append(each)

    def _flush(self) -> None:
        if self._code:
            if code := code_span("".join(self._code)):
                self.pieces.append(Piece("raw", code))
            self._code.clear()
        if self._hidden:
            inside, _ = comment_text("".join(self._hidden).replace("-->", "- ->").replace("\n", " "))
            if made := comment(inside):
                self.pieces.append(Piece("raw", made))
            self._hidden.clear()
        self.pieces += self._behind
        self._behind.clear()
