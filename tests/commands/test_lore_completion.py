from contextlib import closing
from pathlib import Path

from marginalia_tui.commands.builtin import builtin_registry
from marginalia_tui.commands.completion import Completers, complete, entry_completer, lorebook_completer
from marginalia_tui.desk.bar import Bar
from marginalia_tui.domain.items import Book
from marginalia_tui.services import lore as lore_service
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.studio import Studio
from tests.commands.lore_world import LoreWorld
from tests.commands.world import World


def test_lorebooks_and_entries_are_completed_by_number_name_and_filter(world: World) -> None:
    LoreWorld(world)
    with world.store.read() as tx:
        space = tx.space(LIBRARY)
        tree = lore_service.read_tree(space, world.opened())
        rows = lore_service.entry_rows(space, tree.lorebooks)
    completers = Completers()
    completers.register("lorebook", lorebook_completer(tree))
    completers.register("entry", entry_completer(tree, rows))

    def labels(line: str) -> list[str]:
        return [each.label for each in complete(builtin_registry(), completers, line)]

    assert labels("/list-lore-entries ") == ["1 World", "2 People", "3 Places"]
    assert labels("/list-lore-entries Peo") == ["2 People"]
    assert labels("/get-lore-entry ") == ["1.1 Sea", "1.2 Lamp", "2.1 Ada", "3.1 Lighthouse"]
    assert labels("/move-lore-entry lightho")[0] == "3.1 Lighthouse"
    assert labels("/move-lore-entry 1.2 3") == ["3 Places"]
    # What is proposed is what the command takes.
    assert world.run("/get-lore-entry 3.1")["name"] == "Lighthouse"


def test_the_bar_completes_the_lore_of_the_open_book(tmp_path: Path) -> None:
    with closing(Studio(tmp_path / "home")) as studio:
        world = World(studio.store, studio.store.clock.new_uuid(), [])
        world.put(Book(uuid=world.book, title="The Lamp"))
        lore = LoreWorld(world)
        bar = Bar(studio)
        bar.read_names(world.book)
        line = "/get-lore-entry lamp"
        assert bar.complete(line, len(line))[0].label == "1.2 Lamp"
        bar.read_names(lore["Another"])
        assert [each.label for each in bar.complete(line[:-4], len(line) - 4)] == ["1.1 Secret", "2.1 Ada"]
        bar.read_names(None)
        assert bar.complete(line, len(line)) == []
