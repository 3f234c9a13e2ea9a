"""The proofreader as a provider: its answers come as the events of any model, at a pace that can be read."""

import asyncio
import re
from collections.abc import AsyncIterator
from functools import lru_cache

from marginalia_tui.domain.chat import (
    CallArguments,
    CallStarted,
    Finished,
    Message,
    ModelDefinition,
    Request,
    StreamEvent,
    TextDelta,
    Usage,
    UsageReported,
)
from marginalia_tui.llm.offline.proofreader import Reply, reply
from marginalia_tui.llm.tokens import count_request, count_tokens

WORDS_A_SECOND = 40.0
_PIECE = re.compile(r"\s*\S+\s*?(?=\s|$)|\s+$")
ARGUMENT_PIECE = 48
"""Characters of arguments that come at once."""


class OfflineProvider:
    """Answers by rules, deterministically; holds no state, so that one serves any number of runs.

    Args:
        pace: words a second; 0 for as fast as can be.
    """

    def __init__(self, pace: float = WORDS_A_SECOND) -> None:
        self._wait = 1.0 / pace if pace > 0 else 0.0

    async def stream(self, definition: ModelDefinition, request: Request) -> AsyncIterator[StreamEvent]:
        """The answer to a request. It can be cancelled before every piece.

        Yields:
            Text word by word, then each call with its arguments in pieces, the usage, the end.
        """
        # The rules may read a whole book: that is no work for the loop that all requests share.
        answer, prompt, completion = await asyncio.to_thread(_answer, request)
        for piece in _PIECE.findall(answer.text):
            await asyncio.sleep(self._wait)
            yield TextDelta(piece)
        for index, call in enumerate(answer.calls):
            await asyncio.sleep(self._wait)
            yield CallStarted(index, call.id, call.name)
            for start in range(0, len(call.arguments), ARGUMENT_PIECE):
                await asyncio.sleep(self._wait)
                yield CallArguments(index, call.arguments[start : start + ARGUMENT_PIECE])
        yield UsageReported(Usage(prompt=prompt, completion=completion))
        yield Finished("calls" if answer.calls else "stop")


def _answer(request: Request) -> tuple[Reply, int, int]:
    """The answer with the tokens of the request and of itself."""
    answer = reply(request)
    said = count_tokens(answer.text)
    called = sum(count_tokens(call.name) + count_tokens(call.arguments) for call in answer.calls)
    return answer, _count(request), said + called


def _count(request: Request) -> int:
    """What `count_request` says, each message counted once for all requests that it is in."""
    rest = count_request(Request(system=request.system, messages=(), tools=request.tools))
    return rest + sum(map(_count_message, request.messages))


@lru_cache(maxsize=4096)
def _count_message(message: Message) -> int:
    alone = count_request(Request(system="", messages=(message,)))
    return alone - count_request(Request(system="", messages=()))
