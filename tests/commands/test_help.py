import pytest

from marginalia_tui.domain.errors import NotFound
from marginalia_tui.resources import manual_pages
from tests.commands.world import DISPATCHER, World


def test_help_lists_every_command_and_topic(world: World) -> None:
    found = world.run("/help")
    assert [each["command"] for each in found["commands"]] == [f"/{name}" for name in DISPATCHER.registry.names]
    assert found["topics"] == list(manual_pages())


@pytest.mark.parametrize("name", ["edit-part", "/edit-part"])
def test_the_page_of_a_command_has_its_form_and_its_parameters(world: World, name: str) -> None:
    page = world.run(f"/help {name}")["page"]
    definition = DISPATCHER.registry.get("edit-part")
    assert definition.usage in page and definition.example in page
    for parameter in definition.parameters:
        assert f"- `{parameter.name}`: {parameter.description} (" in page


def test_the_manual_lists_its_pages_and_shows_one(world: World) -> None:
    topics = world.run("/manual")["topics"]
    assert [each["topic"] for each in topics] == list(manual_pages())
    assert all(each["about"] for each in topics)
    assert world.run("/manual Review")["page"].startswith("# Review")


def test_words_are_looked_up_in_the_pages_and_in_the_commands(world: World) -> None:
    hits = world.run("/manual passage")["hits"]
    assert {"/edit-part", "commands"} <= {each["topic"] for each in hits}
    assert all("passage" in each["line"].casefold() for each in hits)


def test_words_that_are_nowhere_lead_on(world: World) -> None:
    with pytest.raises(NotFound, match="Did you mean review"):
        world.run("/manual reviewx")
    with pytest.raises(NotFound, match="/manual lists"):
        world.run("/manual zzqq")
