"""Compaction: a summary, written by the model of the agent, takes the place of what it has read so far.

The rows that it stands for are marked and never deleted, in the one transaction that appends it. Whatever goes wrong
before that changes nothing but the count of tokens; it is told to the model, and tried again some rounds later. What
is known about earlier tries is read off the rows, so that it holds after a crash too.

A conversation that is too large for one request is summarised in pieces (`shrinking`). What the author said, and the
plan, go along word for word (`pinned`).
"""

import logging
import re
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Literal

from marginalia_tui.agent import shrinking, transcript
from marginalia_tui.agent.asking import Asker
from marginalia_tui.agent.choice import refused
from marginalia_tui.agent.context import Fill
from marginalia_tui.agent.definition import AgentDefinition
from marginalia_tui.agent.events import NoticeGiven, RunEvent, UsageCounted
from marginalia_tui.agent.pinned import pinned
from marginalia_tui.agent.prompt import build_request, context_cap, system_parts
from marginalia_tui.agent.runs import Run, add_usage, set_context
from marginalia_tui.agent.setup import RunSetup
from marginalia_tui.agent.tools import ASK_USER, FINISH, REQUEST_COMPACTION
from marginalia_tui.agent.transcript import Entry, Round
from marginalia_tui.domain.chat import Answer, Message, Request
from marginalia_tui.domain.errors import LeaseLost, MarginaliaError, Refused, StoreError
from marginalia_tui.llm.calls import read_arguments
from marginalia_tui.llm.errors import ModelFault, Reason
from marginalia_tui.resources import prompt
from marginalia_tui.store.store import WriteTx

log = logging.getLogger(__name__)

FAILED = "compaction-failed"
"""The notice that a compaction failed; also the name of its text."""
RETRY_ROUNDS = 3
"""Answers after a compaction, or after one that failed, before another is begun without need."""
MAX_TRIES = 3
"""Requests of one compaction that a server may refuse as too long."""
PIECE_PERCENT = 80
"""What a piece, and all that is sent with it, fills of the context."""
_OFTEN = (8, 3)
"""Three summaries among eight answers and summaries: it does not help any more."""
_ANSWER_TOKENS = 2_000
"""What is left free for a summary, in a large context; a sixteenth of a small one."""
_WRITING = "The conversation is being summarised."

_CALL_AS_TEXT = re.compile(r"(?:<tool_call>|```\w*\s*[\[{]|[\[{]\s*[\"{])")
"""How an answer begins that is a call and no summary."""

By = Literal["context", "server", "agent", "author"]


@dataclass(frozen=True, slots=True)
class Wish:
    """Why a conversation is to be summarised.

    `context`: it comes near its cap; `server`: a request was refused as too long; `agent`, `author`: asked for it.
    """

    by: By
    focus: str = ""
    """What is to be kept with special care."""
    must: bool = False
    """The next request can't be sent without it: a failure is no matter of waiting for some rounds."""
    limit: int = 0
    """Tokens that fit, when the server said so; 0 takes what is known."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of it: the rows that the model reads from now on, and why it failed (empty: it did not)."""

    rows: list[Entry]
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Means:
    """What a compaction works with: that of the worker. `write` opens a transaction on the lease of the run.

    `settle` is called in the transaction that ends it, with a summary or without: what asked for it is done then.
    """

    setup: RunSetup
    asker: Asker
    write: Callable[[str], AbstractContextManager[WriteTx]]
    tell: Callable[[RunEvent], None]
    settle: Callable[[WriteTx], object] = lambda tx: None


def due(rows: Sequence[Entry], agent: AgentDefinition, fill: Fill) -> bool:
    """Whether the conversation is to be summarised before the next request.

    Args:
        rows: what the model reads so far.
        agent: says at how many percent.
        fill: what the next request fills; where no cap is known only the server can tell that it is too much.
    """
    if not agent.auto_compact or not fill.reaches(agent.auto_compact) or not _worth_it(rows):
        return False
    # A conversation that is full has no rounds to wait for: without a summary it pauses.
    return fill.is_full or (fill.by_talk and _answers_since_try(rows) >= RETRY_ROUNDS)


def helps_against(error: MarginaliaError, rows: Sequence[Entry], agent: AgentDefinition) -> bool:
    """Whether a request that a model refused would be taken after a compaction."""
    too_long = isinstance(error, ModelFault) and error.fault is Reason.CONTEXT
    return too_long and bool(agent.auto_compact) and _worth_it(rows)


def too_long(error: MarginaliaError) -> Wish:
    """The wish of a server that refused a request as too long."""
    told = error.context_limit if isinstance(error, ModelFault) else None
    return Wish("server", must=True, limit=told or 0)


def asked_for(end: Round) -> Wish | None:
    """The wish of the agent, when the last round has one and neither ends the turn nor was followed by anything."""
    found = end.result_of(REQUEST_COMPACTION)
    if found is None or end.newer or end.result_of(FINISH) or end.result_of(ASK_USER):
        return None
    focus = (read_arguments(found[0].arguments) or {}).get("focus")
    return Wish("agent", focus if isinstance(focus, str) else "")


def _worth_it(rows: Sequence[Entry]) -> bool:
    """Whether there is more to summarise than a summary."""
    return any(row.message.role == "assistant" for row in rows)


def _answers_since_try(rows: Sequence[Entry]) -> int:
    """Answers of the model since the last summary, or the last failure to write one."""
    count = 0
    for row in reversed(rows):
        if row.summary or row.notice == FAILED:
            return count
        count += row.message.role == "assistant"
    return max(count, RETRY_ROUNDS)


def instructions(agent: AgentDefinition, cap: int, wish: Wish, piece: int = 0, most: int = 0) -> str:
    """The last message of the request: the prompt of the agent, else the studio's own, and what belongs to it.

    Args:
        agent: with the prompts that hold for it.
        cap: tokens that fit; a summary is to be a small part of them.
        wish: perhaps with a focus.
        piece: the number of the piece that is summarised; 0 when it is all.
        most: tokens that the model may write in one answer; 0 is not known.
    """
    texts = [agent.compaction_prompt.strip() or prompt("compaction")]
    if piece:
        texts.append(prompt("compaction-piece").format(number=piece))
    words = max(100, min(1_200, cap // 24)) if cap else 1_200
    if most:
        # Small models write more than they are told, and a summary that is cut off is none.
        words = min(words, max(50, most // 3))
    texts.append(prompt("compaction-length").format(words=words))
    if wish.focus.strip():
        texts.append(prompt("compaction-focus").format(focus=wish.focus.strip()[:2_000]))
    return "\n\n".join(texts)


def compact(means: Means, run: Run, rows: Sequence[Entry], wish: Wish) -> Outcome | None:
    """Has the conversation summarised, on the thread of the worker.

    Args:
        means: of the worker.
        run: the run.
        rows: what the model reads so far; every call in them has its result.
        wish: why.

    Returns:
        What the model reads from now on; None when it was given up for a pause or a stop, and nothing is changed.

    Raises:
        LeaseLost: another process took the run over.
        StoreError: the disk refuses.
    """
    writer = _Writer(means, run, rows, wish)
    try:
        writer.check()
        text = writer.write()
    except (LeaseLost, StoreError):
        raise
    except MarginaliaError as error:
        return writer.failed(error.message)
    return None if text is None else writer.replaced(text)


class _Writer:
    """One compaction. An answer is counted when the next one is asked for, the last with what comes of it."""

    def __init__(self, means: Means, run: Run, rows: Sequence[Entry], wish: Wish) -> None:
        self._means, self._run, self._rows, self._wish = means, run, rows, wish
        self._setup = setup = means.setup
        self._cap = min((each for each in (context_cap(setup.agent, setup.model), wish.limit) if each), default=0)
        self._uncounted: Answer | None = None
        self._plain = False
        """Whether the conversation is sent as a text, without the tools."""
        parts = system_parts(setup.agent, setup.model, interactive=run.interactive, singles=sorted(setup.tools.singles))
        self._frame = build_request(parts, (), setup.tools.tools, setup.model.max_output, "none", run=run.uuid)
        """The request of a round without its messages: what its server has kept of the prompt holds."""

    def check(self) -> None:
        """Whether it can help.

        Raises:
            Refused: it can't; the sentence says what else to do.
        """
        if self._setup.model.provider == "offline":
            raise Refused("The proofreader keeps no memory of its own and reads what it did off the conversation.")
        if not _worth_it(self._rows):
            raise Refused("There is nothing to summarise yet.")
        with self._setup.store.read() as tx:
            if self._wish.must and transcript.summed_up_often(tx, self._run.uuid, *_OFTEN):
                raise Refused(
                    "It was summarised again and again, and fills the context still: allow fewer commands, "
                    "or give the agent a model with more context."
                )

    def write(self) -> str | None:
        """The text of the summary; None when it was given up.

        Raises:
            MarginaliaError: there is none; the sentence says why.
        """
        left = shrinking.units_of([row.message for row in self._rows])
        cap, refusals = self._cap, 0
        texts: list[str] = []
        while left:
            request, units = self._next_request(left, cap, len(texts))
            self._count_now()
            try:
                answer = self._ask(request)
            except ModelFault as fault:
                if fault.fault is not Reason.CONTEXT:
                    raise
                refusals += 1
                if refusals == MAX_TRIES:
                    raise Refused(
                        f"{fault.message} {refusals} requests were refused, each shorter than the last."
                    ) from None
                cap = self._smaller(cap, request, fault.context_limit or 0)
                continue
            if answer is None:
                return None
            self._uncounted = answer
            if _ran_full(answer, cap) and refusals + 1 < MAX_TRIES:
                refusals += 1
                cap = self._smaller(cap, request, 0)
                continue
            if not self._plain and _is_call(answer):
                # Small models go on with their work where there are tools, whatever is asked.
                self._plain = True
                continue
            texts.append(_text_of(answer))
            left = left[units:]
        return self._joined(texts)

    def _ask(self, request: Request) -> Answer | None:
        """Asks; a server that can't be told that no call is wanted is asked without that."""
        place = self._rows[-1].ordinal + 1
        try:
            return self._means.asker.ask(request, place, _WRITING)
        except ModelFault as fault:
            if not refused(fault, request.tool_choice):
                raise
        self._frame = replace(self._frame, tool_choice="auto")
        return self._means.asker.ask(replace(request, tool_choice="auto"), place, _WRITING)

    def _next_request(self, left: Sequence[shrinking.Unit], cap: int, written: int) -> tuple[Request, int]:
        """The request for the next piece, and how much of what is left it stands for."""
        setup = self._setup
        models, model = setup.models, setup.model

        def framed(messages: Sequence[Message], piece: int) -> Request:
            said = instructions(setup.agent, cap, self._wish, piece, model.max_output)
            if not self._plain:
                return replace(self._frame, messages=(*messages, Message(role="user", text=said)))
            told = Message(role="user", text=f"{shrinking.as_text(messages)}\n\n{said}")
            return Request(system=prompt("compaction-bare"), messages=(told,), max_output=model.max_output)

        everything = framed([message for unit in left for message in unit], 0)
        if not written and (not cap or models.count(model, everything) <= cap - min(_ANSWER_TOKENS, cap // 16)):
            return everything, len(left)
        part = cap * PIECE_PERCENT // 100
        if models.count(model, framed((), 1)) * 2 > part:
            # Instructions and tools fill too much: a summary can be written without them.
            self._plain = True
        part -= models.count(model, framed((), 1))
        room = part if written else part + cap * (100 - PIECE_PERCENT) // 100 - min(_ANSWER_TOKENS, cap // 16)
        piece = shrinking.next_piece(
            left, room, part, lambda these: models.count(model, Request(system="", messages=tuple(these)))
        )
        number = written + 1 if written or piece.units < len(left) else 0
        return framed(piece.messages, number), piece.units

    def _smaller(self, cap: int, request: Request, told: int) -> int:
        """The cap of the next try, after a request that did not fit."""
        size = self._setup.models.count(self._setup.model, request) * PIECE_PERCENT // 100
        return min(each for each in (cap, told, size) if each)

    def _joined(self, texts: Sequence[str]) -> str:
        """The summaries of the pieces in their order; together they leave most of the context free."""
        if len(texts) == 1:
            return texts[0]
        most = max(400, self._cap * 4 // 3 // len(texts)) if self._cap else 8_000
        return "\n\n".join(shrinking.shorten_text(text, most) for text in texts)

    def _count_now(self) -> None:
        if self._uncounted is not None:
            with self._means.write("summary") as tx:
                self._count(tx)

    def _count(self, tx: WriteTx) -> None:
        """Counts the last answer as a round."""
        answer, model = self._uncounted, self._setup.model
        if answer is None:
            return
        usage = answer.usage
        cost = (usage.prompt * model.price_in + usage.completion * model.price_out) / 1_000_000
        add_usage(tx, self._run.uuid, usage, cost, answer.seconds)
        self._uncounted = None
        self._means.tell(UsageCounted(usage.prompt, usage.completion, usage.cached, usage.context))

    def replaced(self, text: str) -> Outcome:
        """Puts the summary in the place of the rows."""
        run, answer = self._run, self._uncounted
        assert answer is not None
        with self._means.write("summary") as tx:
            self._means.settle(tx)
            behind = pinned(tx, run, self._rows, self._cap)
            why = prompt("compacted-context" if self._wish.by == "server" else f"compacted-{self._wish.by}")
            whole = prompt("compacted").format(why=why, text="\n\n".join(filter(None, (text, behind))))
            telemetry = transcript.telemetry_of(answer, 0)
            entry = transcript.replace_by_summary(tx, run.uuid, whole, seconds=answer.seconds, telemetry=telemetry)
            self._count(tx)
            after = replace(self._frame, messages=(entry.message,))
            set_context(tx, run.uuid, self._setup.models.count(self._setup.model, after))
        log.info("run %s: %d rows summarised in %d characters", run.uuid, len(self._rows), len(whole))
        self._means.tell(NoticeGiven(whole))
        return Outcome([entry])

    def failed(self, why: str) -> Outcome:
        """Tells that there is no summary; the rows stay what they are."""
        # Why is for the transcript: what a server says may repeat what it was sent.
        log.info("run %s: no summary", self._run.uuid)
        told = Message(role="user", text=prompt(FAILED).format(why=why))
        with self._means.write("summary") as tx:
            self._means.settle(tx)
            self._count(tx)
            entry = transcript.append(tx, self._run.uuid, told, notice=FAILED)
        self._means.tell(NoticeGiven(told.text))
        return Outcome([*self._rows, entry], f"The conversation could not be summarised. {why}")


def _ran_full(answer: Answer, cap: int) -> bool:
    """Whether an answer was cut off since there was no room for it behind its request."""
    return bool(cap) and answer.finish == "length" and answer.usage.context * 100 >= cap * 95


def _is_call(answer: Answer) -> bool:
    """Whether a model went on with its work instead: it called, or wrote a call as text."""
    text = answer.text.strip()
    return bool(answer.calls) if not text else bool(_CALL_AS_TEXT.match(text))


def _text_of(answer: Answer) -> str:
    """The words of an answer that is a summary. Calls beside them are dropped.

    Raises:
        Refused: it is none.
    """
    text = answer.text.strip()
    if _is_call(answer):
        raise Refused("The model called a tool instead of writing a summary.")
    if not text:
        raise Refused("The model wrote no summary.")
    if answer.finish == "length":
        raise Refused("The summary was cut off: let the model write longer answers.")
    if not answer.complete:
        raise Refused("The summary broke off before its end.")
    return text
