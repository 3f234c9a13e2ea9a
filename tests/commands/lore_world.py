"""A world whose book has lore: a root with two entries, places below it, people below both."""

from dataclasses import replace
from typing import Any

from marginalia_tui.domain.items import Book, Entry, Lorebook, Part
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY
from tests.commands.world import World


class LoreWorld:
    """The uuids of the lore of a world's book, by name, and what else there is in the library."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.ids: dict[str, str] = {}
        people = self._lorebook("People")
        places = self._lorebook("Places", people, tags=("coast",))
        root = self._lorebook("World", places, people)
        # Told level by level, and beside each other by age: World, People, Places.
        self.put(
            self._entry("Lamp", root.uuid, text="The lamp burns whale oil.", filter="lamp", comment="Ask Bert."),
            self._entry("Sea", root.uuid, text="The sea is cold.", order=5),
            self._entry("Ada", people.uuid, text="Ada keeps the lighthouse.", filter=r"\bAda\b", mode="regex"),
            self._entry("Lighthouse", places.uuid, text="It has been dark since the storm.", filter="lighthouse"),
            people,
            places,
            root,
            replace(world.opened(), lorebook=root.uuid, tags=("coast",)),
        )
        other = self._lorebook("Elsewhere", people)
        trashed = self._lorebook("Old notes", deleted=7)
        self.put(
            other,
            trashed,
            self._entry("Secret", other.uuid, text="A lamp of another book."),
            self._entry("Forgotten", trashed.uuid, text="A lamp that was forgotten."),
            Book(uuid=self._id("Another"), title="Another", lorebook=other.uuid),
        )

    def __getitem__(self, name: str) -> str:
        return self.ids[name]

    def put(self, *items: Book | Part | Lorebook | Entry) -> None:
        with self.world.store.write(Act(actor="author", label="test", book=self.world.book)) as tx:
            tx.space(LIBRARY).put(items)

    def entry(self, name: str) -> Entry:
        with self.world.store.read() as tx:
            return tx.space(LIBRARY).get(Entry, self.ids[name])

    def lorebook(self, name: str) -> Lorebook:
        with self.world.store.read() as tx:
            return tx.space(LIBRARY).get(Lorebook, self.ids[name])

    def add(self, name: str, lorebook: str, **fields: Any) -> str:
        """A further entry of a lorebook, given by name."""
        entry = self._entry(name, self.ids[lorebook], **fields)
        self.put(entry)
        return entry.uuid

    def _id(self, name: str) -> str:
        self.ids[name] = self.world.store.clock.new_uuid()
        return self.ids[name]

    def _lorebook(self, name: str, *below: Lorebook, **fields: Any) -> Lorebook:
        created = self.world.store.clock.now()
        subbooks = tuple(each.uuid for each in below)
        return Lorebook(uuid=self._id(name), name=name, subbooks=subbooks, created=created, **fields)

    def _entry(self, name: str, lorebook: str, **fields: Any) -> Entry:
        created = self.world.store.clock.now()
        return Entry(uuid=self._id(name), lorebook=lorebook, name=name, created=created, **fields)
