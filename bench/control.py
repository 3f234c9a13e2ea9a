"""From "pause now" to the end of the request on the wire, in the process that works the run and from another one.

    python -m bench control

The server notes the moment at which its client went away; all moments are of one monotonic clock. The verb is called
in a process that has its studio open; keys are pressed in real terminals, where the time of the screens counts too.
"""

import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from marginalia_tui.store.store import Store
from marginalia_tui.studio import Studio
from tests.support.runs import Desk, desk
from tests.support.scripted_server import Pause, Recorded, ScriptedServer, chunk, hang, stream
from tests.terminal.homes import AGENT, furnish
from tests.terminal.support import ENTER, Terminal

TIMES = 40
KEYS = 12
WANTED = 100.0


def main() -> None:
    """Measures, and prints medians and worst in milliseconds."""
    rows: list[tuple[str, list[float]]] = []
    with tempfile.TemporaryDirectory() as folder:
        store = Store.open(Path(folder) / "home")
        with ScriptedServer(lambda _: hang()) as server, desk(store, server.url, ["One."]) as made:
            rows.append(("the process that works it", _here(made, server)))
            rows.append(("another process", _elsewhere(made, server)))
        store.close()
    rows.append(("a key of the studio that works it", _keys(own=True)))
    rows.append(("a key of another studio", _keys(own=False)))
    print('\ncontrol: from "pause now" to the end of the request')
    print(f"  {'':36}{'median':>10}{'worst':>10}")
    for name, took in rows:
        print(f"  {name:36}{statistics.median(took):8.1f} ms{max(took):7.1f} ms")
    if any(statistics.median(took) > WANTED for _, took in rows):
        raise SystemExit(1)


def _repeat(made: Desk, server: ScriptedServer, pause: Callable[[str], float]) -> list[float]:
    took = []
    run = ""
    for _ in range(TIMES):
        seen = len(server.requests)
        if run:
            made.runner.resume(run)
        else:
            run = made.start()
        request = server.wait_for(seen + 1)[-1]
        took.append(_after(request, pause(run)))
        made.rest(run)
    made.runner.stop(run, keep=False)
    return took


def _after(request: Recorded, began: float) -> float:
    if not request.gone.wait(20):
        raise AssertionError("the request does not end")
    return (request.gone_at - began) * 1_000


def _here(made: Desk, server: ScriptedServer) -> list[float]:
    def pause(run: str) -> float:
        began = time.monotonic()
        made.runner.pause(run, now=True)
        return began

    return _repeat(made, server, pause)


def _elsewhere(made: Desk, server: ScriptedServer) -> list[float]:
    other = subprocess.Popen(
        [sys.executable, "-m", "bench.control", str(made.store.home)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1,
    )  # fmt: skip
    assert other.stdin is not None and other.stdout is not None
    told, heard = other.stdin, other.stdout

    def pause(run: str) -> float:
        print(run, file=told, flush=True)
        return float(heard.readline())

    try:
        return _repeat(made, server, pause)
    finally:
        other.communicate()


def pauser(home: str) -> None:
    """The other process: pauses each run that it is told, and says when it began to."""
    studio = Studio(Path(home))
    for line in sys.stdin:
        began = time.monotonic()
        studio.runner.pause(line.strip(), now=True)
        print(began, flush=True)
    studio.close()


def _keys(*, own: bool) -> list[float]:
    """Presses Z in a console, lets the run go on in the studio that worked it, and again."""
    took: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        held = stream(chunk({"content": "I write."}), Pause(threading.Event()))
        with ScriptedServer(lambda _: held) as server:
            furnish(home, server.url)
            with Terminal("--home", home) as first, Terminal("--home", home) as second:
                for seen in (first, second):
                    seen.until("[Library]", "The Book")
                    seen.send("A")
                    seen.until(AGENT, "s start")
                first.send("s")
                first.until("I write.")
                second.until("working")
                second.send(ENTER)
                presses = first if own else second
                for number in range(KEYS):
                    first.until("I write.", seconds=60)
                    second.until("I write.", seconds=60)
                    request = server.chats[-1]
                    began = time.monotonic()
                    presses.send("Z")
                    took.append(_after(request, began))
                    first.until("paused")
                    second.until("paused")
                    if number < KEYS - 1:
                        first.send("r")
                        first.until("a word for the agent?")
                        first.send(ENTER)
                for seen in (second, first):
                    seen.send("q")
                    seen.ended()
    return took


if __name__ == "__main__":
    pauser(sys.argv[1])
