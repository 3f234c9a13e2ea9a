"""Books to measure with: parts of about 4 KB of words, each its own."""

import random

from marginalia_tui.domain.clock import SystemClock
from marginalia_tui.domain.items import Book, Item, Part

PART_BYTES = 4096


class Author:
    """Writes the same books again for the same seed, under keys as the product makes them."""

    def __init__(self, seed: int) -> None:
        self._clock = SystemClock()
        self._random = random.Random(seed)
        letters = "eeeetttaaooiinnsshhrrddlluucmwfgypbvk"
        self._words = ["".join(self._random.choices(letters, k=self._random.randint(2, 9))) for _ in range(5000)]

    def text(self) -> str:
        """About 4 KB of words."""
        return " ".join(self._random.choices(self._words, k=720))[:PART_BYTES]

    def book(self, uuid: str, parts: int) -> list[Item]:
        """A book of one chain of parts, with data on every part."""
        made = [
            Part(
                uuid=self._clock.new_uuid(),
                book=uuid,
                created=place,
                title=f"Chapter {place}",
                text=self.text(),
                attributes={"mood": self._random.choice(["dark", "light"])},
            )
            for place in range(1, parts + 1)
        ]
        chained: list[Item] = [Book(uuid=uuid, title=f"The book {uuid}", active_leaf=made[-1].uuid)]
        before: str | None = None
        for part in made:
            chained.append(_after(part, before))
            before = part.uuid
        return chained


def _after(part: Part, parent: str | None) -> Part:
    return Part(
        uuid=part.uuid, book=part.book, parent=parent, created=part.created, title=part.title, text=part.text,
        attributes=part.attributes,
    )  # fmt: skip
