"""Saves of the editor: those that follow each other closely are one change, and its name is read by people."""

from marginalia_tui.domain.items import Part
from marginalia_tui.services import undo
from marginalia_tui.services.editing import CLOSE_SAVES, save_part
from marginalia_tui.services.parts import story_tree
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import Store
from tests.support.runs import add_book, part_texts


class Hand:
    """The author's hand on a book in the library."""

    def __init__(self, store: Store, *texts: str) -> None:
        self.store = store
        self.book = add_book(store, texts)
        with store.read() as tx:
            space = tx.space(LIBRARY)
            self.parts = story_tree(space, space.books()[0]).active

    def save(self, part: int, text: str, *, apart: bool = False) -> None:
        """Saves a text as the editor does."""
        with self.store.read() as tx:
            base = tx.space(LIBRARY).hashes(Part, [self.parts[part]])[self.parts[part]]
        save_part(self.store, self.parts[part], "", text, base, apart=apart)

    def undo(self) -> str:
        """Takes the newest step back, and answers its label."""
        with self.store.read() as tx:
            step = undo.peek(tx, self.book)
        with self.store.write(undo.act_for(step, self.book)) as tx:
            undo.take_back(tx, self.book, step)
        return step.label

    @property
    def texts(self) -> list[str]:
        """The texts of the parts."""
        return part_texts(self.store, self.book)


def test_saves_of_a_part_that_follow_closely_are_one_step(store: Store) -> None:
    hand = Hand(store, "One", "Two")
    hand.save(0, "One 1")
    hand.save(0, "One 1 2")
    assert hand.undo() == "edit of a part"
    assert hand.texts == ["One", "Two"]


def test_a_save_over_that_of_somebody_else_is_a_step_of_its_own(store: Store) -> None:
    hand = Hand(store, "One")
    hand.save(0, "Theirs")
    hand.save(0, "Mine", apart=True)
    hand.undo()
    assert hand.texts == ["Theirs"]


def test_saves_of_two_parts_are_two_steps(store: Store) -> None:
    hand = Hand(store, "One", "Two")
    hand.save(0, "One 1")
    hand.save(1, "Two 1")
    hand.save(0, "One 1 2")
    assert hand.undo() == "edit of a part"
    assert hand.texts == ["One 1", "Two 1"]


def test_a_save_after_an_undo_or_a_minute_is_a_step_of_its_own(store: Store) -> None:
    hand = Hand(store, "One", "Two")
    hand.save(0, "One 1")
    hand.undo()
    hand.save(0, "One 2")
    later = store.clock.now() + CLOSE_SAVES
    store.clock = _At(later)
    hand.save(0, "One 2 3")
    hand.undo()
    assert hand.texts == ["One 2", "Two"]
    hand.undo()
    assert hand.texts == ["One", "Two"]


class _At:
    """A clock that stands."""

    def __init__(self, moment: int) -> None:
        self._moment = moment

    def now(self) -> int:
        """That moment."""
        return self._moment

    def new_uuid(self) -> str:
        """None is needed."""
        raise NotImplementedError
