"""The control actions in any order, each at a point that is the same each time: between the requests of the model.

`python -m tests.support.machine` does the same from threads and processes at once.
"""

import random
from contextlib import ExitStack

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from marginalia_tui.agent.runner import Runner
from tests.conftest import NewStore
from tests.support.machine import ACTS, FIELDS, KINDS, SETTINGS, TEXTS, Hand, Model, studio
from tests.support.runs import SECONDS, desk
from tests.support.scripted_server import ScriptedServer
from tests.support.upheld import Ledger, check_owners, check_runs, drops_noted

EXAMPLES, STEPS = 4, 24


class Control(RuleBasedStateMachine):
    """One agent, two studios on its home, and a model that answers when it is let."""

    new_store: NewStore

    def __init__(self) -> None:
        super().__init__()
        self.stack = ExitStack()
        self.kind = "edit"
        self.model = Model(lambda: self.kind, gated=True)
        self.ledger = Ledger()
        self.store = self.stack.enter_context(type(self).new_store())
        self.stack.enter_context(drops_noted(self.ledger))
        self.server = self.stack.enter_context(ScriptedServer(self.model))
        self.made = self.stack.enter_context(desk(self.store, self.server.url, TEXTS, **FIELDS))
        self.made.settings = SETTINGS
        self.hand = Hand(self.store, self.made.runner, self.made.agent.uuid, "1", self.ledger, random.Random(1))
        self.second = ExitStack()
        self.other: Hand | None = None
        self.hand.do("start")
        self.settle()

    def teardown(self) -> None:
        self.second.close()
        self.made.runner.park()
        check_owners(self.store)
        check_runs(self.store, self.ledger, resting=True)
        self.stack.close()

    def runners(self) -> list[Runner]:
        return [self.made.runner, *([self.other.runner] if self.other else [])]

    def settle(self) -> None:
        """Waits until each run that is worked waits for the model."""
        workers = [worker for each in self.runners() for run in each.working() if (worker := each.worker(run))]
        if not workers:
            self.model.let_go()  # whoever asked has given up
        for worker in workers:
            self.model.settled(worker, SECONDS)

    @rule(chance=st.integers(0, 9), second=st.booleans())
    def fitting(self, chance: int, second: bool) -> None:
        """What one does with a run that stands there."""
        hand = self.other if second and self.other else self.hand
        hand.chance = random.Random(chance)
        for _ in range(8):
            if (name := hand.choose(blind=0)) != "let":
                hand.do(name)
                break
        self.settle()

    @rule(name=st.sampled_from(sorted(ACTS)), second=st.booleans())
    def any_at_all(self, name: str, second: bool) -> None:
        """Whatever else one may do: it is refused, or does what it says."""
        (self.other if second and self.other else self.hand).do(name)
        self.settle()

    @rule(kind=st.sampled_from(KINDS))
    def answer(self, kind: str) -> None:
        """The model answers what it was asked; its next answer is of this kind."""
        self.kind = kind
        self.model.let_go()
        self.settle()

    @precondition(lambda self: self.other is None)
    @rule()
    def open_second(self) -> None:
        """Another studio comes to the same home."""
        store, runner = self.second.enter_context(studio(self.store.home))
        self.other = Hand(store, runner, self.hand.agent, "2", self.ledger, random.Random(2))

    @precondition(lambda self: self.other is not None)
    @rule()
    def close_second(self) -> None:
        """It is closed: what it works is parked, and may be taken up by the first."""
        self.second.close()
        self.other = None
        self.settle()

    @invariant()
    def all_holds(self) -> None:
        """Of every run, whether it is worked or not."""
        check_owners(self.store)
        check_runs(self.store, self.ledger)
        assert not self.model.wrong, self.model.wrong


def test_f40_control_in_any_order_leaves_every_run_sound(new_store: NewStore) -> None:
    Control.new_store = staticmethod(new_store)
    run_state_machine_as_test(
        Control,
        settings=settings(
            max_examples=EXAMPLES,
            stateful_step_count=STEPS,
            deadline=None,
            database=None,
            derandomize=True,
            phases=[Phase.generate],  # a failure is shown as it is: making it smaller takes minutes
            suppress_health_check=list(HealthCheck),
        ),
    )
