import os
import threading
import time
from concurrent.futures import Future
from pathlib import Path

import pytest

from marginalia_tui.commands.completion import LIMIT
from marginalia_tui.desk import folders
from marginalia_tui.desk.folders import NAMES, WAITING, Folders


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine is no disk that is away."""
    monkeypatch.setattr(folders, "PATIENCE", 10.0)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "books").mkdir()
    (tmp_path / "books" / "emma.md").touch()
    (tmp_path / "My Draft.md").touch()
    (tmp_path / "lamp.txt").touch()
    (tmp_path / ".hidden").touch()
    return tmp_path


def values(typed: str) -> list[str]:
    return [each.value for each in Folders().complete(typed)]


def test_names_of_the_folder_that_is_typed_folders_first(place: Path) -> None:
    assert values(f"{place}/") == [f"{place}/books/", f"{place}/lamp.txt", f"{place}/My Draft.md"]
    assert values(f"{place}/books/") == [f"{place}/books/emma.md"]
    assert values(f"{place}/la") == [f"{place}/lamp.txt"]
    assert values(f"{place}/draft") == [f"{place}/My Draft.md"]
    assert values(f"{place}/.h") == [f"{place}/.hidden"]


def test_names_from_where_it_was_started_and_from_the_home(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    monkeypatch.setenv("HOME", str(place))
    assert values("") == ["books/", "lamp.txt", "My Draft.md"]
    assert values("books/e") == ["books/emma.md"]
    assert values("~") == ["~/"]
    assert values("~/books/") == ["~/books/emma.md"]
    assert values("~nobody-of-this-name/") == []


@pytest.mark.parametrize("typed", ["/no/such/folder/", "\0/", "x" * 5_000 + "/", "lamp.txt/"])
def test_what_is_no_folder_has_no_names(place: Path, typed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    assert values(typed) == []


def test_a_name_that_is_no_text_is_left_out(place: Path) -> None:
    (Path(os.fsdecode(os.fsencode(place / "books") + b"/broken\xff"))).touch()
    assert values(f"{place}/books/") == [f"{place}/books/emma.md"]


def test_a_folder_of_very_many_names_is_looked_at_in_part(place: Path) -> None:
    for number in range(NAMES + 100):
        (place / "books" / f"{number:05}").touch()
    assert len(values(f"{place}/books/")) == LIMIT


def test_a_disk_that_does_not_answer_holds_nothing_up(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "PATIENCE", 0.01)
    go, begun = threading.Event(), 0
    read = folders._read_names

    def slow(folder: str, reading: "Future[object]") -> None:
        nonlocal begun
        begun += 1
        assert go.wait(20)
        read(folder, reading)  # type: ignore[arg-type]

    monkeypatch.setattr(folders, "_read_names", slow)
    completer = Folders()
    began = time.perf_counter()
    for number in range(WAITING + 5):
        assert completer.complete(f"{place}/{number}/") == []
        assert completer.complete(f"{place}/{number}/") == []
    assert time.perf_counter() - began < 5
    assert begun <= WAITING
    go.set()
    monkeypatch.setattr(folders, "PATIENCE", 10.0)
    monkeypatch.setattr(folders, "FRESH", 0.0)
    completer.complete(f"{place}/0/")
    assert [each.value for each in completer.complete(f"{place}/b")] == [f"{place}/books/"]
