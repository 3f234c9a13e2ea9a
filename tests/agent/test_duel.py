"""Two studios on one home that start, pause and resume the same run at once; `python -m bench leases` does it more."""

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from marginalia_tui.domain.runs import RunStatus
from marginalia_tui.store.store import Store
from tests.support.duel import TEXTS, Witness, appending, check_once, fight, to_the_end, witnessed
from tests.support.runs import SECONDS, desk, second_studio
from tests.support.scripted_server import Mark, Pause, ScriptedServer, calls

TIMES = 4


def test_f40_two_that_start_pause_and_resume_a_run_never_work_it_twice(store: Store, tmp_path: Path) -> None:
    finish, witness = threading.Event(), Witness(tmp_path)
    with (
        witnessed(witness),
        ScriptedServer(appending(finish)) as server,
        desk(store, server.url, TEXTS, max_rounds=0) as made,
        second_studio(made) as second,
    ):
        run = made.start()
        with ThreadPoolExecutor(2) as pool:
            fights = [
                pool.submit(fight, store, runner, run, made.agent.uuid, TIMES, seed)
                for seed, runner in enumerate((made.runner, second))
            ]
            each = [fought.result(60) for fought in fights]
        done = sum(each, Counter[str]())
        finish.set()
        to_the_end(made.runner, run)
        sent = {seed: fought["send"] for seed, fought in enumerate(each)}
        assert check_once(store, made.book, run, sent) > 0
    assert witness.twice == 0
    assert sorted(witness.epochs) == list(range(1, len(witness.epochs) + 1)), "an epoch has one owner"
    assert done["start"] == 0, "an agent has one unfinished run"
    assert done["pause"] + done["pause now"] > 0


def test_f43_an_owner_that_wakes_up_late_changes_nothing(store: Store) -> None:
    """As of a laptop that slept: another studio took the run over and brought it to its end."""
    there, go = threading.Event(), threading.Event()
    late = calls(("append-to-part", {"part": "h:m1", "text": "late"})).after(Mark(there), Pause(go))
    script = [late, calls(("append-to-part", {"part": "h:m1", "text": "+"})), calls(("finish", {"report": "All."}))]
    with (
        ScriptedServer(script) as server,
        desk(store, server.url, ["One"]) as made,
        second_studio(made) as second,
    ):
        run = made.start()
        sleeper = made.runner.worker(run)
        assert there.wait(SECONDS) and sleeper is not None
        # It hears of nothing while it sleeps.
        sleeper._asker.look_again = lambda: None  # type: ignore[method-assign]
        second.work(run, take_over=True)
        worker = second.worker(run)
        assert worker is None or worker.done.wait(SECONDS)
        ended = made.run(run)
        assert (ended.status, ended.reason) == (RunStatus.DONE, "All.")
        del sleeper._asker.look_again
        go.set()
        sleeper._asker.look_again()
        assert sleeper.done.wait(SECONDS)
        assert sleeper.rested is None
        assert made.run(run) == ended
        assert check_once(store, made.book, run) == 2
