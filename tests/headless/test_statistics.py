"""What is written without the screens is counted by the end of the verb, and read by the same commands."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from marginalia_tui import cli
from tests.conftest import NewHome


def test_a_book_that_was_imported_and_edited_is_counted(
    new_home: NewHome, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = new_home(tmp_path / "home")
    novel = tmp_path / "novel.md"
    novel.write_text("# The Novel\n\n## One\n\nThere sat a cat.\n", encoding="utf-8")

    def run(*arguments: str) -> str:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            cli.main(["--home", str(home), "--json", *arguments])
        assert ended.value.code == 0
        return capsys.readouterr().out

    def counted() -> list[tuple[int, int]]:
        with closing(sqlite3.connect(home / "studio.db")) as store:
            return store.execute("SELECT words_added, words_grown FROM daily").fetchall()

    run("import", str(novel))
    assert counted() == [(0, 4)]
    run("exec", "--book", "The Novel", '/edit-part 1 "a cat" "a very old cat"')
    assert counted() == [(2, 6)]
    answer = json.loads(run("exec", "--book", "The Novel", "/get-statistics today book"))
    (row,) = answer["result"]["books"]
    assert (row["name"], row["wordsAdded"], row["wordsGrown"]) == ("The Novel", 2, 6)
