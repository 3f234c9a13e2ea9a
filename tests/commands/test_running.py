"""Commands that are started, watched and stopped: the pool, its runs, the wish that they stop."""

import gc
import threading
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

import pytest

from marginalia_tui.commands.context import Context, Effect, Question
from marginalia_tui.commands.control import Control, Status
from marginalia_tui.commands.declare import command
from marginalia_tui.commands.definition import Param, Severity, Work
from marginalia_tui.commands.dispatch import Dispatcher
from marginalia_tui.commands.registry import Registry
from marginalia_tui.commands.results import Result
from marginalia_tui.commands.running import THREADS, CommandPool, CommandRun
from marginalia_tui.domain.errors import Cancelled, Invalid, NotFound, Refused
from marginalia_tui.domain.items import Part
from marginalia_tui.store.store import WriteTx
from tests.commands.world import World

SECONDS = 30.0
"""Nothing here takes so long: a test that waits longer has failed."""

Word = Annotated[str, Param("a word")]


class Said(Result):
    said: str = ""


@dataclass
class Stage:
    """A registry and a pool, and commands made of a function."""

    registry: Registry = field(default_factory=Registry)

    def __post_init__(self) -> None:
        self.pool = CommandPool(Dispatcher(self.registry))

    def add(self, name: str, body: Callable[[Context, str], str | None], work: Work = Work.LONG) -> Any:
        """A reading command of one optional word."""

        @command(name, title=f"The {name}", severity=Severity.READ, returns="a word", example=f"/{name}", work=work)
        def made(ctx: Context, word: Word = "") -> Said:
            """Does something."""
            return Said(said=body(ctx, word) or "")

        self.registry.register(made)
        return made


class Gate:
    """A command that says that it is there and waits until it is let through."""

    def __init__(self) -> None:
        self.opened = threading.Event()
        self._arrived = threading.Semaphore(0)
        self._lock = threading.Lock()
        self.inside = 0
        self.most = 0
        self.words: list[str] = []

    def __call__(self, ctx: Context, word: str) -> str:
        with self._lock:
            self.inside += 1
            self.most = max(self.most, self.inside)
            self.words.append(word)
        self._arrived.release()
        assert self.opened.wait(SECONDS)
        with self._lock:
            self.inside -= 1
        return word

    def arrivals(self, count: int) -> None:
        """Waits until so many more are inside."""
        for _ in range(count):
            assert self._arrived.acquire(timeout=SECONDS)


class Ends:
    """How a block in a command ended; its run has another end at once when it is stopped."""

    def __init__(self) -> None:
        self._over = threading.Event()
        self._error: BaseException | None = None

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._error = error
        self._over.set()

    def error(self) -> BaseException | None:
        """What it was left with, once it was."""
        assert self._over.wait(SECONDS)
        return self._error


@pytest.fixture
def stage() -> Iterator[Stage]:
    stage = Stage()
    yield stage
    stage.pool.close()
    assert rests(stage.pool)


def workers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "commands"]


def rests(pool: CommandPool) -> bool:
    """Whether no run is left behind, once the threads have ended."""
    for thread in workers():
        thread.join(SECONDS)
    return pool.running == () and not workers()


def said(run: CommandRun) -> str:
    result = run.future.result(SECONDS)
    assert isinstance(result, Said)
    return result.said


@pytest.fixture
def full(stage: Stage, world: World) -> Iterator[Gate]:
    """A pool in which every place is taken, until the gate is opened."""
    gate = Gate()
    stage.add("wait", gate)
    for _ in range(THREADS):
        stage.pool.start("wait", [], world.author)
    gate.arrivals(THREADS)
    yield gate
    gate.opened.set()


# Where a command runs


def test_a_short_command_runs_on_the_thread_of_its_caller_and_a_long_one_does_not(stage: Stage, world: World) -> None:
    where: dict[str, int] = {}
    for work in Work:
        stage.add(work, lambda ctx, word: where.__setitem__(ctx.command, threading.get_ident()), work)
        stage.pool.start(work, [], world.author).future.result(SECONDS)
    assert where["short"] == threading.get_ident()
    assert where["long"] != where["short"] != where["model"]


def test_a_short_command_is_over_when_it_was_started(stage: Stage, world: World) -> None:
    stage.add("echo", lambda ctx, word: word, Work.SHORT)
    run = stage.pool.start_line("/echo 'a", world.author)
    assert run.future.done() and said(run) == "'a"
    assert (run.title, run.command.name) == ("/echo 'a", "echo")
    assert stage.pool.start("echo", {}, world.author).title == "The echo"
    assert stage.pool.start("echo", {}, world.author, title="Other").title == "Other"
    assert rests(stage.pool)


def test_a_run_that_is_over_is_gone_when_nobody_holds_it(stage: Stage, world: World) -> None:
    """Its answer may be large: it does not wait for the collector of garbage."""
    stage.add("echo", lambda ctx, word: word, Work.SHORT)
    gc.collect()
    gc.disable()
    try:
        gone = weakref.ref(stage.pool.start("echo", ["a"], world.author))
        assert gone() is None
    finally:
        gc.enable()


def test_at_most_eight_run_at_once(stage: Stage, world: World) -> None:
    gate = Gate()
    stage.add("wait", gate)
    runs = [stage.pool.start("wait", [str(number)], world.author) for number in range(3 * THREADS)]
    gate.arrivals(THREADS)
    assert len(workers()) == THREADS == 8
    assert [run.future.running() for run in runs] == [True] * THREADS + [False] * (2 * THREADS)
    assert [run.seconds > 0 for run in runs] == [True] * THREADS + [False] * (2 * THREADS)
    assert stage.pool.running == tuple(runs)
    gate.opened.set()
    assert [said(run) for run in runs] == [str(number) for number in range(3 * THREADS)]
    assert gate.most == THREADS


def test_what_waits_begins_in_the_order_in_which_it_was_started(stage: Stage, world: World) -> None:
    """One place becomes free, so one thread serves the queue."""
    first, others, began = Gate(), Gate(), list[str]()
    stage.add("first", first)
    stage.add("other", others)
    stage.add("note", lambda ctx, word: began.append(word))
    for name in ("first", *["other"] * (THREADS - 1)):
        stage.pool.start(name, [], world.author)
    first.arrivals(1)
    others.arrivals(THREADS - 1)
    runs = [stage.pool.start("note", [str(number)], world.author) for number in range(50)]
    assert began == []
    first.opened.set()
    for run in runs:
        run.future.result(SECONDS)
    others.opened.set()
    assert began == [str(number) for number in range(50)]


def test_a_thread_of_the_pool_ends_when_nothing_waits(stage: Stage, world: World) -> None:
    stage.add("echo", lambda ctx, word: word)
    assert said(stage.pool.start("echo", ["a"], world.author)) == "a"
    assert rests(stage.pool)
    assert said(stage.pool.start("echo", ["b"], world.author)) == "b"


# What a run tells


def test_a_run_tells_its_status_and_progress(stage: Stage, world: World) -> None:
    def body(ctx: Context, word: str) -> None:
        ctx.status("Counting", "part 1 of 2", done=1, total=2)
        ctx.status("Counting", "part 2 of 2", done=2, total=2)

    stage.add("count", body)
    heard: list[Status] = []

    def begun(run: CommandRun) -> None:
        assert (run.status, run.seconds, run.future.running()) == (Status(), 0.0, False)
        run.control.listen(lambda status: 1 / 0)
        run.control.listen(heard.append)

    run = stage.pool.start("count", [], world.author, begun=begun)
    run.future.result(SECONDS)
    assert heard == [Status("Counting", f"part {part} of 2", part, 2) for part in (1, 2)]
    assert run.status == heard[-1]
    assert run.seconds == run.seconds > 0


@pytest.mark.parametrize("error", [Refused("No."), ZeroDivisionError(), KeyboardInterrupt()])
@pytest.mark.parametrize("work", [Work.SHORT, Work.LONG])
def test_an_error_is_in_the_future_and_the_pool_works_on(
    stage: Stage, world: World, work: Work, error: BaseException
) -> None:
    def body(ctx: Context, word: str) -> None:
        raise error

    stage.add("fail", body, work)
    stage.add("echo", lambda ctx, word: word, work)
    for _ in range(2 * THREADS):
        run = stage.pool.start("fail", [], world.author)
        assert run.future.exception(SECONDS) is error
        assert run.cancel() is False
    assert said(stage.pool.start("echo", ["a"], world.author)) == "a"
    assert rests(stage.pool)


def test_what_is_certain_at_once_is_raised_and_the_rest_is_in_the_future(stage: Stage, world: World) -> None:
    stage.add("echo", lambda ctx, word: word)
    starts: list[Callable[[], CommandRun]] = [
        lambda: stage.pool.start("ehco", [], world.author),
        lambda: stage.pool.start_line("/ehco", world.author),
    ]
    for start in starts:
        with pytest.raises(NotFound, match="Did you mean echo"):
            start()
    with pytest.raises(Invalid, match="begins with /"):
        stage.pool.start_line("echo", world.author)
    error = stage.pool.start_line("/echo a b", world.author).future.exception(SECONDS)
    assert isinstance(error, Invalid) and "takes 1 argument, not 2" in error.message
    assert rests(stage.pool)


# Stopping


def test_what_was_stopped_before_it_began_never_begins(stage: Stage, world: World, full: Gate) -> None:
    began: list[str] = []
    stage.add("note", lambda ctx, word: began.append(word))
    runs = [stage.pool.start("note", [str(number)], world.author) for number in range(3)]
    assert runs[1].cancel() is True
    assert runs[1].future.cancelled() and runs[1] not in stage.pool.running
    full.opened.set()
    for run in (runs[0], runs[2]):
        run.future.result(SECONDS)
    with pytest.raises(CancelledError):
        runs[1].future.result(SECONDS)
    assert sorted(began) == ["0", "2"] and runs[1].seconds == 0.0


@pytest.mark.parametrize("work", [Work.SHORT, Work.LONG])
def test_it_can_be_stopped_by_who_is_told_that_it_begins(stage: Stage, world: World, work: Work) -> None:
    stage.add("never", lambda ctx, word: pytest.fail("it began"), work)
    run = stage.pool.start("never", [], world.author, begun=lambda run: run.cancel())
    with pytest.raises(CancelledError):
        run.future.result(SECONDS)


def test_a_command_that_waits_is_woken_and_stops(stage: Stage, world: World) -> None:
    waits, ends = threading.Event(), Ends()

    def body(ctx: Context, word: str) -> None:
        waits.set()
        with ends:
            assert ctx.control.wait(SECONDS)
            ctx.check()

    stage.add("wait", body)
    run = stage.pool.start("wait", [], world.author)
    assert waits.wait(SECONDS)
    assert run.cancel() is True
    with pytest.raises(Cancelled, match="wait was stopped: nothing was changed"):
        run.future.result(SECONDS)
    assert run.cancel() is False
    assert isinstance(ends.error(), Cancelled)


def test_a_wait_for_something_else_is_woken(stage: Stage, world: World) -> None:
    waits, ends = threading.Event(), Ends()

    def body(ctx: Context, word: str) -> None:
        arrives: Future[str] = Future()
        with ends:
            with ctx.control.woken(lambda: arrives.set_result("stopped")):
                waits.set()
                arrives.result(SECONDS)
            ctx.check()

    stage.add("wait", body)
    run = stage.pool.start("wait", [], world.author)
    assert waits.wait(SECONDS)
    assert run.cancel() is True
    assert isinstance(ends.error(), Cancelled)


class SlowAnswers:
    """Asks somebody who never answers."""

    def __init__(self) -> None:
        self.asked = threading.Event()

    def confirm(self, question: Question, control: Control) -> bool:
        withdrawn = threading.Event()
        with control.woken(withdrawn.set):
            self.asked.set()
            assert withdrawn.wait(SECONDS)
        return False


def test_a_question_that_waits_is_withdrawn(stage: Stage, world: World) -> None:
    answers, ends = SlowAnswers(), Ends()

    def body(ctx: Context, word: str) -> None:
        with ends:
            ctx.confirm("Go on?")

    stage.add("ask", body)
    run = stage.pool.start("ask", [], replace(world.author, answers=answers))
    assert answers.asked.wait(SECONDS)
    assert run.cancel() is True
    assert isinstance(ends.error(), Cancelled)  # and not: the answer was no


def test_who_looks_at_nothing_is_stopped_at_its_end(stage: Stage, world: World) -> None:
    """Such as a step of an agent, which has no run of the pool."""
    stage.add("deaf", lambda ctx, word: None if ctx.control.stop() else pytest.fail("it was not stopped"))
    with pytest.raises(Cancelled, match="deaf was stopped"):
        Dispatcher(stage.registry).prepare("deaf", [], world.author)


def test_what_was_stopped_before_writes_nothing_though_it_goes_on_to(stage: Stage, world: World) -> None:
    """Its end was told already: what it would write now is not written."""
    ready, go = threading.Event(), threading.Event()

    @command("mark", title="Mark", severity=Severity.CHANGE, returns="x", example="/mark", work=Work.LONG)
    def mark(ctx: Context) -> Effect[Said]:
        """Marks."""
        ready.set()
        assert go.wait(SECONDS)
        return Effect(lambda tx: pytest.fail("it writes"))

    stage.registry.register(mark)
    before, position = world.text(1), world.journal()
    run = stage.pool.start("mark", [], world.author)
    assert ready.wait(SECONDS)
    assert run.cancel() is True and run.future.done()
    go.set()
    assert rests(stage.pool)
    assert (world.text(1), world.journal()) == (before, position)
    assert isinstance(run.future.exception(), Cancelled)


# What can't be stopped


def test_a_command_says_when_it_cannot_be_stopped(stage: Stage, world: World) -> None:
    inside, go_on, outside, ends = threading.Event(), threading.Event(), threading.Event(), Ends()

    def body(ctx: Context, word: str) -> None:
        with ctx.control.uninterruptible("write"):
            inside.set()
            assert go_on.wait(SECONDS)
            ctx.check()
        with ends:
            outside.set()
            assert ctx.control.wait(SECONDS)
            ctx.check()

    stage.add("write", body)
    run = stage.pool.start("write", [], world.author)
    assert inside.wait(SECONDS)
    assert run.status.uninterruptible and run.cancel() is False
    go_on.set()
    assert outside.wait(SECONDS)
    assert run.cancel() is True
    assert isinstance(ends.error(), Cancelled)


def test_what_the_caller_wanted_to_be_uninterruptible_is_from_the_start(stage: Stage, world: World, full: Gate) -> None:
    def body(ctx: Context, word: str) -> str:
        with ctx.control.uninterruptible("write"):
            pass
        assert run.cancel() is False
        ctx.check()
        return word

    stage.add("write", body)
    run = stage.pool.start("write", ["done"], world.author, uninterruptible=True)
    other = stage.pool.start_line("/write done", world.author, uninterruptible=True)
    for each in (run, other):
        assert each.status.uninterruptible and each.cancel() is False
    full.opened.set()
    assert (said(run), said(other)) == ("done", "done")
    assert run.status.uninterruptible


@pytest.mark.parametrize("by_caller", [True, False])
def test_nested_commands_are_as_uninterruptible_as_the_one_that_calls(
    stage: Stage, world: World, by_caller: bool
) -> None:
    def inner(ctx: Context, word: str) -> str:
        assert ctx.control.status.uninterruptible and ctx.control.stop() is False
        return "inner"

    def outer(ctx: Context, word: str) -> str:
        with ExitStack() as stack:
            if not by_caller:
                stack.enter_context(ctx.control.uninterruptible("outer"))
            return f"outer, {ctx.call('inner').result.said}"

    stage.add("inner", inner)
    stage.add("outer", outer)
    run = stage.pool.start("outer", [], world.author, uninterruptible=by_caller)
    assert said(run) == "outer, inner"


def test_nested_commands_are_stopped_with_the_one_that_calls_and_tell_through_it(stage: Stage, world: World) -> None:
    waits, stopped = threading.Event(), threading.Event()

    def inner(ctx: Context, word: str) -> None:
        ctx.status("Inner")
        waits.set()
        assert ctx.control.wait(SECONDS)
        stopped.set()
        ctx.check()

    stage.add("inner", inner)
    stage.add("outer", lambda ctx, word: ctx.call("inner").result.said)
    run = stage.pool.start("outer", [], world.author)
    assert waits.wait(SECONDS)
    assert run.status.text == "Inner"
    assert run.cancel() is True
    with pytest.raises(Cancelled, match="outer was stopped"):
        run.future.result(SECONDS)
    assert stopped.wait(SECONDS)


def test_nothing_stops_a_command_while_it_writes(stage: Stage, world: World) -> None:
    heard: list[bool] = []

    @command("mark", title="Mark", severity=Severity.CHANGE, returns="x", example="/mark", work=Work.LONG)
    def mark(ctx: Context) -> Effect[Said]:
        """Marks."""

        def apply(tx: WriteTx) -> Said:
            assert runs[0].cancel() is False
            part = tx.space(ctx.scope.space).get(Part, world.parts[0])
            tx.space(ctx.scope.space).put([replace(part, text="marked")])
            assert runs[0].cancel() is False
            return Said(said="marked")

        return Effect(apply)

    stage.registry.register(mark)
    runs: list[CommandRun] = []

    def begun(run: CommandRun) -> None:
        runs.append(run)
        run.control.listen(lambda status: heard.append(status.uninterruptible))

    run = stage.pool.start("mark", [], world.author, begun=begun)
    assert said(run) == world.text(1) == "marked"
    # Not even once it has written: what was changed is never called stopped.
    assert heard == [True] and run.cancel() is False


# The end, and what is taken away


def test_the_end_stops_what_runs_and_nothing_begins_any_more(stage: Stage, world: World) -> None:
    waits = threading.Semaphore(0)

    def wait(ctx: Context, word: str) -> None:
        waits.release()
        assert ctx.control.wait(SECONDS)
        ctx.check()

    stage.add("wait", wait)
    stage.add("never", lambda ctx, word: pytest.fail("it began"))
    running = [stage.pool.start("wait", [], world.author) for _ in range(THREADS)]
    for _ in running:
        assert waits.acquire(timeout=SECONDS)
    waiting = [stage.pool.start("never", [], world.author, uninterruptible=each) for each in (True, False)]
    stage.pool.close()
    for run in running:
        with pytest.raises(Cancelled):
            run.future.result(SECONDS)
    assert all(run.future.cancelled() for run in waiting)
    assert rests(stage.pool)


def test_a_command_that_is_taken_away_while_it_runs_goes_on(stage: Stage, world: World) -> None:
    gate = Gate()
    stage.add("outer", gate)
    run = stage.pool.start("outer", ["a"], world.author)
    gate.arrivals(1)
    assert stage.registry.unregister_command("outer")
    with pytest.raises(NotFound):
        stage.pool.start("outer", [], world.author)
    gate.opened.set()
    assert said(run) == "a"


def test_a_command_that_is_taken_away_before_its_turn_comes_runs_as_it_was(
    stage: Stage, world: World, full: Gate
) -> None:
    suite = stage.add("echo", lambda ctx, word: f"the old one: {word}")
    runs = [stage.pool.start("echo", ["a"], world.author), stage.pool.start_line("/echo a", world.author)]
    assert stage.registry.unregister(suite) == ("echo",)
    stage.add("echo", lambda ctx, word: "the new one")
    full.opened.set()
    assert [said(run) for run in runs] == ["the old one: a"] * 2


# Many at once

CALLS = 10_000
CALLERS = 32


def test_of_ten_thousand_commands_of_32_threads_none_is_lost_and_none_mixed_up(stage: Stage, world: World) -> None:
    """By name, by position and as a line; meanwhile other suites come and go."""

    def echo(ctx: Context, word: str) -> str:
        ctx.status(word)
        return f"{word} {ctx.control.status.text} {ctx.scope.actor}"

    stage.add("echo", echo, Work.SHORT)
    answers: dict[int, list[str]] = {}
    over = threading.Event()

    def work(number: int) -> None:
        scope = replace(world.author, actor=f"actor {number}")
        mine = answers[number] = []
        for call in range(number, CALLS, CALLERS):
            word = f"{number}-{call}"
            if call % 3 == 0:
                run = stage.pool.start("echo", {"word": word}, scope)
            elif call % 3 == 1:
                run = stage.pool.start("echo", [word], scope)
            else:
                run = stage.pool.start_line(f"/echo {word}", scope)
            mine.append(said(run))

    def come_and_go() -> None:
        while not over.is_set():
            for name in ("first", "second"):
                suite = stage.add(name, lambda ctx, word: word)
                assert stage.registry.unregister(suite) == (name,)

    other = threading.Thread(target=come_and_go, daemon=True)
    threads = [threading.Thread(target=work, args=[number], daemon=True) for number in range(CALLERS)]
    for thread in (other, *threads):
        thread.start()
    for thread in threads:
        thread.join(SECONDS)
    over.set()
    other.join(SECONDS)
    assert answers == {
        number: [f"{number}-{call} {number}-{call} actor {number}" for call in range(number, CALLS, CALLERS)]
        for number in range(CALLERS)
    }
    assert rests(stage.pool) and stage.registry.names == ("echo",)


def test_long_commands_of_many_threads_share_eight_threads(stage: Stage, world: World) -> None:
    inside, most, lock = set[int](), set[int](), threading.Lock()

    def body(ctx: Context, word: str) -> str:
        with lock:
            inside.add(threading.get_ident())
            most.add(len(inside))
        ctx.status(word)
        with lock:
            inside.discard(threading.get_ident())
        return f"{word} {ctx.control.status.text}"

    stage.add("echo", body)
    runs: dict[str, CommandRun] = {}

    def work(number: int) -> None:
        for call in range(40):
            word = f"{number}-{call}"
            runs[word] = stage.pool.start("echo", [word], world.author)

    threads = [threading.Thread(target=work, args=[number], daemon=True) for number in range(CALLERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS)
    assert len(runs) == 40 * CALLERS
    assert all(said(run) == f"{word} {word}" for word, run in runs.items())
    assert max(most) <= THREADS
    assert rests(stage.pool)


def test_whoever_waits_for_a_command_that_was_stopped_need_not_wait_for_its_next_check(
    stage: Stage, world: World
) -> None:
    """What it answers in the end is ignored."""
    go, over = threading.Event(), threading.Event()
    began = threading.Event()

    def deaf(ctx: Context, word: str) -> None:
        began.set()
        assert go.wait(SECONDS)
        over.set()

    stage.add("deaf", deaf)
    run = stage.pool.start("deaf", [], world.author)
    assert began.wait(SECONDS)
    assert run.cancel() is True
    with pytest.raises(Cancelled, match="deaf was stopped: nothing was changed"):
        run.future.result(SECONDS)
    assert run not in stage.pool.running and run.cancel() is False
    seconds = run.seconds
    go.set()
    assert over.wait(SECONDS)
    assert run.seconds == seconds and isinstance(run.future.exception(), Cancelled)
