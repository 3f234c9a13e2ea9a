"""The models of the studio: one door for every question.

`Models` owns one asyncio loop in one daemon thread; all requests live there as tasks. Whoever asks gets a
`Pending` and waits on its future in a thread of their own. It holds:

- events are given on the loop's thread, in order, all of them before the future is done; what they call must be
  quick and must not wait;
- cancelling ends the task at once, which closes the connection; the future is done when it is closed;
- only the start of a request is tried again, never once an event has been given;
- a model gets as many requests at once as its definition says, first come, first served.
"""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from marginalia_tui.domain.chat import Answer, ModelDefinition, Request, StreamEvent, Usage
from marginalia_tui.domain.errors import Cancelled
from marginalia_tui.llm.answer import Accumulator
from marginalia_tui.llm.errors import ModelFault
from marginalia_tui.llm.gate import Gate
from marginalia_tui.llm.keys import Keys
from marginalia_tui.llm.openai_chat import output_limit
from marginalia_tui.llm.provider import Provider
from marginalia_tui.llm.retry import Retries, Waiting, waiting
from marginalia_tui.llm.tokens import Correction, RequestCounter, count_answer

if TYPE_CHECKING:
    from marginalia_tui.llm.http import OpenAIProvider

OnEvent = Callable[[StreamEvent], None]
OnWait = Callable[[Waiting], None]

CLOSING = 2.0
"""Seconds that closing takes at most."""

Source = Callable[[Provider], AsyncIterator[StreamEvent]]


class Pending:
    """A question that was asked.

    Attributes:
        future: the answer. It fails with a `ModelError` when the model did not answer, with `Cancelled` when the
            question was given up, with anything else when the studio has a fault.
    """

    def __init__(self, gathered: Accumulator, loop: asyncio.AbstractEventLoop) -> None:
        self.future: Future[Answer] = Future()
        self.future.set_running_or_notify_cancel()
        self._gathered = gathered
        self._loop = loop
        self._task: asyncio.Task[Answer] | None = None
        self._given_up = False

    @property
    def given_up(self) -> bool:
        """Whether it was cancelled; no event is given from then on."""
        return self._given_up

    def partial(self) -> Answer:
        """What has come so far; from any thread."""
        return self._gathered.answer()

    def cancel(self) -> None:
        """Give the question up: close its connection. The future is done a moment later. From any thread."""
        if self._given_up or self.future.done():
            return
        self._given_up = True
        with suppress(RuntimeError):  # the loop is closed: then so is the connection
            self._loop.call_soon_threadsafe(self._end)

    def _end(self) -> None:
        # Once only: httpcore loses a connection when a task is cancelled while it cleans up.
        if self._task is not None:
            self._task.cancel()

    def _follow(self, task: asyncio.Task[Answer]) -> None:
        self._task = task
        task.add_done_callback(self._settle)

    def _settle(self, task: asyncio.Task[Answer]) -> None:
        if task.cancelled():
            self._fail(Cancelled("The question to the model was given up."))
            return
        error = task.exception()
        if error is not None:
            self._fail(error)
        else:
            with suppress(InvalidStateError):
                self.future.set_result(task.result())

    def _fail(self, error: BaseException) -> None:
        with suppress(InvalidStateError):  # closing was quicker
            self.future.set_exception(error)


class Models:
    """Asks language models.

    Args:
        keys: where keys come from.
        retries: when the start of a request is tried again.
        check: called on the thread that asks, before a question begins; the studio gives the store's check that
            no write transaction is open there.
    """

    def __init__(self, keys: Keys, *, retries: Retries | None = None, check: Callable[[], None] | None = None) -> None:
        self._keys = keys
        self._retries = retries or Retries()
        self._check = check
        self._providers: dict[str, Provider] = {}
        self._corrections: dict[str, Correction] = {}
        self._counter = RequestCounter()
        self._gate = Gate()
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._pending: set[Pending] = set()
        self._closed = False

    def register(self, name: str, provider: Provider) -> None:
        """Offer a provider under the name that definitions call it by."""
        self._providers[name] = provider

    def ask(
        self,
        definition: ModelDefinition,
        request: Request,
        on_event: OnEvent | None = None,
        *,
        on_wait: OnWait | None = None,
    ) -> Pending:
        """Ask a model; returns at once.

        Args:
            definition: the model.
            request: what is asked.
            on_event: gets every event as it comes, on the loop's thread.
            on_wait: is told before each wait for another try, on the loop's thread.

        Raises:
            Cancelled: the models are closed.
        """
        gathered = Accumulator(output_limit(definition, request))
        estimated = self._counter.count(request)
        return self._start(
            definition, lambda provider: provider.stream(definition, request), gathered, estimated, on_event, on_wait
        )

    def ask_body(self, definition: ModelDefinition, body: dict[str, Any]) -> Pending:
        """Send a body in the wire form of the provider `openai`, for what a `Request` can't say.

        Raises:
            Cancelled: the models are closed.
            ValueError: the model has another provider.
        """
        if definition.provider != "openai":
            raise ValueError(f"{definition.provider!r} has no wire form")
        return self._start(
            definition, lambda provider: cast("OpenAIProvider", provider).send(definition, body), Accumulator(), 0
        )

    def count(self, definition: ModelDefinition, request: Request) -> int:
        """Tokens of the prompt of a request, corrected by what the model's server has reported."""
        return self.correction(definition).apply(self._counter.count(request))

    def correction(self, definition: ModelDefinition) -> Correction:
        """What is known of how a model counts."""
        return self._corrections.get(definition.name, Correction())

    def close(self) -> None:
        """Give up every question and end the thread, within `CLOSING` seconds. Again is nothing."""
        with self._lock:
            self._closed = True
            loop, self._loop = self._loop, None
            thread = self._thread
        if loop is None or thread is None:
            return
        if threading.current_thread() is thread:
            raise RuntimeError("the models can't be closed from a callback of an answer")
        for pending in list(self._pending):
            pending.cancel()
        loop.call_soon_threadsafe(lambda: loop.create_task(self._shut(loop)))
        thread.join(CLOSING)
        for pending in list(self._pending):
            pending._fail(Cancelled("The studio is closing."))

    def _start(
        self,
        definition: ModelDefinition,
        source: Source,
        gathered: Accumulator,
        estimated: int,
        on_event: OnEvent | None = None,
        on_wait: OnWait | None = None,
    ) -> Pending:
        if self._check is not None:
            self._check()
        with self._lock:
            if self._closed:
                raise Cancelled("The studio is closing: ask again when it is open.")
            loop = self._running_loop()
            pending = Pending(gathered, loop)
            self._pending.add(pending)
            pending.future.add_done_callback(lambda _: self._pending.discard(pending))
            question = _Question(definition, source, pending, gathered, estimated, on_event, on_wait)
            loop.call_soon_threadsafe(lambda: pending._follow(loop.create_task(self._answer(question))))
        return pending

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(target=_run, args=(self._loop,), name="models", daemon=True)
            self._thread.start()
        return self._loop

    async def _answer(self, question: "_Question") -> Answer:
        definition, gathered = question.definition, question.gathered
        provider = self._provider(definition)
        async with self._gate.turn(definition.name, definition.concurrent):
            attempt = 1
            while True:
                gathered.restart()
                try:
                    await _follow(question, question.source(provider))
                except ModelFault as fault:
                    seconds = None if question.begun else self._retries.wait(fault, attempt)
                    if seconds is None:
                        fault.partial = gathered.answer() if gathered.begun else None
                        raise
                    attempt += 1
                    if question.on_wait is not None:
                        question.on_wait(waiting(fault, seconds, attempt))
                    await asyncio.sleep(seconds)
                else:
                    break
        return self._counted(definition, gathered.answer(), question.estimated)

    def _counted(self, definition: ModelDefinition, answer: Answer, estimated: int) -> Answer:
        """Learn from the server's count, or put our own in its place."""
        known = self.correction(definition)
        if answer.usage_estimated:
            return replace(answer, usage=Usage(known.apply(estimated), known.apply(count_answer(answer))))
        self._corrections[definition.name] = known.learned(estimated, answer.usage.prompt)
        return answer

    def _provider(self, definition: ModelDefinition) -> Provider:
        provider = self._providers.get(definition.provider)
        if provider is None and definition.provider == "openai":
            # Here, since the import of httpx takes a time that the first screen does not have.
            from marginalia_tui.llm.http import OpenAIProvider

            provider = self._providers["openai"] = OpenAIProvider(self._keys)
        if provider is None:
            raise RuntimeError(f"no provider {definition.provider!r} is registered")
        return provider

    async def _shut(self, loop: asyncio.AbstractEventLoop) -> None:
        """End what is left on the loop, then the loop."""
        rest = asyncio.all_tasks(loop) - {asyncio.current_task()}
        try:
            if rest:
                await asyncio.wait(rest, timeout=CLOSING / 2)
            for provider in self._providers.values():
                aclose = getattr(provider, "aclose", None)
                if aclose is not None:
                    await aclose()
        finally:
            loop.stop()


@dataclass(slots=True)
class _Question:
    definition: ModelDefinition
    source: Source
    pending: Pending
    gathered: Accumulator
    estimated: int
    on_event: OnEvent | None = None
    on_wait: OnWait | None = None
    begun: bool = False


async def _follow(question: _Question, events: AsyncIterator[StreamEvent]) -> None:
    """Take the events of one try; the iterator, and with it the connection, is closed whatever happens."""
    try:
        async for event in events:
            if question.pending.given_up:
                # Events that came in one piece follow each other without a moment at which a task can be cancelled.
                raise asyncio.CancelledError
            question.begun = True
            question.gathered.add(event)
            if question.on_event is not None:
                question.on_event(event)
    finally:
        aclose = getattr(events, "aclose", None)
        if aclose is not None:
            await aclose()


def _run(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
    finally:
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()
