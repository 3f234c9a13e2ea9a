import os
import re
import threading
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from marginalia_tui.domain.errors import Invalid, MarginaliaError, NotFound, Refused, StoreError
from marginalia_tui.domain.items import Book, Item, Part
from marginalia_tui.services import backup, backup_read
from marginalia_tui.services.backup_auto import AutoBackups
from marginalia_tui.services.backup_format import write_backup
from marginalia_tui.services.backup_read import read_backup, read_head
from marginalia_tui.services.backup_zip import MEMBER
from marginalia_tui.services.books import trash_book
from marginalia_tui.store import integrity
from marginalia_tui.store.bus import Touched
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import Store
from tests.services.backups import Full, a_full_book, edited, everything
from tests.support.books import zipped as any_zip


@pytest.fixture
def full(store: Store) -> Full:
    return a_full_book(store)


def written(store: Store, book: str) -> bytes:
    with store.read() as tx:
        return write_backup(tx.space(LIBRARY), book, 5)


def put(store: Store, *items: Item, book: str | None = None) -> None:
    with store.write(Act(actor="author", label="test", book=book)) as tx:
        tx.space(LIBRARY).put(items)


def test_what_is_written_is_read_again(store: Store, full: Full, tmp_path: Path) -> None:
    path, size = backup.take(store, full.book.uuid, tmp_path / "lamp.json")
    assert size == path.stat().st_size
    found = read_backup(path)
    assert found.book == replace(full.book, folder=None)
    assert found.folder == ("Series", "Winter")
    wanted = {item.uuid: item for item in full.items() if item.uuid not in (full.folder.uuid, full.book.uuid)}
    got = {item.uuid: item for item in found.items()[1:]}
    for uuid, item in got.items():
        if isinstance(item, Part):
            item = replace(item, words=0, chars=0)
        assert item == wanted[uuid]
    assert got.keys() == wanted.keys()
    assert found.notes == ()


def test_the_first_line_is_the_head(store: Store, full: Full, tmp_path: Path) -> None:
    path, _ = backup.take(store, full.book.uuid, tmp_path / "lamp.json")
    head = read_head(path)
    assert head is not None
    assert (head.book, head.title, head.parts, head.words) == (full.book.uuid, "The Lamp", 4, 6 + 5 + 5 + 3)
    assert orjson.loads(path.read_bytes())["made"] == head.made


def test_shared_texts_stand_once_and_what_is_usual_not_at_all(store: Store, full: Full) -> None:
    data = written(store, full.book.uuid)
    assert data.count(b"Nobody at all saw") == 1
    assert b"to_prompt" not in data and b"chars" not in data and data.count(b"null") == 1
    assert str(store.home).encode() not in data


def test_a_zip_when_asked(store: Store, full: Full, tmp_path: Path) -> None:
    path, _ = backup.take(store, full.book.uuid, tmp_path / "lamp.ZIP")
    with zipfile.ZipFile(path) as archive:
        assert archive.namelist() == [MEMBER]
    plain, _ = backup.take(store, full.book.uuid, tmp_path / "lamp.json")
    assert read_backup(path).items() == read_backup(plain).items()
    heads = [read_head(each) for each in (path, plain)]
    assert [head and (head.title, head.parts, head.words) for head in heads] == [("The Lamp", 4, 19)] * 2


def test_f54_no_file_and_no_link_is_written_over(store: Store, full: Full, tmp_path: Path) -> None:
    path = tmp_path / "lamp.json"
    path.write_text("mine")
    with pytest.raises(Refused, match=r"exists already: choose another name\."):
        backup.take(store, full.book.uuid, path)
    (tmp_path / "link.json").symlink_to(tmp_path / "nowhere.json")
    with pytest.raises(Refused):
        backup.take(store, full.book.uuid, tmp_path / "link.json")
    with pytest.raises(Invalid, match="There is no folder"):
        backup.take(store, full.book.uuid, tmp_path / "no" / "lamp.json")
    with pytest.raises(NotFound):
        backup.take(store, "no-book", tmp_path / "other.json")
    assert path.read_text() == "mine" and sorted(os.listdir(tmp_path)) == ["home", "lamp.json", "link.json"]


# Read strictly.


DAMAGE: list[tuple[str, Any, str]] = [
    ("version", "1", "its version is no number"),
    ("version", 0, "its version is no number"),
    ("version", True, "its version is no number"),
    ("version", 2, "made by a newer Marginalia"),
    ("made", "now", "its head is none"),
    ("title", 3, "its head is none"),
    ("fields", None, "the book is missing"),
    ("fields", {"title": "x"}, "a book has no uuid"),
    ("part", {}, "part is no list"),
    ("part", [3], "a part is no object"),
    ("texts", [3], "a list of texts is none"),
    ("texts", [], "the basis of an annotation does not fit"),
    ("folder", "Series", "a list of texts is none"),
    ("part", [], "the part of a summary is missing"),
    ("lorebook", [], "the lorebook of an entry is missing"),
]


@pytest.mark.parametrize(("key", "value", "sentence"), DAMAGE)
def test_a_damaged_backup_is_refused(
    store: Store, full: Full, tmp_path: Path, key: str, value: Any, sentence: str
) -> None:
    path = tmp_path / "lamp.json"
    path.write_bytes(edited(written(store, full.book.uuid), **{key: value}))
    with pytest.raises(Invalid, match=sentence):
        read_backup(path)


def wrong(found: dict[str, Any], kind: str, name: str, value: object) -> None:
    found[kind][0][name] = value


WRONG: list[tuple[str, str, object]] = [
    ("part", "uuid", "../../etc/passwd"),
    ("part", "uuid", None),
    ("part", "text", 3),
    ("part", "text", None),
    ("part", "title", ["x"]),
    ("part", "created", 1.5),
    ("part", "created", True),
    ("part", "created", 2**64),
    ("part", "parent", 7),
    ("part", "attributes", []),
    ("part", "attributes", "x"),
    ("entry", "constant", 1),
    ("entry", "tags", "winter"),
    ("entry", "tags", [""]),
    ("entry", "tags", ["a\nb"]),
    ("entry", "lorebook", None),
    ("annotation", "end", 3_000),
    ("annotation", "start", -1),
    ("annotation", "basis", "text"),
    ("annotation", "basis", 9),
    ("annotation", "basis", True),
]


@pytest.mark.parametrize(("kind", "name", "value"), WRONG)
def test_a_field_that_does_not_fit_is_refused(
    store: Store, full: Full, tmp_path: Path, kind: str, name: str, value: object
) -> None:
    found = orjson.loads(written(store, full.book.uuid))
    path = tmp_path / "lamp.json"
    try:
        wrong(found, kind, name, value)
        path.write_bytes(orjson.dumps(found))
    except TypeError:  # a number that only another program writes
        wrong(found, kind, name, 7)
        path.write_bytes(orjson.dumps(found).replace(b'"created":7', b'"created":18446744073709551616'))
    with pytest.raises(Invalid, match="damaged"):
        read_backup(path)


def test_circles_and_lost_ends_are_refused(store: Store, full: Full, tmp_path: Path) -> None:
    path = tmp_path / "lamp.json"

    def refused(sentence: str, **changes: Any) -> None:
        path.write_bytes(edited(written(store, full.book.uuid), **changes))
        with pytest.raises(Invalid, match=sentence):
            read_backup(path)

    found = orjson.loads(written(store, full.book.uuid))
    parts, lore = found["part"], found["lorebook"]
    parts[0]["parent"] = parts[2]["uuid"]
    refused("the parts stand in a circle", part=parts)
    parts[0]["parent"] = "00000000-0000-0000-0000-000000000000"
    refused("a part follows one that is missing", part=parts)
    del parts[0]["parent"]
    refused("two items have one uuid", part=[*parts, parts[0]])
    note = {**found["annotation"][0], "uuid": parts[0]["uuid"]}
    refused("two items have one uuid", part=parts, annotation=[note])
    low = next(each for each in lore if "subbooks" not in each)
    low["subbooks"] = [each["uuid"] for each in lore]
    refused("the lorebooks stand in a circle", lorebook=lore)


def test_data_that_is_too_deep_is_refused(store: Store, full: Full, tmp_path: Path) -> None:
    deep = b"[" * 500 + b"]" * 500
    data = written(store, full.book.uuid)
    path = tmp_path / "lamp.json"
    for place in (b'"attributes":{"plot":', b'"surprise":'):
        path.write_bytes(data.replace(b'"attributes":{"plot":', place + deep + b',"attributes":{"x":', 1)
                         if b"surprise" in place else data.replace(place, place + deep + b',"x":', 1))  # fmt: skip
        with pytest.raises(Invalid, match="damaged"):
            read_backup(path)
    path.write_bytes(b'{"format":"marginalia-backup","x":' + b"[" * 5_000)
    with pytest.raises(Invalid, match="damaged at line 1"):
        read_backup(path)


FOREIGN = (
    b"{}",
    b"[]",
    b"\x00\x01",
    b'{"format":"marginalia-lorebook"}',
    b"# A book\n\nIt was night.",
    b'{"name":"A card","spec":"chara_card_v2"}',
)


@pytest.mark.parametrize("data", FOREIGN)
def test_a_foreign_file_is_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "book.json"
    path.write_bytes(data)
    with pytest.raises(Invalid, match="is no backup of a book"):
        read_backup(path)
    assert read_head(path) is None


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        read_backup(tmp_path / "none.json")
    with pytest.raises(Invalid):
        read_backup(tmp_path)
    (tmp_path / "empty.json").touch()
    with pytest.raises(Invalid, match="empty"):
        read_backup(tmp_path / "empty.json")


def test_one_that_is_too_large_is_not_opened(
    store: Store, full: Full, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, size = backup.take(store, full.book.uuid, tmp_path / "lamp.json")
    monkeypatch.setattr(backup_read, "MAX_JSON", size - 1)
    with pytest.raises(Invalid, match="too large"):
        read_backup(path)
    monkeypatch.setattr(backup_read, "MAX_JSON", size)
    monkeypatch.setattr(backup_read, "MAX_ITEMS", 3)
    with pytest.raises(Invalid, match="more than 3 items"):
        read_backup(path)


def test_f53_a_zip_is_read_by_name_with_limits(store: Store, full: Full, tmp_path: Path) -> None:
    data = written(store, full.book.uuid)
    path = tmp_path / "lamp.zip"
    for name in ("../../evil", "/etc/evil", "images\\..\\..\\evil", "C:/evil"):
        path.write_bytes(any_zip({name: b"x", MEMBER: data}))
        with pytest.raises(Refused, match="leads outside"):
            read_backup(path)
    assert sorted(os.listdir(tmp_path)) == ["home", "lamp.zip"]
    path.write_bytes(any_zip({"readme.txt": b"x", MEMBER: data}))
    assert read_backup(path).book.title == "The Lamp"
    path.write_bytes(any_zip({"other.json": data}))
    with pytest.raises(Invalid, match="no whole zip file"):
        read_backup(path)
    whole = any_zip({MEMBER: data})
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(Invalid, match="no whole zip file"):
        read_backup(path)
    path.write_bytes(any_zip({MEMBER: b'{"format":"marginalia-backup"' + b" " * 60_000_000}))
    with pytest.raises(Refused, match="unpacks to far more"):
        read_backup(path)


@given(place=st.floats(0, 1), data=st.binary(max_size=3))
def test_any_damage_is_told_in_a_sentence(tmp_path_factory: pytest.TempPathFactory, place: float, data: bytes) -> None:
    good = SAMPLE.get("data")
    if good is None:
        home = tmp_path_factory.mktemp("sample")
        store = Store.open(home)
        good = SAMPLE["data"] = written(store, a_full_book(store).book.uuid)
        store.close()
        SAMPLE["path"] = str(home / "damaged.json").encode()
    at = int(place * len(good))
    path = Path(SAMPLE["path"].decode())
    path.write_bytes(good[:at] + data + good[at + len(data) :])
    try:
        read_backup(path)
    except MarginaliaError as error:
        assert str(error).endswith(".")


SAMPLE: dict[str, bytes] = {}


# Other versions.


def test_what_a_later_version_adds_is_kept_or_named(store: Store, full: Full, tmp_path: Path) -> None:
    found = orjson.loads(written(store, full.book.uuid))
    for part in found["part"]:
        part["mood"] = {"dark": True}
    found["part"][0]["attributes"] = {"unknown": {"weight": 3}}
    found["fields"]["jacket"] = "blue"
    found["entry"][0]["mode"] = "fuzzy"
    found["image"] = [1, 2]
    path = tmp_path / "lamp.json"
    path.write_bytes(orjson.dumps(found))
    back = read_backup(path)
    assert back.book.attributes == {"unknown": {"jacket": "blue"}}
    assert back.parts[0].attributes == {"unknown": {"weight": 3, "mood": {"dark": True}}}
    assert back.entries[0].mode == "text"
    assert sorted(back.notes) == [
        "'image' of the file is not known here and was left out.",
        "The field 'jacket' of a book is not known here and was kept in its data.",
        "The field 'mood' of a part is not known here and was kept in its data (4 times).",
        "The kind of filter 'fuzzy' of an entry is not known here: it became 'text'.",
    ]


def test_the_first_version_can_always_be_read(tmp_path: Path) -> None:
    path = tmp_path / "first.json"
    path.write_bytes(FIRST)
    found = read_backup(path)
    assert (found.book.title, found.book.language, found.parts[0].text) == ("First", "en", "It began.")
    assert found.annotations[0].basis == "It began." and found.entries[0].order == 100
    assert found.notes == ()


FIRST = b"""{"format":"marginalia-backup","version":1,"made":1780000000000000,\
"book":"00000000-0000-7000-8000-000000000001","title":"First","parts":1,"words":2,
"folder":["Old"],
"fields":{"uuid":"00000000-0000-7000-8000-000000000001","title":"First",\
"lorebook":"00000000-0000-7000-8000-000000000004","active_leaf":"00000000-0000-7000-8000-000000000002"},
"part":[
{"uuid":"00000000-0000-7000-8000-000000000002","created":7,"text":"It began."}],
"summary":[],
"annotation":[
{"uuid":"00000000-0000-7000-8000-000000000003","part":"00000000-0000-7000-8000-000000000002","text":"What?",\
"quote":"It","end":2,"basis":0}],
"lorebook":[
{"uuid":"00000000-0000-7000-8000-000000000004","name":"Lore"}],
"entry":[
{"uuid":"00000000-0000-7000-8000-000000000005","lorebook":"00000000-0000-7000-8000-000000000004","name":"It"}],
"texts":[
"It began."]}
"""


def test_what_names_something_that_is_gone_names_nothing(store: Store, full: Full, tmp_path: Path) -> None:
    found = orjson.loads(written(store, full.book.uuid))
    found["summary"] = [each for each in found["summary"] if not each.get("meta")]
    found["fields"]["active_leaf"] = "00000000-0000-0000-0000-000000000000"
    found["lorebook"], found["entry"] = [], []
    path = tmp_path / "lamp.json"
    path.write_bytes(orjson.dumps(found))
    back = read_backup(path)
    assert (back.summaries[0].under, back.book.active_leaf, back.book.lorebook) == (None, None, None)
    assert back.notes == ("The lorebook of the book is not in the backup.",)


def test_swipes_made_at_one_moment_are_set_apart(store: Store, full: Full, tmp_path: Path) -> None:
    found = orjson.loads(written(store, full.book.uuid))
    for part in found["part"]:
        part["created"] = 9
    path = tmp_path / "lamp.json"
    path.write_bytes(orjson.dumps(found))
    assert [part.created for part in read_backup(path).parts] == [9, 10, 11, 12]


# By themselves.


def edit(store: Store, full: Full, times: int = 1) -> None:
    for _ in range(times):
        with store.write(Act(actor="author", label="edit", book=full.book.uuid)) as tx:
            space = tx.space(LIBRARY)
            part = space.get(Part, full.parts[0].uuid)
            space.put([replace(part, text=part.text + " More.")])


def ask_for(store: Store, full: Full, *, changes: int | None = None, minutes: int | None = None) -> None:
    with store.read() as tx:
        book = tx.space(LIBRARY).get(Book, full.book.uuid)
    put(store, replace(book, backup_changes=changes, backup_minutes=minutes), book=full.book.uuid)


def test_due_after_so_many_changes(store: Store, full: Full) -> None:
    book = full.book.uuid
    assert not backup.due(store, book)
    ask_for(store, full, changes=3)  # the second, after the import
    assert not backup.due(store, book)
    edit(store, full)
    assert backup.due(store, book)
    backup.make(store, book, 5)
    edit(store, full, 2)
    put(store, replace(full.folder, style="dry"))
    assert not backup.due(store, book)
    edit(store, full)
    assert backup.due(store, book)
    backup.take(store, book)
    assert not backup.due(store, book), "one that was taken by hand counts, too"
    edit(store, full, 3)
    trash_book(store, book)
    assert not backup.due(store, book)
    assert not backup.due(store, "no-book")


class SetClock:
    """A clock that a test sets on."""

    def __init__(self, store: Store) -> None:
        self._real = store.clock
        self.ahead = 0

    def now(self) -> int:
        return self._real.now() + self.ahead

    def new_uuid(self) -> str:
        return self._real.new_uuid()


def test_due_after_so_many_minutes_with_a_change(store: Store, full: Full) -> None:
    book = full.book.uuid
    clock = store.clock = SetClock(store)
    ask_for(store, full, minutes=10)
    assert not backup.due(store, book)
    clock.ahead += 11 * backup.MINUTE
    assert backup.due(store, book)
    backup.make(store, book, 5)
    clock.ahead += 11 * backup.MINUTE
    assert not backup.due(store, book), "nothing was changed"
    edit(store, full)
    assert backup.due(store, book)


def test_f42_old_backups_go_only_when_the_new_one_stands(
    store: Store, full: Full, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = full.book.uuid
    by_hand, _ = backup.take(store, book)
    made = [backup.make(store, book, 3).path for _ in range(5)]
    stray = backup.folder_of(store) / "notes.txt"
    stray.write_text("mine")
    link = backup.folder_of(store) / made[0].name
    link.symlink_to(stray)
    listed = backup.list_backups(store, book)
    assert [each.path for each in listed] == [*reversed(made[2:]), by_hand]
    assert [each.automatic for each in listed] == [True, True, True, False]
    assert read_backup(made[4]).book.title == "The Lamp"

    def full_disk(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("marginalia_tui.services.exchange.files._new_file", full_disk)
    with pytest.raises(Refused, match="disk is too full"):
        backup.make(store, book, 1)
    assert [each.path for each in backup.list_backups(store, book)] == [each.path for each in listed]
    assert stray.read_text() == "mine"


def test_names_of_backups_say_nothing_of_the_book(store: Store, full: Full) -> None:
    put(store, replace(full.book, title="../../x\n\x1b[2J"), book=full.book.uuid)
    made = backup.make(store, full.book.uuid, 5)
    assert made.path.parent == store.home / "backups" / "books"
    assert re.fullmatch(r"[0-9a-f-]{36}\.\d+\.\d+\.auto\.json", made.path.name)
    assert oct(made.path.parent.stat().st_mode)[-3:] == "700"


def test_a_folder_that_can_not_be_made_is_told(store: Store, full: Full) -> None:
    (store.home / "backups").mkdir(exist_ok=True)
    (store.home / "backups" / "books").write_text("a file")
    with pytest.raises(StoreError, match="can't be made"):
        backup.make(store, full.book.uuid, 5)
    with pytest.raises(StoreError, match="can't be read"):
        backup.list_backups(store)


def wait(what: Any) -> None:
    """Waits for a condition; a test that fails does not wait for ever."""
    pulse = threading.Event()
    for _ in range(2_000):
        if what():
            return
        pulse.wait(0.005)
    raise AssertionError("it never came")


def test_backups_are_made_by_themselves(store: Store, full: Full) -> None:
    book = full.book.uuid
    ask_for(store, full, changes=2)
    auto = AutoBackups(store, lambda: 2, pause=0)
    try:
        edit(store, full)
        wait(lambda: len(backup.list_backups(store, book)) == 1)
        edit(store, full)
        edit(store, full)
        wait(lambda: len(backup.list_backups(store, book)) == 2)
        wait(lambda: not any(each.name == "backups" for each in threading.enumerate()))
    finally:
        auto.close()
    edit(store, full, 3)
    assert len(backup.list_backups(store, book)) == 2, "nobody listens any more"


def test_what_was_changed_last_is_looked_at_on_the_way_out(store: Store, full: Full) -> None:
    ask_for(store, full, changes=1)
    auto = AutoBackups(store, lambda: 2, pause=3_600)
    edit(store, full)
    auto.close()
    assert len(backup.list_backups(store, full.book.uuid)) == 1
    auto.close()


def test_commits_of_others_and_faults_are_no_matter(
    store: Store, full: Full, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask_for(store, full, changes=1)
    auto = AutoBackups(store, lambda: 2, pause=3_600)
    store.bus.publish(Touched(everything=True))
    auto.close()
    assert backup.list_backups(store) == []
    (store.home / "backups").mkdir(exist_ok=True)
    (store.home / "backups" / "books").write_text("a file")
    auto = AutoBackups(store, lambda: 2, pause=3_600)
    edit(store, full)
    auto.close()
    assert "no backup of" in caplog.text


def test_a_store_with_backups_is_sound(store: Store, full: Full) -> None:
    backup.make(store, full.book.uuid, 5)
    assert integrity.check(store) == []
    assert set(everything(store)) >= {("part", part.uuid) for part in full.parts}
