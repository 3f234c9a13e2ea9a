"""A backup is a format like others: recognised by its content, brought in as a new book with all that it holds."""

from pathlib import Path

import pytest

from marginalia_tui.domain.errors import Invalid, NotFound, Refused
from marginalia_tui.domain.items import Annotation, Book, Entry, Lorebook, Part, Summary
from marginalia_tui.services import images
from marginalia_tui.services.exchange.library import export_book, import_book
from marginalia_tui.store import integrity
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import Store
from tests.conftest import NewStore
from tests.services.backups import Full, a_full_book, everything
from tests.support.books import epub, zipped
from tests.support.images import picture


@pytest.fixture
def full(store: Store) -> Full:
    return a_full_book(store)


def test_a_whole_book_goes_out_and_comes_in_as_a_new_one(
    store: Store, full: Full, tmp_path: Path, new_store: NewStore
) -> None:
    data = picture()
    with store.write(Act(actor="author", label="illustrate", book=full.book.uuid)) as tx:
        images.add_image(tx.space(LIBRARY), full.parts[0].uuid, images.image_of(data, "a.png"), data)
    # Its name says nothing: the content does.
    written = export_book(store, full.book.uuid, "backup", tmp_path / "whole.zip")
    moved = written.path.rename(tmp_path / "book.epub")
    with new_store() as other:
        made = import_book(other, moved)
        assert (made.format, made.parts, made.swipes, made.title) == ("backup", 4, 1, "The Lamp")
        items = everything(other).values()
        kinds = {
            cls: sum(isinstance(item, cls) for item in items) for cls in (Part, Summary, Annotation, Lorebook, Entry)
        }
        assert kinds == {Part: 4, Summary: 2, Annotation: 2, Lorebook: 2, Entry: 2}
        (book,) = (item for item in items if isinstance(item, Book))
        texts = {item.uuid: item.text for item in items if isinstance(item, Part)}
        assert book.active_leaf is not None and texts[book.active_leaf] == full.parts[2].text
        assert {item.name for item in items if isinstance(item, Lorebook) and item.uuid == book.lorebook} == {"Lamps"}
        assert [len(item.images) for item in items if isinstance(item, Part)].count(1) == 1
        # One change, which is the whole of its history.
        with other.read() as tx:
            labels = tx.connection.exec_driver_sql("SELECT label FROM change WHERE book = ?", (book.uuid,)).scalars()
            assert list(labels) == ["import"]
        assert integrity.check(other) == []
        again = import_book(other, moved, title="Another")
        assert again.title == "Another" and again.uuid != made.uuid


def test_a_plain_backup_is_recognised_and_one_that_stands_there_is_kept(
    store: Store, full: Full, tmp_path: Path
) -> None:
    path = tmp_path / "lamp.json"
    written = export_book(store, full.book.uuid, "backup", path)
    assert written.notes == () and written.size == path.stat().st_size
    made = import_book(store, path)
    assert made.format == "backup"
    with pytest.raises(Refused, match="exists already"):
        export_book(store, full.book.uuid, "backup", path)
    assert export_book(store, full.book.uuid, "backup", path, force=True).path == path
    with pytest.raises(Invalid, match="leave the level out"):
        import_book(store, path, level=2)


def test_what_is_no_backup_is_not_taken_for_one(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "x.epub"
    path.write_bytes(epub({"a.xhtml": "<h1>One</h1><p>It rained.</p>"}))
    assert import_book(store, path).format == "epub"
    with pytest.raises(Invalid, match="no whole zip file with a backup"):
        import_book(store, path, format="backup")
    (tmp_path / "x.txt").write_text("It rained.")
    with pytest.raises(Invalid, match="no backup of a book"):
        import_book(store, tmp_path / "x.txt", format="backup")
    (tmp_path / "evil.zip").write_bytes(zipped({"../up": b"", "book.json": b'{"format":"marginalia-backup"}'}))
    with pytest.raises(Refused, match="leads outside"):
        import_book(store, tmp_path / "evil.zip")
    for wanted in (None, "backup"):
        with pytest.raises(NotFound):
            import_book(store, tmp_path / "none", format=wanted)
        with pytest.raises(Invalid):
            import_book(store, tmp_path / "home", format=wanted)


def test_a_damaged_backup_brings_nothing_in(store: Store, full: Full, tmp_path: Path) -> None:
    path = export_book(store, full.book.uuid, "backup", tmp_path / "lamp.json").path
    before = everything(store)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(Invalid, match="is damaged"):
        import_book(store, path)
    assert everything(store) == before
