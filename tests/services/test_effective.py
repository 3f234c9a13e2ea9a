"""What holds for books that say nothing: numbers that are inherited from the user, and folders without a book."""

from pathlib import Path

import pytest

from marginalia_tui.domain.inherit import Source
from marginalia_tui.domain.items import Book, Folder
from marginalia_tui.services import backup
from marginalia_tui.services.effective import backup_rule, inherited_in, versions_listed
from marginalia_tui.settings import Settings, save_settings
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import Store


def book(**fields: int | None) -> Book:
    return Book(uuid="b", title="The Lamp", **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("own", "rule"),
    [
        ({}, (50, 0)),
        ({"backup_changes": 3}, (3, 0)),
        ({"backup_changes": 0}, (0, 0)),
        ({"backup_minutes": 20}, (50, 20)),
        ({"backup_changes": 0, "backup_minutes": 20}, (0, 20)),
    ],
)
def test_a_book_is_backed_up_as_it_says_or_else_as_the_user_does(
    tmp_path: Path, own: dict[str, int], rule: tuple[int, int]
) -> None:
    save_settings(tmp_path, Settings(default_backup_changes=50))
    assert backup_rule(tmp_path, book(**own)) == rule


def test_versions_are_listed_as_the_book_says_or_else_as_the_user_does(tmp_path: Path) -> None:
    assert versions_listed(tmp_path, book()) is None
    save_settings(tmp_path, Settings(default_history_limit=7))
    assert versions_listed(tmp_path, book()) == 7
    assert versions_listed(tmp_path, book(history_limit=2)) == 2


def test_a_backup_is_due_by_the_defaults_unless_the_book_says_never(store: Store) -> None:
    made = Book(uuid=store.clock.new_uuid(), title="The Lamp", created=1)
    with store.write(Act(actor="author", label="test", book=made.uuid)) as tx:
        tx.space(LIBRARY).put([made])
    assert not backup.due(store, made.uuid)
    save_settings(store.home, Settings(default_backup_changes=1))
    assert backup.due(store, made.uuid)
    with store.write(Act(actor="author", label="test", book=made.uuid)) as tx:
        tx.space(LIBRARY).put([Book(uuid=made.uuid, title="The Lamp", created=1, backup_changes=0)])
    assert not backup.due(store, made.uuid)


def test_a_folder_has_its_own_level_first_and_the_top_has_the_defaults(store: Store) -> None:
    save_settings(store.home, Settings(default_tense="past", default_language="fr"))
    with store.write(Act(actor="author", label="test")) as tx:
        tx.space(LIBRARY).put([Folder(uuid="up", name="Series", language="de", pov="first person")])
        tx.space(LIBRARY).put([Folder(uuid="in", name="Winter", parent="up", pov="third person")])
    with store.read() as tx:
        here, top = inherited_in(tx.space(LIBRARY), "in"), inherited_in(tx.space(LIBRARY), None)
    assert [level.name for level in here.levels[:2]] == ["Winter", "Series"]
    assert {name: found.value for name, found in here.values().items()} == {
        "language": "de",
        "pov": "third person",
        "tense": "past",
        "style": "",
        "model": "",
    }
    assert (top.value("language").value, top.value("language").source) == ("fr", Source.DEFAULTS)
    assert top.prompt("turn").source is Source.BUILT_IN


def test_defaults_are_no_negative_numbers() -> None:
    with pytest.raises(ValueError, match="default_backup_changes"):
        Settings(default_backup_changes=-1)
