"""Lorebooks of NovelAI: what their keys mean here, and what of them is kept."""

from typing import Any

import pytest

from marginalia_tui.commands.lore_matching import LoreFinder
from marginalia_tui.domain.lore_needles import fold, fold_needle
from marginalia_tui.services.exchange.lorefile import Left, LoreEntry
from marginalia_tui.services.exchange.lorekeys import NEVER
from marginalia_tui.services.exchange.novelai import read_novelai

CONTEXT = {
    "prefix": "", "suffix": "\n", "tokenBudget": 2048, "reservedTokens": 0, "budgetPriority": 400,
    "trimDirection": "trimBottom", "insertionType": "newline", "maximumTrimType": "sentence", "insertionPosition": -1,
}  # fmt: skip


def entry(**fields: Any) -> dict[str, Any]:
    return {
        "text": "He rules.", "contextConfig": CONTEXT, "lastUpdatedAt": 1, "displayName": "King", "id": "e1",
        "keys": ["king"], "searchRange": 1000, "enabled": True, "forceActivation": False, "keyRelative": False,
        "nonStoryActivatable": False, "category": "", "loreBiasGroups": [], **fields,
    }  # fmt: skip


def one(**fields: Any) -> tuple[LoreEntry, tuple[Left, ...]]:
    found = read_novelai({"lorebookVersion": 5, "entries": [entry(**fields)]})
    return found.entries[0], found.left


def fits(found: LoreEntry, text: str) -> bool:
    if found.mode == "text":
        return fold_needle(found.filter) in fold(text)
    return LoreFinder()(found.filter, [text]) is not None


@pytest.mark.parametrize(
    ("keys", "there", "not_there"),
    [
        (["king"], ["The KING.", "king's"], ["kingdom", "viking"]),
        (["king", "queen"], ["a queen"], ["queens"]),
        (["C++"], ["in C++", "C+++"], ["C+"]),
        (["-ish"], ["blueish-ish"], ["blue"]),
        (["king & queen"], ["queen, then king"], ["king", "kings queen"]),
        (["king & queen", "crown"], ["crown", "queen king"], ["queen"]),
        (["/King/"], ["the King"], ["the king"]),
        (["/kin[gd]/i", "C++", "crown"], ["KIND", "c++", "crown"], ["crowns", "kit"]),
        (["\u56fd\u738b"], ["\u90a3\u4e2a\u56fd\u738b\u6765"], ["\u56fd"]),
    ],
)
def test_keys(keys: list[str], there: list[str], not_there: list[str]) -> None:
    found, left = one(keys=keys)
    assert left == ()
    assert [fits(found, text) for text in there] == [True] * len(there)
    assert [fits(found, text) for text in not_there] == [False] * len(not_there)


def test_fields() -> None:
    found, left = one()
    assert (found.name, found.text, found.order, found.look_back, left) == ("King", "He rules.", 100, 1, ())
    late, _ = one(contextConfig={**CONTEXT, "budgetPriority": -400})
    assert late.order > found.order, "the higher order is told first"
    always, _ = one(forceActivation=True, keys=[])
    assert (always.constant, always.filter) == (True, "")
    never, left = one(keys=[])
    assert (never.filter, left) == (NEVER, (Left("an entry without keys", 1),))
    far, _ = one(searchRange=10_000)
    assert far.look_back == 3


def test_what_has_no_place_is_named_and_kept() -> None:
    odd = {"keyRelative": True, "nonStoryActivatable": True, "loreBiasGroups": [{"bias": 1}], "unknown": {"x": 1}}
    found, left = one(**odd, contextConfig={**CONTEXT, "prefix": "[", "trimDirection": "doNotTrim"})
    named = {each.what for each in left}
    assert named == {*odd, "contextConfig.prefix", "contextConfig.trimDirection"}
    kept = found.attributes["novelai"]
    assert isinstance(kept, dict)
    assert {name: kept[name] for name in odd} == odd and kept["id"] == "e1"


def test_categories_stand_below() -> None:
    data = {
        "lorebookVersion": 5,
        "entries": [entry(category="c1"), entry(category="none"), entry(displayName="Free"), 7],
        "settings": {"orderByKeyLocations": True},
        "categories": [
            {"id": "c1", "name": "Court", "enabled": False, "createSubcontext": True},
            {"id": "c1", "name": "Twice"},
            5,
        ],
    }
    found = read_novelai(data, "Realm")
    assert (found.title, [each.name for each in found.entries]) == ("Realm", ["King", "Free"])
    (court,) = found.below
    assert (court.title, court.enabled, len(court.entries)) == ("Court", False, 1)
    assert set(found.left) == {
        Left("a category that is none", 2), Left("createSubcontext of a category", 1), Left("an entry that is none", 1),
        Left("category that is not there", 1), Left("settings.orderByKeyLocations", 1),
    }  # fmt: skip
    kept = found.attributes["novelai"]
    assert isinstance(kept, dict)
    assert kept["categories"] == [{"id": "c1", "name": "Twice"}, 5] and kept["entries"] == {"3": 7}


@pytest.mark.parametrize("keys", [None, 5, "a, b", [1, None, {}], {"x": 1}])
def test_wrong_types(keys: object) -> None:
    found, _ = one(keys=keys, text=None, displayName=3, enabled="no", contextConfig=7, searchRange="far")
    assert (found.name, found.text, found.enabled) == ("3", "", False)
    kept = found.attributes["novelai"]
    assert isinstance(kept, dict) and kept["keys"] == keys and kept["contextConfig"] == 7
