"""The rows of a run as the console shows them."""

from typing import cast

from marginalia_tui.agent import transcript
from marginalia_tui.desk.transcripts import RunSource
from marginalia_tui.domain.chat import Message
from marginalia_tui.store.journal import Act
from marginalia_tui.store.store import Store
from marginalia_tui.studio import Studio
from marginalia_tui.widgets.folding import lay_out_entry
from tests.support.runs import desk
from tests.support.scripted_server import ScriptedServer, calls


def test_a_summary_is_folded_and_what_it_stands_for_is_marked(store: Store) -> None:
    with (
        ScriptedServer([calls(("ask_user", {"question": "Which part?"}))]) as server,
        desk(store, server.url, ["One."]) as made,
    ):
        run = made.start(message="Correct it.")
        made.rest(run)
        source = RunSource(cast(Studio, made), run)
        assert source.update() == 0
        assert [(entry.role, entry.flag, entry.faded) for entry in source.rows(0, source.count())] == [
            ("author", "", False),
            ("agent", "", False),
        ]
        with store.write(Act(actor="agent", label="summary", run=run)) as tx:
            transcript.replace_by_summary(tx, run, "All was read.", seconds=2.0)
            transcript.append(tx, run, Message(role="user", text="The first."))
        assert source.update() == 0  # the rows before are others now
        author, agent, summary, after = source.rows(0, source.count())
        assert [(entry.flag, entry.faded) for entry in (author, agent)] == [("summarised", True)] * 2
        assert (summary.text, summary.calls[0].name) == ("", "summary of 3 messages")
        assert "All was read." not in lay_out_entry(summary, 80, ()).text
        assert "All was read." in lay_out_entry(summary, 80, (0,)).text
        assert "summarised" in lay_out_entry(agent, 80, ()).text
        assert (after.text, after.flag, after.faded) == ("The first.", "", False)
