"""Heights of many blocks, with the way from a line to a block and back in logarithmic time."""

from collections.abc import Iterable


class HeightIndex:
    """A list of heights (lines, 0 or more) that knows its sums: a Fenwick tree.

    Args:
        heights: one for each block, from the top.
    """

    def __init__(self, heights: Iterable[int] = ()) -> None:
        self._heights: list[int] = []
        self._tree: list[int] = [0]
        self.total = 0
        self.extend(heights)

    def __len__(self) -> int:
        return len(self._heights)

    def __getitem__(self, index: int) -> int:
        return self._heights[index]

    def append(self, height: int) -> None:
        """Adds a block at the end."""
        self._heights.append(height)
        place = len(self._heights)
        value = height
        below = place - 1
        while below > place - (place & -place):
            value += self._tree[below]
            below -= below & -below
        self._tree.append(value)
        self.total += height

    def extend(self, heights: Iterable[int]) -> None:
        """Adds blocks at the end."""
        for height in heights:
            self.append(height)

    def truncate(self, count: int) -> None:
        """Keeps the first `count` blocks."""
        self.total = self.start(count)
        del self._heights[count:]
        del self._tree[count + 1 :]

    def set(self, index: int, height: int) -> int:
        """Gives a block another height; answers the difference."""
        change = height - self._heights[index]
        if change:
            self._heights[index] = height
            self.total += change
            place = index + 1
            while place < len(self._tree):
                self._tree[place] += change
                place += place & -place
        return change

    def start(self, index: int) -> int:
        """The line at which a block begins; `len` gives the total."""
        total = 0
        place = index
        while place:
            total += self._tree[place]
            place -= place & -place
        return total

    def find(self, line: int) -> tuple[int, int]:
        """The block that holds a line, and how many of its lines stand above that line.

        A line beyond the end gives the end of the last block that has a height; no block at all gives (0, 0).
        """
        line = max(0, min(line, self.total - 1))
        place = 0
        step = 1 << len(self._heights).bit_length()
        rest = line
        while step:
            further = place + step
            if further < len(self._tree) and self._tree[further] <= rest:
                place = further
                rest -= self._tree[further]
            step >>= 1
        return (place, rest) if place < len(self._heights) else (max(0, len(self._heights) - 1), 0)
