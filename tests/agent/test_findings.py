"""What agents report and look up: findings, once for a call and longer than the copy; the manual, read only."""

import orjson
import pytest
from sqlalchemy.exc import IntegrityError

from marginalia_tui.agent import agents, findings, manual
from marginalia_tui.domain.errors import Invalid, NotFound
from marginalia_tui.domain.runs import RunStatus
from marginalia_tui.resources import manual_page, manual_pages
from marginalia_tui.store.journal import Act
from marginalia_tui.store.store import Store
from tests.support.runs import desk
from tests.support.scripted_server import ScriptedServer, calls


def test_a_finding_is_kept_once_and_outlives_its_agent(store: Store) -> None:
    script = [
        calls(("report", {"text": " Two chapters are called One. "}), ("report", {"text": ""})),
        calls(("report", {"text": "x" * (findings.LONGEST + 1)})),
        calls(("finish", {"report": "One finding."})),
    ]
    with ScriptedServer(script) as server, desk(store, server.url, ["One."]) as made:
        run = made.start()
        # It changed nothing, but it found something: that is not questioned.
        assert made.rest(run).status is RunStatus.DONE
        assert [ok for ok, _ in made.results(run)] == [True, False, False, True]
        with store.read() as tx:
            (kept,) = findings.list_findings(tx, run=run)
            assert (kept.text, kept.agent_name) == ("Two chapters are called One.", "Corrector")
            assert findings.list_findings(tx, book=made.book) == findings.list_findings(tx, agent=made.agent.uuid)
        with pytest.raises(IntegrityError), store.write(Act(actor="agent", label="again")) as tx:
            findings.add(tx, made.run(run), made.entries(run)[1].message.calls[0].id, "Twice.")
        made.runner.stop(run, keep=False)
        agents.remove_agent(store, made.agent.uuid)
        with store.read() as tx:
            assert findings.list_findings(tx, book=made.book) == [kept]
            assert findings.list_findings(tx, book="another") == []
        for gone in (True, False):
            with store.write(Act(actor="author", label="finding")) as tx:
                assert findings.delete_finding(tx, kept.uuid) is gone


def test_the_manual_is_looked_up_and_read_in_a_run(store: Store) -> None:
    script = [
        calls(("search_manual", {"query": "working copy"}), ("read_manual_page", {"page": "review"})),
        calls(("read_manual_page", {"page": "revew"})),
        calls(("ask_user", {"question": "?"})),
    ]
    with ScriptedServer(script) as server, desk(store, server.url, ["One."]) as made:
        run = made.start()
        made.rest(run)
        found, page, wrong, _ = made.results(run)
        tools = [each["function"]["name"] for each in server.chats[0].body["tools"]]
    assert found[0] and "working copy" in found[1].casefold()
    assert page == (True, manual_page("review").rstrip("\n"))
    assert not wrong[0] and "Did you mean review?" in wrong[1]
    assert {"report", "search_manual", "read_manual_page"} <= set(tools)


def test_hits_come_page_by_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manual, "HITS", 3)
    first = manual.search_manual("the run")
    assert first.count("\n  ") == 3
    assert "go on with from 4" in first
    assert manual.search_manual("the run", 4).splitlines()[0] != first.splitlines()[0]
    monkeypatch.setattr(manual, "LINES", 5)
    page = manual.read_manual_page("Console.MD")
    assert page.splitlines()[0] == "# Console" and "go on with from 6" in page
    assert manual.read_manual_page("console", 6).splitlines()[0] == manual_page("console").splitlines()[5]


@pytest.mark.parametrize(
    ("name", "arguments", "kind"),
    [
        ("search_manual", {"query": "zzyzx"}, NotFound),
        ("search_manual", {"query": " "}, Invalid),
        ("search_manual", {"query": "run", "from": 10_000}, Invalid),
        ("search_manual", {"query": "run", "from": "first"}, Invalid),
        ("read_manual_page", {"page": "../prompts/system"}, NotFound),
        ("read_manual_page", {"page": "console", "from": 0}, Invalid),
        ("read_manual_page", {"page": "console", "from": True}, Invalid),
        ("read_manual_page", {"page": "console", "from": 9_999}, Invalid),
    ],
)
def test_what_does_not_fit_is_told(name: str, arguments: dict[str, object], kind: type[Exception]) -> None:
    with pytest.raises(kind):
        manual.answer(name, arguments)


def test_every_page_is_read_whole_within_the_limit_of_a_result() -> None:
    for page in manual_pages():
        assert len(orjson.dumps(manual.read_manual_page(page))) < 20_000
        assert "go on with from" not in manual.read_manual_page(page)
