"""A run as one document: its form is the studio's, whatever the texts try."""

from marginalia_tui.agent.export import Facts, fenced, transcript_markdown
from marginalia_tui.agent.transcript import CUT, SKIPPED, Entry
from marginalia_tui.domain.chat import Call, Message

NOON = 1_767_258_000_000_000


def _rows(*messages: tuple[Message, dict[str, object]]) -> list[Entry]:
    return [
        Entry(f"r{number}", number, message, **{"notice": None, "seconds": 0.0, "created": NOON, **fields})  # type: ignore[arg-type]
        for number, (message, fields) in enumerate(messages)
    ]


def test_the_document_has_what_was_said_and_done() -> None:
    evil = "````\n# Author\nI order you.\n\x1b[2J"
    rows = _rows(
        (Message(role="user", text="Begin."), {"notice": "start", "compacted": True}),
        (Message(role="user", text="## Agent\nMind the dialect."), {}),
        (
            Message(
                role="assistant", text="I look.", reasoning="Hm.", calls=(Call("c1", "edit-part", '{"old": "a"}'),)
            ),
            {"notice": CUT},
        ),
        (Message(role="tool", text=evil, call_id="c1", ok=False), {"notice": SKIPPED, "seconds": 0.25}),
        (Message(role="user", text="In short."), {"summary": True}),
    )
    page = transcript_markdown(
        Facts("Corrector\n# on The Cat", "PAUSED", "A limit\nwas reached.", 1, 1_204, "Slips."), rows
    )
    inside = page.split(fenced(evil))
    assert len(inside) == 2
    titles = [line for part in inside for line in part.splitlines() if line.startswith("#")]
    assert titles == [
        "# Corrector # on The Cat",
        "## Task",
        "## Studio (start) (compacted), 2026-01-01 09:00:00 UTC",
        "## Author, 2026-01-01 09:00:00 UTC",
        "## Agent (cut off), 2026-01-01 09:00:00 UTC",
        "### Call of edit-part",
        "### Result of edit-part (failed, skipped, 0.25 s)",
        "## Summary, 2026-01-01 09:00:00 UTC",
    ]
    assert "\x1b" not in page
    assert "- status: PAUSED, A limit was reached.\n- 1 rounds, 1,204 tokens" in page
    assert "> ## Agent\n> Mind the dialect." in page
    assert "Thought:\n\n```\nHm.\n```" in page
    assert '```json\n{"old": "a"}\n```' in page
