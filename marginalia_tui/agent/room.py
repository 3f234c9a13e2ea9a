"""The room that the context has for results: they are counted before the next request, and the largest are cut.

The calls of an answer share what is left. Each may take an equal part of it, and what one leaves is there for the
next, so that together they never fill more than there is, and only those larger than their part are cut.
"""

from marginalia_tui.agent.tools import cut_result
from marginalia_tui.llm.tokens import PER_MESSAGE, PER_RESULT, count_tokens

FOR_ANSWER = 0.1
"""The part of the context that is kept for the next answer when its length is not known."""
AT_MOST_FOR_ANSWER = 0.25
LEAST = 300
"""Tokens of a result that are shown however full the context is: less says nothing."""
NOTE = 60
"""Tokens that the word on the cut takes."""


def room_left(cap: int, filled: int, max_output: int) -> int:
    """The tokens that results may still fill; 0 at least.

    Args:
        cap: of the context.
        filled: by the conversation so far.
        max_output: the tokens of an answer; 0 is not known.
    """
    answer = min(max_output or round(cap * FOR_ANSWER), round(cap * AT_MOST_FOR_ANSWER))
    return max(0, cap - filled - answer)


def cut_to_tokens(text: str, tokens: int, ratio: float = 1.0) -> str:
    """A result cut to so many tokens, with a word on how to read on.

    Args:
        text: the result.
        tokens: that it may fill, with all that stands around it.
        ratio: what the model's count is to ours.
    """
    # No text has more tokens than bytes, so most results need not be counted.
    if len(text) * 3 * max(1.0, ratio) + PER_MESSAGE + PER_RESULT <= tokens:
        return text
    counted = (count_tokens(text) + PER_MESSAGE + PER_RESULT) * ratio
    if counted <= tokens:
        return text
    wanted = max(LEAST, tokens - NOTE)
    most = int(len(text) * wanted / counted)
    return cut_result(text, most, "cut-context") if most < len(text) else text
