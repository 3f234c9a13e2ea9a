"""The agents tab: its list, the definitions, and the keys that start, steer and end runs."""

import threading
from contextlib import closing
from pathlib import Path

from marginalia_tui.agent import agents, runs
from marginalia_tui.agent.definition import AgentDefinition
from marginalia_tui.domain.runs import RunStatus
from marginalia_tui.screens.agents import AgentsScreen
from marginalia_tui.screens.console import ConsoleScreen
from marginalia_tui.screens.decide import Decide
from marginalia_tui.screens.review import ReviewScreen
from marginalia_tui.store.journal import Act
from marginalia_tui.store.spaces import copy_book
from marginalia_tui.store.store import Store
from marginalia_tui.widgets.dialogs import Ask, Confirm, Form
from tests.screens.rig import Rig, add_book, lamp_home, play
from tests.screens.working import FIXED, agent_home, run_of, start, status
from tests.support.scripted_server import Mark, Pause, Reply, ScriptedServer, calls, hang


def _agents(rig: Rig) -> list[AgentDefinition]:
    with rig.studio.store.read() as tx:
        return agents.list_agents(tx)


def test_without_a_book_it_says_where_one_comes_from(home: Path) -> None:
    async def steps(rig: Rig) -> None:
        await rig.press("f4")
        await rig.reach(AgentsScreen)
        assert rig.sees("No agent yet, and no book for one.")
        assert rig.sees("F2 shows the library")
        await rig.press("n")
        assert isinstance(rig.app.screen, AgentsScreen)
        assert rig.notices == ["Bring a book in first: F2 shows the library."]

    play(home, steps)


def test_without_an_agent_it_says_what_one_is_and_how_to_make_it(home: Path) -> None:
    lamp_home(home)

    async def steps(rig: Rig) -> None:
        await rig.press("f4")
        await rig.reach(AgentsScreen)
        assert rig.sees("No agent yet.")
        assert rig.sees("n  makes the first one")

    play(home, steps)


def test_a_new_agent_is_made_by_its_form(home: Path) -> None:
    book = lamp_home(home)

    async def steps(rig: Rig) -> None:
        await rig.press("f4", "n")
        await rig.reach(Form)
        await rig.write("Reader")
        await rig.press("tab", "tab", "tab")
        await rig.write("Read it.")
        await rig.press("ctrl+s")
        screen = await rig.reach(AgentsScreen)
        (made,) = _agents(rig)
        assert (made.name, made.book, made.instructions, made.commands) == ("Reader", book, "Read it.", "safe")
        assert screen.table.current_key == made.uuid
        assert rig.sees("It never ran: s starts it, t lets it ask you first.")

    play(home, steps)


def test_what_is_wrong_in_the_form_is_said_and_nothing_that_was_written_is_lost(home: Path) -> None:
    lamp_home(home)

    async def steps(rig: Rig) -> None:
        await rig.press("f4", "n")
        await rig.reach(Form)
        await rig.write("Reader")
        for _ in range(5):
            await rig.press("tab")
        await rig.press("ctrl+u")
        await rig.write("no-such-command")
        await rig.press("ctrl+s")
        again = await rig.reach(Form)
        assert "no-such-command" in rig.notices[-1]
        assert again.query_one("#field-0").content == "Reader"  # type: ignore[attr-defined]
        assert _agents(rig) == []
        await rig.press("escape")
        await rig.reach(AgentsScreen)

    play(home, steps)


def test_an_agent_is_changed_cloned_to_a_book_without_one_and_removed(home: Path) -> None:
    agent_home(home)
    with closing(Store.open(home)) as store:
        other = add_book(store, "The Dog", [("Chapter 1", "A dog.")])

    async def steps(rig: Rig) -> None:
        await rig.press("f4", "e")
        await rig.reach(Form)
        await rig.write(" General")
        await rig.press("ctrl+s")
        screen = await rig.reach(AgentsScreen)
        assert [each.name for each in _agents(rig)] == ["Corrector General"]
        await rig.press("c")
        await rig.reach(Form)
        await rig.press("ctrl+s")
        await rig.reach(AgentsScreen)
        first, second = _agents(rig)
        assert (second.name, second.book, second.instructions) == ("Corrector General 2", other, first.instructions)
        assert screen.table.current_key == second.uuid
        await rig.press("c")
        assert "Every book has its agent" in rig.notices[-1]
        await rig.press("d")
        await rig.reach(Confirm)
        await rig.press("n")
        assert len(_agents(rig)) == 2
        await rig.press("d", "y")
        await rig.until(lambda: len(screen.table.rows) == 1)
        assert _agents(rig) == [first]

    play(home, steps)


def test_a_run_is_started_watched_and_ends_in_the_list(home: Path) -> None:
    with ScriptedServer(FIXED) as server:
        agent_home(home, server.url)

        async def steps(rig: Rig) -> None:
            console = await start(rig)
            await status(rig, console, "DONE")
            await rig.press("escape")
            await rig.reach(AgentsScreen)
            assert rig.sees("It is done: v reviews what it changed.")
            assert rig.sees("One slip corrected.")
            line = next(line for line in rig.lines() if "The Cat" in line)
            assert line.split() == [">Corrector", "The", "Cat", "done", "3", "15.1k", "30%", "###-------"]
            await rig.press("enter")
            await rig.reach(ConsoleScreen)
            await rig.press("escape", "v")
            await rig.reach(ReviewScreen)

        play(home, steps)


def test_only_the_keys_of_the_status_work(home: Path) -> None:
    with ScriptedServer([hang()]) as server:
        agent_home(home, server.url)

        async def steps(rig: Rig) -> None:
            await rig.press("f4")
            screen = await rig.reach(AgentsScreen)

            def keys() -> set[str]:
                names = ("console", "start", "pause", "resume", "stop", "discard", "review")
                return {name for name in names if screen.check_action(name, ())}

            assert keys() == {"start"}
            await rig.press("enter")
            assert rig.notices == ["Corrector never ran: s starts it."]
            console = await start(rig)
            server.wait_for(1)
            await rig.press("escape")
            await rig.until(lambda: keys() == {"console", "pause", "stop"}, "keys of a run that works")
            rig.desk.runs.pause(console.run, now=True)
            await rig.until(lambda: keys() == {"console", "resume", "stop"}, "keys of a paused run")
            rig.desk.runs.stop(console.run, keep=True)
            await rig.until(lambda: keys() == {"console", "resume", "discard", "review"}, "keys of a kept run")
            rig.desk.runs.stop(console.run, keep=False)
            await rig.until(lambda: keys() == {"console", "start"}, "keys of a run that is over")

        play(home, steps)


def test_pause_resume_with_a_note_and_stop(home: Path) -> None:
    with ScriptedServer([hang(), hang(), hang()]) as server:
        agent_home(home, server.url)

        async def steps(rig: Rig) -> None:
            console = await start(rig)
            server.wait_for(1)
            await rig.press("escape")
            screen = await rig.reach(AgentsScreen)
            await rig.press("z")
            await rig.until(lambda: rig.sees("is pausing"))
            rig.desk.runs.pause(console.run, now=True)
            await rig.until(lambda: rig.sees("It is paused: r lets it go on."))
            await rig.press("r")
            await rig.reach(Ask)
            await rig.write("Mind the dialect.")
            await rig.press("enter")
            await rig.until(lambda: len(server.chats) == 2)
            assert "Mind the dialect." in server.chats[1].messages[-1]["content"]
            await rig.until(lambda: screen.check_action("stop", ()))
            await rig.press("K")
            await rig.reach(Decide)
            assert rig.sees("k  stop, and keep what it did for a review")
            await rig.press("escape")
            assert run_of(rig, console.run).status is RunStatus.RUNNING
            await rig.press("K", "k")
            await rig.until(lambda: run_of(rig, console.run).status is RunStatus.STOPPED_KEPT)
            await rig.until(lambda: rig.sees("It was stopped: v reviews what it did, r lets it go on."))
            await rig.press("D")
            await rig.reach(Confirm)
            await rig.press("y")
            await rig.until(lambda: run_of(rig, console.run).status is RunStatus.STOPPED_DISCARDED)
            assert run_of(rig, console.run).space is None

        play(home, steps)


def test_a_conversation_asks_first(home: Path) -> None:
    with ScriptedServer([calls(("ask_user", {"question": "What shall I do?"}))]) as server:
        agent_home(home, server.url)

        async def steps(rig: Rig) -> None:
            await rig.press("f4", "t")
            console = await rig.reach(ConsoleScreen)
            await status(rig, console, "IDLE")
            assert run_of(rig, console.run).interactive
            assert rig.sees("What shall I do?")

        play(home, steps)


def test_a_disabled_agent_does_not_start_and_says_how_to_enable_it(home: Path) -> None:
    agent_home(home, enabled=False)

    async def steps(rig: Rig) -> None:
        await rig.press("f4", "s")
        assert isinstance(rig.app.screen, AgentsScreen)
        assert rig.sees("It is disabled: e enables it.")

    play(home, steps)


def test_a_run_whose_process_died_is_paused_when_the_list_is_read(home: Path) -> None:
    book, agent = agent_home(home)
    with closing(Store.open(home)) as store:
        run = store.clock.new_uuid()
        with store.write(Act(actor="studio", label="start", run=run)) as tx:
            runs.add_run(
                tx,
                uuid=run,
                agent=agent,
                agent_name="Corrector",
                book=book,
                space=copy_book(tx, book),
                interactive=False,
            )

    async def steps(rig: Rig) -> None:
        await rig.press("f4")
        await rig.until(lambda: rig.sees("It is paused: r lets it go on."))
        assert run_of(rig, run).status is RunStatus.PAUSED

    play(home, steps)


def test_an_agent_that_needs_the_author_is_counted_on_the_tab_and_told_of_with_a_key(home: Path) -> None:
    gate, asked = threading.Event(), threading.Event()
    question = calls(("ask_user", {"question": "British or American?"}))
    slow = Reply(headers=question.headers, steps=(Mark(asked), Pause(gate), *question.steps))
    with ScriptedServer([slow]) as server:
        agent_home(home, server.url)

        async def steps(rig: Rig) -> None:
            console = await start(rig)
            await rig.until(asked.is_set)
            await rig.press("f2")
            assert not any("!" in line for line in rig.lines()[:1])
            gate.set()
            await rig.until(lambda: rig.sees("Agents 1!"))
            await rig.until(lambda: rig.notices == ["Corrector waits for your answer. F8 goes there."])
            await rig.press("f8")
            there = await rig.reach(ConsoleScreen)
            assert there.run == console.run
            await rig.until(lambda: not run_of(rig, console.run).attention)
            await rig.until(lambda: not rig.sees("1!"))

        play(home, steps)


def test_the_list_marks_an_agent_that_needs_the_author_with_a_sign(home: Path) -> None:
    with ScriptedServer([calls(("ask_user", {"question": "Shall I?"}))]) as server:
        _, agent = agent_home(home, server.url)

        async def steps(rig: Rig) -> None:
            await rig.press("f4")
            run = rig.studio.runner.start(agent)
            await rig.until(lambda: rig.sees("! waits for you"))
            await rig.settle()
            assert run_of(rig, run).attention
            assert rig.sees("It waits for your answer: Enter opens")

        play(home, steps)


def test_the_offline_proofreader_works_without_a_server(home: Path) -> None:
    agent_home(home, texts=("The the cat sat.", "It  saw a dog."))

    async def steps(rig: Rig) -> None:
        console = await start(rig)
        await status(rig, console, "DONE")
        await rig.press("escape", "v")
        await rig.reach(ReviewScreen)
        assert rig.sees("2 changes, 2 picked")

    play(home, steps)


def test_small_terminals_keep_the_name_and_the_status(home: Path) -> None:
    agent_home(home)

    async def steps(rig: Rig) -> None:
        await rig.press("f4")
        assert rig.sees("Corrector")
        assert rig.sees("never ran")

    play(home, steps, size=(40, 12))
