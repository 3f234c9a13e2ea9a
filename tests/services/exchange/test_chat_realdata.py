"""Real chats, and real books as chats: nothing is lost that a chat can hold."""

import json
from pathlib import Path

import pytest

from marginalia_tui.services.exchange.importer import read_manuscript
from marginalia_tui.services.exchange.library import export_book, import_book, manuscript_of
from marginalia_tui.services.exchange.manuscript import words_of
from marginalia_tui.store.store import Store

REALDATA = Path(__file__).parents[4] / "shared" / "realdata"
CHATS = sorted(REALDATA.rglob("*.jsonl"))

pytestmark = [
    pytest.mark.realdata,
    pytest.mark.skipif(not CHATS, reason="the real chats are not beside the project (../shared/realdata)"),
]


@pytest.mark.parametrize("path", CHATS, ids=lambda path: path.name)
def test_a_real_chat_loses_nothing(store: Store, tmp_path: Path, path: Path) -> None:
    made = import_book(store, path)
    out = export_book(store, made.uuid, "chat", tmp_path / "out.jsonl")
    before = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    after = [json.loads(line) for line in out.path.read_text(encoding="utf-8").split("\n")]
    assert len(after) == len(before)
    own = after[0]["chat_metadata"].pop("marginalia")
    assert own["title"] == made.title
    for was, now in zip(before, after, strict=True):
        # What is new is what programs take for granted where a message has swipes.
        assert {key: value for key, value in now.items() if key in was} == was
        assert now.keys() - was.keys() <= {"swipe_info"}
    assert made.parts == len(before) - 1 + made.swipes
    assert made.swipes == sum(len(line.get("swipes", [0])) - 1 for line in before[1:])
    again = import_book(store, out.path)
    with store.read() as tx:
        assert manuscript_of(tx, again.uuid) == manuscript_of(tx, made.uuid)
    assert (again.parts, again.swipes, again.words, again.notes) == (made.parts, made.swipes, made.words, made.notes)


@pytest.mark.parametrize("path", CHATS, ids=lambda path: path.name)
def test_a_real_chat_goes_out_as_other_formats_too(store: Store, tmp_path: Path, path: Path) -> None:
    made = import_book(store, path)
    with store.read() as tx:
        book = manuscript_of(tx, made.uuid)
    for format in ("markdown", "text", "epub", "docx", "folder", "longform"):
        out = export_book(store, made.uuid, format, tmp_path / format)
        assert out.notes == ("Not in the file: 1 swipe, 4 turn inputs, 4 message headers.",)
        assert words_of(read_manuscript(out.path).manuscript) == words_of(book), format


@pytest.mark.parametrize("name", ["moby-dick", "three-kingdoms-zh", "jekyll-and-hyde"])
def test_a_real_book_comes_back_from_a_chat(store: Store, tmp_path: Path, name: str) -> None:
    made = import_book(store, REALDATA / name)
    out = export_book(store, made.uuid, "chat", tmp_path / "out.jsonl")
    again = import_book(store, out.path)
    with store.read() as tx:
        assert manuscript_of(tx, again.uuid) == manuscript_of(tx, made.uuid)
    assert (again.parts, again.words) == (made.parts, made.words)
