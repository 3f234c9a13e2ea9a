"""A store whose file is not there any more takes nothing: SQLite would write into a file that nobody finds again."""

from pathlib import Path

import pytest

from marginalia_tui.domain.errors import StoreError
from marginalia_tui.domain.items import Book
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import Store

ACT = Act(actor="author", label="new")


@pytest.mark.parametrize("how", ["moved", "replaced"])
def test_nothing_is_written_into_a_file_that_is_gone(store: Store, tmp_path: Path, how: str) -> None:
    elsewhere = tmp_path / "elsewhere.db"
    store.path.rename(elsewhere)
    if how == "replaced":
        store.path.write_bytes(elsewhere.read_bytes())
    with pytest.raises(StoreError, match="moved or replaced"), store.write(ACT):
        raise AssertionError("the transaction was opened")
    elsewhere.replace(store.path)
    with store.write(ACT) as tx:
        tx.space(LIBRARY).put([Book(uuid="b", title="Kept")])
    with store.read() as tx:
        assert [book.title for book in tx.space(LIBRARY).books()] == ["Kept"]
