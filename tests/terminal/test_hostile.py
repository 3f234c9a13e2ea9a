"""Texts that want to be obeyed, on every screen: escapes, markup, turned directions are shown and nothing else."""

from contextlib import closing
from pathlib import Path

from marginalia_tui.agent import agents
from marginalia_tui.domain.chat import ModelDefinition
from marginalia_tui.services.models import save_model
from marginalia_tui.settings import Settings
from marginalia_tui.store.store import Store
from tests.support.runs import add_book, make_registry
from tests.support.scripted_server import ScriptedServer, by_results, calls
from tests.terminal.support import ENTER, ESCAPE, Terminal, say

ORDERS = "\x1b]0;OWNED\x07\x1b[666;66t\x9b666;67t\u202e\u2066\x1bPq#0\x1b\\"
TITLE = f"Evil [red]x[/] [@click=app.quit]y[/] {ORDERS}"
FORBIDDEN = [b"\x1b]0;OWNED", b"\x1b[666", b"\xc2\x9b", b"\xe2\x80\xae", b"\xe2\x81\xa6", b"\x1bPq"]


def _furnish(home: Path, url: str) -> None:
    with closing(Store.open(home)) as store:
        save_model(store, ModelDefinition(name=f"m {TITLE}", base_url=url, model=f"id {ORDERS}", timeout=30))
        book = add_book(store, [f"Text {TITLE} and *more*.", "Two"], title=TITLE)
        fields = {"commands": "all", "destructive": "ask", "instructions": f"Task {TITLE}"}
        agent = agents.define_agent(
            uuid=store.clock.new_uuid(), book=book, name=f"A {TITLE}", model=f"m {TITLE}", **fields
        )
        agents.add_agent(store, make_registry(), Settings(), agent)


def test_no_screen_obeys_a_text(home: Path) -> None:
    steps = {"steps": [{"step": f"Step {TITLE}", "status": "pending"}]}
    script = [
        calls(("update_plan", steps), said=f"I say {TITLE}."),
        calls(("get-part", {"part": f"no {TITLE}"}), ("list-parts", {})),
        calls(),
        calls(("replace-part-text", {"part": "h:m1", "text": f"New {TITLE}"})),
        calls(("finish", {"report": f"Report {TITLE}"})),
    ]
    with ScriptedServer(by_results(script)) as server:
        _furnish(home, server.url)
        with Terminal("--home", home, size=(100, 30)) as seen:
            seen.until("[Library]", "Evil [red]x[/] [@click=app.quit]y[/]")
            seen.send(ENTER)
            seen.until("[Book]", "Text Evil [red]x[/]")
            seen.send("i")
            seen.until("The book", "Author", "OWNED")
            seen.send(ESCAPE)
            seen.until("e edit", gone=["Ctrl+S saves"])
            seen.send("e")
            seen.until("editing part 1", "Evil [red]x[/]")
            seen.send(ESCAPE)
            seen.until("n next", gone=["editing"])
            seen.send("S")
            seen.until("[Settings]", "Evil [red]x[/]")
            seen.send("A")
            seen.until("[Agents]", "Evil [red]x[/]", "s start")
            seen.send("s")
            seen.until("I say Evil [red]x[/]", "y allow")
            seen.send("l")
            seen.until("Step Evil [red]x[/]")
            seen.send("y")
            seen.until("Report Evil [red]x[/]", "It is done")
            seen.send("v")
            seen.until("Review: ", "[x]", "{+New+} Evil [red]x[/]")
            seen.send("q")
            assert seen.ended() == 0
            for order in FORBIDDEN:
                assert order not in seen.written, order
    for verb in (["books"], ["agent", "list"], ["model", "list"], ["run", "transcript", "latest"], ["doctor"]):
        said = say(home, *verb)
        assert said.returncode in (0, 1)
        assert not any(order in said.stdout.encode() for order in FORBIDDEN), verb
