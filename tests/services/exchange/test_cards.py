"""Character cards: fields, lorebooks inside them, pictures that carry them, and the books that they make."""

import base64
import struct
import zipfile
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from marginalia_tui.domain.errors import Invalid, Refused
from marginalia_tui.domain.items import Book, Lorebook, Part
from marginalia_tui.services.exchange.cardbook import read_cardbook, write_cardbook
from marginalia_tui.services.exchange.cardparts import card_of_manuscript, manuscript_of_card
from marginalia_tui.services.exchange.cards import card_data, read_card
from marginalia_tui.services.exchange.importer import read_manuscript
from marginalia_tui.services.exchange.library import export_book, import_book
from marginalia_tui.services.exchange.lorefile import Left, LoreEntry
from marginalia_tui.services.exchange.loreimport import read_card_file, read_lore
from marginalia_tui.services.exchange.worldinfo import read_worldinfo, write_worldinfo
from marginalia_tui.services.lore import entry_rows, read_tree
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import Store
from tests.services.exchange.test_worldinfo import JSON

CARD: dict[str, Any] = {
    "spec": "chara_card_v2",
    "spec_version": "2.0",
    "data": {
        "name": "Ada",
        "description": "She keeps the lighthouse.",
        "personality": "Calm.",
        "scenario": "A storm comes up.",
        "first_mes": "The lamp is lit.",
        "mes_example": "<START>",
        "creator_notes": "Be kind.",
        "system_prompt": "",
        "post_history_instructions": "",
        "alternate_greetings": ["The lamp is dark.", "Nobody is here."],
        "tags": ["coast", "Night"],
        "creator": "me",
        "character_version": "1",
        "extensions": {"depth_prompt": {"depth": 4}},
        "character_book": {
            "name": "The coast",
            "scan_depth": 5,
            "token_budget": 200,
            "recursive_scanning": True,
            "extensions": {"x": 1},
            "entries": [
                {
                    "keys": ["lamp"],
                    "secondary_keys": ["oil"],
                    "selective": True,
                    "content": "It burns whale oil.",
                    "enabled": True,
                    "insertion_order": 7,
                    "position": "after_char",
                    "priority": 3,
                    "id": 11,
                    "name": "Lamp",
                    "comment": "Ask Bert.",
                    "extensions": {"probability": 50, "mine": True},
                },
                {"keys": ["sea.*cold"], "use_regex": True, "content": "", "enabled": False, "insertion_order": 1,
                 "extensions": {}, "constant": True},
            ],
        },
    },
}  # fmt: skip


def within(inner: Any, outer: Any) -> bool:
    """Whether everything that one value of JSON says is said by another one too."""
    if isinstance(inner, dict):
        return isinstance(outer, dict) and all(key in outer and within(inner[key], outer[key]) for key in inner)
    if isinstance(inner, list):
        return isinstance(outer, list) and len(inner) == len(outer) and all(map(within, inner, outer))
    return type(inner) is type(outer) and bool(inner == outer)


def test_what_a_card_says() -> None:
    card = read_card(CARD)
    assert (card.name, card.greetings, card.tags) == (
        "Ada",
        ("The lamp is dark.", "Nobody is here."),
        ("Night", "coast"),
    )
    assert card.left == (Left("extensions.depth_prompt", 1),)
    assert card.lore is not None
    lamp, sea = card.lore.entries
    assert (lamp.name, lamp.comment, lamp.filter, lamp.order) == (
        "Lamp",
        "Ask Bert.",
        r"\A(?=.*(?:lamp))(?=.*(?:oil))",
        7,
    )
    assert (lamp.look_back, sea.look_back, card.lore.scan_depth) == (4, 4, 100)
    assert (sea.filter, sea.enabled, sea.constant) == (r"sea[^\n]*cold", False, True)
    assert {each.what for each in card.lore.left} >= {"priority", "extensions.probability", "extensions.mine"}


def test_f45_a_card_goes_out_as_it_came() -> None:
    out = card_data(read_card(CARD))
    assert within(CARD, out)
    assert card_data(read_card(out)) == out


def test_a_card_of_version_1_and_one_with_both() -> None:
    flat = {"name": "Ada", "description": "D", "personality": "", "first_mes": "Hello.", "mine": 1, "avatar": "none"}
    card = read_card(flat)
    assert (card.first_message, card.left) == ("Hello.", (Left("mine", 1), Left("avatar", 1)))
    assert within({"mine": 1, "first_mes": "Hello."}, card_data(card)["data"])
    both = {**CARD, "first_mes": "old", "name": "Ada", "fav": True}
    changed = replace(read_card(both), first_message="New.")
    out = card_data(changed)
    assert (out["first_mes"], out["data"]["first_mes"], out["fav"]) == ("New.", "New.", True)


@settings(max_examples=50)
@given(st.dictionaries(st.sampled_from([*CARD["data"], "unknown"]), JSON, max_size=6))
def test_whatever_stands_in_a_card_stays(fields: dict[str, Any]) -> None:
    data = {"name": "Ada", **fields}
    if isinstance(data.get("character_book"), dict):
        del data["character_book"]
    out = card_data(read_card({"spec": "chara_card_v2", "data": data}))
    for name, value in data.items():
        if name != "extensions" or value:
            assert within(value, out["data"][name]), name


@settings(max_examples=50)
@given(
    st.lists(st.dictionaries(st.sampled_from([*CARD["data"]["character_book"]["entries"][0], "odd"]), JSON), max_size=3)
)
def test_whatever_stands_in_its_lorebook_stays(rows: list[dict[str, Any]]) -> None:
    book = {"entries": rows, "name": "B", "extensions": {}}
    out = write_cardbook(read_cardbook(book))
    for row, made in zip(rows, out["entries"], strict=True):
        for name, value in row.items():
            assert within(value, made[name]) or name == "extensions", name


def test_a_lorebook_goes_from_a_card_to_world_info_and_back() -> None:
    lore = read_card(CARD).lore
    assert lore is not None
    world = read_worldinfo(orjson.loads(write_worldinfo(lore)[0]))
    assert write_cardbook(world)["entries"] == write_cardbook(lore)["entries"]
    assert within(CARD["data"]["character_book"]["entries"], write_cardbook(world)["entries"])


def test_sillytavern_calls_each_key_an_expression() -> None:
    row = {"keys": ["a.b"], "use_regex": True, "content": "x", "enabled": True, "insertion_order": 1}
    of_st = {**row, "extensions": {"selectiveLogic": 0, "display_index": 0}}
    first, second = read_cardbook({"entries": [{**row, "extensions": {}}, of_st]}).entries
    assert (first.mode, second.mode, second.filter) == ("regex", "text", "a.b")
    assert within([row, of_st], write_cardbook(read_cardbook({"entries": [row, of_st]}))["entries"])


def test_what_the_author_changes_in_the_lorebook_of_a_card() -> None:
    lore = read_card(CARD).lore
    assert lore is not None
    changed = replace(lore, entries=(replace(lore.entries[0], filter="wick", mode="text", enabled=False, name="Wick"),))
    (row,) = write_cardbook(changed)["entries"]
    assert (row["keys"], row["secondary_keys"], row["enabled"], row["name"]) == (["wick"], [], False, "Wick")
    assert (row["priority"], row["extensions"]["mine"], row["id"]) == (3, True, 11)


# Books


def test_a_card_becomes_a_book_and_comes_out_again(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "ada.json"
    path.write_bytes(orjson.dumps(CARD))
    made = import_book(store, path)
    assert (made.format, made.title, made.parts, made.swipes) == ("card", "Ada", 3, 2)
    assert any("mes_example (1)" in note and "creator_notes (1)" in note for note in made.notes)
    with store.read() as tx:
        space = tx.space(LIBRARY)
        book = space.get(Book, made.uuid)
        assert (book.author, book.tags, book.description) == ("me", ("Night", "coast"), "")
        part = space.get(Part, book.active_leaf or "")
        assert (part.text, part.scene, part.present) == ("The lamp is lit.", "A storm comes up.", "Ada")
        root = space.get(Lorebook, book.lorebook or "")
        below = space.get(Lorebook, root.subbooks[0])
        assert (root.name, below.name) == ("Ada", "The coast")
    out = tmp_path / "again.json"
    assert export_book(store, made.uuid, "card", out).notes == ()
    assert within(CARD, orjson.loads(out.read_bytes()))
    assert import_book(store, out).notes == made.notes


def test_f46_the_lorebook_of_a_card_is_there_once(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "ada.json"
    path.write_bytes(orjson.dumps(CARD))
    book = import_book(store, path).uuid
    with store.read() as tx:
        space = tx.space(LIBRARY)
        tree = read_tree(space, space.get(Book, book))
        names = [row.name for row in entry_rows(space, tree.lorebooks)]
    assert [each.name for each in tree.lorebooks.values()] == ["Ada", "The coast"]
    assert sorted(names) == ["Ada", "Ada: personality", "Lamp", "sea.*cold"]


def test_a_card_of_any_book(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "book.md"
    path.write_text("---\ntitle: Tide\ndescription: About the sea.\n---\n# One\n\nFirst.\n\n# Two\n\nSecond.\n")
    made = import_book(store, path)
    told = export_book(store, made.uuid, "card", tmp_path / "tide.json")
    assert told.notes == ("Not in the file: 1 part behind the first.",)
    card = read_card_file(tmp_path / "tide.json")
    assert (card.name, card.first_message, card.creator_notes) == ("Tide", "First.", "About the sea.")


def test_a_card_without_words_still_has_a_part() -> None:
    card = read_card({"spec": "chara_card_v2", "data": {"name": "Ada", "first_mes": ""}})
    book, _ = manuscript_of_card(card)
    assert book.chapters[0].title == "Ada"
    assert card_of_manuscript(book) == card


def test_an_own_entry_beside_the_fields_of_a_card() -> None:
    book, _ = manuscript_of_card(read_card(CARD))
    root = book.lorebooks[0]
    more = replace(book, lorebooks=(replace(root, entries=(*root.entries, LoreEntry(name="Sea", filter="sea"))),))
    card = card_of_manuscript(more)
    assert card.description == "She keeps the lighthouse." and card.lore is not None
    assert [each.title for each in card.lore.lorebooks()] == ["Ada", "The coast"]
    again = read_card(card_data(card)).lore
    assert again is not None and [each.title for each in again.lorebooks()] == ["Ada", "The coast"]


# Pictures


def picture(path: Path, texts: dict[str, bytes], *, packed: bool = False) -> Path:
    info = PngInfo()
    for keyword, data in texts.items():
        info.add_text(keyword, base64.b64encode(data).decode(), zip=packed)
    Image.new("RGB", (4, 4)).save(path, pnginfo=info)
    return path


def at_the_end(path: Path, kind: bytes, data: bytes) -> Path:
    """A picture with a piece right before its end, where most programs put it."""
    Image.new("RGB", (4, 4)).save(path)
    whole = path.read_bytes()
    piece = struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    path.write_bytes(whole[:-12] + piece + whole[-12:])
    return path


@pytest.mark.parametrize("packed", [False, True])
def test_a_card_in_a_picture(tmp_path: Path, packed: bool) -> None:
    newer = {**CARD, "spec": "chara_card_v3", "data": {**CARD["data"], "name": "Newer"}}
    path = picture(tmp_path / "ada.png", {"chara": orjson.dumps(CARD), "ccv3": orjson.dumps(newer)}, packed=packed)
    assert read_card_file(path).name == "Newer"
    assert read_manuscript(path).format == "card"
    assert read_lore(path).title == "The coast"
    end = at_the_end(tmp_path / "end.png", b"tEXt", b"chara\0" + base64.b64encode(orjson.dumps(CARD)))
    assert read_card_file(end) == read_card(CARD)


def test_the_picture_of_a_card_is_the_cover(store: Store, tmp_path: Path) -> None:
    path = picture(tmp_path / "ada.png", {"chara": orjson.dumps(CARD)})
    book = import_book(store, path)
    with store.read() as tx:
        (cover,) = tx.space(LIBRARY).get(Book, book.uuid).cover
    assert (cover.type, cover.width) == ("image/png", 4)
    assert "Not in the file: the cover." in export_book(store, book.uuid, "card", tmp_path / "ada.json").notes
    whole = path.read_bytes()
    place = whole.index(b"IDAT") + 6
    pixels = whole[place:].index(b"IEND")
    length = struct.unpack(">I", whole[place - 10 : place - 6])[0]
    body = b"\0" * length
    path.write_bytes(
        whole[: place - 2] + body + struct.pack(">I", zlib.crc32(b"IDAT" + body)) + whole[place + pixels - 4 :]
    )
    assert any(note.startswith("Its picture was left out: ") for note in read_manuscript(path).notes)
    assert read_card_file(path).name == "Ada"


def test_a_card_packed_with_its_pictures(tmp_path: Path) -> None:
    path = tmp_path / "ada.charx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("card.json", orjson.dumps(CARD))
        archive.writestr("assets/icon.png", b"x")
    read = read_manuscript(path)
    assert (read.format, read.manuscript.title) == ("card", "Ada")
    assert "Left out: 1 file packed with the card." in read.notes
    assert read_lore(path).title == "The coast"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("other.json", b"{}")
    with pytest.raises(Invalid, match="zip file without one"):
        read_lore(path)


def test_a_lorebook_of_novelai_in_a_picture(tmp_path: Path) -> None:
    lore = {"lorebookVersion": 5, "entries": [{"text": "T", "displayName": "N", "keys": ["k"]}]}
    assert read_lore(picture(tmp_path / "n.png", {"naidata": orjson.dumps(lore)})).entries[0].name == "N"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b"chara\0not base64!", "no base64"),
        (b"chara\0" + base64.b64encode(b"{"), "damaged at line 1"),
        (b"chara\0" + base64.b64encode(b"[" * 100_000), "nested too deeply"),
        (b"chara\0" + base64.b64encode(b"[" * 600 + b"]" * 600), "nested too deeply"),
        (b"chara\0" + base64.b64encode(b"[1]"), "holds no character card"),
        (b"other\0text", "picture without one"),
        (b"chara", "damaged at line 1"),
    ],
    ids=["base64", "json", "deep", "deep and whole", "list", "no card", "no text"],
)
def test_a_damaged_text_in_a_picture(tmp_path: Path, text: bytes, says: str) -> None:
    with pytest.raises(Invalid, match=says):
        read_card_file(at_the_end(tmp_path / "x.png", b"tEXt", text))


def test_a_text_of_50_megabytes_is_not_read(tmp_path: Path) -> None:
    path = at_the_end(tmp_path / "x.png", b"tEXt", b"chara\0" + b"A" * 50_000_000)
    with pytest.raises(Refused, match="has 50 MB, and at most 34 MB are read"):
        read_card_file(path)


@pytest.mark.parametrize(("kind", "head"), [(b"zTXt", b"chara\0\0"), (b"iTXt", b"ccv3\0\1\0\0\0")])
def test_a_text_that_unpacks_without_end(tmp_path: Path, kind: bytes, head: bytes) -> None:
    path = at_the_end(tmp_path / "x.png", kind, head + zlib.compress(b"A" * 20_000_000))
    with pytest.raises(Refused, match="unpacks to far more"):
        read_card_file(path)


def test_a_picture_that_ends_early_or_is_damaged(tmp_path: Path) -> None:
    path = at_the_end(tmp_path / "x.png", b"tEXt", b"chara\0" + base64.b64encode(orjson.dumps(CARD)))
    whole = path.read_bytes()
    for cut in range(9, len(whole), 97):
        path.write_bytes(whole[:cut])
        with pytest.raises(Invalid, match="cut off|damaged"):
            read_card_file(path)
    path.write_bytes(whole.replace(b"chara\0e", b"chara\0f"))
    with pytest.raises(Invalid, match="damaged PNG"):
        read_card_file(path)


# Other files


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"{}", "holds no lorebook"),
        (b"[]", "it is no object"),
        (b'{"entries": [', "damaged at line 1"),
        (b'{"format": "marginalia-backup", "entries": {}}', "restore-backup"),
        (b'{"prompts": [], "temperature": 1}', "settings for a model"),
        (b'{"spec": "chara_card_v2", "data": {"name": "Ada"}}', "has no lorebook: import it as a book"),
        (b'{"a":' * 2_000 + b"1" + b"}" * 2_000, "nested too deeply"),
        (b'{"entries": 5}', "holds no lorebook"),
    ],
    ids=["empty", "list", "cut", "backup", "preset", "card", "deep", "number"],
)
def test_no_lorebook(tmp_path: Path, content: bytes, says: str) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(content)
    with pytest.raises(Invalid, match=says):
        read_lore(path)


def test_a_lorebook_is_no_book(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(b'{"entries": {}}')
    with pytest.raises(Invalid, match="bring it in with import-lore"):
        read_manuscript(path)


def test_lorebooks_are_recognised_by_what_they_hold(tmp_path: Path) -> None:
    path = tmp_path / "The coast.json"
    book = {"keys": ["k"], "content": "c", "enabled": True, "insertion_order": 1, "extensions": {}}
    for content, name in (
        ({"entries": [book]}, "k"),
        ({"spec": "lorebook_v3", "data": {"entries": [book], "name": "Its own"}}, "k"),
        ({"entries": [{"text": "t", "keys": ["n"], "displayName": "N"}]}, "N"),
        ({"storyContainerVersion": 1, "content": {"lorebook": {"entries": [{"text": "t", "keys": ["n"]}]}}}, "n"),
        ({"entries": {"0": {"key": ["w"]}}}, "w"),
    ):
        path.write_bytes(b"\xef\xbb\xbf" + orjson.dumps(content))
        found = read_lore(path)
        assert (found.entries[0].name, found.title) == (name, "Its own" if "spec" in content else "The coast")
