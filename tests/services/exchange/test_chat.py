"""Chats come in and go out: swipes, who says it, dates, and what was mended on the way."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from marginalia_tui.domain.items import Book, Part
from marginalia_tui.services.exchange.chat_reader import read_chat
from marginalia_tui.services.exchange.chat_writer import write_chat
from marginalia_tui.services.exchange.importer import read_manuscript
from marginalia_tui.services.exchange.leftout import left_out
from marginalia_tui.services.exchange.library import export_book, import_book, manuscript_of
from marginalia_tui.services.exchange.lorefile import LoreEntry, LoreFile
from marginalia_tui.services.exchange.lorelibrary import add_lore
from marginalia_tui.services.exchange.manuscript import Chapter, Manuscript, Version
from marginalia_tui.services.parts import branch_part, create_part, story_tree, switch_branch
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import Store
from tests.support.books import add_book
from tests.support.chats import HEADER, chat, message, read, written

SWIPED = message(
    "Come in.",
    send_date="2025-03-01T10:00:05Z",
    gen_started="2025-03-01T10:00:01Z",
    extra={"model": "small-model", "api": "local", "token_count": 3},
    swipes=["Go away.", "Come in.", "Who is it?"],
    swipe_id=1,
    swipe_info=[
        {"send_date": "2025-03-01T10:00:03Z", "extra": {"model": "other", "reasoning": "He is late."}},
        {"send_date": "2025-03-01T10:00:05Z", "extra": {"model": "small-model", "api": "local", "token_count": 3}},
    ],
)
USER: dict[str, Any] = {"name": "Tom", "is_user": True, "is_system": False, "mes": "I knock.", "send_date": 1740823200}


def again(book: Manuscript) -> Manuscript:
    return read_chat(write_chat(book).encode(), "it")[0]


def texts(book: Manuscript) -> list[list[str]]:
    return [[version.text for version in chapter.versions()] for chapter in book.chapters]


def test_a_chat_becomes_parts_with_swipes() -> None:
    book, notes = read(USER, SWIPED, message("(Saved.)", name="System", is_system=True, extra={"type": "comment"}))
    knock, answer, saved = book.chapters
    assert (book.title, book.attributes) == ("Ada", {"chat": HEADER})
    assert (knock.text, knock.pov, knock.model, knock.swipes) == ("I knock.", "Tom", "", ())
    assert knock.attributes == {
        "chat": {
            "message": {"name": "Tom", "is_user": True, "is_system": False},
            "version": {"send_date": 1740823200},
        }
    }
    assert texts(book)[1] == ["Go away.", "Come in.", "Who is it?"]
    assert (answer.text, answer.model, answer.pov) == ("Come in.", "small-model", "Ada")
    assert [each.text for each in answer.before] == ["Go away."]
    assert [(each.model, each.pov) for each in answer.swipes] == [("other", "Ada"), ("", "Ada")]
    assert answer.before[0].attributes["chat"]["version"] == {  # type: ignore[index,call-overload]
        "send_date": "2025-03-01T10:00:03Z",
        "extra": {"reasoning": "He is late."},
    }
    assert saved.text == "(Saved.)"
    assert notes[0] == "3 messages came in as parts, 1 of them from the user, 1 that the chat hides from the model."
    assert notes[1] == "2 swipes stand beside them."
    assert "extra.api (1)" in notes[2]
    assert len(notes) == 3


def test_a_foreign_chat_comes_out_as_it_was() -> None:
    book, _ = read(USER, SWIPED, message("x", force_avatar="a.png", unknown={"keep": [1, None]}))
    header, *messages = [json.loads(line) for line in write_chat(book).split("\n")]
    assert header["chat_metadata"].pop("marginalia") == {"title": "Ada"}
    assert header == HEADER
    assert messages[0] == USER
    assert messages[1] == SWIPED | {"swipe_info": [*SWIPED["swipe_info"], {"extra": {}}]}
    assert messages[2] == message("x", force_avatar="a.png", unknown={"keep": [1, None]})
    assert again(book) == book


@pytest.mark.parametrize(
    ("given", "expected", "shown", "told"),
    [
        ({"mes": "b", "swipes": ["a", "b"]}, ["a", "b"], 1, None),
        ({"mes": "a", "swipes": ["a", "a"]}, ["a", "a"], 1, None),
        ({"mes": "b", "swipes": ["a", "b"], "swipe_id": 9}, ["a", "b"], 1, "'swipe_id' names no swipe"),
        ({"mes": "b", "swipes": ["a", "b"], "swipe_id": True}, ["a", "b"], 1, "'swipe_id' names no swipe"),
        ({"mes": "b", "swipes": ["a", "b"], "swipe_id": "1"}, ["a", "b"], 1, "'swipe_id' names no swipe"),
        ({"mes": "new", "swipes": ["a", "b"], "swipe_id": 0}, ["a", "new", "b"], 1, "none of its swipes"),
        ({"mes": "new", "swipes": ["a", "b"], "swipe_id": -1}, ["a", "b", "new"], 2, "none of its swipes"),
        ({"mes": None, "swipes": ["a", "b"], "swipe_id": 0}, ["a", "b"], 0, "'mes' is no text"),
        ({"mes": 5, "swipes": ["a", "b"]}, ["a", "b"], 1, "'mes' is no text"),
        ({"mes": "b", "swipes": [None, "b", 3], "swipe_id": 1}, ["b"], 0, "a swipe is no text"),
        ({"mes": "b", "swipes": {"0": "a"}, "swipe_id": 0}, ["b"], 0, "'swipes' is no list"),
        ({"mes": "b", "swipes": []}, ["b"], 0, None),
        ({"mes": "", "swipes": ["a", ""], "swipe_id": 1}, ["a", ""], 1, None),
        ({"mes": "b", "swipe_info": 3}, ["b"], 0, "'swipe_info' is no list"),
        ({"mes": "b", "swipes": ["b"], "swipe_id": 0, "swipe_info": [7]}, ["b"], 0, "what is no object"),
        ({"mes": "b", "swipe_info": [{}, {}]}, ["b"], 0, "more 'swipe_info' than swipes"),
        ({"mes": "b", "extra": "x"}, ["b"], 0, "'extra' is no object"),
        ({"mes": "b", "name": 7}, ["b"], 0, "'name' is no text"),
    ],
)
def test_f47_what_disagrees_in_a_message_is_mended_and_told(
    given: dict[str, Any], expected: list[str], shown: int, told: str | None
) -> None:
    book, notes = read({"name": "Ada", "is_user": False, **given})
    assert texts(book) == [expected]
    assert len(book.chapters[0].before) == shown
    mended = [note for note in notes if "(line 2" in note]
    assert any(told in note for note in mended) if told else not mended, notes
    assert again(book) == book


def test_a_broken_line_is_named_and_the_rest_comes_in() -> None:
    lines = [message(f"Number {number}.") for number in range(4)]
    book, notes = read(lines[0], '{"name": "Ada", "mes": "cut', lines[1], "[1]", "", '"x"', {"a": 1}, lines[2], '{"mes')
    assert [chapter.text for chapter in book.chapters] == ["Number 0.", "Number 1.", "Number 2."]
    assert set(notes[2:]) == {
        "Left out, as it is no JSON (line 3).",
        "Left out, as it is no JSON object (lines 5, 7).",
        "Left out, as it is no message: it has no text under 'mes' (line 8).",
        "Left out, as it is no JSON; the file may have been cut off there (line 10).",
    }


def test_branches_in_other_files_are_named() -> None:
    header = {**HEADER, "chat_metadata": {"main_chat": "Ada - 2025\x1b"}}
    marked = [message("x", extra={"branches": [f"Branch {number}", None]}) for number in range(7)]
    _, notes = read(message("x", extra={"bookmark_link": "Checkpoint 1"}), *marked, header=header)
    assert notes[2:] == (
        "It is a branch of the chat 'Ada - 2025\u241b', which is another file.",
        "Not in this file: its branches 'Checkpoint 1', 'Branch 0', 'Branch 1', 'Branch 2', 'Branch 3' and 3 more.",
    )


def test_swipes_are_siblings_of_the_part_that_is_read(store: Store, tmp_path: Path) -> None:
    path = written(tmp_path / "Ada.jsonl", USER, SWIPED, message("He sits down."))
    made = import_book(store, path)
    assert (made.format, made.parts, made.swipes, made.title) == ("chat", 5, 2, "Ada")
    with store.read() as tx:
        space = tx.space(LIBRARY)
        book = space.get(Book, made.uuid)
        tree = story_tree(space, book)
        active = list(space.get_many(Part, tree.active).values())
        siblings = space.get_many(Part, tree.swipes(active[1].uuid))
        assert [part.text for part in active] == ["I knock.", "Come in.", "He sits down."]
        assert {part.text for part in siblings.values()} == {"Go away.", "Come in.", "Who is it?"}
        # Whoever leaves the branch and comes back ends where the chat ends.
        assert tree.leaf_below(active[0].uuid) == active[-1].uuid
        assert manuscript_of(tx, made.uuid) == replace(read_manuscript(path).manuscript, language="en")
    out = export_book(store, made.uuid, "chat", tmp_path / "out.jsonl")
    assert out.notes == ()
    twice = import_book(store, out.path)
    with store.read() as tx:
        assert manuscript_of(tx, twice.uuid) == manuscript_of(tx, made.uuid)
    assert (twice.parts, twice.swipes, twice.words) == (made.parts, made.swipes, made.words)


def test_another_swipe_is_read_in_the_studio(store: Store, tmp_path: Path) -> None:
    made = import_book(store, written(tmp_path / "Ada.jsonl", USER, SWIPED))
    with store.write(Act(actor="author", label="test", book=made.uuid)) as tx:
        space = tx.space(LIBRARY)
        leaf = space.get(Book, made.uuid).active_leaf
        assert leaf
        other = next(
            part
            for part in space.get_many(Part, space.children(space.get(Part, leaf).parent, made.uuid)).values()
            if part.text == "Go away."
        )
        switch_branch(space, other.uuid)
    out = export_book(store, made.uuid, "jsonl", tmp_path / "out.jsonl")
    said = json.loads(out.path.read_text().split("\n")[2])
    assert (said["mes"], said["swipe_id"], said["swipes"]) == ("Go away.", 0, SWIPED["swipes"])
    assert (said["send_date"], said["extra"]) == ("2025-03-01T10:00:03Z", SWIPED["swipe_info"][0]["extra"])
    # What held for the text that was shown is said of it in the list now.
    assert said["swipe_info"][1]["gen_started"] == SWIPED["gen_started"]
    assert said["name"] == "Ada"


def test_a_book_with_branches_goes_out_as_the_one_that_is_read(store: Store, tmp_path: Path) -> None:
    book, parts = add_book(store, ["It rained.", "She came.", "She went."])
    with store.write(Act(actor="author", label="test", book=book.uuid)) as tx:
        space = tx.space(LIBRARY)
        other = branch_part(space, parts[1].uuid)
        create_part(space, book.uuid, other.uuid, "She stayed.", {"pov": "Ada", "instructions": "Let her stay."})
        create_part(space, book.uuid, other.uuid, "She slept.", {"title": "Night"})
        switch_branch(space, parts[2].uuid)
    out = export_book(store, book.uuid, "chat", tmp_path / "out.jsonl")
    assert out.notes[0] == "Not in the file: 2 other branches with 2 parts in all."
    back, _ = read_chat(out.path.read_bytes(), "it")
    assert texts(back) == [["It rained."], ["She came.", "She came."], ["She went."]]
    with store.write(Act(actor="author", label="test", book=book.uuid)) as tx:
        switch_branch(tx.space(LIBRARY), other.uuid)
    out = export_book(store, book.uuid, "chat", tmp_path / "out.jsonl", force=True)
    assert out.notes[0] == "Not in the file: 1 other branch with 1 part in all."
    with store.read() as tx:
        assert read_manuscript(out.path).manuscript.chapters == manuscript_of(tx, book.uuid).chapters
    told = export_book(store, book.uuid, "markdown", tmp_path / "out.md").notes
    assert told[0] == "Not in the file: 2 swipes; 1 other branch with 1 part in all."


def test_what_a_file_does_not_hold_is_told_by_name_and_number(store: Store, tmp_path: Path) -> None:
    made = import_book(store, written(tmp_path / "Ada.jsonl", USER, SWIPED))
    lore = LoreFile(title="The Quay", entries=(LoreEntry(name="Lamp"),), below=(LoreFile(title="Below"),))
    with store.write(Act(actor="author", label="test", book=made.uuid)) as tx:
        add_lore(tx.space(LIBRARY), made.uuid, lore)
    told = export_book(store, made.uuid, "chat", tmp_path / "out.jsonl").notes
    assert told == ("Not in the file: the lorebook 'The Quay' with 1 entry.",)
    told = export_book(store, made.uuid, "folder", tmp_path / "out").notes
    # One sentence names all of it, however much there is.
    assert told == (
        "Not in the file: 2 swipes, 2 turn inputs, 2 message headers; the lorebook 'The Quay' with 1 entry.",
    )
    with store.read() as tx:
        book = manuscript_of(tx, made.uuid)
    titled = replace(book, chapters=(Chapter(title="One", text="a", after=(Version(title="Two"),)),), lorebooks=())
    assert left_out(titled, "chat") == ("2 titles kept as data of the messages, which chat programs do not show.",)
    assert left_out(replace(titled, chapters=(Chapter(title="One", text="a"),)), "epub") == ()


def test_a_new_part_in_a_chat_has_its_date_and_the_name_of_the_character(store: Store, tmp_path: Path) -> None:
    book, parts = add_book(store, ["It rained."], title="The Ferry")
    out = export_book(store, book.uuid, "chat", tmp_path / "out.jsonl")
    header, said = (json.loads(line) for line in out.path.read_text().split("\n"))
    assert (header["user_name"], header["character_name"]) == ("User", "The Ferry")
    assert (said["name"], said["is_user"], said["mes"]) == ("The Ferry", False, "It rained.")
    assert said["send_date"].endswith("Z")
    assert "swipes" not in said
    back = read_manuscript(out.path).manuscript
    assert (back.title, back.attributes) == ("The Ferry", {})
    assert [(each.title, each.text, each.pov, each.attributes) for each in back.chapters] == [
        ("Chapter 1", "It rained.", "", {})
    ]
    assert parts[0].created > 0


SHORT = st.text(st.sampled_from('aZ é\u4e2d\u2028"\\\u202e\U0001f600'), max_size=5)
NAMES = SHORT.map(lambda text: " ".join(text.split()))
DATA: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | SHORT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("abc"), inner, max_size=2),
    max_leaves=3,
)
ATTRIBUTES = st.dictionaries(st.sampled_from(["level", "note"]), DATA, max_size=2)
FIELDS: dict[str, st.SearchStrategy[Any]] = {
    **dict.fromkeys(("title", "pov", "model"), NAMES),
    **dict.fromkeys(("instructions", "scene", "present", "text"), SHORT.map(lambda text: text.replace("\u2028", "\n"))),
    "attributes": ATTRIBUTES,
}
VERSIONS = st.builds(Version, **FIELDS)
MANUSCRIPTS = st.builds(
    Manuscript,
    title=NAMES,
    tags=st.frozensets(NAMES.filter(bool), max_size=2).map(lambda tags: tuple(sorted(tags))),
    author=NAMES,
    language=st.sampled_from(["", "en", "zh"]),
    description=NAMES,
    attributes=ATTRIBUTES,
    chapters=st.lists(
        st.builds(
            Chapter,
            before=st.lists(VERSIONS, max_size=2).map(tuple),
            after=st.lists(VERSIONS, max_size=2).map(tuple),
            **FIELDS,
        ),
        min_size=1,
        max_size=3,
    ).map(tuple),
)


@settings(max_examples=50)
@given(MANUSCRIPTS)
@example(Manuscript(title="T", chapters=(Chapter(text="a", pov="T", after=(Version(text="a", pov="B"),)),)))
def test_any_book_comes_back_equal(book: Manuscript) -> None:
    assert again(book) == book


MESSAGES = st.fixed_dictionaries(
    {"mes": SHORT},
    optional={
        "name": SHORT | st.integers(0, 3),
        "is_user": st.booleans() | SHORT,
        "swipes": DATA | st.lists(SHORT | st.none(), max_size=4),
        "swipe_id": DATA | st.integers(-1, 4),
        "swipe_info": DATA
        | st.lists(st.fixed_dictionaries({}, optional={"send_date": DATA, "extra": DATA}), max_size=4),
        "send_date": DATA,
        "extra": DATA | st.fixed_dictionaries({"model": SHORT, "marginalia": DATA}),
        "other": DATA,
    },
)


@settings(max_examples=50)
@given(st.lists(MESSAGES, min_size=1, max_size=3))
def test_any_messages_come_in_and_are_the_same_after_a_second_journey(messages: list[dict[str, Any]]) -> None:
    book, _ = read(*messages)
    assert [chapter.text for chapter in book.chapters] == [each["mes"].replace("\u2028", "\n") for each in messages]
    once = again(book)
    assert texts(once) == texts(book)
    assert again(once) == once


def test_the_chat_is_recognised_by_what_it_holds(tmp_path: Path) -> None:
    cases = {
        "chat.txt": (chat(message()), "chat"),
        "bare.json": (chat(message(), header=None), "chat"),
        "utf16.jsonl": (chat(message()).decode().encode("utf-16"), "chat"),
        "bom.jsonl": (b"\xef\xbb\xbf" + chat(message()), "chat"),
        "broken-header.txt": (chat('{"user_name": "To', message(), header=None), "chat"),
        "prose.txt": (b'{"a": 1} he wrote.\n\nIt rained.', "text"),
    }
    for name, (data, expected) in cases.items():
        (tmp_path / name).write_bytes(data)
        assert read_manuscript(tmp_path / name).format == expected, name
