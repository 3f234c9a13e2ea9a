"""Two processes that start, pause and resume one run a thousand times: how often it was worked by both at once.

    python -m bench leases

Each process opens the studio of the same home and does what comes to it at random, until it has made the run go on
half of the thousand times. A lock of its own beside each lease tells of two who hold it at once; at the end every call
must have one result, and everything that was written must be there once. There is nothing to compare with: the figure
is nought.
"""

import json
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from marginalia_tui.store.store import Store
from marginalia_tui.studio import Studio
from tests.support.duel import TEXTS, Witness, appending, check_once, fight, to_the_end, witnessed
from tests.support.runs import desk
from tests.support.scripted_server import ScriptedServer

TIMES = 1_000
PROCESSES, THREADS = 2, 3


def main() -> None:
    """Lets them fight, and prints what came of it."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        finish = threading.Event()
        store = Store.open(home)
        with ScriptedServer(appending(finish)) as server, desk(store, server.url, TEXTS, max_rounds=0) as made:
            run = made.start()
            began = time.monotonic()
            fighters = [
                subprocess.Popen(
                    [sys.executable, "-m", "bench.leases", home, folder, run, made.agent.uuid, str(number), str(TIMES)],
                    stdout=subprocess.PIPE,
                    text=True,
                )
                for number in range(PROCESSES)
            ]
            told = [json.loads(each.communicate()[0]) for each in fighters]
            seconds = time.monotonic() - began
            left = made.run(run)
            assert left.status.rests or not left.status.active, "its owner has ended, and it seems to be worked"
            finish.set()
            to_the_end(made.runner, run)
            sent = {int(seed): count for each in told for seed, count in each["sent"].items()}
            calls = check_once(store, made.book, run, sent)
            epoch = made.run(run).epoch
        store.close()
    _show(told, seconds, calls, epoch)


def _show(told: list[dict[str, Any]], seconds: float, calls: int, epoch: int) -> None:
    done: Counter[str] = Counter()
    epochs: list[int] = []
    twice = 0
    for each in told:
        done.update(each["done"])
        epochs.extend(each["epochs"])
        twice += each["twice"]
    acts = ", ".join(f"{count:,} {name}" for name, count in sorted(done.items()))
    print(f"\nleases: {PROCESSES} processes of {THREADS} threads, {seconds:.0f} s")
    print(f"  done: {acts}")
    print(f"  taken up {len(epochs):,} times there; last epoch {epoch:,}; {calls:,} calls, each with one result")
    print(f"  worked by two at once: {twice}")
    if twice or len(set(epochs)) < len(epochs):
        raise SystemExit("A run had two owners.")


def fighter(home: str, folder: str, run: str, agent: str, number: str, times: str) -> None:
    """One of the processes, with so many threads that fight."""
    witness = Witness(Path(folder))
    studio = Studio(Path(home))
    seeds = [int(number) * THREADS + thread for thread in range(THREADS)]
    each = int(times) // (PROCESSES * THREADS)
    with witnessed(witness), ThreadPoolExecutor(THREADS) as pool:
        fights = [pool.submit(fight, studio.store, studio.runner, run, agent, each, seed) for seed in seeds]
        fought = [ended.result() for ended in fights]
        studio.close()
    sent = {seed: done["send"] for seed, done in zip(seeds, fought, strict=True)}
    done = sum(fought, Counter[str]())
    print(json.dumps({"done": done, "epochs": witness.epochs, "twice": witness.twice, "sent": sent}))


if __name__ == "__main__":
    fighter(*sys.argv[1:])
