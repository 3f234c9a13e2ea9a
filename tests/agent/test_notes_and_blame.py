"""A whole run that makes notes and edits: handles at its border, the review, and who is told to have written what."""

import json

from marginalia_tui.agent.merge.model import Picks
from marginalia_tui.agent.review import Reviews
from marginalia_tui.commands.suites import annotate, annotations
from marginalia_tui.domain.runs import RunStatus
from marginalia_tui.services import blame
from marginalia_tui.services.annotations import notes_of_book
from marginalia_tui.services.parts import story_tree
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import Store
from tests.support.runs import desk, part_texts
from tests.support.scripted_server import ScriptedServer, calls

TEXT = "There sat teh cat. Nobody saw it, and nobody fed it."

SCRIPT = [
    calls(("create-annotation", {"part": "h:m1", "text": "Whose is it?", "quote": "Nobody saw it"})),
    calls(("create-annotation", {"part": "h:m1", "text": "Which cat?", "quote": "teh cat"})),
    calls(("edit-part", {"part": "h:m1", "old": "teh cat", "new": "the cat"})),
    calls(("append-to-part", {"part": "h:m1", "text": "It rained."})),
    calls(("resolve-annotation", {"annotation": "h:a2"})),
    calls(("resolve-annotation", {"annotation": "h:a9"})),
    calls(("list-annotations", {})),
    calls(("finish", {"report": "Done."})),
]


def test_an_agent_makes_notes_by_handle_and_the_review_takes_them_and_blame_knows_the_calls(store: Store) -> None:
    with ScriptedServer(SCRIPT) as server, desk(store, server.url, [TEXT]) as made:
        made.registry.register(annotations, annotate)
        run = made.start()
        assert made.rest(run).status is RunStatus.DONE
        results = made.results(run)
        assert json.loads(results[0][1])["annotation"] == "h:a1" and json.loads(results[1][1])["annotation"] == "h:a2"
        assert results[5][0] is False and "list-annotations" in results[5][1]
        rows = json.loads(results[6][1])["notes"]
        assert {(each["annotation"], each["part"], each["status"], each["passage"]) for each in rows} == {
            ("h:a1", "h:m1", "open", "Nobody saw it"),
            ("h:a2", "h:m1", "done", "the cat"),
        }

        reviews = Reviews(store)
        reviews.apply(run, Picks.of_plan(reviews.plan(run)))
        assert part_texts(store, made.book) == ["There sat the cat. Nobody saw it, and nobody fed it.\n\nIt rained."]
        with store.read() as tx:
            space = tx.space(LIBRARY)
            notes = notes_of_book(space, made.book)
            part = story_tree(space, space.books()[0]).active[0]
            (history,) = blame.histories(space, [part])
        assert [(each.annotation.source, each.annotation.model, each.status) for each in notes] == [
            ("agent", "scripted", "open"),
            ("agent", "scripted", "done"),
        ]
        stretches = history.stretches()
        told = [(history.text[each.start : each.end], each.owner.act.who, each.owner.act.call) for each in stretches]
        first, edited, rest, added = told
        assert (first[1], rest[1]) == ("author", "author")
        assert (edited[0], edited[1]) == ("the", "Corrector") and edited[2]
        assert (added[0], added[1]) == ("\n\nIt rained.", "Corrector") and added[2] not in (None, edited[2])
        assert {each.owner.act.run for each in stretches if each.owner.act.who == "Corrector"} == {run}
