"""What a run leaves in the statistics of its book: tokens, time, words; once, whatever becomes of it."""

from datetime import timedelta

import pytest

from marginalia_tui.agent.merge.model import Picks
from marginalia_tui.agent.review import Reviews
from marginalia_tui.domain.statistics import Activity, Calendar, Days, Side
from marginalia_tui.services.counting import Sums
from marginalia_tui.services.statistics import Line, read_report
from marginalia_tui.store.store import Store
from tests.agent.test_runner import FIXED
from tests.support.runs import desk
from tests.support.scripted_server import ScriptedServer


def of_today(store: Store, book: str) -> Line:
    day = Calendar().day_of(store.clock.now())
    return read_report(store, Days(day - timedelta(days=1), day), book=book).total


@pytest.mark.parametrize("applied", [True, False])
def test_the_work_of_a_run_is_counted_once(store: Store, applied: bool) -> None:
    with ScriptedServer(FIXED) as server, desk(store, server.url, ["There sat teh cat."]) as made:
        run = made.start()
        made.rest(run)
        working = of_today(store, made.book)
        theirs = working.side(Side.AGENTS)
        assert (theirs.prompt_tokens, theirs.completion_tokens) == (450, 35)
        assert working.times[Activity.GENERATING] > 0
        assert (theirs.words_added, theirs.words_deleted, theirs.words_grown) == (1, 1, 0)
        mine = working.side(Side.ME)
        assert (mine.words_added, mine.words_grown) == (0, 4)
        if applied:
            reviews = Reviews(store)
            reviews.apply(run, Picks.of_plan(reviews.plan(run)))
        else:
            made.runner.stop(run, keep=False)
        after = of_today(store, made.book)
    assert after.side(Side.AGENTS) == theirs and after.side(Side.ME) == mine
    assert after.sums != Sums()
