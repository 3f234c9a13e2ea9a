"""Which form is called: the rules of the cost, and the same by a slow reference over commands that chance makes."""

import inspect
import math
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from types import ModuleType
from typing import Annotated, Any, Literal, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marginalia_tui.commands.arguments import Arguments, resolve
from marginalia_tui.commands.context import AlwaysYes, Context, Scope
from marginalia_tui.commands.declare import command, define
from marginalia_tui.commands.definition import CommandDefinition, Param, Severity
from marginalia_tui.commands.dispatch import Dispatcher
from marginalia_tui.commands.line import CommandLine
from marginalia_tui.commands.registry import Registry
from marginalia_tui.commands.results import Result
from marginalia_tui.domain.errors import Invalid
from marginalia_tui.store.store import Store

NOWHERE = Scope(cast(Store, None), 1, None, AlwaysYes())
"""For commands that look at nothing."""

# A command as a list of forms, a form as a list of parameters, and the command that it makes.


class Tone(StrEnum):
    LOUD = "loud"
    LOW = "low"


TYPES: dict[str, Any] = {
    "text": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "choice": Literal["loud", "low"],
    "tone": Tone,
    "date": date,
    "any": Any,
}
DEFAULTS: dict[str, list[Any]] = {
    "text": ["", "empty"],
    "integer": [7],
    "number": [0.5],
    "boolean": [False],
    "choice": ["low"],
    "date": [date(2000, 1, 1)],
    "any": [None],
}
NEEDED = object()


@dataclass(frozen=True)
class P:
    """A parameter."""

    kind: str
    name: str = "one"
    default: Any = NEEDED

    @property
    def outside(self) -> str:
        first, *others = self.name.split("_")
        return first + "".join(each.capitalize() for each in others)


Shape = Sequence[P] | None
"""The parameters of a form; None for one that takes anything."""


class Called(Result):
    form: int
    values: str


def make(*shapes: Shape) -> CommandDefinition:
    """The command of these forms."""
    return define(*(_function(place, shape) for place, shape in enumerate(shapes)))


def _function(place: int, shape: Shape) -> Any:
    def made(ctx: Context, *rest: Any, **values: Any) -> Called:
        """Is called."""
        return Called(form=place, values=repr((rest, sorted(values.items()))))

    if shape is not None:
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        hints = {each.name: Annotated[TYPES[each.kind], Param("a value")] for each in shape}
        taken = [
            inspect.Parameter(
                each.name, kind, default=inspect.Parameter.empty if each.default is NEEDED else each.default
            )
            for each in shape
        ]
        made.__dict__["__signature__"] = inspect.Signature([inspect.Parameter("ctx", kind), *taken])
        made.__annotations__ = {"ctx": Context, **hints, "return": Called}
    else:
        made.__dict__["__signature__"] = inspect.Signature(
            [
                inspect.Parameter("ctx", inspect.Parameter.POSITIONAL_OR_KEYWORD),
                inspect.Parameter("rest", inspect.Parameter.VAR_POSITIONAL),
            ]
        )
        made.__annotations__ = {"ctx": Context, "rest": Annotated[Any, Param("anything")], "return": Called}
    declared = command("try", title="Try", severity=Severity.READ, returns="which form was called", example="/try")
    return declared(made)


# The rules, one by one.

DAY = date(2026, 3, 14)


@pytest.mark.parametrize(
    ("kinds", "value", "form", "cost"),
    [
        # The own type costs nothing, so it wins wherever it is listed.
        (["integer", "text"], "3", 1, 0),
        (["text", "integer"], 3, 1, 0),
        (["number", "integer"], 3, 1, 0),
        (["integer", "number"], 3.0, 1, 0),
        (["integer", "boolean"], True, 1, 0),
        (["text", "date"], DAY, 1, 0),
        (["any", "tone"], Tone.LOUD, 1, 0),
        # What takes anything costs 1: more than the own type, less than a conversion.
        (["any", "text"], "3", 1, 0),
        (["integer", "any"], "3", 1, 1),
        (["choice", "any"], "loud", 1, 1),
        (["integer", "any"], [3], 1, 1),
        # A conversion costs 2.
        (["integer"], "3", 0, 2),
        (["number"], 3, 0, 2),
        (["number"], "3", 0, 2),
        (["boolean"], "yes", 0, 2),
        (["boolean"], 1, 0, 2),
        (["choice"], "loud", 0, 2),
        (["date"], "2026-03-14", 0, 2),
        (["text"], 3, 0, 2),
        # Of two that cost the same the first is called.
        (["integer", "number"], "3", 0, 2),
        (["number", "integer"], "3", 0, 2),
        (["boolean", "integer"], "1", 0, 2),
        (["integer", "boolean"], "1", 0, 2),
        (["choice", "boolean"], "true", 1, 2),
        # A form that takes anything is the last resort.
        (["...", "integer"], "3", 1, 2),
        (["...", "any"], "3", 1, 1),
        (["integer", "..."], "three", 1, 1_000),
        (["...", "integer"], "three", 0, 1_000),
    ],
)
def test_the_form_that_costs_least_is_called(kinds: list[str], value: object, form: int, cost: int) -> None:
    definition = make(*(None if kind == "..." else [P(kind)] for kind in kinds))
    call = resolve(definition, [value])
    assert (definition.forms.index(call.form), call.cost) == (form, cost)


def test_the_costs_of_all_arguments_add_up() -> None:
    definition = make(
        [P("integer", "one"), P("any", "two"), P("any", "three")],
        [P("text", "one"), P("text", "two"), P("integer", "three")],
    )
    assert resolve(definition, ["1", "2", "3"]).form is definition.forms[1]  # 0 + 0 + 2 against 2 + 1 + 1
    assert resolve(definition, [1, "2", "3"]).form is definition.forms[0]  # 0 + 1 + 1 against 2 + 0 + 2


def test_what_is_left_out_costs_nothing() -> None:
    definition = make([P("any")], [P("text"), P("integer", "two", 7)])
    for given_ in (["a"], {"one": "a"}, {"one": "a", "two": None}, ["a", None]):
        call = resolve(definition, given_)
        assert (call.form, call.values) == (definition.forms[1], {"one": "a", "two": 7})


def test_a_form_that_takes_anything_is_the_last_resort_by_name_too() -> None:
    definition = make(None, [P("text", default="")])
    nothing: tuple[Arguments, Arguments] = ({}, [])
    for none in nothing:
        assert resolve(definition, none).form is definition.forms[1]
    lone = make(None)
    assert resolve(lone, {}).cost == resolve(lone, []).cost == resolve(lone, ["a", 2]).cost == 1_000
    with pytest.raises(Invalid, match=r"takes its arguments in order, without names: /try \[rest ...\]"):
        resolve(lone, {"one": 1})


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("integer", True),
        ("number", False),
        ("date", 0),
        ("date", 86_400),
        ("date", "86400"),
        ("date", "0"),
        ("date", datetime(2026, 3, 14)),
        ("date", "2026-03-14T00:00:00"),
        ("date", "20260314"),
        ("date", "2026-02-30"),
        ("date", "1900-02-29"),
        ("date", " 2026-03-14"),
        ("text", True),
        ("text", [1]),
        ("number", float("nan")),
        ("number", "nan"),
        ("number", "1e999"),
        ("number", 10**400),
        ("integer", "9" * 5_000),
        ("integer", 1.5),
        ("choice", "Loud"),
        ("choice", 1),
        ("boolean", "2"),
    ],
)
def test_what_no_conversion_takes_is_a_sentence_that_names_the_argument(kind: str, value: object) -> None:
    for given_ in ([value], {"one": value}):
        with pytest.raises(Invalid, match="^try: the argument one is ") as error:
            resolve(make([P(kind)]), given_)
        assert is_a_sentence(error.value.message)


def test_what_python_does_not_write_out_is_a_sentence() -> None:
    for long in (10**5_000, [10**5_000]):
        with pytest.raises(Invalid, match="^try: the argument two is a text, not a ") as error:
            resolve(make([P("text", "one"), P("text", "two")]), ["a", long])
        assert is_a_sentence(error.value.message)
    deep: list[Any] = []
    for _ in range(50_000):
        deep = [deep]
    for kind in ("text", "integer", "choice", "tone", "date"):
        with pytest.raises(Invalid, match="not a value that is too large to write out"):
            resolve(make([P(kind)]), [deep])
    assert resolve(make([P("any")]), [deep]).values["one"] is deep


def test_the_closest_form_is_the_one_that_is_spoken_of() -> None:
    definition = make(
        [P("integer", "count")], [P("text", "word"), P("integer", "count"), P("boolean", "loudly")], [P("date", "day")]
    )
    with pytest.raises(Invalid) as error:
        resolve(definition, ["a", "b", "true"])
    assert "the argument count is a whole number, not 'b'" in error.value.message
    assert error.value.message.endswith("The closest form is: /try <word> <count> <loudly>")
    with pytest.raises(Invalid, match="the argument day is a date such as 2026-03-14, not 'x'") as error:
        resolve(definition, {"day": "x"})
    assert error.value.message.endswith("The closest form is: /try <day>")
    with pytest.raises(Invalid, match=r"needs the argument loudly \(a value\): /try <word> <count> <loudly>"):
        resolve(definition, {"word": "a", "count": 2})


@pytest.mark.parametrize("name", ["schema", "json", "copy", "dict", "model_dump", "model_config", "self", "_own"])
def test_a_parameter_may_have_any_name(name: str) -> None:
    definition = make([P("text", name)])
    (parameter,) = definition.parameters
    assert resolve(definition, ["a"]).values == {name: "a"}
    assert resolve(definition, {parameter.name: "a"}).values == {name: "a"}


# A slow reference: what each value of a pool is for each kind, written out by hand.

NO = object()
READS: list[tuple[Any, dict[str, Any]]] = [
    ("3", {"integer": 3, "number": 3.0}),
    ("1", {"integer": 1, "number": 1.0, "boolean": True}),
    ("0", {"integer": 0, "number": 0.0, "boolean": False}),
    ("-12", {"integer": -12, "number": -12.0}),
    ("2.5", {"number": 2.5}),
    ("2.0", {"integer": 2, "number": 2.0}),
    ("true", {"boolean": True}),
    ("off", {"boolean": False}),
    ("loud", {"choice": "loud"}),
    ("low", {"choice": "low"}),
    ("Loud", {}),
    ("2026-03-14", {"date": DAY}),
    ("2026-02-30", {}),
    ("nan", {}),
    ("-inf", {}),
    ("", {}),
    ("two words", {}),
    ('a "quote\\', {}),
    (3, {"integer": 3, "number": 3.0, "text": "3"}),
    (1, {"integer": 1, "number": 1.0, "text": "1", "boolean": True}),
    (0, {"integer": 0, "number": 0.0, "text": "0", "boolean": False}),
    (2.5, {"number": 2.5, "text": "2.5"}),
    (2.0, {"integer": 2, "number": 2.0, "text": "2.0"}),
    (10**400, {"integer": 10**400, "text": "1" + "0" * 400}),
    (math.nan, {"text": "nan"}),
    (True, {"boolean": True}),
    (False, {"boolean": False}),
    (DAY, {"date": DAY}),
    ([1, "a"], {}),
    (None, {}),
]
"""A value, and what it is for each kind that takes it. A text is a text, and anything is "any"."""

OWN = {"text": str, "integer": int, "number": float, "boolean": bool, "date": date}


def reading(kind: str, value: object) -> tuple[object, int] | None:
    """What a value is for a kind, and what that costs; None when it does not fit."""
    if kind == "any":
        return value, 1
    if type(value) is OWN.get(kind) and not (isinstance(value, float) and math.isnan(value)):
        return value, 0
    reads = next(reads for known, reads in READS if known is value)
    return (reads[kind], 2) if kind in reads else None


def reference(shapes: Sequence[Shape], given_: Arguments, typed: bool) -> tuple[int, str] | None:
    """The place of the form that is called and what with; None when none fits."""
    best: tuple[int, int, str] | None = None
    for place, shape in enumerate(shapes):
        found = _fit(shape, given_, typed)
        if found is not None and (best is None or found[0] < best[0]):
            best = found[0], place, found[1]
    return None if best is None else best[1:]


def _fit(shape: Shape, given_: Arguments, typed: bool) -> tuple[int, str] | None:
    if shape is None:
        return None if isinstance(given_, Mapping) and given_ else (1_000, repr((tuple(given_), [])))
    if isinstance(given_, Mapping):
        if not given_.keys() <= {each.outside for each in shape}:
            return None
        named = dict(given_)
    else:
        if len(given_) > len(shape):
            return None
        named = {each.outside: value for each, value in zip(shape, given_, strict=False)}
    cost, values = 0, {}
    for each in shape:
        value = named.get(each.outside, NO)
        if each.default is not NEEDED and (value is None or (typed and value == "" and each.default != "")):
            value = NO
        if value is NO and each.default is NEEDED:
            return None
        if value is NO:
            values[each.name] = each.default
        elif (found := reading(each.kind, value)) is None:
            return None
        else:
            values[each.name] = found[0]
            cost += found[1]
    return cost, repr(((), sorted(values.items())))


KINDS = list(DEFAULTS)
NAMES = ["one", "two", "three_words", "four"]


@st.composite
def shapes_of(draw: st.DrawFn) -> list[Shape]:
    """The forms of a command: no two of the same kinds, optional parameters last."""
    found: dict[object, Shape] = {}
    for _ in range(draw(st.integers(1, 4))):
        if draw(st.integers(0, 5)) == 0:
            found.setdefault("...", None)
            continue
        names = draw(st.lists(st.sampled_from(NAMES), max_size=4, unique=True))
        needed = draw(st.integers(0, len(names)))
        shape = []
        for place, name in enumerate(names):
            kind = draw(st.sampled_from(KINDS))
            default = NEEDED if place < needed else draw(st.sampled_from(DEFAULTS[kind]))
            shape.append(P(kind, name, default))
        found.setdefault(tuple(each.kind for each in shape), shape)
    return list(found.values())


VALUES = st.sampled_from([value for value, _ in READS])
TEXTS = st.sampled_from([value for value, _ in READS if isinstance(value, str)])
OUTSIDE = st.sampled_from([*(P("any", name).outside for name in NAMES), "three_words"])


def is_a_sentence(text: str) -> bool:
    return 0 < len(text) < 400 and not any(unicodedata.category(char) in ("Cc", "Cf", "Cs") for char in text)


def check(shapes: Sequence[Shape], given_: Arguments, *, typed: bool = False) -> None:
    definition = make(*shapes)
    wanted = reference(shapes, given_, typed)
    for _ in range(2):
        try:
            call = resolve(definition, given_, typed=typed)
        except Invalid as error:
            assert wanted is None
            assert is_a_sentence(error.message)
        else:
            made = call.make(cast(Context, None))
            assert isinstance(made, Called)
            assert (made.form, made.values) == wanted


@given(shapes_of(), st.lists(VALUES, max_size=5))
def test_by_position_the_reference_calls_the_same(shapes: list[Shape], values: list[Any]) -> None:
    check(shapes, values)


@given(shapes_of(), st.dictionaries(OUTSIDE, VALUES, max_size=4), st.randoms(use_true_random=False))
def test_by_name_the_reference_calls_the_same_in_any_order(
    shapes: list[Shape], values: dict[str, Any], order: Any
) -> None:
    check(shapes, values)
    items = list(values.items())
    order.shuffle(items)
    check(shapes, dict(items))


@given(shapes_of(), st.data())
def test_what_fits_by_chance_is_called_as_the_reference_does(shapes: list[Shape], data: st.DataObject) -> None:
    """Values that one of the forms takes, so that most calls succeed, and more than one form fits."""
    shape = data.draw(st.sampled_from(shapes)) or []
    values = {
        each.outside: data.draw(st.sampled_from([value for value, _ in READS if reading(each.kind, value)]))
        for each in shape
        if each.default is NEEDED or data.draw(st.booleans())
    }
    check(shapes, values)
    check(shapes, list(values.values()))


@given(shapes_of(), st.lists(TEXTS, max_size=5))
def test_as_a_line_the_reference_calls_the_same(shapes: list[Shape], texts: list[str]) -> None:
    check(shapes, texts, typed=True)
    suite = ModuleType("generated")
    for place, shape in enumerate(shapes):
        function = _function(place, shape)
        function.__module__ = suite.__name__
        setattr(suite, f"form_{place}", function)
    registry = Registry()
    registry.register(suite)
    line = CommandLine.write("try", texts)
    wanted = reference(shapes, texts, typed=True)
    try:
        called = Dispatcher(registry).run_line(line, NOWHERE)
    except Invalid:
        assert wanted is None
    else:
        assert isinstance(called, Called)
        assert (called.form, called.values) == wanted


def test_the_reference_can_tell_right_from_wrong() -> None:
    """So that a reference that refuses everything, or takes the first, is noticed."""
    text, number = [P("text")], [P("integer")]
    assert reference([number, text], ["3"], False) == (1, "((), [('one', '3')])")
    assert reference([number, text], [3], False) == (0, "((), [('one', 3)])")
    assert reference([number], ["Loud"], False) is None
    assert reference([None, number], ["Loud"], False) == (0, "(('Loud',), [])")
