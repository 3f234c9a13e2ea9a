"""How many requests a model gets at once: first come, first served.

Lives on the loop of `Models`, so it needs no lock. The limit is that of the definition of whoever asks, so a
change of the settings holds from the next request on.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field


@dataclass(slots=True)
class _Queue:
    working: int = 0
    limit: int = 1
    waiting: deque[asyncio.Future[None]] = field(default_factory=deque)


class Gate:
    """One queue for each model."""

    def __init__(self) -> None:
        self._queues: dict[str, _Queue] = {}

    @asynccontextmanager
    async def turn(self, name: str, limit: int) -> AsyncIterator[None]:
        """Wait for a turn of the model `name`, of which `limit` (at least 1) are out at once."""
        queue = self._queues.setdefault(name, _Queue())
        queue.limit = max(1, limit)
        if queue.waiting or queue.working >= queue.limit:
            await self._wait(queue)
        else:
            queue.working += 1
        try:
            yield
        finally:
            queue.working -= 1
            _call_next(queue)
            if not queue.working and not queue.waiting:
                self._queues.pop(name, None)

    async def _wait(self, queue: _Queue) -> None:
        turn = asyncio.get_running_loop().create_future()
        queue.waiting.append(turn)
        _call_next(queue)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                # The turn was given and nobody takes it: it goes on to the next.
                queue.working -= 1
                _call_next(queue)
            elif turn in queue.waiting:
                queue.waiting.remove(turn)
            raise


def _call_next(queue: _Queue) -> None:
    while queue.waiting and queue.working < queue.limit:
        turn = queue.waiting.popleft()
        if not turn.done():
            queue.working += 1
            turn.set_result(None)
