"""The review of a run: picks, conflicts, texts of the author, the apply and its undo."""

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from marginalia_tui.agent.review import Reviews
from marginalia_tui.agent.runs import get_run
from marginalia_tui.commands.context import AlwaysYes
from marginalia_tui.domain.clock import Clock
from marginalia_tui.domain.errors import StatusConflict
from marginalia_tui.domain.items import Book, Part
from marginalia_tui.domain.runs import RunStatus
from marginalia_tui.screens.agents import AgentsScreen
from marginalia_tui.screens.review import ReviewScreen
from marginalia_tui.screens.text_editor import TextEditor
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import Store
from marginalia_tui.studio import Studio
from marginalia_tui.widgets.dialogs import Confirm
from tests.screens.rig import Rig, play
from tests.screens.working import agent_home, branch, change, edit, run_of, texts_of
from tests.support.scripted_server import ScriptedServer, calls

TEXTS = (
    "The lamp went out twice before the keeper climbed the stair.\n\nNobody heard it.",
    "She wrote the wind down in the ledger.\n\nThe price of oil stood beside it.",
    "Nobody asks a lighthouse what it wants.",
    "The boat came on Monday.",
)


@dataclass
class Case:
    """A run that is done, with hands for the agent's copy and the author's book."""

    store: Store
    book: str
    run: str
    copy: int
    parts: list[str]

    def agent(self, part: int, **fields: Any) -> None:
        """The agent changed a part, counted from 1."""
        edit(self.store, self.book, self.parts[part - 1], self.copy, "agent", **fields)

    def author(self, part: int, **fields: Any) -> None:
        """The author changed a part."""
        edit(self.store, self.book, self.parts[part - 1], LIBRARY, "author", **fields)

    def agent_adds(self, uuid: str, after: str, text: str, title: str = "") -> None:
        """The agent put a part behind another one."""

        def do(at: Any) -> None:
            follow = at.get_many(Part, at.children(after, self.book)).values()
            made = Part(uuid=uuid, book=self.book, parent=after, created=self.store.clock.now(), title=title, text=text)
            at.put([made, *(replace(part, parent=uuid) for part in follow)])

        change(self.store, self.book, self.copy, "agent", do)

    def agent_deletes(self, part: int) -> None:
        """The agent took a part out; what followed it moves up."""
        uuid = self.parts[part - 1]

        def do(at: Any) -> None:
            gone, book = at.get(Part, uuid), at.get(Book, self.book)
            follow = list(at.get_many(Part, at.children(uuid, self.book)).values())
            leaf = gone.parent if book.active_leaf == uuid else book.active_leaf
            at.put([*(replace(each, parent=gone.parent) for each in follow), replace(book, active_leaf=leaf)])
            at.delete(Part, [uuid])

        change(self.store, self.book, self.copy, "agent", do)


def make(home: Path, do: Callable[[Case], None], *, seen: bool = True, clock: Clock | None = None) -> tuple[str, str]:
    """A home with a run that did something and is done; answers book and run."""
    with ScriptedServer([calls(("ask_user", {"question": "More?"}))]) as server:
        book, agent = agent_home(home, server.url, texts=TEXTS, clock=clock)
        with closing(Studio(home, pace=0, clock=clock)) as studio:
            run = studio.runner.start(agent)
            studio.runner.wait(run, lambda seen: seen.status is RunStatus.IDLE, 20)
            studio.runner.finish(run)
            if seen:
                studio.runner.acknowledge(run)
            with studio.store.read() as tx:
                copy = get_run(tx, run).copy
            do(Case(studio.store, book, run, copy, [part.uuid for part in branch(studio.store, book)]))
    return book, run


async def review(rig: Rig) -> ReviewScreen:
    """Opens the review by its keys."""
    await rig.press("f4", "v")
    screen = await rig.reach(ReviewScreen)
    await rig.until(lambda: screen.view is not None)
    await rig.settle()
    return screen


def _marks(screen: ReviewScreen) -> list[str]:
    return [f"{row.check} {row.cells[0]} {row.cells[2]}" for row in screen.table.rows]


def _two(case: Case) -> None:
    case.agent(1, text=TEXTS[0].replace("stair", "stairs"))
    case.agent(2, text=TEXTS[1].replace("wind", "weather"), title="The Ledger")


def test_the_changes_are_listed_with_their_words_and_all_are_picked(home: Path) -> None:
    make(home, _two)

    async def steps(rig: Rig) -> None:
        screen = await review(rig)
        assert _marks(screen) == ["on 1 text", "on 2 title, text"]
        assert rig.sees("Review: Corrector  2 changes, 2 picked")
        assert rig.sees("text: book now -> text to apply")
        assert rig.sees("the [-stair-]{+stairs+}.")
        await rig.press("down")
        assert rig.sees("[-wind-]{+weather+}")

    play(home, steps)


def test_what_is_picked_is_applied_in_one_change_and_the_run_ends(home: Path) -> None:
    book, run = make(home, _two)

    async def steps(rig: Rig) -> None:
        screen = await review(rig)
        await rig.press("down", "space")
        assert _marks(screen) == ["on 1 text", "off 2 title, text"]
        await rig.press("A")
        await rig.reach(Confirm)
        assert rig.sees("Apply 1 of 2 changes to the book?")
        await rig.press("n")
        assert texts_of(rig, book) == list(TEXTS)
        await rig.press("A", "y")
        await rig.until(lambda: rig.sees("1 change applied to the book."))
        assert texts_of(rig, book) == [TEXTS[0].replace("stair", "stairs"), *TEXTS[1:]]
        seen = run_of(rig, run)
        assert (seen.status, seen.applied_change is not None) == (RunStatus.APPLIED, True)
        # the list still tells what was decided
        assert _marks(screen) == ["on 1 text", "off 2 title, text"]

    play(home, steps)


def test_one_key_takes_the_apply_back_and_the_review_goes_on_where_it_was(home: Path) -> None:
    book, run = make(home, _two)

    async def steps(rig: Rig) -> None:
        screen = await review(rig)
        await rig.press("down", "space", "A", "y")
        await rig.until(lambda: rig.sees("u takes all of it back"))
        await rig.press("u")
        await rig.until(lambda: run_of(rig, run).status is RunStatus.DONE)
        await rig.settle()
        assert texts_of(rig, book) == list(TEXTS)
        assert _marks(screen) == ["on 1 text", "off 2 title, text"]
        await rig.press("a", "A", "y")
        await rig.until(lambda: rig.sees("2 changes applied to the book."))
        assert [part.title for part in branch(rig.studio.store, book)][1] == "The Ledger"

    play(home, steps)


def test_the_undo_of_an_apply_never_takes_back_what_the_author_did_after_it(home: Path) -> None:
    book, run = make(home, _two)

    async def steps(rig: Rig) -> None:
        await review(rig)
        await rig.press("A", "y")
        await rig.until(lambda: rig.sees("applied to the book"))
        last = branch(rig.studio.store, book)[3]
        edit(rig.studio.store, book, last.uuid, text="My own words.")
        await rig.press("u")
        await rig.until(lambda: any("changed after the apply" in each for each in rig.notices))
        assert texts_of(rig, book)[3] == "My own words."
        assert run_of(rig, run).status is RunStatus.APPLIED
        rig.studio.dispatcher.run("undo", [], rig.studio.scope(book, AlwaysYes()))
        await rig.press("u")
        await rig.until(lambda: run_of(rig, run).status is RunStatus.DONE)
        assert texts_of(rig, book) == list(TEXTS)

    play(home, steps)


def test_a_field_can_be_left_out(home: Path) -> None:
    book, _ = make(home, _two)

    async def steps(rig: Rig) -> None:
        await review(rig)
        await rig.press("down")
        assert rig.sees(" [x] title >[x] text")
        await rig.press("x")
        assert rig.sees(" [x] title >[ ] text")
        await rig.press("right")
        assert rig.sees(">[x] title  [ ] text")
        assert rig.sees("title: book now -> text to apply")
        assert rig.sees("[-Chapter 2-]{+The Ledger+}")
        await rig.press("A", "y")
        await rig.until(lambda: rig.sees("2 changes applied"))
        second = branch(rig.studio.store, book)[1]
        assert (second.title, second.text) == ("The Ledger", TEXTS[1])

    play(home, steps)


def _conflict(case: Case) -> None:
    _two(case)
    case.author(2, text=TEXTS[1].replace("price of oil", "price of lamp oil"))
    case.agent(3, text="Nobody asks a lighthouse anything.")
    case.author(3, text="No one asks a lighthouse what it wants.")


@pytest.mark.parametrize(
    ("key", "ends"),
    [
        ("g", TEXTS[1].replace("wind", "weather")),
        ("b", TEXTS[1].replace("price of oil", "price of lamp oil")),
        ("m", TEXTS[1].replace("wind", "weather").replace("price of oil", "price of lamp oil")),
    ],
)
def test_a_conflict_shows_both_sides_and_is_decided_by_a_key(home: Path, key: str, ends: str) -> None:
    book, _ = make(home, _conflict)

    async def steps(rig: Rig) -> None:
        screen = await review(rig)
        assert _marks(screen) == ["on 1 text", "conflict 2 title, text", "conflict 3 text"]
        assert rig.sees("3 changes, 2 conflicts, 1 picked")
        await rig.press("down")
        assert rig.sees("Both sides changed it: g the agent's, b the book's, m both.")
        assert rig.sees("base -> agent")
        assert rig.sees("[-wind-]{+weather+}")
        assert rig.sees("base -> book")
        assert rig.sees("{+lamp +}oil")
        await rig.press(key)
        assert _marks(screen)[1] == "on 2 title, text"
        assert not rig.sees("base -> agent")
        words = {"g": "You take the agent's.", "b": "You keep the book's.", "m": "Both sides' words in one text."}
        assert rig.sees(words[key])
        await rig.press("w")
        assert rig.sees("base -> agent")
        await rig.press("w", "A")
        assert rig.sees("1 conflict is not decided: the book's words stay.")
        await rig.press("y")
        await rig.until(lambda: rig.sees("2 changes applied"))
        assert texts_of(rig, book)[1] == ends
        assert texts_of(rig, book)[2] == "No one asks a lighthouse what it wants."
        assert branch(rig.studio.store, book)[1].title == "The Ledger"

    play(home, steps, size=(80, 40))


def test_the_text_to_apply_can_be_written_by_hand(home: Path) -> None:
    book, _ = make(home, _conflict)

    async def steps(rig: Rig) -> None:
        await review(rig)
        await rig.press("down", "down", "e")
        editor = await rig.reach(TextEditor)
        await rig.press("escape")
        await rig.press("e")
        editor = await rig.reach(TextEditor)
        editor.area.content = "A text of mine."
        await rig.press("ctrl+s")
        await rig.until(lambda: rig.sees("A text of your own."))
        await rig.press("A", "y")
        await rig.until(lambda: rig.sees("applied to the book"))
        assert texts_of(rig, book)[2] == "A text of mine."

    play(home, steps)


def _structure(case: Case) -> None:
    case.agent_adds("new-1", case.parts[0], "First new words.", "An Interlude")
    case.agent_adds("new-2", "new-1", "Second new words.", "Another")
    case.agent_deletes(3)


def test_what_a_pick_needs_comes_along_and_what_needs_it_goes_with_it(home: Path) -> None:
    book, _ = make(home, _structure)

    async def steps(rig: Rig) -> None:
        screen = await review(rig)
        assert _marks(screen) == ["on 2 added", "on 3 added", "on 3 deleted"]
        assert rig.sees("It follows Chapter 1.")
        assert rig.sees("First new words.")
        await rig.press("space")
        assert _marks(screen) == ["off 2 added", "off 3 added", "on 3 deleted"]
        await rig.press("down")
        assert rig.sees("It needs part 2  An Interlude.")
        await rig.press("space")
        assert _marks(screen) == ["on 2 added", "on 3 added", "on 3 deleted"]
        await rig.press("z")
        assert rig.sees("3 changes, 0 picked")
        await rig.press("up", "space", "A", "y")
        await rig.until(lambda: rig.sees("1 change applied"))
        assert [part.title for part in branch(rig.studio.store, book)] == [
            "Chapter 1", "An Interlude", "Chapter 2", "Chapter 3", "Chapter 4",
        ]  # fmt: skip

    play(home, steps)


def test_a_deleted_part_is_shown_with_the_words_that_go(home: Path) -> None:
    book, _ = make(home, _structure)

    async def steps(rig: Rig) -> None:
        await review(rig)
        await rig.press("end")
        assert rig.sees("it goes, with these words")
        assert rig.sees("1 part then moves up.")
        assert rig.sees("Nobody asks a lighthouse what it wants.")
        await rig.press("A", "y")
        await rig.until(lambda: rig.sees("3 changes applied"))
        assert [part.title for part in branch(rig.studio.store, book)] == [
            "Chapter 1", "An Interlude", "Another", "Chapter 2", "Chapter 4",
        ]  # fmt: skip

    play(home, steps)


def test_a_part_that_the_author_changed_and_the_agent_deleted_is_a_conflict(home: Path) -> None:
    def do(case: Case) -> None:
        case.agent_deletes(3)
        case.author(3, text="Nobody asks it.", title="Questions")

    book, _ = make(home, do)

    async def steps(rig: Rig) -> None:
        screen = await review(rig)
        assert _marks(screen) == ["conflict 3 deleted"]
        assert rig.sees("the agent deleted it")
        await rig.press("b")
        assert _marks(screen) == ["off 3 deleted"]
        await rig.press("g")
        assert _marks(screen) == ["on 3 deleted"]
        await rig.press("A", "y")
        await rig.until(lambda: rig.sees("1 change applied"))
        assert len(texts_of(rig, book)) == 3

    play(home, steps, size=(80, 40))


def test_a_change_that_cannot_be_applied_says_why(home: Path) -> None:
    def do(case: Case) -> None:
        case.agent(4, text="The boat came late.")

        def gone(at: Any) -> None:
            at.put([replace(at.get(Book, case.book), active_leaf=case.parts[2])])
            at.delete(Part, [case.parts[3]])

        change(case.store, case.book, LIBRARY, "author", gone)

    make(home, do)

    async def steps(rig: Rig) -> None:
        screen = await review(rig)
        assert [row.check for row in screen.table.rows] == ["conflict"]
        assert rig.sees("It can't be applied: The author deleted it meanwhile")
        await rig.press("space", "a")
        assert screen.decisions.picks == {}

    play(home, steps)


def test_the_review_follows_what_the_author_does_meanwhile(home: Path) -> None:
    book, _ = make(home, _two)

    async def steps(rig: Rig) -> None:
        screen = await review(rig)
        await rig.press("down", "space", "up")
        second, first = branch(rig.studio.store, book)[1], branch(rig.studio.store, book)[0]
        edit(rig.studio.store, book, second.uuid, text=TEXTS[1].replace("wind", "storm"))
        await rig.until(lambda: _marks(screen) == ["on 1 text", "conflict 2 title, text"])
        await rig.until(lambda: rig.notices == ["The book changed meanwhile: 1 change is another one now."])
        # what the author did as the agent did is no change any more
        edit(rig.studio.store, book, first.uuid, text=TEXTS[0].replace("stair", "stairs"))
        await rig.until(lambda: _marks(screen) == ["conflict 2 title, text"])

    play(home, steps)


def test_a_decision_about_words_that_changed_since_is_forgotten(home: Path) -> None:
    book, _ = make(home, _conflict)

    async def steps(rig: Rig) -> None:
        screen = await review(rig)
        await rig.press("down", "g")
        assert _marks(screen)[1] == "on 2 title, text"
        second = branch(rig.studio.store, book)[1]
        edit(rig.studio.store, book, second.uuid, text=TEXTS[1].replace("ledger", "book of winds"))
        await rig.until(lambda: _marks(screen)[1] == "conflict 2 title, text")
        assert screen.decisions.take == {}

    play(home, steps)


def test_an_empty_review_says_so_and_can_be_ended(home: Path) -> None:
    _, run = make(home, lambda case: None)

    async def steps(rig: Rig) -> None:
        await review(rig)
        assert rig.sees("The run changed nothing that the book does not have.")
        assert rig.sees("A  ends the run")
        await rig.press("A")
        assert rig.sees("Nothing is picked: end the run without taking anything over?")
        await rig.press("y")
        await rig.until(lambda: rig.sees("The run ended; nothing was applied."))
        assert run_of(rig, run).status is RunStatus.APPLIED
        await rig.press("u")
        await rig.until(lambda: rig.notices == ["There is no apply of this run to take back."])
        await rig.press("escape")
        await rig.reach(AgentsScreen)

    play(home, steps)


def test_the_work_is_thrown_away_after_a_question(home: Path) -> None:
    book, run = make(home, _two)

    async def steps(rig: Rig) -> None:
        await review(rig)
        await rig.press("D")
        assert rig.sees("Throw away all 2 changes? The book stays as it is.")
        await rig.press("n")
        assert run_of(rig, run).status is RunStatus.DONE
        await rig.press("D", "y")
        await rig.reach(AgentsScreen)
        seen = run_of(rig, run)
        assert (seen.status, seen.space) == (RunStatus.STOPPED_DISCARDED, None)
        assert texts_of(rig, book) == list(TEXTS)

    play(home, steps)


def test_an_apply_that_is_refused_leaves_the_review_as_it_was(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(home, _two)

    def refused(*_: object) -> None:
        raise StatusConflict("The run is RUNNING: finish or stop it, then apply what it did.")

    monkeypatch.setattr(Reviews, "apply", refused)

    async def steps(rig: Rig) -> None:
        screen = await review(rig)
        await rig.press("A", "y")
        await rig.until(lambda: any("finish or stop it" in each for each in rig.notices))
        assert _marks(screen) == ["on 1 text", "on 2 title, text"]
        await rig.press("space")
        assert _marks(screen)[0] == "off 1 text"

    play(home, steps)


def test_n_and_p_walk_through_the_changes_of_a_text(home: Path) -> None:
    make(home, lambda case: case.agent(1, text=f"{TEXTS[0]} End.\n\nOne more.".replace("lamp", "light")))

    async def steps(rig: Rig) -> None:
        screen = await review(rig)
        await rig.press("n")
        assert rig.sees("change 1 of 4")
        await rig.press("n", "n", "p")
        assert rig.sees("change 2 of 4")
        await rig.press("enter")
        assert screen.detail.panes[0].has_focus
        await rig.press("escape")
        assert screen.table.has_focus

    play(home, steps)


def test_looking_at_the_review_takes_the_mark_of_attention_away(home: Path) -> None:
    _, run = make(home, _two, seen=False)

    async def steps(rig: Rig) -> None:
        await rig.until(lambda: rig.sees("1!"))
        await review(rig)
        await rig.until(lambda: not run_of(rig, run).attention)

    play(home, steps)


def test_small_terminals_show_the_list_and_the_words(home: Path) -> None:
    make(home, _two)

    async def steps(rig: Rig) -> None:
        await review(rig)
        assert rig.sees("Chapter 1")
        assert rig.sees("{+stairs+}")

    play(home, steps, size=(40, 12))
