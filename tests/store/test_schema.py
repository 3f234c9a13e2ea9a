"""Opening a store: made, upgraded after a backup, or refused with a sentence; never damaged further."""

import os
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, create_engine

from marginalia_tui.domain.errors import StoreError
from marginalia_tui.domain.items import Book
from marginalia_tui.store import lease, schema, tables
from marginalia_tui.store import store as store_module
from marginalia_tui.store.engine import writer_engine
from marginalia_tui.store.integrity import check
from marginalia_tui.store.schema import network_filesystem
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import Store
from marginalia_tui.store.version import HEAD, KNOWN
from tests.conftest import NewHome
from tests.store.other import hear, process, say
from tests.store.worlds import act, add_run, chain, every_other_kind, put, see

NEXT = f"{int(HEAD) + 1:04}"

SECOND = """
from alembic import op

revision = "{next}"
down_revision = "{head}"


def upgrade() -> None:
    op.get_bind().exec_driver_sql("ALTER TABLE model ADD COLUMN remark VARCHAR")
    {more}
"""


@pytest.fixture
def newer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program whose schema is one version further; returns the file of its migration."""
    scripts = tmp_path / "migrations"
    shutil.copytree(schema._MIGRATIONS, scripts, ignore=shutil.ignore_patterns("__pycache__"))
    script = scripts / "versions" / "v9999_remark.py"
    script.write_text(SECOND.format(more="", next=NEXT, head=HEAD))
    monkeypatch.setattr(schema, "_MIGRATIONS", scripts)
    monkeypatch.setattr(schema, "HEAD", NEXT)
    monkeypatch.setattr(schema, "KNOWN", (*KNOWN, NEXT))
    monkeypatch.setattr(store_module, "HEAD", NEXT)
    return script


@pytest.fixture
def home(new_home: NewHome, tmp_path: Path) -> Path:
    """A home with a book in it, closed."""
    home = new_home(tmp_path / "home")
    with closing(Store.open(home)) as store:
        put(store, *chain("b", 3))
    return home


def bytes_of(home: Path) -> dict[str, bytes]:
    return {str(path.relative_to(home)): path.read_bytes() for path in home.rglob("*.db*")}


def refused(home: Path, *words: str) -> None:
    """The home is refused in one sentence that has the words, and no byte of its files is changed."""
    before = bytes_of(home)
    with pytest.raises(StoreError) as caught:
        Store.open(home)
    for word in words:
        assert word in caught.value.message
    assert bytes_of(home) == before


# A new store


def test_the_migrated_schema_is_the_one_that_the_tables_tell(store: Store) -> None:
    with store.read() as tx:
        context = MigrationContext.configure(
            tx.connection,
            opts={
                "compare_type": True,
                "include_name": lambda name, kind, _parents: (kind, name) != ("table", "alembic_version"),
            },
        )
        assert compare_metadata(context, tables.metadata) == []


def test_tables_are_made_as_the_metadata_makes_them(store: Store) -> None:
    """What alembic does not compare: defaults, rowids, counters that never go back, deferred keys."""

    def shapes(connection: Connection) -> dict[str, tuple[set[str], object]]:
        found: dict[str, tuple[set[str], object]] = {}
        query = "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL AND type IN ('table', 'index')"
        for name, sql in connection.exec_driver_sql(query).all():
            words = {word for word in ("AUTOINCREMENT", "WITHOUT ROWID", "INITIALLY DEFERRED", "UNIQUE") if word in sql}
            found[name] = (words, connection.exec_driver_sql(f'PRAGMA table_info("{name}")').all())
        return found

    engine = create_engine("sqlite://")
    tables.metadata.create_all(engine)
    with engine.connect() as connection, store.read() as tx:
        wanted, made = shapes(connection), shapes(tx.connection)
    engine.dispose()
    del made["alembic_version"], made["sqlite_stat1"]
    assert made == wanted


def test_the_parts_of_a_book_are_found_without_walking_the_library(store: Store) -> None:
    """In the store that has just been made, and in one that was opened: a query that names a book uses its index."""
    wanted = "SEARCH part USING INDEX ix_part_space_id_book_uuid_words (space_id=? AND book=?)"
    followers = "SEARCH part USING INDEX ix_part_space_id_parent (space_id=? AND parent=?)"

    def plans(store: Store) -> set[str]:
        found: set[str] = set()
        with store.write(act()) as writing, store.read() as reading:
            for tx in (writing, reading):
                for where in ("book = 'b'", "book = 'b' AND parent = 'p'"):
                    query = f"EXPLAIN QUERY PLAN SELECT title FROM part WHERE space_id = 1 AND {where}"
                    found.update(row[3] for row in tx.connection.exec_driver_sql(query))
        return found

    assert plans(store) == {wanted, followers}
    store.close()
    with closing(Store.open(store.path.parent)) as again:
        assert plans(again) == {wanted, followers}


def test_the_file_is_in_wal_mode_with_foreign_keys(store: Store) -> None:
    with store.write(act()) as tx, store.read() as read:
        for each in (tx, read):
            assert each.connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
            assert each.connection.exec_driver_sql("PRAGMA foreign_keys").scalar() == 1
            assert each.connection.exec_driver_sql("PRAGMA busy_timeout").scalar() == 10_000
        assert read.connection.exec_driver_sql("PRAGMA query_only").scalar() == 1


def test_a_home_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    home = tmp_path / "far" / "down" / "home"
    Store.open(home).close()
    assert home.stat().st_mode & 0o777 == 0o700
    assert (home / "studio.db").exists()


def test_f40_two_processes_open_a_new_home_at_once(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with process("open", home) as first, process("open", home) as second, process("open", home) as third:
        for each in (first, second, third):
            say(each)
        assert [hear(each) for each in (first, second, third)] == ["opened"] * 3
    with closing(Store.open(home)) as store:
        put(store, *chain("b", 1))
        with store.read() as tx:
            assert tx.connection.exec_driver_sql("SELECT count(*) FROM alembic_version").scalar() == 1
    assert not (home / "backups").exists()


def test_what_a_process_left_that_died_while_it_made_the_store_is_taken_up(tmp_path: Path) -> None:
    (tmp_path / "studio.db").write_bytes(b"")
    with closing(Store.open(tmp_path)) as store:
        put(store, *chain("b", 1))


# Refused


def test_a_store_of_a_newer_version_is_refused(home: Path) -> None:
    with closing(sqlite3.connect(home / "studio.db")) as other:
        other.execute("UPDATE alembic_version SET version_num = '9999'")
        other.commit()
    refused(home, "newer", "9999")


def test_a_store_that_is_upgraded_under_an_open_one_takes_no_more_writes(store: Store) -> None:
    put(store, Book(uuid="b", title="before"))
    before = see(store)
    with closing(sqlite3.connect(store.path)) as other:
        other.execute("UPDATE alembic_version SET version_num = '9999'")
        other.commit()
    with pytest.raises(StoreError, match="start it again"):
        put(store, Book(uuid="b", title="after"))
    assert see(store) == before


def test_a_database_of_another_program_is_refused(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "studio.db")) as other:
        other.execute("CREATE TABLE recipes (name TEXT)")
    refused(tmp_path, "another program")


def test_f41_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "studio.db").write_bytes(b"My novel, chapter one. " * 500)
    refused(tmp_path, "no SQLite file")


def test_f41_a_damaged_store_is_never_answered_as_an_empty_one(home: Path) -> None:
    path = home / "studio.db"
    data = bytearray(path.read_bytes())
    data[100:4096] = os.urandom(3996)
    path.write_bytes(bytes(data))
    refused(home, "doctor")


def test_f41_a_page_that_is_damaged_is_told_when_it_is_read(home: Path) -> None:
    path = home / "studio.db"
    with closing(sqlite3.connect(path)) as other:
        page = other.execute("SELECT rootpage FROM sqlite_master WHERE name = 'part'").fetchone()[0]
        size = other.execute("PRAGMA page_size").fetchone()[0]
    data = bytearray(path.read_bytes())
    data[(page - 1) * size : page * size] = b"\xff" * size
    path.write_bytes(bytes(data))
    with closing(Store.open(home)) as store, pytest.raises(StoreError, match="doctor"):
        see(store)


def test_a_file_in_the_place_of_the_home_is_refused(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file")
    for home in (tmp_path / "home", tmp_path / "home" / "below"):
        with pytest.raises(StoreError, match="--home"):
            Store.open(home)


def test_a_read_only_home_is_refused(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != home and real(path, mode))
    refused(home, "read-only", "--home")


def test_a_link_in_the_place_of_the_turn_is_not_followed(home: Path, tmp_path: Path) -> None:
    for name in ("studio.turn", "studio.turn.next"):
        (home / name).unlink(missing_ok=True)
        (home / name).symlink_to(tmp_path / "elsewhere")
        refused(home, "can't be opened")
        assert not (tmp_path / "elsewhere").exists()
        (home / name).unlink()


MOUNTS = """\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 22 0:40 / {shares} rw,relatime shared:2 - nfs4 server:/export rw,vers=4.2
31 30 8:2 / {shares}/local\\040disk rw,relatime - ext4 /dev/sdb1 rw
32 22 0:41 / {shares}x rw,relatime - tmpfs tmpfs rw
33 22 0:42 / {other} rw,relatime master:1 shared:7 - fuse.sshfs me@host:/ rw
"""


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("shares", "nfs4"),
        ("shares/deep/er", "nfs4"),
        ("shares/local disk/home", None),
        ("sharesx/home", None),
        ("other/home", "fuse.sshfs"),
        ("elsewhere", None),
    ],
)
def test_a_folder_lies_on_the_nearest_mount(tmp_path: Path, folder: str, kind: str | None) -> None:
    mounts = tmp_path / "mountinfo"
    root = os.path.realpath(tmp_path)
    mounts.write_text(MOUNTS.format(shares=f"{root}/shares", other=f"{root}/other"))
    (tmp_path / folder).mkdir(parents=True)
    assert network_filesystem(tmp_path / folder, mounts) == kind
    link = tmp_path / "link"
    link.symlink_to(tmp_path / folder)
    assert network_filesystem(link, mounts) == kind


def test_where_no_mounts_are_told_nothing_is_refused(tmp_path: Path) -> None:
    assert network_filesystem(tmp_path, tmp_path / "no-such-file") is None


def test_a_network_disk_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "network_filesystem", lambda folder: "cifs")
    refused(tmp_path / "home", "network disk (cifs)", "--home")
    assert not (tmp_path / "home" / "studio.db").exists()


# Upgrades


def backups(home: Path) -> list[Path]:
    return sorted((home / "backups").glob("*.db"))


def test_an_upgrade_makes_a_backup_first(home: Path, newer: Path) -> None:
    with closing(Store.open(home)) as store:
        assert len(see(store)) == 4
        put(store, Book(uuid="b", title="after the upgrade"))
        with store.read() as tx:
            assert "remark" in [row[1] for row in tx.connection.exec_driver_sql("PRAGMA table_info(model)")]
    (made,) = backups(home)
    assert f"before-upgrade-from-{HEAD}" in made.name
    with closing(sqlite3.connect(made)) as old:
        assert old.execute("SELECT version_num FROM alembic_version").fetchone() == (HEAD,)
        assert old.execute("SELECT title FROM book").fetchall() == [("The book b",)]
        assert old.execute("SELECT count(*) FROM part").fetchone() == (3,)
    Store.open(home).close()
    assert backups(home) == [made]


def test_an_upgrade_that_fails_changes_nothing(home: Path, newer: Path) -> None:
    newer.write_text(
        SECOND.format(
            more='op.get_bind().exec_driver_sql("ALTER TABLE no_such_table ADD COLUMN x")', next=NEXT, head=HEAD
        )
    )
    with pytest.raises(Exception, match="no_such_table"):
        Store.open(home)
    with closing(sqlite3.connect(home / "studio.db")) as other:
        assert other.execute("SELECT version_num FROM alembic_version").fetchone() == (HEAD,)
        assert "remark" not in [row[1] for row in other.execute("PRAGMA table_info(model)")]
    newer.write_text(SECOND.format(more="", next=NEXT, head=HEAD))
    with closing(Store.open(home)) as store:
        assert len(see(store)) == 4


def test_an_upgrade_waits_for_no_run_it_is_refused(home: Path, newer: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        for module in (schema, store_module):
            patch.setattr(module, "HEAD", HEAD)
        with closing(Store.open(home)) as store:
            add_run(store, "run", "b")
            with store.write(act()) as tx:
                held = lease.take(tx, "run")
    with pytest.raises(StoreError, match=r"1 run.*pause"):
        Store.open(home)
    assert not (home / "backups").exists()
    held.release()
    Store.open(home).close()
    assert len(backups(home)) == 1


def test_f42_backups_rotate_and_are_whole(home: Path) -> None:
    made = [schema.backup(home / "studio.db", home / "backups", "before") for _ in range(6)]
    assert backups(home) == made[-schema.BACKUPS_KEPT :]
    for path in backups(home):
        with closing(sqlite3.connect(path)) as copy:
            assert copy.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            assert copy.execute("SELECT count(*) FROM part").fetchone() == (3,)


def test_f42_a_backup_of_a_damaged_store_pushes_no_good_one_out(home: Path) -> None:
    good = [schema.backup(home / "studio.db", home / "backups", "before") for _ in range(3)]
    path = home / "studio.db"
    data = bytearray(path.read_bytes())
    with closing(sqlite3.connect(path)) as other:
        page = other.execute("SELECT rootpage FROM sqlite_master WHERE name = 'part'").fetchone()[0]
    data[(page - 1) * 4096 : page * 4096] = b"\xff" * 4096
    path.write_bytes(bytes(data))
    with pytest.raises(StoreError, match="doctor"):
        schema.backup(path, home / "backups", "before")
    assert backups(home) == good


def test_a_backup_takes_what_is_still_in_the_log(store: Store) -> None:
    put(store, *chain("b", 3))
    path = schema.backup(store.path, store.home / "backups", "now")
    with closing(sqlite3.connect(path)) as copy:
        assert copy.execute("SELECT count(*) FROM part").fetchone() == (3,)


# The disk is full


def test_a_full_disk_is_told_and_nothing_is_changed(store: Store) -> None:
    put(store, *chain("b", 2))
    before = see(store)
    with store._writer.connect() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
        connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StoreError, match="disk is full"):
        put(store, *chain("big", 50, text="{place} " + "x" * 5000))
    assert see(store) == before
    with store._writer.connect() as connection:
        connection.exec_driver_sql("PRAGMA max_page_count = 1000000")
    put(store, *chain("big", 50, text="{place} " + "x" * 5000))
    assert len(see(store)) == 3 + 51


# A store of the first schema


def test_a_store_of_the_first_schema_keeps_its_items_and_their_states(
    new_home: NewHome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is new in an item is empty, so that the hash of its state, which the journal names, stays what it is."""
    home = new_home(tmp_path / "old")
    with closing(Store.open(home)) as store:
        put(store, *chain("b", 2))
        before = see(store)
    path = home / "studio.db"
    rows: dict[str, list[tuple[object, ...]]] = {}
    with closing(sqlite3.connect(path)) as connection:
        for table in ("space", "text", "state", "change", "journal", "book", "part"):
            rows[table] = connection.execute(f'SELECT * FROM "{table}"').fetchall()
    path.unlink()
    with monkeypatch.context() as patch:
        patch.setattr(schema, "HEAD", "0001")
        with closing(sqlite3.connect(path)):
            pass
        engine = writer_engine(path)
        schema.migrate(engine, path, None)
        engine.dispose()
    with closing(sqlite3.connect(path)) as connection:
        for table, values in rows.items():
            width = len(connection.execute(f'PRAGMA table_info("{table}")').fetchall())
            marks = ", ".join("?" * width)
            connection.execute("DELETE FROM space") if table == "space" else None
            connection.executemany(f'INSERT INTO "{table}" VALUES ({marks})', [row[:width] for row in values])
        connection.commit()
    with closing(Store.open(home)) as store:
        assert see(store) == before
        assert check(store) == []
        put(store, *every_other_kind("b"), replace(store_book(store), lorebook="lore", tags=("sea",)))
        assert check(store) == []
    assert len(backups(home)) == 1


def store_book(store: Store) -> Book:
    with store.read() as tx:
        return tx.space(LIBRARY).get(Book, "b")
