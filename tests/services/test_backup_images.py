"""Backups of books with images: a zip file with all of them, refused whole when it is not whole."""

import zipfile
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import orjson
import pytest

from marginalia_tui.domain.errors import Invalid, MarginaliaError, Refused
from marginalia_tui.domain.items import Book, Image, Part
from marginalia_tui.services import backup, backup_zip, images
from marginalia_tui.services.backup_read import read_backup, read_head
from marginalia_tui.services.backup_restore import restore_all, restore_as_new, restore_parts
from marginalia_tui.services.backup_zip import MEMBER
from marginalia_tui.store import integrity
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY, WritableSpace
from marginalia_tui.store.store import Store
from marginalia_tui.store.sweep import sweep
from tests.conftest import NewStore
from tests.services.backups import Full, a_full_book, everything
from tests.support.books import zipped
from tests.support.images import picture

MAP, LAMP, FRONT = picture(), picture("JPEG", (20, 10)), picture("WEBP", (9, 12))


@pytest.fixture
def full(store: Store) -> Full:
    """A full book with a cover, two images in its first part, and one of these in a swipe too."""
    full = a_full_book(store)
    with store.write(Act(actor="author", label="illustrate", book=full.book.uuid)) as tx:
        space = tx.space(LIBRARY)
        images.set_cover(space, full.book.uuid, images.image_of(FRONT, "front"), FRONT)
        for part, name, data in ((0, "map.png", MAP), (0, "lamp.jpg", LAMP), (3, "the map.png", MAP)):
            image = images.image_of(data, name, caption=f"The {name}")
            images.add_image(space, full.parts[part].uuid, image, data)
    return full


def change(store: Store, do: Callable[[WritableSpace], object]) -> None:
    with store.write(Act(actor="author", label="test")) as tx:
        do(tx.space(LIBRARY))


def bytes_in(store: Store, found: tuple[Image, ...]) -> list[bytes]:
    with store.read() as tx:
        return [tx.space(LIBRARY).blob(image.hash) for image in found]


def parts_of(store: Store, book: str) -> dict[str, Part]:
    found = [item for item in everything(store).values() if isinstance(item, Part) and item.book == book]
    return {part.text: part for part in found}


def book_of(store: Store, uuid: str) -> Book:
    with store.read() as tx:
        return tx.space(LIBRARY).get(Book, uuid)


def test_a_book_with_images_is_backed_up_as_a_zip(store: Store, full: Full, tmp_path: Path) -> None:
    path, size = backup.take(store, full.book.uuid)
    assert (path.suffix, path.stat().st_size) == (".zip", size)
    with zipfile.ZipFile(path) as archive:
        # Each image once, whoever has it.
        assert len(archive.namelist()) == 4 and archive.namelist()[0] == MEMBER
        assert {archive.read(name) for name in archive.namelist()[1:]} == {MAP, LAMP, FRONT}
    (listed,) = backup.list_backups(store, full.book.uuid)
    assert (listed.path, listed.automatic) == (path, False)
    head = read_head(path)
    assert head is not None and (head.title, head.parts) == ("The Lamp", 4)
    with pytest.raises(Invalid, match=r"lamp\.zip"):
        backup.take(store, full.book.uuid, tmp_path / "lamp.json")
    assert not (tmp_path / "lamp.json").exists()
    again, _ = backup.take(store, full.book.uuid, tmp_path / "lamp.zip")
    assert read_backup(again).items() == read_backup(path).items()


def test_it_comes_into_another_library_as_a_new_book(
    store: Store, full: Full, tmp_path: Path, new_store: NewStore
) -> None:
    path, _ = backup.take(store, full.book.uuid, tmp_path / "lamp.zip")
    with new_store() as other:
        found = read_backup(path)
        uuid = other.clock.new_uuid()
        change(other, lambda library: restore_as_new(library, found, uuid))
        parts = parts_of(other, uuid)
        before = parts_of(store, full.book.uuid)
        assert {text: part.images for text, part in parts.items()} == {
            text: part.images for text, part in before.items()
        }
        assert bytes_in(other, parts[full.parts[0].text].images) == [MAP, LAMP]
        assert bytes_in(other, book_of(other, uuid).cover) == [FRONT]
        assert integrity.check(other) == []


def test_images_that_are_gone_come_back_in_place(store: Store, full: Full) -> None:
    path, _ = backup.take(store, full.book.uuid)
    before = everything(store)
    first = full.parts[0].uuid

    def strip(library: WritableSpace) -> None:
        library.put([replace(book_of(store, full.book.uuid), cover=()), replace(library.get(Part, first), images=())])

    for restore in (restore_parts, restore_all):
        change(store, strip)
        found = read_backup(path)
        change(store, lambda library: restore(library, found, full.book.uuid))  # noqa: B023
        assert parts_of(store, full.book.uuid)[full.parts[0].text].images == before["part", first].images  # type: ignore[union-attr]
    assert everything(store) == before
    assert sum(sweep(store)) >= 0 and integrity.check(store) == []


def hostile(path: Path, change_entries: Callable[[dict[str, bytes]], object]) -> None:
    """Writes the zip file anew with other entries."""
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    change_entries(entries)
    path.write_bytes(zipped(entries))


def image_row(entries: dict[str, bytes], **fields: object) -> None:
    """Changes what the backup says of the first image of its first part."""
    found = orjson.loads(entries[MEMBER])
    part = next(part for part in found["part"] if part.get("images"))
    part["images"][0] |= fields
    entries[MEMBER] = orjson.dumps(found)


def last(entries: dict[str, bytes]) -> str:
    return list(entries)[-1]


@pytest.mark.parametrize(
    ("damage", "error", "words"),
    [
        (lambda entries: entries.pop(last(entries)), Invalid, "lacks the image"),
        (lambda entries: entries.update({last(entries): b"other bytes"}), Invalid, "is damaged"),
        (lambda entries: entries.update({last(entries): b"\0" * 90_000_000}), Refused, "unpacks to far more"),
        (lambda entries: entries.update({"../up.png": b""}), Refused, "leads outside"),
        (lambda entries: image_row(entries, hash="../../etc/passwd"), Invalid, "does not fit"),
        (lambda entries: image_row(entries, name="../x.png"), Invalid, "does not fit"),
        (lambda entries: image_row(entries, type="image/svg+xml"), Invalid, "does not fit"),
        (lambda entries: image_row(entries, width="6"), Invalid, "does not fit"),
        (lambda entries: image_row(entries, width=True), Invalid, "does not fit"),
        (lambda entries: image_row(entries, width=7_000), Invalid, "not what the backup says"),
        (lambda entries: image_row(entries, caption="a\nb"), Invalid, "does not fit"),
    ],
    ids=["missing", "other", "bomb", "outside", "hash", "name", "type", "text", "flag", "size", "lines"],
)
def test_f53_what_is_not_whole_is_refused_whole(
    store: Store,
    full: Full,
    tmp_path: Path,
    damage: Callable[[dict[str, bytes]], object],
    error: type[MarginaliaError],
    words: str,
) -> None:
    path, _ = backup.take(store, full.book.uuid, tmp_path / "lamp.zip")
    hostile(path, damage)
    with pytest.raises(error, match=words):
        read_backup(path)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["home", "lamp.zip"]


def test_the_file_may_not_become_another_while_it_is_restored(store: Store, full: Full, tmp_path: Path) -> None:
    path, _ = backup.take(store, full.book.uuid, tmp_path / "lamp.zip")
    found = read_backup(path)
    hostile(path, lambda entries: entries.update({name: b"swapped" for name in entries if name != MEMBER}))
    assert found.images is not None
    with store.write(Act(actor="author", label="forget")) as tx:
        tx.connection.exec_driver_sql("DELETE FROM blob")
        with pytest.raises(Invalid, match="is damaged"):
            found.images.put(tx.space(LIBRARY), found.parts[0].images)
        tx.connection.rollback()


def test_the_json_alone_names_its_images_and_is_refused(store: Store, full: Full, tmp_path: Path) -> None:
    path, _ = backup.take(store, full.book.uuid)
    (tmp_path / "book.json").write_bytes(backup_zip.read_json(path))
    with pytest.raises(Invalid, match=r"names 3 image\(s\)"):
        read_backup(tmp_path / "book.json")


def test_what_a_later_version_says_of_an_image_is_named(store: Store, full: Full, tmp_path: Path) -> None:
    path, _ = backup.take(store, full.book.uuid, tmp_path / "lamp.zip")
    hostile(path, lambda entries: image_row(entries, artist="somebody"))
    found = read_backup(path)
    assert found.notes == ("The field 'artist' of an image is not known here and was left out.",)
    assert found.images is not None


def test_a_book_whose_images_are_gone_is_not_backed_up_without_them(store: Store, full: Full, tmp_path: Path) -> None:
    with store.write(Act(actor="author", label="damage")) as tx:
        tx.connection.exec_driver_sql("DELETE FROM blob")
    with pytest.raises(MarginaliaError, match="doctor"):
        backup.take(store, full.book.uuid, tmp_path / "lamp.zip")
    assert not (tmp_path / "lamp.zip").exists() and len(list(tmp_path.iterdir())) == 1


def test_the_form_that_has_images_can_always_be_read(tmp_path: Path) -> None:
    """As written by hand: what a later version must go on reading."""
    hashed = sha256(MAP).hexdigest()
    image = f'{{"hash":"{hashed}","type":"image/png","name":"map.png","caption":"The bay","width":6,"height":4}}'
    cover = image.replace("map.png", "cover").replace("The bay", "")
    written = f"""{{"format":"marginalia-backup","version":1,"made":5,"book":"00000000-0000-7000-8000-000000000001",\
"title":"Old","parts":1,"words":2,
"folder":[],
"fields":{{"uuid":"00000000-0000-7000-8000-000000000001","title":"Old","cover":[{cover}]}},
"part":[
{{"uuid":"00000000-0000-7000-8000-000000000002","created":7,"text":"It began.","images":[{image}]}}],
"summary":[],"annotation":[],"lorebook":[],"entry":[],
"texts":[]}}
"""
    path = tmp_path / "old.zip"
    path.write_bytes(zipped({"book.json": written.encode(), f"images/{hashed}.png": MAP}))
    found = read_backup(path)
    kept = Image(hash=hashed, type="image/png", name="map.png", caption="The bay", width=6, height=4)
    assert found.parts[0].images == (kept,)
    assert found.book.cover == (replace(kept, name="cover", caption=""),)
    assert found.notes == () and found.images is not None
