"""The console of a run: rows, what waits, what steers it. (The live answer is in test_console_live.)"""

import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from marginalia_tui.agent import inbox
from marginalia_tui.domain.runs import RunStatus
from marginalia_tui.screens.agents import AgentsScreen
from marginalia_tui.screens.approval import ApprovalScreen
from marginalia_tui.screens.console import ConsoleScreen
from marginalia_tui.screens.console_panel import plan_now, plan_text
from marginalia_tui.screens.decide import Decide
from marginalia_tui.screens.review import ReviewScreen
from marginalia_tui.screens.runwords import compact, context_words
from marginalia_tui.store.store import Store
from marginalia_tui.widgets.dialogs import Ask, Form
from tests.screens.rig import Rig, play
from tests.screens.working import FIXED, agent_home, run_of, start, status, texts_of
from tests.support.scripted_server import Mark, Pause, Reply, ScriptedServer, calls, error, hang

REPLACE = (
    calls(("list-parts", {})),
    calls(("replace-part-text", {"part": "h:m1", "text": "All new.\nAnd more."})),
    calls(("finish", {"report": "Replaced."})),
)
ASKING: dict[str, Any] = {"destructive": "ask", "commands": ("list-parts", "replace-part-text")}


def _panel(console: ConsoleScreen) -> str:
    return "\n".join(line for _, line in console.panel.lines)


async def _say(rig: Rig, console: ConsoleScreen, words: str) -> None:
    """Writes into the box and sends. A console that opens on a question has the focus there already."""
    if not console.box.has_focus:
        await rig.press("tab")
    await rig.write(words)
    await rig.press("enter")


def _held(reply: Reply, asked: threading.Event, gate: threading.Event) -> Reply:
    """A reply that is held up after its first step."""
    return Reply(headers=reply.headers, steps=(reply.steps[0], Mark(asked), Pause(gate), *reply.steps[1:]))


def test_a_run_is_told_from_its_task_to_its_report(home: Path) -> None:
    with ScriptedServer(FIXED) as server:
        agent_home(home, server.url)

        async def steps(rig: Rig) -> None:
            console = await start(rig)
            await status(rig, console, "DONE")
            lines = [line.strip() for line in rig.lines()]
            assert "author  Correct the slips." in lines
            assert any(line.startswith("agent   I correct it.") for line in lines)
            assert any('edit-part h:m1 "teh cat" "the cat"' in line and " ok " in line for line in lines)
            assert "One slip corrected." in "\n".join(lines)
            assert rig.sees("Corrector on The Cat")
            assert rig.sees("done   round 3   15.1k tokens   context 30% ###-------")
            assert _panel(console) == "It is done: v reviews what it changed."
            assert not console.box.display
            assert not run_of(rig, console.run).attention

        play(home, steps, size=(100, 40))


def test_a_call_is_unfolded_with_its_arguments_and_its_result(home: Path) -> None:
    with ScriptedServer(FIXED) as server:
        agent_home(home, server.url)

        async def steps(rig: Rig) -> None:
            console = await start(rig)
            await status(rig, console, "DONE")
            await rig.press("p", "p", "enter")
            assert rig.sees("old: teh cat")
            assert rig.sees('"result": "changed"')
            await rig.press("enter")
            assert not rig.sees("old: teh cat")

        play(home, steps, size=(100, 40))


def test_a_message_is_queued_shown_taken_back_and_delivered(home: Path) -> None:
    gate, asked = threading.Event(), threading.Event()
    with ScriptedServer([_held(FIXED[0], asked, gate), *FIXED[1:]]) as server:
        agent_home(home, server.url)

        async def steps(rig: Rig) -> None:
            console = await start(rig)
            await rig.until(asked.is_set)
            await rig.press("tab")
            await rig.write("First")
            await rig.press("enter")
            await rig.until(lambda: _panel(console) == "queued   First   (c takes it back, f has it read now)")
            assert console.box.content == ""
            await rig.write("Second")
            await rig.press("enter", "escape")
            await rig.until(lambda: "queued   Second   (c takes it back, f has it read now)" in _panel(console))
            await rig.press("c")
            await rig.until(lambda: "Second" not in _panel(console))
            # what was taken back can be written anew
            assert (console.box.content, console.box.has_focus) == ("Second", True)
            gate.set()
            await status(rig, console, "DONE")
            said = [each["content"] for each in server.chats[1].messages if each["role"] == "user"]
            assert said[-1] == "First"
            assert not any("Second" in (each["content"] or "") for each in server.chats[-1].messages)

        play(home, steps)


def test_a_message_that_was_delivered_meanwhile_is_not_taken_back(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gate, asked = threading.Event(), threading.Event()
    with ScriptedServer([_held(FIXED[0], asked, gate), *FIXED[1:]]) as server:
        agent_home(home, server.url)

        async def steps(rig: Rig) -> None:
            console = await start(rig)
            await rig.until(asked.is_set)
            rig.desk.runs.send(console.run, "First")
            await rig.until(lambda: "First" in _panel(console))
            monkeypatch.setattr(inbox, "take", lambda *_: False)
            await rig.press("c")
            await rig.until(lambda: "It was delivered in this very moment." in rig.notices)
            assert console.box.content == ""
            gate.set()

        play(home, steps)


def test_a_question_is_answered_in_the_box(home: Path) -> None:
    asked = {"question": "British or American?", "choices": ["British.", "American."]}
    again = {"question": "And dashes?"}
    with ScriptedServer([calls(("ask_user", asked)), calls(("ask_user", again)), *FIXED]) as server:
        agent_home(home, server.url)

        async def steps(rig: Rig) -> None:
            console = await start(rig)
            await status(rig, console, "IDLE")
            assert sum("British or American?" in line for line in rig.lines()) == 1
            assert _panel(console).split("\n") == [
                "It waits for your answer: 1 to 2 picks one, or Tab, write, Enter.",
                "  1  British.",
                "  2  American.",
            ]
            await rig.press("3", "1")
            await rig.until(lambda: _panel(console) == "It waits for your answer: Tab, write, Enter.")
            assert server.chats[1].messages[-1]["content"].startswith("British.")
            assert str(console.box.placeholder).startswith("Answer the agent")
            await _say(rig, console, "Short ones.")
            await status(rig, console, "DONE")
            assert server.chats[2].messages[-1]["content"].startswith("Short ones.")
            # Questions and answers stay where they were; no acknowledgement is shown.
            lines = "\n".join(line.strip() for line in rig.lines())
            assert lines.index("British or American?") < lines.index("2  American.") < lines.index("author  British.")
            assert lines.index("author  British.") < lines.index("And dashes?") < lines.index("author  Short ones.")
            assert "ask_user" not in lines
            assert not console.box.has_focus

        play(home, steps)


def test_a_console_that_is_opened_on_a_question_is_ready_for_the_answer(home: Path) -> None:
    with ScriptedServer([calls(("ask_user", {"question": "Shall I?"}))]) as server:
        agent_home(home, server.url)

        async def steps(rig: Rig) -> None:
            console = await start(rig)
            await status(rig, console, "IDLE")
            await rig.press("escape", "escape")
            await rig.reach(AgentsScreen)
            await rig.press("enter")
            again = await rig.reach(ConsoleScreen)
            await rig.until(lambda: again.box.has_focus)

        play(home, steps)


def test_a_call_that_waits_is_shown_whole_and_made_when_it_is_allowed(home: Path) -> None:
    with ScriptedServer(REPLACE) as server:
        book, _ = agent_home(home, server.url, **ASKING)

        async def steps(rig: Rig) -> None:
            console = await start(rig)
            await status(rig, console, "WAITING_APPROVAL")
            assert _panel(console).split("\n") == [
                "replace-part-text asks for your word",
                "y allows it   Y allows it for the run   d refuses it   w shows all of it",
                "  changes part Chapter 1: text [-There sat teh cat.-]{+All new.␤And more.+}",
                "  part: Chapter 1",
                "  text: All new. … 1 more line",
            ]
            await rig.press("w")
            await rig.reach(ApprovalScreen)
            assert rig.sees("Corrector asks: Replace the text of a part (replace-part-text)")
            assert rig.sees("[-There sat teh cat.-]{+All new.¶+}")
            await rig.press("escape")
            assert rig.sees("text: All new.")
            assert rig.sees("no result yet")
            assert texts_of(rig, book, run_of(rig, console.run).copy)[0] == "There sat teh cat."
            await rig.press("y")
            await status(rig, console, "DONE")
            assert texts_of(rig, book, run_of(rig, console.run).copy)[0] == "All new.\nAnd more."
            assert run_of(rig, console.run).always == ()

        play(home, steps, size=(100, 40))


def test_a_call_can_be_allowed_for_the_whole_run(home: Path) -> None:
    script = [*REPLACE[:2], calls(("replace-part-text", {"part": "h:m2", "text": "Newer."})), REPLACE[2]]
    with ScriptedServer(script) as server:
        book, _ = agent_home(home, server.url, **ASKING)

        async def steps(rig: Rig) -> None:
            console = await start(rig)
            await status(rig, console, "WAITING_APPROVAL")
            await rig.press("Y")
            await status(rig, console, "DONE")
            assert texts_of(rig, book, run_of(rig, console.run).copy)[:2] == ["All new.\nAnd more.", "Newer."]

        play(home, steps)


def test_a_call_is_refused_with_a_reason(home: Path) -> None:
    with ScriptedServer([*REPLACE[:2], calls(("ask_user", {"question": "What then?"}))]) as server:
        book, _ = agent_home(home, server.url, **ASKING)

        async def steps(rig: Rig) -> None:
            console = await start(rig)
            await status(rig, console, "WAITING_APPROVAL")
            await rig.press("d")
            await rig.reach(Ask)
            await rig.press("escape")
            assert run_of(rig, console.run).status is RunStatus.WAITING_APPROVAL
            await rig.press("w")
            await rig.reach(ApprovalScreen)
            await rig.press("d")
            await rig.reach(Ask)
            await rig.write("Keep my words.")
            await rig.press("enter")
            await status(rig, console, "IDLE")
            assert "Keep my words." in server.chats[2].messages[-1]["content"]
            assert texts_of(rig, book, run_of(rig, console.run).copy)[0] == "There sat teh cat."

        play(home, steps)


def test_pause_waits_for_the_round_and_resume_goes_on_with_a_note(home: Path) -> None:
    gate, asked = threading.Event(), threading.Event()
    with ScriptedServer([_held(FIXED[0], asked, gate), *FIXED[1:]]) as server:
        agent_home(home, server.url)

        async def steps(rig: Rig) -> None:
            console = await start(rig)
            await rig.until(asked.is_set)
            await rig.press("z")
            await status(rig, console, "PAUSING")
            assert _panel(console) == "It ends what it does now, then pauses. Z does not wait for that."
            gate.set()
            await status(rig, console, "PAUSED")
            assert _panel(console) == "It is paused.\nr lets it go on, as does a message."
            await rig.press("r")
            await rig.reach(Ask)
            await rig.write("Go on gently.")
            await rig.press("enter")
            await status(rig, console, "DONE")
            assert "Go on gently." in server.chats[1].messages[-1]["content"]

        play(home, steps)


def test_a_run_at_a_limit_goes_on_with_more(home: Path) -> None:
    with ScriptedServer(FIXED) as server:
        agent_home(home, server.url, max_rounds=1)

        async def steps(rig: Rig) -> None:
            console = await start(rig)
            await status(rig, console, "PAUSED")
            assert "limit of 1 rounds" in run_of(rig, console.run).reason
            await rig.press("r")
            await rig.reach(Form)
            await rig.write("Be brief.")
            await rig.press("tab", "end", "backspace", "3", "ctrl+s")
            await status(rig, console, "DONE")
            assert run_of(rig, console.run).limits == {"rounds": 3}
            assert "Be brief." in server.chats[1].messages[-1]["content"]

        play(home, steps)


def test_pause_now_gives_the_request_up_and_a_message_lets_it_go_on(home: Path) -> None:
    with ScriptedServer([hang(), *FIXED]) as server:
        agent_home(home, server.url)

        async def steps(rig: Rig) -> None:
            console = await start(rig)
            server.wait_for(1)
            await rig.press("Z")
            await status(rig, console, "PAUSED")
            assert server.requests[0].gone.wait(20)
            await rig.press("tab")
            await rig.write("And now?")
            await rig.press("enter")
            await status(rig, console, "DONE")
            assert server.chats[1].messages[-1]["content"].endswith("And now?")

        play(home, steps)


@pytest.mark.parametrize(("key", "end"), [("k", "STOPPED_KEPT"), ("d", "STOPPED_DISCARDED")])
def test_stop_asks_what_becomes_of_the_work(home: Path, key: str, end: str) -> None:
    with ScriptedServer([FIXED[0], FIXED[1], hang()]) as server:
        agent_home(home, server.url)

        async def steps(rig: Rig) -> None:
            console = await start(rig)
            server.wait_for(3)
            await rig.press("K")
            await rig.reach(Decide)
            await rig.press(key)
            await status(rig, console, end)
            kept = end == "STOPPED_KEPT"
            assert (run_of(rig, console.run).space is not None) == kept
            words = {
                True: "It was stopped; what it did is kept.\nv reviews it, r lets it go on.",
                False: "What it did was thrown away.",
            }
            assert _panel(console) == words[kept]
            assert console.box.display == kept
            if kept:
                await rig.press("D", "y")
                await status(rig, console, "STOPPED_DISCARDED")

        play(home, steps)


def test_a_run_that_waits_can_be_declared_done_and_reviewed(home: Path) -> None:
    with ScriptedServer([*FIXED[:2], calls(("ask_user", {"question": "More?"}))]) as server:
        agent_home(home, server.url)

        async def steps(rig: Rig) -> None:
            console = await start(rig)
            await status(rig, console, "IDLE")
            assert not console.check_action("review", ())
            await rig.press("g")
            await status(rig, console, "DONE")
            await rig.press("v")
            await rig.reach(ReviewScreen)
            await rig.press("escape")
            assert isinstance(rig.app.screen, ConsoleScreen)

        play(home, steps)


def test_a_model_that_fails_is_told_in_its_sentence_with_what_to_do(home: Path) -> None:
    with ScriptedServer([error(401, "Invalid API Key", "authentication_error"), *FIXED]) as server:
        agent_home(home, server.url)

        async def steps(rig: Rig) -> None:
            console = await start(rig)
            await status(rig, console, "PAUSED")
            assert "key" in _panel(console)
            assert "r lets it go on" in _panel(console)
            await rig.press("r", "enter")
            await status(rig, console, "DONE")

        play(home, steps)


def test_the_plan_is_told_in_a_line_and_shown_by_a_key(home: Path) -> None:
    steps_made = [{"step": f"Read chapter {n}", "status": "done" if n < 3 else "pending"} for n in range(1, 21)]
    steps_made[2]["status"] = "in_progress"
    with ScriptedServer(
        [calls(("update_plan", {"steps": steps_made})), calls(("ask_user", {"question": "Go on?"}))]
    ) as server:
        agent_home(home, server.url)

        async def steps(rig: Rig) -> None:
            console = await start(rig)
            await status(rig, console, "IDLE")
            assert rig.sees("step 3 of 20: Read chapter 3")
            await rig.press("l")
            assert rig.sees("[x] Read chapter 2")
            assert rig.sees("[>] Read chapter 3")
            assert rig.sees("[ ] Read chapter 4")
            assert rig.sees("… 13 more steps")
            await rig.press("l")
            assert not rig.sees("[x] Read chapter 2")

        play(home, steps, size=(100, 30))


def test_what_was_written_and_not_sent_is_there_when_the_console_is_opened_again(home: Path) -> None:
    with ScriptedServer([hang()]) as server:
        agent_home(home, server.url)

        async def steps(rig: Rig) -> None:
            await start(rig)
            await rig.press("tab")
            await rig.write("Half a thou")
            await rig.press("escape", "escape")
            await rig.reach(AgentsScreen)
            await rig.press("enter")
            again = await rig.reach(ConsoleScreen)
            await rig.until(lambda: again.box.content == "Half a thou")

        play(home, steps)


def test_a_message_that_is_refused_is_not_lost(home: Path) -> None:
    with ScriptedServer([calls(("ask_user", {"question": "Shall I?"}))]) as server:
        agent_home(home, server.url)

        async def steps(rig: Rig) -> None:
            console = await start(rig)
            await status(rig, console, "IDLE")
            # another studio ended it, and the console has not heard of it yet
            console.wants = lambda touched: False  # type: ignore[method-assign]
            rig.desk.runs.stop(console.run, keep=False)
            await _say(rig, console, "Yes")
            await rig.until(lambda: any("STOPPED_DISCARDED" in notice for notice in rig.notices))
            assert console.box.content == "Yes"

        play(home, steps)


def test_words_of_a_model_are_neither_markup_nor_escapes(home: Path) -> None:
    said = "[bold]not bold[/bold] \x1b[31mnot red\x1b[0m"
    with ScriptedServer([calls(("ask_user", {"question": said}))]) as server:
        agent_home(home, server.url)

        async def steps(rig: Rig) -> None:
            console = await start(rig)
            await status(rig, console, "IDLE")
            assert rig.sees("[bold]not bold[/bold] ␛[31mnot red␛[0m")
            await rig.press("tab")
            await rig.write("x")
            rig.desk.runs.pause(console.run)
            await status(rig, console, "PAUSED")
            rig.desk.runs.stop(console.run, keep=True)
            await status(rig, console, "STOPPED_KEPT")

        play(home, steps)


def test_a_run_that_ended_long_ago_is_told_from_its_rows(home: Path) -> None:
    with ScriptedServer(FIXED) as server:
        _, agent = agent_home(home, server.url)

        async def first(rig: Rig) -> None:
            console = await start(rig)
            await status(rig, console, "DONE")

        play(home, first)
    with closing(Store.open(home)):
        pass

    async def steps(rig: Rig) -> None:
        await rig.press("f4", "enter")
        await rig.reach(ConsoleScreen)
        await rig.until(lambda: rig.sees("One slip corrected."))

    play(home, steps)


def test_small_terminals_show_the_status_and_the_last_words(home: Path) -> None:
    with ScriptedServer(REPLACE) as server:
        agent_home(home, server.url, **ASKING)

        async def steps(rig: Rig) -> None:
            console = await start(rig)
            await status(rig, console, "WAITING_APPROVAL")
            assert rig.sees("asks you")
            assert rig.sees("asks for your word")
            await rig.press("y")
            await status(rig, console, "DONE")
            assert rig.sees("done")
            assert rig.sees("Replaced.")

        play(home, steps, size=(40, 12))


@pytest.mark.parametrize(
    ("count", "words"),
    [(0, "0"), (999, "999"), (1_000, "1.0k"), (12_449, "12.4k"), (471_345, "471k"), (1_234_567, "1.2M")],
)
def test_counts_are_short(count: int, words: str) -> None:
    assert compact(count) == words


def test_the_context_is_a_share_where_its_size_is_known() -> None:
    assert context_words(310, 1_000) == "31% ###-------"
    assert context_words(3_000, 1_000) == "100% ##########"
    assert context_words(5_063, 0) == "5.1k"
    assert context_words(0, 0) == ""


def test_a_long_plan_is_shown_around_the_step_that_is_worked_on() -> None:
    plan = tuple(("done" if n < 10 else "in_progress" if n == 10 else "pending", f"Step {n}") for n in range(1, 31))
    lines = plan_text(plan, 60).split("\n")
    assert len(lines) == 8
    assert "[>] Step 10" in lines
    assert lines[0].strip() == "… 7 steps before"
    assert lines[-1].strip() == "… 17 more steps"
    few = plan_text(plan, 60, 4).split("\n")
    assert (len(few), "[>] Step 10" in few) == (4, True)
    assert plan_now(plan) == "step 10 of 30: Step 10"
    assert plan_now((("done", "a"), ("pending", "b"))) == "1 of 2 steps done"
    assert plan_now(()) == ""


def test_a_command_of_the_author_is_completed_and_run_inside_the_run(home: Path) -> None:
    with ScriptedServer([calls(("ask_user", {"question": "Shall I?"})), *FIXED]) as server:
        book, _ = agent_home(home, server.url)

        async def steps(rig: Rig) -> None:
            console = await start(rig)
            await status(rig, console, "IDLE")
            if not console.box.has_focus:
                await rig.press("tab")
            await rig.write("/appe")
            await rig.until(lambda: [each.label for each in console.box.choices.choices][:1] == ["append-to-part"])
            await rig.press("tab")
            assert console.box.content == "/append-to-part "
            await rig.until(lambda: [each.text for each in console.box.choices.choices][:2] == ["1", "2"])
            await rig.press("down", "tab")
            await rig.write(" Woof.")
            await rig.press("escape") if console.box.choices.display else None
            await rig.press("enter")
            await rig.until(lambda: rig.sees("author-command"))
            await rig.settle()
            assert texts_of(rig, book, run_of(rig, console.run).copy)[1] == "It saw a dog.\n\nWoof."
            assert run_of(rig, console.run).status is RunStatus.IDLE
            await rig.write("/delete-part 1")
            await rig.press("enter")
            await rig.until(lambda: any("is not run inside a run" in each for each in rig.notices))
            assert console.box.content == "/delete-part 1"
            console.box.content = ""
            await rig.write("/comp")
            await rig.until(lambda: [each.label for each in console.box.choices.choices][:1] == ["compact"])

        play(home, steps)
