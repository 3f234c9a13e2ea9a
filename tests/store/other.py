"""What a second process does with a store: `python -m tests.store.other VERB HOME ...`.

It says `ready` when it has opened the store and starts when a line comes in.
"""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

from marginalia_tui.domain.errors import Busy, LeaseLost
from marginalia_tui.domain.items import Book
from marginalia_tui.store import lease
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import Store
from tests.store.worlds import act

ROOT = Path(__file__).parents[2]


@contextmanager
def process(verb: str, home: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Starts the second process and waits until it is ready; ends it when the test is through."""
    command = [sys.executable, "-W", "error", "-m", "tests.store.other", verb, str(home), *arguments]
    with subprocess.Popen(command, cwd=ROOT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        try:
            assert hear(child) == "ready"
            yield child
        finally:
            child.kill()


def say(child: "subprocess.Popen[str]", line: str = "go") -> None:
    assert child.stdin is not None
    child.stdin.write(f"{line}\n")
    child.stdin.flush()


def hear(child: "subprocess.Popen[str]") -> str:
    """The next line of the process; empty when it ended."""
    assert child.stdout is not None
    return child.stdout.readline().strip()


def increment(store: Store, book: str, label: str) -> None:
    """Reads a number and writes the next one: loses an update wherever two of them overlap."""
    with store.write(act(label)) as tx:
        space = tx.space(LIBRARY)
        value = space.get(Book, book)
        number = value.attributes.get("n", 0)
        assert isinstance(number, int)
        space.put([replace(value, attributes={"n": number + 1})])


def _work_lease(store: Store, run: str, how: str) -> None:
    """Takes the lease, then writes a title for each line that comes in, and says what came of it."""
    try:
        with store.write(act("lease")) as tx:
            held = lease.take(tx, run, take_over=how == "take-over")
    except Busy:
        print("busy", flush=True)
        return
    print(f"epoch {held.epoch}", flush=True)
    for line in sys.stdin:
        if line.strip() == "release":
            held.release()
            print("released", flush=True)
            return
        try:
            with store.write(act(line.strip()), lease=held) as tx:
                book = tx.space(LIBRARY).get(Book, "b")
                tx.space(LIBRARY).put([replace(book, title=line.strip())])
            print("written", flush=True)
        except LeaseLost:
            print("lost", flush=True)


def main() -> None:
    """One verb on one home."""
    verb, home, *arguments = sys.argv[1:]
    if verb == "open":
        # Says ready before: both are to open a new home at the same moment.
        print("ready", flush=True)
        sys.stdin.readline()
        Store.open(Path(home)).close()
        print("opened", flush=True)
        return
    with closing(Store.open(Path(home))) as store:
        print("ready", flush=True)
        sys.stdin.readline()
        if verb == "increment":
            for _ in range(int(arguments[0])):
                increment(store, "b", "other")
            print("done", flush=True)
        elif verb == "hold":
            with store.write(act("other")) as tx:
                book = tx.space(LIBRARY).get(Book, "b")
                tx.space(LIBRARY).put([replace(book, title="other")])
                print("held", flush=True)
                sys.stdin.readline()
            print("done", flush=True)
        elif verb == "lease":
            _work_lease(store, *arguments)
        else:
            raise SystemExit(f"no such verb: {verb}")


if __name__ == "__main__":
    main()
