"""Every control action on runs at random, from threads and processes at once, and what must hold afterwards.

    python -m tests.support.machine --steps 2000 --threads 3 --processes 2 --seed 1

The model answers with edits of which each is another text, with destructive calls that wait for the author, questions,
nonsense, refusals and ends; it refuses what a strict server refuses. `tests/agent/test_machine.py` does the same
actions one after the other.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from marginalia_tui.agent import approvals, inbox, runs
from marginalia_tui.agent.runner import Runner, RunnerParts
from marginalia_tui.agent.runs import Run
from marginalia_tui.agent.worker import Worker
from marginalia_tui.commands.dispatch import Dispatcher
from marginalia_tui.domain.errors import Busy, Invalid, NotFound, Refused, StatusConflict
from marginalia_tui.domain.guard import may_wait
from marginalia_tui.domain.runs import RunStatus
from marginalia_tui.llm.keys import Keys
from marginalia_tui.llm.models import Models
from marginalia_tui.settings import Settings
from marginalia_tui.store.store import Store
from tests.support.duel import Witness, witnessed
from tests.support.runs import desk, make_registry
from tests.support.scripted_server import Body, Pause, Reply, ScriptedServer, calls, error, text
from tests.support.upheld import TOKEN, Ledger, check_owners, check_runs, drops_noted, refusal

TEXTS = ("One", "Two", "Three", "Four")
FIELDS: dict[str, Any] = {"commands": "all", "destructive": "ask", "max_rounds": 12}
"""Of the agent: some of its calls wait for the author, and its runs reach a limit."""
SETTINGS = Settings(max_copies=100_000)
KINDS = ("edit", "edits", "edits", "edits", "replace", "mixed", "read", "ask", "finish", "words", "broken", "refusal")
LET_SECONDS = 0.2
REFUSALS = (Busy, Invalid, NotFound, Refused, StatusConflict)
"""What the studio says to an act that comes too late, or does not fit."""

RESTING = ("resume", "resume", "resume raised", "resume raised", "send", "command", "work", "finish")
ENDED = ("start", "start", "start", "discard", "send")
FITTING: dict[RunStatus | None, tuple[str, ...]] = {
    None: ("start",),
    RunStatus.RUNNING: ("let",) * 16 + ("send", "leave a command", "pause", "pause now", "force", "recover", "compact"),
    RunStatus.WAITING_APPROVAL: ("approve", "approve", "approve always", "deny", "force", "pause", "leave a message"),
    RunStatus.PAUSING: ("let", "pause now", "send"),
    RunStatus.STOPPING: ("let",),
    RunStatus.IDLE: ("send", "send", "leave a message", "work", "finish", "pause", "command"),
    RunStatus.PAUSED: RESTING,
    RunStatus.STOPPED_KEPT: RESTING,
    RunStatus.FAILED: RESTING,
}
"""What one does with a run that stands there, by which it gets on."""
BLIND = 0.25
"""The share of acts that look at nothing."""


class Model:
    """Answers requests; each edit of it has a token of its own.

    Args:
        pick: the kind of the next answer, one of `KINDS`.
        gated: an answer waits until `let_go`.
    """

    def __init__(self, pick: Callable[[], str], *, gated: bool = False) -> None:
        self.wrong: list[str] = []
        """What a strict server would have refused."""
        self._pick = pick
        self._gated = gated
        self._gates: list[threading.Event] = []
        self._lock = threading.Lock()
        self._edits = 0

    def __call__(self, body: Body) -> Reply:
        with self._lock:
            if why := refusal(body["messages"]):
                self.wrong.append(why)
            reply = self._reply(self._pick()) if body.get("tools") else text("What was done so far.")
            if self._gated:
                self._gates.append(gate := threading.Event())
                reply = reply.after(Pause(gate))
            return reply

    def let_go(self) -> None:
        """Has the answers that wait be given."""
        with self._lock:
            gates, self._gates = self._gates, []
        for gate in gates:
            gate.set()

    def settled(self, worker: Worker, seconds: float) -> None:
        """Waits until a worker has ended or waits for an answer that is not given yet."""
        end = time.monotonic() + seconds
        while not worker.done.wait(0.002) and not self._gates:
            assert time.monotonic() < end, "the run neither rests nor asks"

    def _edit(self, name: str = "append-to-part") -> tuple[str, dict[str, str]]:
        self._edits += 1
        part = 1 if name == "replace-part-text" else 2 + self._edits % 3
        return name, {"part": f"h:m{part}", "text": f"{{e{self._edits}}}"}

    def _reply(self, kind: str) -> Reply:
        match kind:
            case "edit":
                return calls(self._edit(), usage=(100, 10))
            case "edits":
                return calls(self._edit(), self._edit(), said="Two at once.")
            case "replace":
                return calls(self._edit("replace-part-text"))
            case "mixed":
                return calls(self._edit(), self._edit("replace-part-text"), self._edit())
            case "read":
                return calls(("get-part", {"part": "h:m2"}))
            case "ask":
                return calls(("ask_user", {"question": "Shall I?", "choices": ["Yes", "No"]}))
            case "finish":
                return calls(("finish", {"report": "All."}))
            case "words":
                return text("I only talk.")
            case "broken":
                return calls(("append-to-part", '{"part": "h:m2", "te'), ("no-such-tool", {}), self._edit())
            case _:
                return error(400, "This can't be answered.")


@contextmanager
def studio(home: Path) -> Iterator[tuple[Store, Runner]]:
    """A runner of its own on a home, as another process has it; at its end its runs are parked."""
    with closing(Store.open(home)) as store:
        models = Models(Keys(home), check=lambda: may_wait("the answer of a model"))
        runner = Runner(RunnerParts(store, Dispatcher(make_registry()), models, lambda: SETTINGS))
        try:
            yield store, runner
        finally:
            runner.park()
            models.close()


@dataclass
class Hand:
    """Does acts on the runs of one agent through one studio; `chance` decides which item, which words, which run."""

    store: Store
    runner: Runner
    agent: str
    name: str
    ledger: Ledger
    chance: random.Random
    said: int = 0

    def do(self, name: str) -> bool:
        """Does an act on one of the newest runs; False when it is refused."""
        if name == "let":
            self.let()
            return True
        try:
            with self.store.read() as tx:
                newest = runs.list_runs(tx, agent=self.agent, limit=2)
            if not newest and name != "start":
                raise NotFound("There is no run yet.")
            ACTS[name](self, self.chance.choice([*newest[:1] * 4, *newest[1:]]) if newest else None)  # type: ignore[arg-type]
        except REFUSALS:
            return False
        return True

    def choose(self, blind: float = BLIND) -> str:
        """An act that fits to how the newest run stands, or any at all."""
        if self.chance.random() < blind:
            return self.chance.choice([*ACTS, "a third studio"])
        with self.store.read() as tx:
            newest = runs.list_runs(tx, agent=self.agent, limit=1)
        return self.chance.choice(FITTING.get(newest[0].status if newest else None, ENDED))

    def start(self) -> None:
        """Starts a run with a message."""
        token = self._token("m")
        run = self.runner.start(self.agent, message=f"Begin {token}.")
        self.ledger.messages[token] = run

    def send(self, run: Run, *, detach: bool) -> None:
        """Says something that is heard once."""
        token = self._token("m")
        self.runner.send(run.uuid, f"Hear {token}.", detach=detach)
        self.ledger.messages[token] = run.uuid

    def command(self, run: Run, *, detach: bool) -> None:
        """Has a command run that writes something of its own."""
        token = self._token("c")
        self.runner.command(run.uuid, f"/append-to-part {self.chance.randint(2, 4)} {token}", detach=detach)
        self.ledger.commands[token] = run.uuid

    def waiting(self, run: Run) -> inbox.Queued:
        """Something that waits in the queue."""
        with self.store.read() as tx:
            items = [item for item in inbox.queued(tx, run.uuid) if item.of_author]
        if not items:
            raise NotFound("Nothing waits.")
        return self.chance.choice(items)

    def cancel(self, run: Run) -> None:
        """Takes something back; what was delivered meanwhile stays said."""
        item = self.waiting(run)
        if self.runner.cancel(run.uuid, item.id):
            self.ledger.gone.update(TOKEN.findall(item.text))

    def decide(self, run: Run, decision: approvals.Decision, *, always: bool = False) -> None:
        """Decides a call that waits."""
        with self.store.read() as tx:
            asked = approvals.pending(tx, run.uuid)
        if not asked:
            raise NotFound("Nothing waits.")
        self.runner.decide(
            run.uuid, asked[0].call, decision, why="Not so." if decision == "deny" else "", always=always
        )

    def let(self) -> None:
        """Waits a moment for the run to get on."""
        with self.store.read() as tx:
            newest = runs.list_runs(tx, agent=self.agent, limit=1)
        if not newest:
            return
        (run,) = newest
        try:
            self.runner.wait(run.uuid, lambda now: now.rounds > run.rounds or not now.status.active, LET_SECONDS)
        except Busy:
            return

    def _token(self, kind: str) -> str:
        self.said += 1
        return f"{{{kind}{self.name}-{self.said}}}"


ACTS: dict[str, Callable[[Hand, Run], object]] = {
    "start": lambda hand, run: hand.start(),
    "send": lambda hand, run: hand.send(run, detach=False),
    "leave a message": lambda hand, run: hand.send(run, detach=True),
    "command": lambda hand, run: hand.command(run, detach=False),
    "leave a command": lambda hand, run: hand.command(run, detach=True),
    "compact": lambda hand, run: hand.runner.command(run.uuid, "/compact"),
    "force": lambda hand, run: hand.runner.force(run.uuid, hand.waiting(run).id),
    "cancel": lambda hand, run: hand.cancel(run),
    "pause": lambda hand, run: hand.runner.pause(run.uuid),
    "pause now": lambda hand, run: hand.runner.pause(run.uuid, now=True),
    "resume": lambda hand, run: hand.runner.resume(run.uuid, hand.chance.choice(["", "Go on."])),
    "resume raised": lambda hand, run: hand.runner.resume(run.uuid, raised={"rounds": run.rounds + 8}),
    "approve": lambda hand, run: hand.decide(run, "approve"),
    "approve always": lambda hand, run: hand.decide(run, "approve", always=True),
    "deny": lambda hand, run: hand.decide(run, "deny"),
    "stop keep": lambda hand, run: hand.runner.stop(run.uuid, keep=True),
    "discard": lambda hand, run: hand.runner.stop(run.uuid, keep=False),
    "finish": lambda hand, run: hand.runner.finish(run.uuid),
    "work": lambda hand, run: hand.runner.work(run.uuid),
    "recover": lambda hand, run: hand.runner.recover(),
}
"""What the author may do to a run, at any time."""


def play(hand: Hand, steps: int) -> Counter[str]:
    """Does so many acts at random, and looks for owners now and then; how often each was done, or refused."""
    done: Counter[str] = Counter()
    for step in range(steps):
        if step % 10 == 0:
            check_owners(hand.store)
        name = hand.choose()
        if name == "a third studio":
            with studio(hand.store.home) as (store, runner):
                third = Hand(store, runner, hand.agent, hand.name, hand.ledger, hand.chance, hand.said)
                third.do(third.choose(blind=0))
                hand.said = third.said
        elif not hand.do(name):
            name = "refused"
        done[name] += 1
    return done


# As a program -------------------------------------------------------------------------------------------------


def hands(home: str, agent: str, number: int, threads: int, steps: int, seed: int) -> None:
    """One of the processes: so many threads that share a studio; prints what it did."""
    ledger, witness = Ledger(), Witness(Path(home).parent)
    with (
        drops_noted(ledger),
        witnessed(witness),
        studio(Path(home)) as (store, runner),
        ThreadPoolExecutor(threads) as pool,
    ):
        played = []
        for thread in range(threads):
            own = number * threads + thread
            hand = Hand(store, runner, agent, f"{own}", ledger, random.Random(seed * 1_000 + own))
            played.append(pool.submit(play, hand, steps // threads + (thread < steps % threads)))
        done = sum((each.result() for each in played), Counter[str]())
    said = {"messages": ledger.messages, "commands": ledger.commands, "gone": sorted(ledger.gone)}
    print(json.dumps({"done": done, "twice": witness.twice, "epochs": len(witness.epochs), **said}))


def bring_to_rest(hand: Hand) -> None:
    """Has the newest run come to its end, whatever it waits for."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        with hand.store.read() as tx:
            (run,) = runs.list_runs(tx, agent=hand.agent, limit=1)
        if run.status is RunStatus.DONE or run.status.ended:
            return
        acts = ("approve", "work", "recover") if run.status.active else ("resume raised", "send")
        if not any(hand.do(name) for name in acts):
            hand.let()
    raise AssertionError(f"the run does not end: {run}")


def main(steps: int, threads: int, processes: int, seed: int) -> None:
    """Lets the processes play on one home, then checks all of it, and prints what came of it."""
    chance = random.Random(seed)
    ending = threading.Event()
    model = Model(lambda: "finish" if ending.is_set() else chance.choice(KINDS))
    with tempfile.TemporaryDirectory() as folder, ScriptedServer(model) as server:
        home = Path(folder) / "home"
        with closing(Store.open(home)) as store, desk(store, server.url, TEXTS, **FIELDS) as made:
            made.settings = SETTINGS
            began = time.monotonic()
            shares = [steps // processes + (number < steps % processes) for number in range(processes)]
            command = [sys.executable, "-m", "tests.support.machine", "--seed", str(seed), "--threads", str(threads)]
            players = [
                subprocess.Popen(
                    [*command, "--steps", str(share), "--hands", str(home), made.agent.uuid, str(number)],
                    stdout=subprocess.PIPE,
                    text=True,
                    env={**os.environ},
                )
                for number, share in enumerate(shares)
            ]
            told = [json.loads(each.communicate()[0]) for each in players]
            seconds = time.monotonic() - began
            ledger = Ledger()
            for each in told:
                ledger.add(Ledger(each["messages"], each["commands"], set(each["gone"])))
            check_owners(store)
            first = check_runs(store, ledger, resting=True)
            ending.set()
            bring_to_rest(Hand(store, made.runner, made.agent.uuid, "9", ledger, chance))
            check_owners(store)
            checked = check_runs(store, ledger, resting=True)
    assert not model.wrong, model.wrong
    assert not any(each["twice"] for each in told), "a run was worked by two at once"
    assert checked["rows"] >= first["rows"]
    _show(told, checked, f"{processes} processes of {threads} threads, {steps:,} steps, {seconds:.0f} s, seed {seed}")


def _show(told: list[dict[str, Any]], checked: Counter[str], head: str) -> None:
    done = sum((Counter(each["done"]) for each in told), Counter[str]())
    print(head)
    print("  done: " + ", ".join(f"{count:,} {name}" for name, count in sorted(done.items())))
    print(f"  taken up {sum(each['epochs'] for each in told):,} times, never by two at once")
    print("  checked: " + ", ".join(f"{count:,} {name}" for name, count in checked.items()))
    print("  all held: rows without gaps, one result a call, requests that a strict server takes, an owner for every")
    print("  active run, each message heard once or taken back, each edit there once")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.support.machine")
    for option, default in (("--steps", 2_000), ("--threads", 3), ("--processes", 2), ("--seed", 1)):
        parser.add_argument(option, type=int, default=default)
    parser.add_argument("--hands", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.hands:
        hands(given.hands[0], given.hands[1], int(given.hands[2]), given.threads, given.steps, given.seed)
    else:
        main(given.steps, given.threads, given.processes, given.seed)
