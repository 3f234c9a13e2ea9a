"""What every screen tells in its header: the runs that work and those that need the author."""

from dataclasses import dataclass

from marginalia_tui.agent.runs import latest_runs
from marginalia_tui.domain.runs import NEEDS_YOU
from marginalia_tui.studio import Studio


@dataclass(frozen=True, slots=True)
class Asking:
    """A run that needs the author: why, in a few words."""

    run: str
    agent: str
    why: str


@dataclass(frozen=True, slots=True)
class News:
    """The runs in short."""

    working: int = 0
    asking: tuple[Asking, ...] = ()


def read_news(studio: Studio) -> News:
    """The news of this moment."""
    with studio.store.read() as tx:
        runs = list(latest_runs(tx).values())
    asking = [run for run in runs if run.attention]
    return News(
        working=sum(run.status.active and not run.status.rests for run in runs),
        asking=tuple(
            Asking(run.uuid, run.agent_name, NEEDS_YOU.get(run.status, "needs you"))
            for run in sorted(asking, key=lambda run: run.changed)
        ),
    )
