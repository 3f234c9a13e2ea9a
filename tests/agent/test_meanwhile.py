"""What a run is told when it goes on and the author changed the book meanwhile."""

from dataclasses import replace

from marginalia_tui.agent import inbox
from marginalia_tui.domain.items import Book, Part
from marginalia_tui.domain.runs import RunStatus
from marginalia_tui.services.parts import story_tree
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import Store
from tests.support.runs import add_book, desk
from tests.support.scripted_server import ScriptedServer, calls, text

FINISH = calls(("finish", {"report": "Done."}))


def _parts(store: Store, book: str) -> list[Part]:
    with store.read() as tx:
        space = tx.space(LIBRARY)
        return list(space.get_many(Part, story_tree(space, space.get(Book, book)).active).values())


def _edit(store: Store, part: Part, **fields: object) -> None:
    with store.write(Act(actor="author", label="edit", book=part.book)) as tx:
        tx.space(LIBRARY).put([replace(tx.space(LIBRARY).get(Part, part.uuid), **fields)])  # type: ignore[arg-type]


def test_a_resume_tells_once_what_changed_in_the_book(store: Store) -> None:
    script = [text("Hm."), text("I see."), text("Well."), FINISH, FINISH]
    with ScriptedServer(script) as server, desk(store, server.url, ["One.", "Two."]) as made:
        run = made.start(interactive=True)
        made.rest(run)
        made.runner.pause(run)
        one, two = _parts(store, made.book)
        (other,) = _parts(store, add_book(store, ["Else."], "Another"))
        _edit(store, one, text="One, changed.")
        _edit(store, one, title="The first")
        _edit(store, two, text="Two, changed.")
        _edit(store, two, text="Two.")  # there and back
        _edit(store, other, text="Of no interest.")
        new = Part(
            uuid=store.clock.new_uuid(), book=made.book, parent=two.uuid, created=store.clock.now(), text="New one."
        )
        with store.write(Act(actor="author", label="add", book=made.book)) as tx:
            tx.space(LIBRARY).put([new])

        made.runner.resume(run, "Mind the title.")
        assert made.rest(run).status is RunStatus.IDLE
        told = server.requests[1].body["messages"][-1]["content"]
        lines = [line for line in told.splitlines() if line.startswith("- ")]
        assert lines == ["- part h:m1 'Chapter 1': title, text changed", "- part 'New one.': new"]
        assert told.index("- part") < told.index("Mind the title.")
        assert [entry.notice for entry in made.entries(run)][-3:] == ["go-on", "resume", None]

        # It knows of that now: the next time only what is new is told, before the author's own words.
        made.runner.pause(run)
        _edit(store, two, text="Two, changed.")
        made.runner.send(run, "And now?")
        made.rest(run)
        told = server.requests[2].body["messages"][-1]["content"]
        assert [line for line in told.splitlines() if line.startswith("- ")] == [
            "- part h:m2 'Chapter 2': text changed"
        ]
        assert told.endswith("And now?")
        made.runner.pause(run)
        made.runner.resume(run)
        assert made.rest(run).status is RunStatus.DONE
        assert "- part" not in server.requests[3].body["messages"][-1]["content"]
        with store.read() as tx:
            assert inbox.is_empty(tx, run)
