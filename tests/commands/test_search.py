"""Searching: old versions, notes, all books; and the preview of a replacement."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import event

from marginalia_tui.commands.context import AlwaysYes, Scope
from marginalia_tui.commands.control import Control
from marginalia_tui.commands.results import to_data
from marginalia_tui.domain.errors import Cancelled, Invalid, MarginaliaError, Refused
from marginalia_tui.domain.items import Annotation, Part
from marginalia_tui.services import searching
from marginalia_tui.store.space import LIBRARY, Space
from marginalia_tui.store.store import Store
from tests.commands.lore_world import LoreWorld
from tests.commands.world import DISPATCHER, World, other_book


@pytest.fixture
def other(world: World) -> tuple[str, str]:
    return other_book(world)


def note(world: World, place: int, text: str, quote: str = "", **fields: Any) -> str:
    part = world.part(place)
    start = part.text.index(quote) if quote else 0
    value = Annotation(
        uuid=world.store.clock.new_uuid(), book=world.book, part=part.uuid, text=text, quote=quote, start=start,
        end=start + len(quote), basis=part.text if quote else "", created=world.store.clock.now(), **fields,
    )  # fmt: skip
    world.put(value)
    return value.uuid


def places(found: dict[str, Any]) -> list[tuple[str, str, int | None]]:
    return [(each["kind"], each["book"], each.get("position")) for each in found["found"]]


# The open book


def test_parts_are_searched_by_text_word_and_expression(world: World) -> None:
    assert world.run("/search-parts lam")["hits"] == 3
    assert world.call("search-parts", text="lam", mode="word")["total"] == 0
    found = world.call("search-parts", text=r"(rain) fell\b", mode="regex")
    assert [(row["position"], row["hits"]) for row in found["parts"]] == [(3, 2)]
    with pytest.raises(Invalid, match="no regular expression"):
        world.call("search-parts", text="(", mode="regex")


def test_old_versions_are_found_once_with_their_number_and_branch(world: World) -> None:
    world.set_text(1, "A candle burned.")
    world.set_text(1, "A candle burned low.")
    world.set_text(1, "A candle burned.")
    swipe = world.add(world.parts[1], "Chapter 3b", "A lantern swung.")
    world.put(replace(_part(world.store, swipe), text="A torch swung."))
    found = world.call("search-parts", text="Nobody|lantern", mode="regex", includeVersions=True)
    assert [(row["position"], row.get("branch"), row["version"]["number"]) for row in found["parts"]] == [
        (1, None, 1),
        (3, 2, 1),
    ]
    assert found["hits"] == 0  # of the parts as they are
    assert "A lantern swung" in found["parts"][1]["first"]
    # What a newer version says too is read once.
    texts = [old.text for old in searching.old_texts(lambda: _space(world.store), [world.parts[0]])]
    assert texts == ["A candle burned low.", "The lamp was lit at dusk. Nobody saw who lit it."]


def test_notes_are_found_in_what_they_say_and_in_the_words_that_they_are_on(world: World) -> None:
    one = note(world, 1, "Which lamp is this?", "The lamp")
    two = note(world, 2, "Is Ada alone?", type="question")
    gone = note(world, 3, "Two of them", "the the")
    world.set_text(3, "Rain.")
    found = world.call("search-annotations", pattern="lamp")
    assert [(row["annotation"], row["fields"], row["number"]) for row in found["notes"]] == [
        (one, ["text", "quote"], 1)
    ]
    assert world.run("/search-annotations ada")["notes"][0]["annotation"] == two
    (orphan,) = world.run('/search-annotations "the the"')["notes"]
    assert (orphan["annotation"], orphan["status"], orphan["fields"]) == (gone, "orphaned", ["quote"])
    assert world.run("/search-annotations i regex 1 1")["total"] == 2
    assert world.run("/search-annotations i word")["total"] == 0
    with pytest.raises(Invalid, match="empty"):
        world.run('/search-annotations ""')


# All books


def test_all_books_are_searched_in_the_order_of_reading(world: World, other: tuple[str, str]) -> None:
    swipe = world.add(world.parts[0], "Other", "The lamp broke.")
    found = world.run("/search-library lamp")
    assert places(found) == [
        ("part", "Another", 1),
        ("part", "The Lamp", 1),
        ("part", "The Lamp", 2),
        ("part", "The Lamp", 2),
    ]
    assert (found["total"], found["books"]) == (4, 2)
    assert [(row["item"], row.get("branch"), row["hits"]) for row in found["found"][2:]] == [
        (world.parts[1], None, 1),
        (swipe, 2, 1),
    ]
    assert found["found"][0]["first"] == "The lamp of another."
    page = world.run("/search-library lamp parts text 1 2")
    assert places(page) == places(found)[1:3] and page["nextOffset"] == 3
    assert world.run("/search-library lamp parts text 9")["found"] == []


def test_a_library_is_searched_without_an_open_book_and_without_its_trash(world: World, other: tuple[str, str]) -> None:
    world.put(replace(world.opened(), deleted=7))
    result = DISPATCHER.run_line("/search-library lamp all", Scope(world.store, LIBRARY, None, AlwaysYes()))
    assert places(to_data(result)) == [("part", "Another", 1)]


def test_versions_notes_and_lore_of_all_books_are_found(world: World, other: tuple[str, str]) -> None:
    lore = LoreWorld(world)
    world.put(replace(_part(world.store, other[1]), text="A candle of another."))
    note(world, 2, "Whose lamp?")
    assert places(world.run("/search-library lamp versions")) == [("version", "Another", 1)]
    assert places(world.run("/search-library whose annotations")) == [("annotation", "The Lamp", 2)]
    found = world.run("/search-library lamp lore")["found"]
    assert [(row["name"], row["item"]) for row in found] == [
        ("World: Lamp", lore["Lamp"]),
        ("Elsewhere: Secret", lore["Secret"]),
    ]
    everything = world.run("/search-library lamp all")
    assert [row["kind"] for row in everything["found"]] == [
        "version", "part", "part", "annotation", "entry", "entry",
    ]  # fmt: skip
    assert everything["found"][0]["version"]["number"] == 1


def test_a_slow_expression_is_given_up_and_a_search_can_be_stopped(
    world: World, other: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("marginalia_tui.commands.patterns.SECONDS", 0.05)
    world.set_text(1, "a" * 50_000)
    with pytest.raises(Refused, match="took longer"):
        world.run('/search-library "(a|aa)+$b" all regex')
    control = Control()
    control.stop()
    with pytest.raises(Cancelled):
        DISPATCHER.run_line("/search-library lamp all", world.author, control=control)
    for bad in ("/search-library", '/search-library ""', "/search-library lamp nowhere", "/search-library ( all regex"):
        with pytest.raises(MarginaliaError):
            world.run(bad)


def test_no_row_costs_a_query_of_its_own(world: World, other: tuple[str, str]) -> None:
    LoreWorld(world)
    world.set_text(1, "A lamp.")
    note(world, 1, "Lamp")

    def asked() -> int:
        statements: list[str] = []

        def listen(*arguments: Any) -> None:
            statements.append(arguments[2])

        event.listen(world.store._reader, "before_cursor_execute", listen)
        try:
            world.run("/search-library lamp all")
        finally:
            event.remove(world.store._reader, "before_cursor_execute", listen)
        return len(statements)

    few = asked()
    last = world.parts[-1]
    for number in range(20):
        last = world.add(last, f"More {number}", f"The lamp {number}.")
        world.put(replace(_part(world.store, last), text=f"A lamp {number}."))
        note(world, 1, f"Lamp {number}")
    assert asked() == few


def test_batches_are_bounded_in_rows_and_characters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "ROWS", 3)
    monkeypatch.setattr(searching, "CHARS", 10)
    sizes = [4, 4, 4, 30, 1, 1, 1, 1]
    assert list(searching.batches(sizes, int)) == [[4, 4], [4], [30], [1, 1, 1], [1]]
    assert list(searching.batches([], int)) == []


# The preview of a replacement


def test_a_dry_run_shows_each_place_a_page_at_a_time(world: World) -> None:
    world.set_text(1, " ".join(f"cat {number}" for number in range(120)))
    swipe = world.add(None, "Elsewhere", "One cat more.")
    first = world.call("search-replace-parts", pattern="cat", replacement="dog", dryRun=True)
    assert (first["hits"], len(first["samples"]), first["truncated"], first["nextOffset"]) == (120, 50, True, 50)
    assert "cat 7" in first["samples"][7]["before"] and "dog 7" in first["samples"][7]["after"]
    seen = [each["after"] for offset in (0, 50, 100) for each in _page(world, offset)["samples"]]
    assert len(seen) == 120 and all("dog" in each for each in seen)
    last = _page(world, 100)
    assert len(last["samples"]) == 20 and "truncated" not in last
    assert _page(world, 500)["samples"] == []
    (only,) = world.call("search-replace-parts", pattern="cat", replacement="dog", dryRun=True, part=swipe)["samples"]
    assert (only["branch"], only["before"], only["after"]) == (2, "One cat more.", "One dog more.")
    done = world.run("/search-replace-parts cat dog")
    assert (done["hits"], len(done["samples"])) == (120, 5) and "truncated" not in done
    for bad in ("limit=0", "limit=201", "offset=-1"):
        name, value = bad.split("=")
        with pytest.raises(Invalid, match=name):
            world.call("search-replace-parts", pattern="cat", replacement="dog", dryRun=True, **{name: int(value)})


def test_a_dry_run_over_the_lore_shows_each_place(world: World) -> None:
    LoreWorld(world).add("Long", "World", text="oil " * 60)
    done = world.call("search-replace-lore-entries", pattern="oil", replacement="wax", dryRun=True, limit=2, offset=1)
    assert (done["hits"], done["truncated"], done["nextOffset"], len(done["samples"])) == (61, True, 3, 2)
    assert {each["field"] for each in done["samples"]} == {"text"}


def _page(world: World, offset: int) -> dict[str, Any]:
    return world.call("search-replace-parts", pattern="cat", replacement="dog", dryRun=True, offset=offset)


@contextmanager
def _space(store: Store) -> Iterator[Space]:
    with store.read() as tx:
        yield tx.space(LIBRARY)


def _part(store: Store, uuid: str) -> Part:
    with store.read() as tx:
        return tx.space(LIBRARY).get(Part, uuid)
