"""A plan written down: the shape of `run review`, and the word diffs for people."""

import json
from dataclasses import replace

import pytest

from marginalia_tui.agent.merge.report import inline, to_json, to_text
from marginalia_tui.store.store import Store
from tests.agent.merge.desk import Desk, chain


def test_the_json_has_the_shape_of_the_contract(store: Store) -> None:
    desk = Desk(store, chain("a", "b", "c"))
    desk.agent.edit("a", text="Agent.")
    desk.author.edit("a", text="Author.")
    desk.agent.create("n", "a")
    desk.agent.create("o", "n")
    desk.agent.delete("c")
    desk.agent.edit("b", title="New")
    desk.author.delete("b")
    answer = to_json(desk.plan(), "the-run")
    assert json.loads(json.dumps(answer)) == answer
    assert answer["run"] == "the-run"
    items = {item["id"]: item for item in answer["items"]}
    for item in items.values():
        assert {"id", "kind", "change", "title", "fields", "problem", "depends_on"} <= item.keys()
        for field in item["fields"]:
            assert {"name", "type", "base", "agent", "book", "conflict"} <= field.keys()
    assert items["part:a"]["fields"][0] == {
        "name": "text",
        "label": "text",
        "type": "text",
        "base": "Text of a.",
        "agent": "Agent.",
        "book": "Author.",
        "conflict": True,
        "proposal": None,
        "note": "",
        "problem": None,
        "depends_on": [],
    }
    assert (items["part:o"]["change"], items["part:o"]["depends_on"]) == ("added", ["part:n"])
    assert items["part:c"]["change"] == "deleted"
    assert items["part:b"]["problem"]


def test_texts_must_be_loaded_first(store: Store) -> None:
    desk = Desk(store, chain("a"))
    desk.agent.edit("a", text="New.")
    plan = desk.plan(loaded=False)
    assert not plan.items[0].fields[0].loaded
    with pytest.raises(RuntimeError, match="not loaded"):
        to_json(plan, "r")
    with pytest.raises(RuntimeError, match="not loaded"):
        to_text(plan)


def test_the_text_shows_what_changed_word_by_word(store: Store) -> None:
    desk = Desk(store, chain("a", "b"), a="The lamp stood in the the window.")
    desk.agent.edit("a", text="The lamp stood in the window.")
    desk.agent.edit("b", pov="Mina")
    desk.author.edit("b", pov="Lucy")
    desk.agent.insert("n", "a", title="Night")
    written = to_text(desk.plan())
    assert written.startswith("3 changes, 1 conflict\n")
    assert "changed part  The lamp stood in the the window.\n  part:a\n" in written
    assert "[-the -]" in written or "[- the-]" in written
    assert "! point of view: changed by both\n      agent  {+Mina+}\n      book   {+Lucy+}" in written
    assert "added part  Night" in written
    assert "now follow it: Text of b." in written
    assert "place: {+The lamp stood in the the window.+}" in written


def test_an_empty_plan_says_so(store: Store) -> None:
    assert "nothing" in to_text(Desk(store, chain("a")).plan())


def test_what_a_terminal_would_obey_is_shown(store: Store) -> None:
    desk = Desk(store, chain("a"))
    desk.agent.edit("a", text="\x1b[2J\x9bgone \u202eback\x07", title="\x1b]0;x\x07")
    written = to_text(desk.plan())
    assert not {"\x1b", "\x9b", "\u202e", "\x07"} & set(written)
    assert "␛[2J" in written


def test_a_text_can_not_write_lines_of_the_report(store: Store) -> None:
    desk = Desk(store, chain("a"))
    desk.agent.edit("a", text="One.\ndeleted part  Forged\n  part:b")
    assert to_text(desk.plan()).count("\n") == 4
    assert "One.␤deleted part" in to_text(desk.plan())


def test_a_long_change_is_cut_and_a_long_text_shown_around_its_changes(store: Store) -> None:
    before = " ".join(f"word{number}" for number in range(500))
    shown = inline(before, before.replace("word250", "other250"))
    assert "[-word250-]{+other250+}" in shown
    assert len(shown) < 200
    assert "word1 " not in shown
    assert len(inline("", "x" * 10_000, 100)) < 120
    desk = Desk(store, chain("a"))
    desk.agent.edit("a", text=before * 20)
    assert len(to_text(desk.plan(), 300)) < 700


def test_places_are_shown_when_they_are_known(store: Store) -> None:
    desk = Desk(store, chain("a"))
    desk.agent.edit("a", title="New")
    plan = desk.plan()
    placed = replace(plan, items=tuple(replace(item, place=4) for item in plan.items))
    assert "changed part 4  Text of a." in to_text(placed)
