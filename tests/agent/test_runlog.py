"""What the log tells of runs, and what it never has: a word of the story."""

import logging
import re

import pytest
from sqlalchemy import insert
from sqlalchemy.exc import IntegrityError

from marginalia_tui.agent.runlog import MADE_UP
from marginalia_tui.domain.errors import NotFound, StatusConflict
from marginalia_tui.domain.runs import RunStatus
from marginalia_tui.logs import Form
from marginalia_tui.store import tables
from marginalia_tui.store.journal import Act
from marginalia_tui.store.store import Store
from tests.support.runs import desk
from tests.support.scripted_server import ScriptedServer, calls

STORY = "zebra"
SCRIPT = [
    calls(("edit-part", {"part": "h:m1", "old": f"teh {STORY}", "new": f"the {STORY}"}), said=STORY, usage=(900, 10)),
    calls((f"write-{STORY}", {"text": STORY}), ("search_parts", {"words": STORY}), usage=(950, 10)),
    calls(("replace-part-text", {"part": "h:m1", "text": f"A {STORY}."}), usage=(960, 10)),
    calls(("report", {"text": f"A {STORY} is no cat."}), usage=(970, 10)),
    calls(("ask_user", {"question": f"Why a {STORY}?"}), usage=(980, 10)),
    calls(("finish", {"report": f"No {STORY} more."}), usage=(990, 10)),
]


def test_a_run_is_told_from_its_start_to_its_end_without_a_word_of_the_story(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="marginalia_tui")
    caplog.handler.setFormatter(Form())
    options = {
        "instructions": f"No {STORY}.",
        "destructive": "ask",
        "commands": "all",
        "max_rounds": 50,
        "max_minutes": 1.5,
    }
    with ScriptedServer(SCRIPT) as server, desk(store, server.url, [f"There sat teh {STORY}."], **options) as made:
        run = made.start(message=f"Mind the {STORY}!")
        assert made.rest(run).status is RunStatus.WAITING_APPROVAL
        with pytest.raises(NotFound):
            made.runner.decide(run, STORY, "approve")
        call = made.entries(run)[-1].message.calls[0].id
        made.runner.decide(run, call, "deny", why=f"I like my {STORY}.")
        assert made.rest(run).status is RunStatus.IDLE
        made.runner.send(run, f"It is a {STORY}.")
        assert made.rest(run).status is RunStatus.DONE
        with pytest.raises(StatusConflict):
            made.runner.send(run, "Too late.")
        model = made.agent.model
    lines = [line for line in caplog.text.splitlines() if f"run {run}: " in line]
    told = [line.split(f"run {run}: ", 1)[1] for line in lines]
    assert STORY not in caplog.text.casefold()
    assert told[:2] == [f"started, agent {made.agent.uuid}", "a message, 15 characters"]
    assert told[2] == (
        f"a worker begins, model {model}, context 0, answer 0, rounds 50, tokens 0, money 0, minutes 1.5, "
        "batch batched, destructive ask"
    )
    first = "round 1, 900 + 10 tokens, 0 cached, context 910 of 0, "
    assert any(re.fullmatch(re.escape(first) + r"\d+\.\d s, calls: edit-part", line) for line in told)
    assert any(line.endswith(f"calls: {MADE_UP}, search_parts") for line in told)
    assert any(re.fullmatch(r"edit-part done in \d\.\d{3} s, \d+ characters", line) for line in told)
    assert any(re.fullmatch(re.escape(MADE_UP) + r" failed in \d\.\d{3} s, \d+ characters", line) for line in told)
    assert f"{call} (replace-part-text) waits for approval" in told
    assert f"{call} (replace-part-text): deny" in told
    assert "taken up, was WAITING_APPROVAL" in told and "taken up, was IDLE" in told
    changes = [line for line in told if " -> " in line]
    assert changes == [
        "RUNNING -> WAITING_APPROVAL", "WAITING_APPROVAL -> RUNNING", "RUNNING -> IDLE", "IDLE -> RUNNING",
        "RUNNING -> DONE",
    ]  # fmt: skip
    assert f"a message, {len(f'It is a {STORY}.')} characters" in told


def test_a_fault_is_told_by_its_place_and_kind_and_what_is_written_by_neither(store: Store) -> None:
    form = Form()

    def told(error: BaseException) -> str:
        return form.formatException((type(error), error, error.__traceback__))

    with pytest.raises(Exception) as caught, store.write(Act(actor="author", label="x")) as tx:
        for _ in range(2):
            tx.connection.execute(insert(tables.goal).values(book=STORY, since=STORY, words=1))
    assert isinstance(caught.value, IntegrityError)
    assert STORY not in told(caught.value) + str(caught.value) and "test_runlog.py" in told(caught.value)

    try:
        try:
            dict[str, str]()[STORY]
        except KeyError as error:
            raise RuntimeError(f"no {STORY}") from error
    except RuntimeError as error:
        shown = told(error)
    assert shown.count("test_runlog.py") == 2
    assert "RuntimeError\nwhich came from:" in shown and shown.endswith("KeyError")
    assert f"no {STORY}" not in shown
    assert told(OSError(28, "No space left")) == "OSError: [Errno 28] No space left"


def test_what_is_rolled_back_is_not_told(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    heard: list[str] = []
    with pytest.raises(ZeroDivisionError), store.write(Act(actor="author", label="x")) as tx:
        tx.if_kept(lambda: heard.append("lost"))
        raise ZeroDivisionError
    with store.write(Act(actor="author", label="x")) as tx:
        tx.if_kept(lambda: heard.append("kept"))
        assert heard == []
    assert heard == ["kept"]
