import asyncio
import time

import pytest

from marginalia_tui.domain.chat import (
    Call,
    CallArguments,
    CallStarted,
    Finished,
    Message,
    ModelDefinition,
    Request,
    StreamEvent,
    TextDelta,
    UsageReported,
)
from marginalia_tui.llm.offline.proofreader import reply
from marginalia_tui.llm.offline.provider import OfflineProvider
from marginalia_tui.llm.tokens import count_request
from tests.llm.offline.fakes import FakeBook, FakeRun, tools

MODEL = ModelDefinition(name="offline", provider="offline")
SLIPPED = "She went to the the door of the house in the evening.\n\nIt was late  and the boats were in ."


def events(request: Request, pace: float = 0) -> list[StreamEvent]:
    async def gather() -> list[StreamEvent]:
        return [event async for event in OfflineProvider(pace).stream(MODEL, request)]

    return asyncio.run(gather())


def request_of(rounds: int) -> Request:
    run = FakeRun(FakeBook([SLIPPED]))
    for _ in range(rounds):
        run.round()
    return run.request()


@pytest.mark.parametrize("rounds", [0, 1, 2, 3])
def test_the_events_make_the_answer(rounds: int) -> None:
    request = request_of(rounds)
    expected = reply(request)
    seen = events(request)
    assert "".join(event.text for event in seen if isinstance(event, TextDelta)) == expected.text
    calls: list[Call] = []
    for event in seen:
        if isinstance(event, CallStarted):
            assert event.index == len(calls)
            calls.append(Call(event.id, event.name, ""))
        elif isinstance(event, CallArguments):
            last = calls[event.index]
            calls[event.index] = Call(last.id, last.name, last.arguments + event.text)
    assert tuple(calls) == expected.calls
    assert seen[-1] == Finished("calls" if expected.calls else "stop")


def test_text_comes_word_by_word() -> None:
    pieces = [event.text for event in events(request_of(0)) if isinstance(event, TextDelta)]
    assert len(pieces) > 20
    assert all(len(piece.split()) <= 1 for piece in pieces)


def test_usage_is_counted_as_the_studio_counts() -> None:
    for rounds in (0, 1, 3):
        request = request_of(rounds)
        (reported,) = [event for event in events(request) if isinstance(event, UsageReported)]
        assert reported.usage.prompt == count_request(request)
        assert reported.usage.completion > 0


def test_an_answer_without_calls_stops() -> None:
    assert events(Request(system="", messages=(Message(role="user", text="Hi"),)))[-1] == Finished("stop")


def test_the_pace_is_kept() -> None:
    request = request_of(0)
    words = len(reply(request).text.split())
    began = time.monotonic()
    events(request, pace=400)
    assert time.monotonic() - began >= words / 400 * 0.9


def test_it_can_be_cancelled_between_two_words() -> None:
    async def first_word_then_cancel() -> list[StreamEvent]:
        seen: list[StreamEvent] = []
        arrived = asyncio.Event()

        async def listen() -> None:
            async for event in OfflineProvider(pace=1).stream(MODEL, request_of(0)):
                seen.append(event)
                arrived.set()

        task = asyncio.create_task(listen())
        await arrived.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return seen

    assert len(asyncio.run(first_word_then_cancel())) == 1


def test_one_provider_serves_several_runs_at_once() -> None:
    async def both() -> tuple[list[StreamEvent], list[StreamEvent]]:
        provider = OfflineProvider(pace=0)

        async def gather(request: Request) -> list[StreamEvent]:
            return [event async for event in provider.stream(MODEL, request)]

        one, other = await asyncio.gather(gather(request_of(1)), gather(request_of(2)))
        return one, other

    one, other = asyncio.run(both())
    assert one == events(request_of(1)) and other == events(request_of(2))


def test_no_tools_no_calls() -> None:
    assert not [
        event
        for event in events(Request(system="", messages=(), tools=tools("finish")))
        if isinstance(event, CallStarted) and event.name != "finish"
    ]
