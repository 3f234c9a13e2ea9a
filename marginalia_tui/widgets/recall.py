"""The lines that were run before: walked through, searched, gone on with. Values only."""

from collections.abc import Sequence

FOUND = 50
"""Lines that a search gives."""


class Recall:
    """Past lines, and where in them the author is.

    `lines` has the newest last; `walk` is how far back, 0 in what is being typed.
    """

    def __init__(self) -> None:
        self.lines: Sequence[str] = ()
        self.walk = 0
        self._draft = ""

    def step(self, step: int, typed: str) -> str | None:
        """Goes back by a step, or forth by a negative one.

        Args:
            step: 1 or -1.
            typed: what stands in the line, which is given again at the end of the way forth.

        Returns:
            The line there; None where there is none further.
        """
        if self.walk == 0:
            self._draft = typed
        walk = max(0, min(self.walk + step, len(self.lines)))
        if walk == self.walk:
            return None
        self.walk = walk
        return self.lines[-walk] if walk else self._draft

    def going_on(self, typed: str) -> str:
        """The newest line that begins with what is typed and goes on; empty when there is none."""
        return next((line for line in reversed(self.lines) if line != typed and line.startswith(typed)), "")

    def search(self, typed: str) -> list[str]:
        """The lines that have all the words, in any case, the newest first."""
        words = typed.casefold().split()
        found: list[str] = []
        for line in reversed(self.lines):
            folded = line.casefold()
            if all(word in folded for word in words):
                found.append(line)
                if len(found) == FOUND:
                    break
        return found
