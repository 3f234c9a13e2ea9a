"""Extensions: what one brings is there, one that fails is named and left out, and the studio starts all the same."""

import importlib
import shutil
import sys
from collections.abc import Iterator
from contextlib import closing
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from marginalia_tui.agent.agents import define_agent
from marginalia_tui.agent.merge.apply import apply_merge
from marginalia_tui.agent.merge.model import Picks
from marginalia_tui.agent.merge.plan import plan_merge
from marginalia_tui.agent.tools import build_tools
from marginalia_tui.commands.builtin import builtin_registry
from marginalia_tui.commands.context import AlwaysYes
from marginalia_tui.domain.errors import Invalid
from marginalia_tui.extensions import GROUP, Extensions, load_extensions
from marginalia_tui.store.journal import Act
from marginalia_tui.store.store import Store
from marginalia_tui.studio import Studio
from tests.agent.merge.desk import Desk
from tests.conftest import NewHome
from tests.screens.rig import Rig, play
from tests.support.extension import lantern

MODULE = "tests.support.extension.lantern"


def points(*names: str) -> list[EntryPoint]:
    return [EntryPoint(name, f"{MODULE}:{name}", GROUP) for name in names]


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The example as a package that is installed beside the studio; its name."""
    site = tmp_path / "site"
    site.mkdir()
    shutil.copy(lantern.__file__, site / "lantern_of_a_test.py")
    info = site / "lantern_of_a_test-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: lantern-of-a-test\nVersion: 1.0\n")
    lines = [f"[{GROUP}]", "lantern = lantern_of_a_test:load", "dark = lantern_of_a_test:broken"]
    (info / "entry_points.txt").write_text("\n".join(lines))
    monkeypatch.syspath_prepend(site)
    importlib.invalidate_caches()
    yield "lantern"
    sys.modules.pop("lantern_of_a_test", None)


def test_a_package_that_is_installed_brings_everything(installed: str, tmp_path: Path) -> None:
    with closing(Studio(tmp_path / "home", pace=0)) as studio:
        assert studio.extensions.loaded == (installed,)
        assert [name for name, _ in studio.extensions.failed] == ["dark"]
        result = studio.dispatcher.run_line("/light-lantern brass", studio.scope(None, AlwaysYes()))
        assert result.model_dump() == {"lit": "brass"}
        assert [screen.title for screen in studio.extensions.screens] == ["Lantern"]


def test_one_that_fails_is_named_in_a_line_and_nothing_of_it_is_there() -> None:
    registry = builtin_registry()
    before = registry.names
    found = load_extensions(registry, [*points("broken", "taken"), EntryPoint("gone", "no_such_module:load", GROUP)])
    assert registry.names == before
    assert (found.loaded, found.tools, found.merges, found.screens) == ((), (), {}, ())
    failed = dict(found.failed)
    assert set(failed) == {"broken", "taken", "gone"}
    assert "no oil" in failed["broken"] and "\x1b" not in failed["broken"]
    assert "There is a command help already" in failed["taken"]
    assert "no_such_module" in failed["gone"]


def test_two_do_not_share_a_tool_or_a_key() -> None:
    registry = builtin_registry()
    found = load_extensions(registry, [*points("load"), EntryPoint("second", f"{MODULE}:load", GROUP)])
    assert found.loaded == ("load",)
    assert "There is a tool 'weather' already" in dict(found.failed)["second"]


def _agent(**fields: Any) -> Any:
    return define_agent(uuid="a", book="b", name="A", model="m", **fields)


def test_an_agent_has_the_tool_and_the_command() -> None:
    registry = builtin_registry()
    found = load_extensions(registry, points("load"))
    tools = build_tools(registry, _agent(commands="all"), found.tools)
    names = [tool.name for tool in tools.tools]
    assert {"weather", "light-lantern", "finish"} <= set(names)
    assert "weather" in tools.readers and len(names) == len(set(names))
    bad = found.tools[0].__class__(lantern.WEATHER.__class__("get-part", "x", {}), lantern.weather)
    with pytest.raises(Invalid, match="Two tools would be called 'get-part'"):
        build_tools(registry, _agent(commands="all"), [bad])


def test_data_are_merged_as_an_extension_says(store: Store) -> None:
    merges = load_extensions(builtin_registry(), points("load")).merges
    desk = Desk(store, {"a": None})
    desk.author.set_data("a", "lumen", 5)
    desk.agent.set_data("a", "lumen", 9)
    with store.read() as tx:
        assert plan_merge(tx, desk.space).conflicts
        plan = plan_merge(tx, desk.space, merges)
        assert not plan.conflicts
    with store.write(Act(actor="apply", label="apply", book=desk.book)) as tx:
        applied = apply_merge(tx, desk.space, Picks.of_plan(plan), merges)
    assert applied.applied and desk.author.part("a").attributes == {"lumen": 9}


def test_a_rule_that_fails_leaves_the_conflict_to_the_author(store: Store) -> None:
    def fails(base: Any, agent: Any, book: Any) -> tuple[Any, bool]:
        raise ZeroDivisionError

    desk = Desk(store, {"a": None})
    desk.author.set_data("a", "lumen", 5)
    desk.agent.set_data("a", "lumen", 9)
    with store.read() as tx:
        assert plan_merge(tx, desk.space, {"lumen": fails}).conflicts


def test_its_screen_is_opened_and_its_fault_is_told(installed: str, new_home: NewHome, tmp_path: Path) -> None:
    async def steps(rig: Rig) -> None:
        assert any("The extension dark was left out" in notice for notice in rig.notices)
        titles = [each.title for each in rig.app.get_system_commands(rig.app.screen)]
        assert "Open Lantern" in titles
        for each in rig.app.get_system_commands(rig.app.screen):
            if each.title == "Open Lantern":
                each.callback()
        await rig.until(lambda: rig.sees("A lantern burns."))

    play(new_home(tmp_path / "home"), steps)


def test_without_any_there_is_nothing() -> None:
    registry = builtin_registry()
    assert load_extensions(registry, []) == Extensions()
