"""The forms of a command: what is refused when they are registered, and how they are told apart."""

import json
from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum
from types import ModuleType
from typing import Annotated, Any, Literal, cast

import pytest

from marginalia_tui.commands.arguments import form_so_far, misfit, resolve
from marginalia_tui.commands.context import AlwaysYes, Context, Effect, Scope
from marginalia_tui.commands.declare import command, define, form, name_of
from marginalia_tui.commands.definition import Param, Severity, Work
from marginalia_tui.commands.dispatch import Dispatcher
from marginalia_tui.commands.registry import Registry
from marginalia_tui.commands.results import Result
from marginalia_tui.domain.errors import Invalid
from marginalia_tui.store.store import Store

NOWHERE = Scope(cast(Store, None), 1, None, AlwaysYes())

Word = Annotated[str, Param("a word")]
Count = Annotated[int, Param("how many")]


class Said(Result):
    said: str = ""


def say(**changes: Any) -> Callable[[Any], Any]:
    values: dict[str, Any] = {
        "name": "say",
        "title": "Say it",
        "severity": Severity.READ,
        "returns": "what was said",
        "example": "/say hello",
    }
    return command(**{**values, **changes})


@say(for_model="Says a word.")
def say_word(ctx: Context, word: Word, loudly: Annotated[bool, Param("whether loudly")] = False) -> Said:
    """Says a word."""
    return Said(said=f"word {word} {loudly}")


@form(say_word)
def say_often(ctx: Context, count: Count, word: Word = "hm") -> Said:
    """Says a word often."""
    return Said(said=f"often {count} {word}")


@form(say_word)
def say_anything(ctx: Context, *things: Annotated[Any, Param("anything")]) -> Said:
    """Says whatever it is."""
    return Said(said=f"anything {list(things)}")


def suite(name: str, *functions: Any) -> ModuleType:
    module = ModuleType(name)
    for place, function in enumerate(functions):
        function.__module__ = name
        setattr(module, f"function_{place}", function)
    return module


# What they are together


def test_the_forms_of_a_suite_are_one_command_in_the_order_in_which_they_stand_there() -> None:
    registry = Registry()
    (definition,) = registry.register(suite("sayings", say_word, say_often, say_anything))
    assert [each.signature for each in definition.forms] == [("text", "boolean"), ("integer", "text"), ("...",)]
    assert [each.description for each in definition.forms] == [
        "Says a word.",
        "Says a word often.",
        "Says whatever it is.",
    ]
    assert definition.description == "Says a word."
    assert definition.usage == "/say <word> [loudly]\n/say <count> [word]\n/say [things ...]"
    assert [each.name for each in definition.parameters] == ["word", "loudly", "count", "things"]
    rows = json.loads(json.dumps(definition.to_json()))["forms"]
    assert [[each["name"] for each in row] for row in rows] == [["word", "loudly"], ["count", "word"], ["things"]]
    assert name_of(say_often) == "say"


def test_a_model_is_told_of_the_forms_that_name_their_arguments() -> None:
    schema = define(say_word, say_often, say_anything).schema
    assert list(schema["properties"]) == ["word", "loudly", "count"]
    assert schema["required"] == []  # no argument is needed by both
    assert define(say_word).schema["required"] == ["word"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["a"], "word a False"),
        ([3], "often 3 hm"),
        (["3"], "word 3 False"),
        (["a", True], "word a True"),
        ([3, "a"], "often 3 a"),
        (["3", "a"], "often 3 a"),
        ({"word": "a", "count": 2}, "often 2 a"),
        ({"loudly": True, "word": "a"}, "word a True"),
        ({"word": "a"}, "word a False"),
        ([], "anything []"),
        (["a", "b", "c"], "anything ['a', 'b', 'c']"),
        ([["a", 1], None], "anything [['a', 1], None]"),
    ],
)
def test_each_call_reaches_its_form(given: Mapping[str, Any] | Sequence[Any], said: str) -> None:
    registry = Registry()
    registry.register(suite("sayings", say_word, say_often, say_anything))
    result = Dispatcher(registry).run("say", given, NOWHERE)
    assert isinstance(result, Said) and result.said == said


def test_half_a_character_is_refused_in_any_form() -> None:
    with pytest.raises(Invalid, match="^say: an argument holds half a character"):
        resolve(define(say_word, say_anything), ["a", "b", "\udc00"])


# What is refused


def refused(*functions: Any) -> str:
    """The sentence with which a suite of these is refused; nothing of it is registered."""
    registry = Registry()
    other = command("other", title="O", severity=Severity.READ, returns="x", example="/other")(_nothing())
    with pytest.raises(Invalid) as error:
        registry.register(suite("others", other), suite("sayings", *functions))
    assert len(registry) == 0
    assert 0 < len(error.value.message) < 200
    return error.value.message


def _nothing() -> Any:
    def nothing(ctx: Context) -> Said:
        """Does nothing."""
        return Said()

    return nothing


@pytest.mark.parametrize("name", ["", " ", "say it", "say/it", "säy", "say\n", "say\u202e", "sag's", "/say", "a,b"])
def test_a_bad_name(name: str) -> None:
    assert "is no name of a command: use letters, digits and _ - . only" in refused(say(name=name)(_nothing()))


@pytest.mark.parametrize("name", ["a", "A-1_b.c", "9", "-", "..."])
def test_a_good_name(name: str) -> None:
    assert define(say(name=name, example=f"/{name}")(_nothing())).name == name


def test_two_forms_of_one_signature() -> None:
    @form(say_word)
    def other(ctx: Context, text: Word, shouting: Annotated[bool, Param("whether")]) -> Said:
        """Says it."""
        return Said()

    assert refused(say_word, say_often, other) == (
        "The command say has two forms that take the same: /say <word> [loudly] and /say <text> <shouting>."
    )


def test_two_forms_that_take_anything() -> None:
    @form(say_word)
    def other(ctx: Context, *words: Word) -> Said:
        """Says it."""
        return Said()

    assert "two forms that take the same: /say [things ...] and /say [words ...]" in refused(
        say_word, say_anything, other
    )


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"title": "Sing it"}, "title"),
        ({"severity": Severity.CHANGE}, "severity"),
        ({"work": Work.LONG}, "work"),
        ({"for_model": ""}, "for model"),
        ({"severity": Severity.REMOVE, "destructive": True}, "severity"),
    ],
)
def test_forms_that_differ(changes: dict[str, Any], what: str) -> None:
    changes = {"for_model": "Says a word.", **changes}

    def other(ctx: Context, count: Count) -> Said:
        """Says it."""
        return Said()

    assert refused(say_word, say(**changes)(other)) == f"The forms of the command say differ in their {what}."


def test_forms_that_differ_in_what_they_ask() -> None:
    def one(ctx: Context, word: Word) -> Effect[Said]:
        """Says it."""
        raise NotImplementedError

    def two(ctx: Context, count: Count) -> Effect[Said]:
        """Says it."""
        raise NotImplementedError

    functions = [say(severity=Severity.CHANGE, destructive=asks)(each) for asks, each in ((False, one), (True, two))]
    assert refused(*functions) == "The forms of the command say differ in their destructive."


def test_a_form_that_is_incomplete_though_the_first_is_not() -> None:
    @form(say_word)
    def undescribed(ctx: Context, count: Count) -> Said:
        return Said()

    @form(say_word)
    def unmarked(ctx: Context, count: int) -> Said:
        """Says it."""
        return Said()

    @form(say_word)
    def writing(ctx: Context, count: Count) -> Effect[Said]:
        """Says it."""
        raise NotImplementedError

    assert "A form of the command say lacks a description" in refused(say_word, undescribed)
    assert "The parameter count of the command say lacks a description: mark it with Param" in refused(
        say_word, unmarked
    )
    assert "is READ, so it has no effect" in refused(say_word, writing)


def test_parameters_that_are_refused() -> None:
    @say()
    def twice(ctx: Context, max_hits: Word, maxHits: Word) -> Said:
        """Says it."""
        return Said()

    @say()
    def by_case(ctx: Context, word: Word, Word_: Word = "", wOrd: Word = "") -> Said:
        """Says it."""
        return Said()

    def untyped(ctx: Context, word: Word) -> Said:
        """Says it."""
        return Said()

    del untyped.__annotations__["word"]

    @say()
    def late(ctx: Context, word: Word = "", *, count: Count) -> Said:
        """Says it."""
        return Said()

    @say()
    def named(ctx: Context, **words: Word) -> Said:
        """Says it."""
        return Said()

    @say()
    def some(ctx: Context, word: Word, *words: Word) -> Said:
        """Says it."""
        return Said()

    class Size(IntEnum):
        SMALL = 1

    @say()
    def numbered(ctx: Context, size: Annotated[Literal[1, 2], Param("a size")]) -> Said:
        """Says it."""
        return Said()

    @say()
    def sized(ctx: Context, size: Annotated[Size, Param("a size")]) -> Said:
        """Says it."""
        return Said()

    assert refused(twice) == "The command say has two parameters of one name."
    assert refused(by_case) == "The command say has two parameters of one name."
    assert refused(say()(untyped)) == "The parameter word of the command say lacks a type."
    assert refused(late) == "The parameter count of the command say must be an ordinary one."
    assert refused(named) == "The parameter words of the command say must be an ordinary one."
    assert refused(some) == "The parameter words of the command say must be an ordinary one."
    assert refused(numbered) == "The parameter size of the command say has choices that are no texts."
    assert refused(sized) == "The parameter size of the command say has choices that are no texts."


def test_a_needed_parameter_behind_an_optional_one() -> None:
    def made(ctx: Context, word: Word = "", count: Count = 1) -> Said:
        """Says it."""
        return Said()

    made.__defaults__ = ("", ...)  # which pydantic reads as: needed
    assert refused(say()(made)) == "The command say: count is needed, so it stands before the optional ones."


def test_what_is_no_command_has_no_form() -> None:
    with pytest.raises(Invalid, match="is no command: put @command above it"):
        form(_nothing())
    with pytest.raises(Invalid, match="'nothing' is no command"):
        Registry().register(_nothing())


def test_an_example_that_no_form_takes() -> None:
    long = "/say a b c"
    assert "The example of the command say does not call it: /say a b c" in refused(
        say(example=long)(lambda_of(Word)), form_of_two()
    )


def lambda_of(hint: Any) -> Any:
    def made(ctx: Context, word: Word) -> Said:
        """Says it."""
        return Said()

    made.__annotations__["word"] = hint
    return made


def form_of_two() -> Any:
    def made(ctx: Context, count: Count, word: Word) -> Said:
        """Says it."""
        return Said()

    return say(example="/say a b c")(made)


# A single choice, and what is named by a number


def test_a_choice_of_one_is_a_choice() -> None:
    (parameter,) = define(say()(lambda_of(Annotated[Literal["hello"], Param("a greeting")]))).parameters
    assert (parameter.type, parameter.allowed, parameter.fits) == ("choice", ("hello",), "one of hello")


def test_what_a_number_names_is_a_number() -> None:
    definition = define(say()(lambda_of(Annotated[int, Param("a page", names="page")])))
    (parameter,) = definition.parameters
    assert (parameter.type, parameter.takes, parameter.fits) == ("page", "integer", "a whole number")
    assert resolve(definition, [3]).cost == 0
    with pytest.raises(Invalid, match="the argument word is a whole number, not 'x'"):
        resolve(definition, ["x"])


# While a line is typed


@pytest.mark.parametrize(
    ("finished", "places", "place"),
    [
        ([], 1, 0),
        (["3"], 1, 0),
        (["3"], 2, 0),
        (["3", "often"], 2, 1),
        (["word", "yes"], 2, 0),
        (["word", "no word"], 2, 2),
        (["a", "b"], 3, 2),
        (["3", ""], 2, 0),
    ],
)
def test_the_form_that_a_line_seems_to_mean(finished: list[str], places: int, place: int) -> None:
    definition = define(say_word, say_often, say_anything)
    assert form_so_far(definition, finished, places) is definition.forms[place]


def test_what_can_not_be_a_value_is_told_while_it_is_typed() -> None:
    definition = define(say_word, say_often, say_anything)
    word, often, anything = definition.forms
    assert misfit("say", often, often.parameters[0], "3") == ""
    assert misfit("say", often, often.parameters[0], "x") == "say: the argument count is a whole number, not 'x'."
    assert misfit("say", word, word.parameters[1], "perhaps").startswith("say: the argument loudly is true or false")
    assert anything.rest is not None and misfit("say", anything, anything.rest, "\x00") == ""
    assert [anything.parameter_at(place) for place in (0, 9_999)] == [anything.rest] * 2
    assert [word.parameter_at(place) for place in (0, 1, 2)] == [*word.parameters, None]
