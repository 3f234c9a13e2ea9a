"""The review of a run: what it changed, and the apply that ends it.

The plan is made of the journals at the moment it is asked for, and made again inside the transaction that applies
it. The apply and the new status of the run are one transaction.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from marginalia_tui.agent import runs
from marginalia_tui.agent.merge.apply import apply_merge
from marginalia_tui.agent.merge.json3 import JsonMerge
from marginalia_tui.agent.merge.model import Applied, MergePlan, Picks
from marginalia_tui.agent.merge.plan import plan_merge
from marginalia_tui.agent.merge.shown import load_places, load_texts
from marginalia_tui.agent.runs import Run, get_run, transition
from marginalia_tui.domain.errors import StatusConflict
from marginalia_tui.domain.runs import RunStatus
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import Store

REVIEWED = (RunStatus.DONE, RunStatus.STOPPED_KEPT, RunStatus.FAILED)
"""The statuses in which a run can be applied."""


@dataclass(frozen=True, slots=True)
class Reviews:
    """Plans and applies what runs changed."""

    store: Store
    merges: Mapping[str, JsonMerge] = field(default_factory=dict)
    """Key of the attributes -> how an extension merges the data under it."""

    def plan(self, run: str) -> MergePlan:
        """What a run changed that the book does not have, with the texts.

        Raises:
            NotFound: the copy is gone, since the run was applied or discarded.
        """
        with self.store.read() as tx:
            found = get_run(tx, run)
            plan = load_places(tx, plan_merge(tx, found.copy, self.merges))
            return replace(plan, items=load_texts(tx, plan.items))

    def apply(self, run: str, picks: Picks) -> Applied:
        """Applies what was picked and ends the run as APPLIED, all or nothing.

        When something was picked and none of it could be applied, the run stays as it is, to be reviewed again.

        Raises:
            StatusConflict: the run still works, or was applied or discarded.
            Locked: another agent holds the book.
        """
        with self.store.read() as look:
            seen = get_run(look, run)
        act = Act(actor="apply", label=f"apply {seen.agent_name}", book=seen.book, run=run)
        with self.store.write(act, key=run) as tx:
            now = get_run(tx, run)
            if now.status not in REVIEWED:
                raise StatusConflict(f"The run is {now.status.value}: finish or stop it, then apply what it did.")
            applied = apply_merge(tx, now.copy, picks, self.merges)
            if applied.applied or not picks.items:
                runs.note_applied(tx, now, tx.changed(LIBRARY))
                transition(tx, now, RunStatus.APPLIED)
            return applied

    def discard(self, run: str) -> Run:
        """Ends a run without taking anything over; its copy is dropped.

        Raises:
            StatusConflict: it still works, or is over.
        """
        with self.store.write(Act(actor="author", label="discard", run=run)) as tx:
            seen = get_run(tx, run)
            transition(tx, seen, RunStatus.STOPPED_DISCARDED, expected=(*REVIEWED, RunStatus.PAUSED, RunStatus.IDLE))
            return get_run(tx, run)
