"""Rounds of a run: what a studio that keeps everything takes between two answers of a model.

A server in a process of its own answers every request with calls, as fast as it can, and notes when an answer was
sent and when the next request was there: the time between is the client's, whoever the client is. Three clients make
the same edit a round: a run of ours, every step of it durable; a bare loop on httpx that keeps nothing; and
pydantic-ai. The request grows by a call and its result each round, so times are given for blocks of a hundred.

A second part lets a run of ours make ten calls in each of two thousand rounds, and opens it when it rests.
"""

import asyncio
import json
import multiprocessing
import os
import re
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import httpx

from bench.measure import Figure, keep
from marginalia_tui.agent.runs import get_run
from marginalia_tui.desk.transcripts import RunSource
from marginalia_tui.headless.runs import run_row
from marginalia_tui.store.store import Store
from marginalia_tui.studio import Studio
from tests.support.runs import desk

ROUNDS = 1_000
"""Rounds of ours and of the bare loop."""
PEER_ROUNDS = 300
"""Rounds of pydantic-ai, whose rounds take half a second when there are a thousand."""
BLOCK = 100
LONG_ROUNDS = 2_000
LONG_CALLS = 10
OVER_MEDIAN = 10.0
OVER_P99 = 30.0
"""Milliseconds over the bare loop."""
OPEN = 300.0
"""Milliseconds in which a long run is shown."""
FOREVER = 900.0
"""Seconds after which a benchmark gives up."""
TEXT = "The tide went out past the light. "
TOOL = {
    "type": "function",
    "function": {
        "name": "edit-part",
        "description": "Replaces a passage of a part.",
        "parameters": {
            "type": "object",
            "properties": {"part": {"type": "string"}, "old": {"type": "string"}, "new": {"type": "string"}},
            "required": ["part", "old", "new"],
        },
    },
}


@dataclass(frozen=True)
class Plan:
    """What the server answers: so many rounds of so many edits, then the end."""

    rounds: int
    calls: int
    parts: int
    last: str
    """The tool that ends it; empty: a text."""


def _calls(plan: Plan, n: int) -> list[dict[str, Any]]:
    """The calls of round n, from 1: edits of one part after the other, each of what the last one wrote there."""
    made = []
    for place in range(plan.calls):
        number = (n - 1) * plan.calls + place
        part, turn = number % plan.parts, number // plan.parts
        arguments = {"part": f"h:m{part + 1}", "old": f"mark {turn} ", "new": f"mark {turn + 1} "}
        made.append(_call(place, f"id{number}", "edit-part", arguments))
    return made


def _call(place: int, name: str, tool: str, arguments: dict[str, str]) -> dict[str, Any]:
    return {
        "index": place,
        "id": name,
        "type": "function",
        "function": {"name": tool, "arguments": json.dumps(arguments)},
    }


def _answer(plan: Plan, n: int, streamed: bool) -> bytes:
    message: dict[str, Any] = {"role": "assistant", "content": None}
    finish = "tool_calls"
    if n <= plan.rounds:
        message["tool_calls"] = _calls(plan, n)
    elif plan.last:
        message["tool_calls"] = [_call(0, "end", plan.last, {"report": "All marks are set."})]
    else:
        message["content"], finish = "All marks are set.", "stop"
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    base: dict[str, Any] = {"id": "x", "created": 1, "model": "scripted"}
    if not streamed:
        choice = {"index": 0, "message": message, "finish_reason": finish}
        body = json.dumps({**base, "object": "chat.completion", "choices": [choice], "usage": usage}).encode()
        return b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
    chunks: list[dict[str, Any]] = [
        {"choices": [{"index": 0, "delta": message, "finish_reason": None}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]},
        {"choices": [], "usage": usage},
    ]
    lines = [json.dumps({**base, "object": "chat.completion.chunk", **each}) for each in chunks]
    body = "".join(f"data: {line}\n\n" for line in [*lines, "[DONE]"]).encode()
    return b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)


def _serve(plan: Plan, pipe: Connection) -> None:
    """Answers, and sends the seconds between each answer and the next request when it is asked for them."""
    gaps: list[float] = []
    sent = 0.0

    async def client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(re.findall(rb"content-length: *(\d+)", head, re.IGNORECASE)[0])
                body = await reader.readexactly(length)
                came = time.perf_counter()
                if sent:
                    gaps.append(came - sent)
                # The end of the body says whether a stream is wanted; the whole of it is not read.
                writer.write(_answer(plan, len(gaps) + 1, b'"stream":true' in body[-400:]))
                await writer.drain()
                sent = time.perf_counter()
        except asyncio.IncompleteReadError:
            writer.close()

    async def main() -> None:
        server = await asyncio.start_server(client, "127.0.0.1", 0, limit=2**26)
        pipe.send(server.sockets[0].getsockname()[1])
        await asyncio.to_thread(pipe.recv)
        pipe.send(gaps)
        os._exit(0)

    asyncio.run(main())


def _timed(plan: Plan, work: Callable[[str], None]) -> list[float]:
    """The milliseconds of each round of some work that is given the address of a server."""
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=_serve, args=(plan, theirs), daemon=True)
    server.start()
    port = ours.recv()
    work(f"http://127.0.0.1:{port}/v1")
    ours.send(None)
    gaps: list[float] = ours.recv()
    server.join(FOREVER)
    return [each * 1000 for each in gaps]


def texts(parts: int) -> list[str]:
    """The parts of the book, each with a mark that is counted up."""
    return [f"mark 0 {TEXT * 20}" for _ in range(parts)]


def run_of_ours(url: str, parts: int, after: Callable[[Path, str], None] | None = None) -> None:
    """A run that makes the edits until it is told to finish."""
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(Store.open(Path(folder) / "home")) as store,
        desk(store, url, texts(parts), commands=("edit-part",)) as made,
    ):
        run = made.start()
        worker = made.runner.worker(run)
        assert worker is not None and worker.done.wait(FOREVER)
        rested = made.run(run)
        assert rested.status.value == "DONE", rested.reason
        if after is not None:
            after(Path(folder) / "home", run)


def bare_loop(url: str) -> None:
    """The least that a loop can do: it keeps the messages in memory, and nothing else."""
    marks = {"h:m1": texts(1)[0]}
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "Set the marks."},
        {"role": "user", "content": "Begin."},
    ]
    with httpx.Client(timeout=60) as client:
        while True:
            body = {"model": "scripted", "messages": messages, "tools": [TOOL], "stream": True}
            text = client.post(f"{url}/chat/completions", content=json.dumps(body, separators=(",", ":"))).text
            message = json.loads(text.split("\n\n", 1)[0].removeprefix("data: "))["choices"][0]["delta"]
            messages.append(message)
            if not message.get("tool_calls"):
                return
            for call in message["tool_calls"]:
                given = json.loads(call["function"]["arguments"])
                assert given["old"] in marks[given["part"]]
                marks[given["part"]] = marks[given["part"]].replace(given["old"], given["new"])
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": f"Changed {given['part']}."})


def pydantic_ai_loop(url: str) -> None:
    """The same with pydantic-ai."""
    from pydantic_ai import Agent, UsageLimits
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    marks = {"h:m1": texts(1)[0]}

    def edit(part: str, old: str, new: str) -> str:
        """Replaces a passage of a part."""
        assert old in marks[part]
        marks[part] = marks[part].replace(old, new)
        return f"Changed {part}."

    model = OpenAIChatModel("scripted", provider=OpenAIProvider(base_url=url, api_key="none"))
    agent = Agent(model, instructions="Set the marks.")
    agent.tool_plain(name="edit-part")(edit)
    agent.run_sync("Begin.", usage_limits=UsageLimits(request_limit=None))


def _percentile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, round(share * (len(ordered) - 1)))]


def _blocks(gaps: Sequence[float]) -> list[Sequence[float]]:
    return [gaps[at : at + BLOCK] for at in range(0, len(gaps) - BLOCK + 1, BLOCK)]


def compare() -> tuple[list[Figure], list[str]]:
    """One call a round: ours, the bare loop, pydantic-ai."""
    ours = _timed(Plan(ROUNDS, 1, 1, "finish"), lambda url: run_of_ours(url, 1))
    bare = _timed(Plan(ROUNDS, 1, 1, ""), bare_loop)
    peer = _timed(Plan(PEER_ROUNDS, 1, 1, ""), pydantic_ai_loop)
    print("\nOne call a round, milliseconds between an answer and the next request (median, p99)")
    print(f"  {'rounds':>12}{'ours':>18}{'bare loop':>18}{'pydantic-ai':>18}")
    verdicts: list[str] = []
    for number, (mine, plain) in enumerate(zip(_blocks(ours), _blocks(bare), strict=True)):
        at = number * BLOCK
        theirs = peer[at : at + BLOCK]
        cells = [_cell(mine), _cell(plain), _cell(theirs) if len(theirs) == BLOCK else ""]
        print(f"  {at + 1:>5}-{at + BLOCK:<6}" + "".join(f"{cell:>18}" for cell in cells))
        for name, share, over in (("median", 0.5, OVER_MEDIAN), ("p99", 0.99, OVER_P99)):
            more = _percentile(mine, share) - _percentile(plain, share)
            if more > over:
                verdicts.append(
                    f"MISSED rounds {at + 1} to {at + BLOCK}: {name} {more:.1f} ms over the bare loop, not {over:.0f}"
                )
    figures = [Figure("a round", ours=ours, plain=bare), Figure("a round of pydantic-ai", ours=peer, plain=bare)]
    return figures, verdicts or ["held: every block of a hundred rounds"]


def _cell(values: Sequence[float]) -> str:
    return f"{statistics.median(values):.1f} / {_percentile(values, 0.99):.1f}"


def _resident() -> float:
    """Megabytes that this process holds."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1_000_000


def _open_console(studio: Studio, run: str) -> None:
    """What a console reads before it shows the end of a transcript."""
    source = RunSource(studio, run)
    source.update()
    source.rows(max(0, source.count() - 50), source.count())


def long_run() -> tuple[list[Figure], list[str]]:
    """Ten calls a round, two thousand rounds; then it is opened."""
    opened = Figure("its console", plain=[OPEN])
    shown = Figure("run show", plain=[OPEN])
    memory: list[float] = []

    def after(home: Path, run: str) -> None:
        memory.append(_resident())
        with closing(Studio(home)) as studio:
            for _ in range(5):
                with studio.store.read() as tx:
                    shown.time(lambda: run_row(tx, get_run(tx, run), studio.settings))
                opened.time(lambda: _open_console(studio, run))

    memory.append(_resident())
    gaps = _timed(Plan(LONG_ROUNDS, LONG_CALLS, LONG_CALLS, "finish"), lambda url: run_of_ours(url, LONG_CALLS, after))
    print(f"\n{LONG_CALLS} calls a round, milliseconds between an answer and the next request")
    for at in (10, 100, 1_000, LONG_ROUNDS):
        near = gaps[max(0, at - 10) : at + 10]
        print(f"  round {at:>5}: {statistics.median(near):7.1f}")
    print(f"  memory before and after: {memory[0]:.0f} and {memory[-1]:.0f} MB")
    early, late = statistics.median(gaps[50:150]), statistics.median(gaps[-100:])
    verdict = "held" if late <= early * 1.25 else "MISSED"
    return [Figure("a round of ten", ours=gaps, plain=[early]), shown, opened], [
        f"{verdict}: rounds at the end take {late / early:.2f} times what they take at the start"
    ]


def main() -> None:
    """Both parts."""
    first, said = compare()
    second, more = long_run()
    for line in [*said, *more]:
        print(f"  {line}")
    print(f"  {keep('rounds', {'one call': first, 'ten calls': second}, [*said, *more])}")


if __name__ == "__main__":
    main()
