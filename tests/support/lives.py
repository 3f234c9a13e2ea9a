"""The whole life of a run in small, with a kill in it or a server that fails, and the look at what is there at its end.

Edits, messages and commands of the author that other processes leave while the run works, a summary, a call that waits
and is allowed, notices to a webhook: all of it is to be there exactly once, whatever died in between.
"""

import signal
import sqlite3
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from marginalia_tui.agent import agents, approvals, compaction, errands, inbox, transcript
from marginalia_tui.agent.runs import Run, list_runs
from marginalia_tui.agent.transcript import AUTHOR_COMMAND, Entry
from marginalia_tui.domain.chat import ModelDefinition
from marginalia_tui.domain.runs import RunStatus
from marginalia_tui.resources import prompt
from marginalia_tui.services.models import save_model
from marginalia_tui.settings import Settings, save_settings
from marginalia_tui.store.store import Store
from tests.support import warm
from tests.support.runs import add_book, make_registry, part_texts
from tests.support.scripted_server import (
    Body,
    Mark,
    Reply,
    ScriptedServer,
    calls,
    error,
    json_reply,
    text,
)

TEXTS = ["One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight"]
WANTED = [*(f"{each}\n\n+" for each in TEXTS[:6]), "Seven anew", "Eight\n\n+"]
"""Each appended to once, the sixth by the author; the seventh written anew."""
FIRST, SECOND = "Mind the commas.", "Mind the dashes."
COMMAND = "/append-to-part h:m6 +"
SUMMARY = "Parts 1 to 5 have their plus."
CALLS = 9
"""Of the agent, each made once."""
ROUNDS = 8
CUT_OFF = prompt("cut-call")[:30]
TRIES = 30
"""Processes in the life of a run, at most."""
SECONDS = 60


def _append(*numbers: int) -> Reply:
    return calls(*(("append-to-part", {"part": f"h:m{n}", "text": "+"}) for n in numbers), usage=(100, 10))


STEPS: dict[int, tuple[Reply, tuple[str, str] | None]] = {
    0: (calls(("list-parts", {}), usage=(100, 10)), ("send", FIRST)),
    1: (_append(1, 2), None),
    2: (_append(2), None),
    3: (_append(3), ("command", COMMAND)),
    4: (_append(4, 5), ("command", "/compact")),
    5: (_append(5), None),
    6: (calls(("replace-part-text", {"part": "h:m7", "text": "Seven anew"}), usage=(100, 10)), ("send", SECOND)),
    7: (_append(8), None),
    8: (calls(("finish", {"report": "All of it."}), usage=(100, 10)), None),
}
"""Calls that were made -> what the agent answers, and what the author leaves while it does; 2 and 5 only come up where
the second call of an answer was cut off. The summary comes after the fourth or the sixth call, as the kill has it."""

Disturb = Callable[[int, Reply], Reply]
"""What becomes of the n-th answer of a server, from 1."""


class Wrong(AssertionError):
    """Something is not there exactly once."""


def hold(true: object, what: str) -> None:
    """Says what is wrong unless it is true."""
    if not true:
        raise Wrong(what)


def make_template(home: Path) -> str:
    """A home with a book and an agent whose destructive calls wait; returns the uuid of the book."""
    with closing(Store.open(home)) as store:
        save_model(store, ModelDefinition(name="scripted", base_url="http://127.0.0.1:1/v1", model="scripted"))
        book = add_book(store, TEXTS)
        agent = agents.define_agent(
            uuid=store.clock.new_uuid(),
            book=book,
            name="Corrector",
            model="scripted",
            commands="all",
            destructive="ask",
        )
        agents.add_agent(store, make_registry(), Settings(), agent)
    return book


@dataclass
class Told:
    """What was seen over many lives."""

    kills: Counter[str] = field(default_factory=Counter)
    asked_anew: int = 0
    """Requests that a server had answered to their end and that were asked again: the answer was never committed."""
    cut_off: int = 0
    """Requests whose answer did not come to its end, and that were asked again."""
    notices: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)


class Life:
    """One run from its start to its end.

    Args:
        template: a home of `make_template`, which is copied.
        home: where.
        book: of the template.
        told: what is seen goes there.
        kill_at: the moment at which a process of the run dies, counted over all of them; 0 is none.
        sender_at: the moment at which a process that leaves something for the run dies; 0 is none.
        disturb: what becomes of the answers of the server.
        timeout: seconds of silence after which an answer is given up.
    """

    def __init__(
        self,
        template: Path,
        home: Path,
        book: str,
        told: Told,
        *,
        kill_at: int = 0,
        sender_at: int = 0,
        disturb: Disturb | None = None,
        timeout: float = 20.0,
    ) -> None:
        self.home, self.told, self._book = home, told, book
        self.moments = 0
        """Moments of processes that came to their end."""
        self._left, self._sender_at = kill_at, sender_at
        self._disturb, self._timeout = disturb or (lambda number, reply: reply), timeout
        self._is_pulled = disturb is not None
        self._said: set[str] = set()
        self._asked: dict[str, list[threading.Event]] = {}
        """Where the run stood -> its requests there, set when their answer was sent whole."""
        self._number = 0
        self._summed_up = 0
        """Calls that the summary stands for."""
        self._faults: list[str] = []
        home.mkdir(mode=0o700)
        with (
            closing(sqlite3.connect(template / "studio.db")) as source,
            closing(sqlite3.connect(home / "studio.db")) as copy,
        ):
            source.backup(copy)

    # The server --------------------------------------------------------------------------------------------------

    def _answer(self, body: Body) -> Reply:
        messages = body["messages"]
        whole = threading.Event()
        self._number += 1
        results = [str(each["content"]) for each in messages if each["role"] == "tool"]
        made = len([each for each in results if not each.startswith(CUT_OFF)])
        leaves: tuple[str, str] | None = None
        if "Stop working for a moment." in str(messages[-1]["content"]):
            place, self._summed_up = "summary", made
            reply = text(SUMMARY, usage=(100, 10))
        else:
            made += self._summed_up if any(SUMMARY in str(each["content"]) for each in messages) else 0
            place = f"{made} calls"
            reply, leaves = STEPS.get(made, (error(400, f"Nobody asks after {place}."), None))
        self._asked.setdefault(place, []).append(whole)
        if leaves is not None:
            self._leave(*leaves)
        return self._disturb(self._number, reply).then(Mark(whole))

    def _leave(self, verb: str, words: str) -> None:
        """Another process leaves something for the run, once; one that died in the midst of it is asked what it did."""
        if words in self._said:
            return
        self._said.add(words)
        order = ("run", verb, "latest", words, "--detach")
        done = self._process(self._sender_at, *order)
        self._sender_at = 0
        if done.returncode == -signal.SIGKILL:
            self.told.kills["who leaves a message"] += 1
            if self._is_there(words):
                return
            done = self._process(0, *order)
        if done.returncode not in (0, 3):
            self._faults.append(f"{order}: {done.returncode} {done.stdout[-300:]} {done.stderr[-300:]}")

    def _is_there(self, words: str) -> bool:
        with closing(Store.open(self.home)) as store, store.read() as tx:
            run = list_runs(tx)[0].uuid
            if any(each.text == words for each in inbox.queued(tx, run)):
                return True
            return any(words in each.message.text for each in transcript.entries(tx, run))

    # The run -----------------------------------------------------------------------------------------------------

    def _process(self, at: int, *verb: str) -> "subprocess.CompletedProcess[str]":
        program = [
            sys.executable,
            "-m",
            "tests.support.killer",
            "--at",
            str(at),
            "--",
            "--home",
            str(self.home),
            "--json",
        ]
        done: subprocess.CompletedProcess[str] = warm.run(
            [*program, *verb], capture_output=True, text=True, timeout=SECONDS
        )
        return done

    def _worked(self, *verb: str) -> None:
        """One process works the run, and perhaps dies of it."""
        done = self._process(max(0, self._left), *verb)
        if done.returncode == -signal.SIGKILL:
            self.told.kills[verb[1]] += 1
            self._left = 0
            return
        hold(done.returncode in (0, 3), f"{verb}: {done.returncode} {done.stdout[-500:]} {done.stderr[-500:]}")
        seen = int(done.stderr.split()[-1])
        self.moments += seen
        # One that would not have died any more leaves its moment to those that follow.
        self._left = max(1, self._left - seen) if self._left else 0

    def _next(self) -> tuple[str, ...] | None:
        """What the author does next; None when the run is over."""
        with closing(Store.open(self.home)) as store, store.read() as tx:
            found = list_runs(tx)
            hold(len(found) <= 1, "two runs")
            if not found:
                return ("run", "start", "Corrector")
            (run,) = found
            waiting = approvals.pending(tx, run.uuid)
        if run.status is RunStatus.DONE:
            return None
        if run.status is RunStatus.WAITING_APPROVAL:
            hold(len(waiting) == 1, f"{len(waiting)} calls wait")
            return ("run", "approve", run.uuid, waiting[0].call)
        if run.status is RunStatus.PAUSED and run.wish != "recovered":
            self.told.reasons[run.reason] += 1
            return ("run", "resume", run.uuid)
        return ("run", "work", run.uuid)

    def live(self) -> None:
        """Lives it, and looks at what is there.

        Raises:
            Wrong: something is not there exactly once.
        """
        with ScriptedServer(self._answer) as server, ScriptedServer(lambda body: json_reply({})) as hooks:
            with closing(Store.open(self.home)) as store:
                save_model(
                    store,
                    ModelDefinition(name="scripted", base_url=server.url, model="scripted", timeout=self._timeout),
                )
            url = f"{hooks.url}/chat/completions"
            save_settings(
                self.home,
                Settings(webhook_url=url, webhook_format="gotify", webhook_always=True, webhook_local=True),
            )
            for _ in range(TRIES):
                verb = self._next()
                if verb is None:
                    break
                self._worked(*verb)
            else:
                raise Wrong("the run does not come to its end")
            hold(not self._faults, "; ".join(self._faults))
            arrived = Counter(str(body["message"]) for body in hooks.bodies)
        with closing(Store.open(self.home)) as store:
            with store.read() as tx:
                (run,) = list_runs(tx)
                rows = transcript.entries(tx, run.uuid)
                notices = errands.outcomes(tx, run.uuid)
                hold(inbox.is_empty(tx, run.uuid), "something waits in the queue of a run that is over")
                changes = tx.connection.exec_driver_sql(
                    "SELECT count(*), count(c.call), count(DISTINCT c.call) FROM journal j"
                    " JOIN change c ON c.id = j.change_id WHERE j.space_id = ?",
                    (run.copy,),
                ).one()
            hold(part_texts(store, self._book, run.copy) == WANTED, f"texts: {part_texts(store, self._book, run.copy)}")
            hold(part_texts(store, self._book) == TEXTS, "the book itself was changed")
        hold(tuple(changes) == (8, 7, 7), f"changes (all, of calls, of different calls): {tuple(changes)}")
        self._check_rows(run, rows)
        self._check_notices(notices, arrived)
        self._count_requests(run)

    def _check_rows(self, run: Run, rows: list[Entry]) -> None:
        hold(run.reason == "All of it.", f"the report: {run.reason}")
        hold([row.ordinal for row in rows] == list(range(len(rows))), "ordinals")
        asked = [call.id for row in rows for call in row.message.calls]
        answered = [row.message.call_id for row in rows if row.message.role == "tool"]
        hold(asked == answered, f"calls {asked}, results {answered}")
        cut = [row for row in rows if row.message.role == "tool" and row.message.text.startswith(CUT_OFF)]
        hold(len(set(asked)) == len(asked) == CALLS + len(cut), f"{len(asked)} calls, {len(cut)} of them cut off")
        hold(self._is_pulled or not cut, "calls are cut off where no server failed")
        for words in (FIRST, SECOND):
            count = len([row for row in rows if row.message.text == words])
            hold(count == 1, f"{words!r} stands {count} times in the transcript")
        commands = [row.message.text for row in rows if row.notice == AUTHOR_COMMAND]
        hold(len(commands) == 1 and COMMAND in commands[0], f"commands of the author: {commands}")
        summaries = [row for row in rows if row.summary]
        failed = [row.message.text for row in rows if row.notice == compaction.FAILED]
        hold(self._is_pulled or not failed, f"no summary where no server failed: {failed}")
        hold(len(summaries) + len(failed) == 1, f"{len(summaries)} summaries, {len(failed)} that failed")
        if failed:
            self.told.reasons[" ".join(failed[0].split())] += 1
            return
        place = summaries[0].ordinal
        hold(all(row.compacted == (row.ordinal < place) for row in rows), "what the summary stands for")

    def _check_notices(self, notices: list[tuple[str, str]], arrived: Counter[str]) -> None:
        sent = Counter(said for said, outcome in notices if outcome == "sent")
        begun = Counter(said for said, outcome in notices if outcome in ("sent", errands.LOST))
        hold(not arrived - begun, f"arrived {arrived}, listed {notices}")
        hold(not sent - arrived, f"told as sent and never arrived: {sent - arrived}")
        hold(len(notices) >= 2, f"of a call that waits and of the end: {notices}")
        self.told.notices.update(outcome for _, outcome in notices)

    def _count_requests(self, run: Run) -> None:
        for times in self._asked.values():
            *before, last = times
            hold(
                self._is_pulled or last.is_set(), "a request whose answer was never sent whole is the last of its round"
            )
            whole = len([one for one in before if one.is_set()])
            self.told.asked_anew += whole
            self.told.cut_off += len(before) - whole
        # A round counts when its answer is committed: once for each place, however often it was asked there.
        hold(self._is_pulled or run.rounds == len(self._asked) == ROUNDS, f"{run.rounds} rounds, {list(self._asked)}")
