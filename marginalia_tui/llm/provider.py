"""What a wire format must offer."""

from collections.abc import AsyncIterator
from typing import Protocol

from marginalia_tui.domain.chat import ModelDefinition, Request, StreamEvent


class Provider(Protocol):
    """Asks a model once and gives its answer as events. It runs on the loop of `Models` and never blocks it."""

    def stream(self, definition: ModelDefinition, request: Request) -> AsyncIterator[StreamEvent]:
        """Ask, once.

        Whoever asks closes the iterator; closing it closes the connection. A provider that keeps connections has
        an `async def aclose()`, called when the models are closed.

        Yields:
            The events of the answer; without a `Finished` at its end the answer was cut off.

        Raises:
            ModelError: the model did not answer, or broke off with an error.
        """
        ...
