"""World info both ways: nothing of a foreign file is lost, nothing of ours is."""

from dataclasses import replace
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marginalia_tui.domain.errors import Invalid
from marginalia_tui.services.exchange.lorefile import Left, LoreEntry, LoreFile, left_note
from marginalia_tui.services.exchange.lorekeys import NEVER
from marginalia_tui.services.exchange.worldentry import SAID_BY, TEMPLATE, read_entry, write_entry
from marginalia_tui.services.exchange.worldinfo import read_worldinfo, write_worldinfo

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.sampled_from([0.5, 1e300, "", "x", "1", "true", "a, b", "/x/i"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=2),
    max_leaves=4,
)
PROPER: dict[str, st.SearchStrategy[Any]] = {
    "key": st.lists(st.sampled_from(["cat", "Dog", "/x+/i", "/(/", "{{user}}"]), max_size=3),
    "keysecondary": st.lists(st.sampled_from(["sea", "sky"]), max_size=2),
    "comment": st.sampled_from(["", "A name", "two\nlines", " spaces "]),
    "content": st.sampled_from(["", "Text.", "a\r\nb", "@@depth 3\nText.", "\x1b[2J"]),
    "selectiveLogic": st.integers(0, 3),
    "position": st.integers(0, 7),
    "order": st.sampled_from([0, 100, 10**9, -3]),
    "scanDepth": st.sampled_from([None, 0, 1, 2, 9]),
    "characterFilter": st.just({"isExclude": True, "names": ["Ada"], "tags": []}),
}
ROW = st.fixed_dictionaries({}, optional={name: PROPER.get(name, st.just(usual)) for name, usual in TEMPLATE.items()})
ODD_ROW = st.dictionaries(st.sampled_from([*TEMPLATE, "extensions", "name", "unknown"]), JSON, max_size=8)

TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=8)
NAME = st.sampled_from(["Lamp", "The sea", "\u65e7\u949f\u697c"])
TAGS = st.sets(st.sampled_from(["coast", "night"])).map(lambda tags: tuple(sorted(tags)))
OWN = st.builds(
    LoreEntry,
    name=NAME,
    text=TEXT,
    comment=TEXT.map(str.strip),
    enabled=st.booleans(),
    constant=st.booleans(),
    order=st.integers(-10, 1_000),
    filter=st.sampled_from(["", "lamp", "/lamp/", " a ", "king|queen", r"\bcat\b", r"(?a:\b)cat(?a:\b)", NEVER, "("]),
    mode=st.sampled_from(["text", "regex"]),
    look_back=st.integers(0, 9),
    first=st.none() | st.integers(1, 9),
    last=st.none() | st.integers(1, 9),
    tags=TAGS,
    negative_tags=TAGS,
    insertion=st.sampled_from(["lore", "prompt"]),
    attributes=st.just({}) | st.just({"plugin": {"x": [1, True]}}),
)


def again(lorebook: LoreFile) -> LoreFile:
    return read_worldinfo(orjson.loads(write_worldinfo(lorebook)[0]), lorebook.title)


@settings(max_examples=50)
@given(st.lists(ROW | ODD_ROW, max_size=3))
def test_f45_a_foreign_file_goes_out_as_it_came(rows: list[dict[str, Any]]) -> None:
    entries = {str(place): {**row, "uid": place} for place, row in enumerate(rows)}
    data: dict[str, Any] = {"entries": entries, "mine": [1]}
    found = read_worldinfo(data, "X")
    made = orjson.loads(write_worldinfo(found)[0])
    assert made["mine"] == [1]
    written = list(made["entries"].values())
    for row, out in zip(entries.values(), written, strict=True):
        for name, value in row.items():
            if name not in ("uid", "displayIndex"):
                assert name in out and orjson.dumps(out[name]) == orjson.dumps(value), name
    back = read_worldinfo(made, "X")
    assert set(back.left) == set(found.left)
    assert replace(back, left=()) == replace(found, left=())


@settings(max_examples=50)
@given(st.lists(OWN, max_size=3))
def test_our_own_entries_come_back(entries: list[LoreEntry]) -> None:
    lorebook = LoreFile(title="Coast", description="By the sea.", entries=tuple(entries))
    assert replace(again(lorebook), left=()) == lorebook


@settings(max_examples=50)
@given(ROW, OWN, st.sampled_from(sorted(SAID_BY)))
def test_what_the_author_changes_goes_out_changed(row: dict[str, Any], other: LoreEntry, name: str) -> None:
    entry, _ = read_entry(row)
    changed = replace(entry, **{name: getattr(other, name)})
    back, _ = read_entry(write_entry(changed, 0))
    assert {each: getattr(back, each) for each in SAID_BY} == {each: getattr(changed, each) for each in SAID_BY}


def test_a_tree_with_a_lorebook_that_two_share() -> None:
    shared = LoreFile(title="Shared", entries=(LoreEntry(name="S", filter="s"),), enabled=False, tags=("night",))
    below = LoreFile(title="Below", below=(shared,), attributes={"worldinfo": {"mine": 1}})
    tree = LoreFile(title="Root", scan_depth=3, entries=(LoreEntry(name="R", filter="r"),), below=(below, shared))
    data, left = write_worldinfo(tree)
    found = read_worldinfo(orjson.loads(data))
    assert found == tree
    assert found.below[0].below[0] is found.below[1]
    assert left == (
        Left("scan depth", 1), Left("lorebooks below", 2), Left("a lorebook that is disabled", 1),
        Left("tags of a lorebook", 1),
    )  # fmt: skip
    assert len(orjson.loads(data)["entries"]) == 2


def test_a_lorebook_that_stands_below_itself() -> None:
    rows = [{"name": "A", "below": [1, 0]}, {"name": "B", "below": [0, 2, 99, "x"]}, {"name": "C", "below": [1]}, {}]
    ours = {"marginalia": {"lorebooks": rows}}
    entries = [{"content": str(place), "constant": True, "extensions": {"marginalia": {"lorebook": place}}}
               for place in (0, 1, 2, 3, 4, "x")]  # fmt: skip
    found = read_worldinfo({"entries": entries, "extensions": ours})
    assert [each.title for each in found.lorebooks()] == ["", "B", "C"]
    assert found.count() == len(entries)
    assert Left("a lorebook below itself", 3) in found.left or Left("a lorebook below itself", 2) in found.left
    assert Left("an entry whose lorebook stands nowhere", 1) in found.left


def test_wrong_types_are_told_and_kept() -> None:
    row = {"key": "lamp, light", "content": 7, "order": "12", "disable": 1, "constant": "no", "selective": [],
           "keysecondary": [1, None, {"a": 2}], "probability": "x", "position": {}, "comment": None}  # fmt: skip
    found = read_worldinfo({"entries": [row, 5, None, ["x"], "y"], "name": 9})
    (entry,) = found.entries
    assert (entry.filter, entry.text, entry.order, entry.enabled) == ("lamp|light", "7", 12, False) or entry.mode
    note = left_note(found.left)
    assert "key of another type (1)" in note and "an entry that is none (4)" in note
    made = orjson.loads(write_worldinfo(found)[0])
    assert made["entries"]["0"] | row == made["entries"]["0"]
    assert [made["entries"][number] for number in ("1", "2", "3", "4")] == [5, None, ["x"], "y"]


@pytest.mark.parametrize("entries", [None, 5, "x"])
def test_without_entries(entries: object) -> None:
    with pytest.raises(Invalid, match="has no entries"):
        read_worldinfo({"entries": entries})


def test_numbers_stay_unless_two_have_the_same() -> None:
    rows = [{"uid": 7, "key": ["a"]}, {"uid": 7, "key": ["b"]}, {"uid": 0, "key": ["c"]}, {"key": ["d"]}]
    made = orjson.loads(write_worldinfo(read_worldinfo({"entries": rows}))[0])["entries"]
    assert [(number, row["uid"], row["key"]) for number, row in made.items()] == [
        ("7", 7, ["a"]), ("1", 1, ["b"]), ("0", 0, ["c"]), ("3", 3, ["d"])
    ]  # fmt: skip


def test_decorators_stand_apart_from_the_text() -> None:
    entry, left = read_entry({"key": ["x"], "content": "@@depth 2\n@@activate\nThe text."})
    assert (entry.text, entry.constant, left) == ("The text.", True, ["@@depth"])
    changed = write_entry(replace(entry, text="Another."), 0)
    assert changed["content"] == "@@depth 2\n@@activate\nAnother."


def test_who_an_entry_is_for_becomes_tags() -> None:
    who = {"isExclude": False, "names": ["Ada"], "tags": ["t1"]}
    entry, left = read_entry({"key": ["x"], "characterFilter": who})
    assert (entry.tags, entry.negative_tags, left) == (("Ada", "t1"), (), [])
    entry, _ = read_entry({"key": ["x"], "characterFilter": {**who, "isExclude": True}})
    assert (entry.tags, entry.negative_tags) == ((), ("Ada", "t1"))


def test_what_has_no_place_is_named_only_where_it_says_something() -> None:
    assert read_entry({**TEMPLATE, "key": ["x"], "probability": 30, "useProbability": False})[1] == []
    some = {"probability": 0, "sticky": 2, "group": "g", "position": 4, "depth": 3, "excludeRecursion": True}
    assert sorted(read_entry({"key": ["x"], **some})[1]) == sorted(set(some) - {"position"})
    assert read_entry({"constant": True})[1] == []
    entry, left = read_entry({"content": "never told"})
    assert (entry.filter, left) == (NEVER, ["an entry without keys"])
