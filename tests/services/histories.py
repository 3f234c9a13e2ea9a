"""A book whose parts are written by several hands, for the tests of versions and blame."""

from dataclasses import replace

from sqlalchemy import insert

from marginalia_tui.domain.items import Part
from marginalia_tui.domain.runs import RunStatus
from marginalia_tui.services.parts import story_tree
from marginalia_tui.store import tables
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.spaces import copy_book
from marginalia_tui.store.store import Store
from tests.support.runs import add_book


class Hands:
    """A book of one part or more, and who may write in it."""

    def __init__(self, store: Store, *texts: str) -> None:
        self.store = store
        self.book = add_book(store, texts)
        with store.read() as tx:
            space = tx.space(LIBRARY)
            self.parts = story_tree(space, space.books()[0]).active
        self.part = self.parts[0]

    def write(self, text: str, act: Act | None = None, *, space: int = LIBRARY, part: str = "", model: str = "") -> int:
        """Gives a part another text; by the author, where no act says otherwise. Returns the change."""
        act = act or Act(actor="author", label="Edit a passage", book=self.book)
        with self.store.write(act) as tx:
            items = tx.space(space)
            old = items.get(Part, part or self.part)
            items.put([replace(old, text=text, model=model or old.model)])
            return tx.changed(space) or 0

    def start(self, run: str, agent: str) -> int:
        """A run of an agent; returns its copy."""
        with self.store.write(Act(actor="studio", label="start of a run", run=run)) as tx:
            copy = copy_book(tx, self.book)
            tx.connection.execute(
                insert(tables.run).values(
                    uuid=run,
                    agent=f"agent-{run}",
                    agent_name=agent,
                    book=self.book,
                    space_id=copy,
                    status=RunStatus.DONE,
                    created=1,
                    changed=1,
                )
            )
        return copy

    def call(self, run: str, copy: int, call: str, text: str) -> None:
        """A call of a run that writes in its copy."""
        self.write(text, Act(actor="agent", label="Edit a passage", run=run, call=call), space=copy)

    def apply(self, run: str, text: str) -> int:
        """The author takes over what a run did."""
        return self.write(text, Act(actor="apply", label="apply Copyeditor", book=self.book, run=run))
