"""Counting tokens without a tokenizer.

Every model has its own, none of them is here, and asking costs a request. What the tokenizers of today share
is counted instead: a common word is one token, a long or a rare one several, by its length; a proper name is
dearer than a word; a sign is about one; characters of other scripts have a price each. The prices are averages
that were measured on public models over English, Chinese and other prose, so a count is right for a chapter
and not for a word. A server that reports its own counts corrects the rest (`Correction`).
"""

import json
import re
import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from operator import is_

from marginalia_tui.domain.chat import Answer, Message, Request, Tool

_WORD = re.compile(r"[A-Z\u00c0-\u00de]?[a-z\u00df-\u024f\u1e00-\u1eff]+|[A-Z\u00c0-\u00de]+")
_DIGIT = re.compile(r"[0-9]")
_SIGNS = re.compile(r"[!-/:-@\[-`{-~]+")
_BLANKS = re.compile(r"\s*\n\s*|[^\S\n]{2,}")
_OTHER = re.compile(r"[^\x00-\x7f\u00c0-\u024f\u1e00-\u1eff]+")

_LOWER = (0, 1, 1, 1.01, 1.02, 1.06, 1.18, 1.28, 1.4, 1.5, 1.7, 1.9, 1.95, 2.15, 2.3)
"""Tokens of a word in small letters, by its length."""
_PROPER = (0, 1, 1.02, 1.05, 1.21, 1.35, 1.75, 1.6, 2.3, 2.35, 2.4, 2.8, 2.8, 3, 3.2)
"""Tokens of a word with a capital: the start of a sentence, or a name."""
_CAPITALS = 0.5
"""Tokens of a letter in a word of capitals."""
_LONG = 0.25
"""Tokens of each letter past the tables."""
_ACCENT = 0.6
"""Added for a letter with an accent: the word is seldom whole in a vocabulary."""
_FOREIGN = 1.15
"""A language in Latin letters that is not English: its words are cut into more pieces."""
_ENGLISH = ("the", "and", "of", "to", "in", "a", "is", "that")

_COMMON_HAN = frozenset("的了们这那么着过是在说个就把你她它没吗呢吧还都给让們這麼著過說個沒還給讓")
_CLASSICAL_HAN = frozenset("曰乃遂吾汝矣皆亦卿兮哉焉")
_TRADITIONAL_HAN = frozenset("們這說個為會時無後國學來過還對見問與開長門書話將東車")

_SCRIPTS: tuple[tuple[int, int, float], ...] = (
    (0x0370, 0x03FF, 0.95),  # Greek
    (0x0400, 0x052F, 0.43),  # Cyrillic
    (0x0530, 0x058F, 1.0),  # Armenian
    (0x0590, 0x05FF, 0.46),  # Hebrew
    (0x0600, 0x06FF, 0.47),  # Arabic
    (0x0900, 0x0DFF, 0.94),  # Indic
    (0x0E00, 0x0E7F, 0.57),  # Thai
    (0x1100, 0x11FF, 0.85),  # Hangul, apart
    (0x2000, 0x206F, 0.75),  # dashes, quotation marks
    (0x3000, 0x303F, 0.95),  # signs of Chinese and Japanese
    (0x3040, 0x30FF, 0.66),  # kana
    (0xAC00, 0xD7AF, 0.85),  # Hangul
    (0xFE30, 0xFE4F, 0.95),
    (0xFF00, 0xFFEF, 0.95),  # full width
    (0x1F000, 0x1FFFF, 2.2),  # pictures
)
_FORMAT = frozenset("\u200b\u200c\u200d\u2060\ufe0e\ufe0f")

PER_MESSAGE = 4
"""Tokens that a message costs beside its text: its role and its marks."""
PER_CALL = 20
PER_RESULT = 4
PER_TOOL = 28
"""Tokens of a call, its result and a tool beside their JSON: what templates of today put around them."""
START = 3
COUNTED = 8
"""Conversations whose counts are kept: those of the runs that work at once, and a few more."""


def count_tokens(text: str) -> int:
    """Tokens of a text, about."""
    if not text:
        return 0
    total = _words(text)
    total += len(_DIGIT.findall(text))
    total += sum(_sign_run(run) * times for run, times in Counter(_SIGNS.findall(text)).items())
    total += len(_BLANKS.findall(text))
    if not text.isascii():
        total += _others(Counter("".join(_OTHER.findall(text))))
    return max(1, round(total))


def _words(text: str) -> float:
    words = Counter(_WORD.findall(text))
    total = sum(_word(word) * times for word, times in words.items())
    if sum(words.values()) > 40:
        # Short or odd texts are left alone: they say too little about their language.
        english = sum(words[word] for word in _ENGLISH) / sum(words.values())
        if english < 0.06:
            total *= _FOREIGN
    return total


def _word(word: str) -> float:
    size = len(word)
    if size > 1 and word.isupper():
        return max(1.0, _CAPITALS * size)
    table = _PROPER if word[0].isupper() else _LOWER
    cost = table[size] if size < len(table) else table[-1] + _LONG * (size - len(table) + 1)
    if word.isascii():
        return cost
    return cost + _ACCENT * sum("\u00c0" <= letter <= "\u024f" for letter in word)


def _sign_run(run: str) -> float:
    """Signs that stand together are often one token: quotation mark and comma, a rule of dashes."""
    return 0.95 + 0.15 * (len(run) - 1)


def _others(counts: Counter[str]) -> float:
    han = sum(times for sign, times in counts.items() if _is_han(sign))
    total = han * _han_price(counts) if han else 0.0
    for sign, times in counts.items():
        if not _is_han(sign):
            total += _price(sign) * times
    return total


def _is_han(sign: str) -> bool:
    return "\u3400" <= sign <= "\u9fff" or "\uf900" <= sign <= "\ufaff" or "\U00020000" <= sign <= "\U0003fffd"


def _han_price(counts: Counter[str]) -> float:
    """Tokens of a Han character: modern prose is full of words of two, the classical language is not."""
    common = sum(counts[sign] for sign in _COMMON_HAN)
    classical = sum(counts[sign] for sign in _CLASSICAL_HAN)
    share = classical / (common + classical) if common + classical else 0.1
    price = 0.57 + 0.39 * min(1.0, max(0.0, (share - 0.1) / 0.35))
    marked = sum(counts[sign] for sign in _TRADITIONAL_HAN)
    return min(0.98, price + (0.18 if common and marked > 0.3 * common else 0.0))


def _price(sign: str) -> float:
    if sign in _FORMAT:
        return 2.0
    point = ord(sign)
    for first, last, price in _SCRIPTS:
        if first <= point <= last:
            return price
    return 1.0


def count_request(request: Request) -> int:
    """Tokens of the prompt that a request becomes, about."""
    return START + sum(map(count_message, request.messages)) + count_frame(request.system, request.tools)


def count_frame(system: str, tools: Sequence[Tool]) -> int:
    """Tokens of what stands before the messages of a request, about."""
    return (PER_MESSAGE + count_tokens(system) if system else 0) + sum(map(_tool, tools))


class RequestCounter:
    """Counts requests of conversations that grow: each message once. Any thread may ask.

    What is kept are the messages of the requests that were counted last, the very same objects.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._latest: list[_Counted] = []

    def count(self, request: Request) -> int:
        """What `count_request` gives."""
        with self._lock:
            found = next((each for each in self._latest if each.begins(request)), None) or _Counted(request)
            self._latest = [found, *(each for each in self._latest if each is not found)][:COUNTED]
            return found.grow(request.messages)


class _Counted:
    """The beginning of one conversation, and its tokens."""

    def __init__(self, request: Request) -> None:
        self._system = request.system
        self._tools = request.tools
        self._seen: list[Message] = []
        self._tokens = START + count_frame(request.system, request.tools)

    def begins(self, request: Request) -> bool:
        return (
            len(self._seen) <= len(request.messages)
            and all(map(is_, self._seen, request.messages))
            and self._system == request.system
            and len(self._tools) == len(request.tools)
            and all(map(is_, self._tools, request.tools))
        )

    def grow(self, messages: Sequence[Message]) -> int:
        more = messages[len(self._seen) :]
        self._tokens += sum(map(count_message, more))
        self._seen.extend(more)
        return self._tokens


def count_message(message: Message) -> int:
    """Tokens of a message, about."""
    total = PER_MESSAGE + count_tokens(message.text)
    if message.role == "tool":
        total += PER_RESULT
    if message.reasoning_field:
        total += count_tokens(message.reasoning)
    return total + sum(PER_CALL + count_tokens(call.name) + count_tokens(call.arguments) for call in message.calls)


def _tool(tool: Tool) -> int:
    schema = json.dumps(tool.parameters, ensure_ascii=False)
    return PER_TOOL + count_tokens(tool.name) + count_tokens(tool.description) + count_tokens(schema)


def count_answer(answer: Answer) -> int:
    """Tokens of an answer, about: what the server would have counted."""
    calls = sum(PER_CALL + count_tokens(call.name) + count_tokens(call.arguments) for call in answer.calls)
    return count_tokens(answer.text) + count_tokens(answer.reasoning) + calls


LEAST_RATIO = 0.4
MOST_RATIO = 3.5
"""Bounds of a correction: a server that reports nonsense can't make us believe that all or nothing fits."""
LEAST_LEARNED = 100
"""Shorter prompts say too little: the template of the model weighs more than the text."""


@dataclass(frozen=True, slots=True)
class Correction:
    """What one model's counts are to ours, learned from what its server reports.

    A value: `learned` gives the next one. `seen` counts the reports it was learned from.
    """

    ratio: float = 1.0
    seen: int = 0

    def apply(self, tokens: int) -> int:
        """Our count as the model would count."""
        return round(tokens * self.ratio)

    def learned(self, estimated: int, reported: int) -> "Correction":
        """The correction after one more report.

        Args:
            estimated: our count of a prompt, uncorrected.
            reported: the server's count of the same prompt.
        """
        if estimated < LEAST_LEARNED or reported <= 0:
            return self
        ratio = min(MOST_RATIO, max(LEAST_RATIO, reported / estimated))
        # The first reports count most; later ones move it slowly, since prompts differ in language.
        weight = max(0.2, 1.0 / (self.seen + 1))
        return Correction(self.ratio + (ratio - self.ratio) * weight, self.seen + 1)
