"""What is tidied when a studio opens."""

from marginalia_tui.agent.housekeeping import tidy
from marginalia_tui.agent.merge.model import Picks
from marginalia_tui.agent.review import Reviews
from marginalia_tui.domain.items import Part
from marginalia_tui.domain.runs import RunStatus
from marginalia_tui.store import history
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import Store
from tests.agent.test_runner import FIXED
from tests.support.runs import desk
from tests.support.scripted_server import ScriptedServer, text


def _texts(store: Store) -> int:
    with store.read() as tx:
        return int(tx.connection.exec_driver_sql("SELECT count(*) FROM text").scalar_one())


def test_a_discarded_copy_leaves_no_text_behind(store: Store) -> None:
    with ScriptedServer(FIXED) as server, desk(store, server.url, ["There sat teh cat."]) as made:
        before = _texts(store)
        run = made.start()
        made.rest(run)
        assert _texts(store) > before
        made.runner.stop(run, keep=False)
        tidy(store, made.runner, lambda: False)
        assert _texts(store) == before


def test_the_copy_of_an_apply_goes_when_undo_does_not_reach_it(store: Store) -> None:
    with ScriptedServer(FIXED) as server, desk(store, server.url, ["There sat teh cat."]) as made:
        run = made.start()
        made.rest(run)
        reviews = Reviews(store)
        reviews.apply(run, Picks.of_plan(reviews.plan(run)))
        tidy(store, made.runner, lambda: False)
        assert made.run(run).space is not None
        with store.read() as tx:
            part = next(iter(tx.space(LIBRARY).outline(made.book))).uuid
        for number in range(history.UNDO_REACH):
            with store.write(Act(actor="author", label="edit", book=made.book)) as tx:
                now = tx.space(LIBRARY).get(Part, part)
                tx.space(LIBRARY).put([Part(uuid=part, book=made.book, created=now.created, text=f"Text {number}")])
        tidy(store, made.runner, lambda: False)
        assert made.run(run).space is None
        assert made.run(run).status is RunStatus.APPLIED


def test_it_ends_when_the_studio_closes(store: Store) -> None:
    with ScriptedServer([text("Hm."), text("Hm.")]) as server, desk(store, server.url, ["One."]) as made:
        run = made.start()
        made.rest(run)
        made.runner.stop(run, keep=False)
        before = _texts(store)
        tidy(store, made.runner, lambda: True)
        assert _texts(store) == before
