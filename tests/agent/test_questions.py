"""Questions with proposed answers."""

import pytest

from marginalia_tui.agent.questions import choices_of, open_choices
from marginalia_tui.domain.errors import Invalid
from marginalia_tui.domain.runs import RunStatus
from marginalia_tui.store.store import Store
from tests.support.runs import desk
from tests.support.scripted_server import ScriptedServer, calls


def test_choices_are_a_few_texts() -> None:
    assert choices_of({}) == choices_of({"choices": None}) == choices_of({"choices": []}) == ()
    assert choices_of({"choices": [" yes ", "", "no\nnever"]}) == ("yes", "no never")
    for wrong in ("yes", [1], ["x"] * 10, {"a": 1}):
        with pytest.raises(Invalid, match="British"):
            choices_of({"choices": wrong})


def test_they_are_there_while_the_run_waits_for_the_answer(store: Store) -> None:
    asked = calls(("ask_user", {"question": "Which?", "choices": ["British", "American"]}))
    with (
        ScriptedServer([asked, calls(("ask_user", {"question": "Sure?"}))]) as server,
        desk(store, server.url, ["One."]) as made,
    ):
        run = made.start()
        seen = made.rest(run)
        made.runner.command(run, "/list-parts")
        made.rest(run)
        with store.read() as tx:
            assert (seen.status, open_choices(tx, seen)) == (RunStatus.IDLE, ("British", "American"))
        made.runner.send(run, "British")
        seen = made.rest(run)
        with store.read() as tx:
            assert (seen.reason, open_choices(tx, seen)) == ("Sure?", ())
