"""Kills a run at random moments of its whole life, or pulls its server, and looks whether all is there exactly once.

    python -m tests.support.kills --moments 200 --pull 50 --seed 1

The life of a run: edits, messages and commands of the author that other processes leave while it works, a summary, a
call that waits and is allowed, notices to a webhook. Every process of it dies at a moment that was drawn (before a
statement or a commit); others take the run up until it is DONE. What is wrong is told with the seed of its moment.
"""

import argparse
import contextlib
import os
import random
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.lives import Disturb, Life, Told, make_template
from tests.support.scripted_server import (
    Cut,
    Reply,
    error,
    hang,
)

# Pulling the server -----------------------------------------------------------------------------------------------

PULLS = {
    "reset": ("connection", "broke off", "server", "answer"),
    "cut": ("broke off", "connection", "answer"),
    "hang": ("silent", "said nothing", "seconds", "no answer", " s"),
    "429": ("limit", "often"),
}
"""Way -> words of which a true reason has one."""


def pull(way: str, first: int, count: int, wait: int) -> Disturb:
    """Disturbs some answers in a row.

    Args:
        way: a key of `PULLS`.
        first: the number of the first answer, from 1.
        count: of answers.
        wait: seconds that a server asks to wait (429).
    """

    def disturb(number: int, reply: Reply) -> Reply:
        if not first <= number < first + count:
            return reply
        if way == "reset":
            return Reply(before=(Cut(),))
        if way == "cut":
            return Reply(headers=reply.headers, steps=(*reply.steps[: max(1, len(reply.steps) // 2)], Cut()))
        if way == "hang":
            return hang()
        return error(429, "Too many requests.", "rate_limit", headers=[("Retry-After", str(wait))])

    return disturb


# As a program -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Bench:
    """Where lives are lived, and what was seen of them."""

    folder: Path
    book: str
    moments: int
    """Of the life of a run that nobody disturbs."""
    told: Told
    lived: list[str] = field(default_factory=list)

    @classmethod
    def make(cls, folder: Path) -> "Bench":
        """Makes the template, and counts the moments of an undisturbed life."""
        book = make_template(folder / "template")
        told = Told()
        life = Life(folder / "template", folder / "plain", book, told, kill_at=1_000_000)
        life.live()
        return cls(folder, book, life.moments, told)

    def killed(self, seed: int) -> None:
        """One moment: a life in which a process of the run dies, and now and then one that leaves a message."""
        dice = random.Random(seed)
        at = dice.randint(1, self.moments)
        sender = dice.randint(1, 12) if dice.random() < 0.25 else 0
        self._live(seed, f"kill at {at} of {self.moments}, sender {sender}", kill_at=at, sender_at=sender)

    def pulled(self, seed: int) -> None:
        """One moment at which the server fails."""
        dice = random.Random(seed)
        way = dice.choice(list(PULLS))
        first, count, wait = dice.randint(1, 8), dice.choice((1, 1, 2, 5)), dice.choice((0, 1, 3_600))
        what = f"{way} from request {first}, {count} times, Retry-After {wait}"
        reasons = self._live(seed, what, disturb=pull(way, first, count, wait), timeout=1.0)
        for reason in reasons:
            if not any(word in reason.lower() for word in PULLS[way]):
                failure = f"seed {seed} ({what}): the reason tells something else: {reason}"
                print(failure, flush=True)
                self.told.failures.append(failure)

    def _live(self, seed: int, what: str, **options: Any) -> list[str]:
        told = Told()
        name = f"{'pull' if 'disturb' in options else 'kill'}-{seed}"
        try:
            Life(self.folder / "template", self.folder / name, self.book, told, **options).live()
        except (AssertionError, subprocess.TimeoutExpired) as wrong:
            told.failures.append(f"seed {seed} ({what}): {wrong}")
        for failure in told.failures:
            print(failure, flush=True)
        ours = self.told
        ours.kills.update(told.kills)
        ours.notices.update(told.notices)
        ours.reasons.update(told.reasons)
        ours.failures.extend(told.failures)
        ours.asked_anew += told.asked_anew
        ours.cut_off += told.cut_off
        self.lived.append(name)
        if len(self.lived) % 10 == 0:
            print(f"{len(self.lived)} lived, {len(ours.failures)} wrong", flush=True)
        return list(told.reasons)


def main() -> None:
    """Kills and pulls as often as is asked for; exit code 1 when something was wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--moments", type=int, default=0, help="kills")
    parser.add_argument("--pull", type=int, default=0, help="moments at which the server fails")
    parser.add_argument("--seed", type=int, default=1, help="of the first moment; the next ones follow")
    parser.add_argument("--at-once", type=int, default=4)
    options = parser.parse_args()
    seeds = range(options.seed, options.seed + max(options.moments, options.pull))
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="kills-") as folder, tempfile.TemporaryDirectory(prefix="m-") as runtime:
        os.environ["XDG_RUNTIME_DIR"] = runtime
        bench = Bench.make(Path(folder))
        print(f"{bench.moments} moments in a life that nobody disturbs", flush=True)
        for name, one, count in (("kills", bench.killed, options.moments), ("pulls", bench.pulled, options.pull)):
            with ThreadPoolExecutor(options.at_once) as pool, contextlib.suppress(KeyboardInterrupt):
                list(pool.map(one, seeds[:count]))
            print(
                f"{count} {name} after {time.monotonic() - begun:.0f} s, {len(bench.told.failures)} wrong", flush=True
            )
    told = bench.told
    print(f"killed: {dict(told.kills)}")
    print(f"requests asked again: {told.cut_off} cut off, {told.asked_anew} that had been answered to their end")
    for title, counted in (("notices", told.notices), ("reasons of rests", told.reasons)):
        print(f"{title}:", *(f"  {count} x {what}" for what, count in counted.most_common()), sep="\n")
    print(f"{len(told.failures)} are wrong" if told.failures else "nothing is wrong")
    sys.exit(bool(told.failures))


if __name__ == "__main__":
    main()
