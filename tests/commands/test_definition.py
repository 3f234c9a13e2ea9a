from collections.abc import Callable
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field

from marginalia_tui.commands.context import Context, Effect
from marginalia_tui.commands.declare import command, define
from marginalia_tui.commands.definition import Param, Severity, Work
from marginalia_tui.commands.results import Result
from marginalia_tui.domain.errors import Invalid

Word = Annotated[str, Param("a word")]


class Said(Result):
    said: str


def declared(**changes: Any) -> Callable[[Callable[..., object]], Callable[..., object]]:
    values: dict[str, Any] = {
        "name": "say",
        "title": "Say it",
        "severity": Severity.READ,
        "returns": "what was said",
        "example": "/say hello",
        "for_model": "Says a word.",
    }
    return command(**{**values, **changes})


def say(ctx: Context, word: Word) -> Said:
    """Says a word.

    More about it.
    """
    return Said(said=word)


def test_the_signature_gives_parameters_schema_and_texts() -> None:
    @declared()
    def speak(
        ctx: Context,
        word: Annotated[str, Param("a word", for_model="The word to say.")],
        how: Annotated[Literal["loud", "low"], Param("how loud")] = "low",
        max_times: Annotated[int, Field(ge=1, le=9), Param("how often")] = 1,
        whom: Annotated[str | None, Param("to whom", names="part")] = None,
        sing: Annotated[bool, Param("whether to sing")] = False,
    ) -> Said:
        """Says a word.

        More about it.
        """
        return Said(said=word)

    definition = define(speak)
    assert (definition.title, definition.description) == ("Say it", "Says a word.")
    assert definition.read_only and definition.for_agents and definition.work is Work.SHORT
    assert [(each.name, each.type, each.required, each.default) for each in definition.parameters] == [
        ("word", "text", True, None),
        ("how", "choice", False, "low"),
        ("maxTimes", "integer", False, 1),
        ("whom", "part", False, None),
        ("sing", "boolean", False, False),
    ]
    assert definition.parameters[1].allowed == ("loud", "low")
    assert definition.usage == "/say <word> [how] [maxTimes] [whom] [sing]"
    assert definition.schema == {
        "type": "object",
        "properties": {
            "word": {"type": "string", "description": "The word to say."},
            "how": {"type": "string", "enum": ["loud", "low"], "default": "low", "description": "How loud."},
            "maxTimes": {"type": "integer", "minimum": 1, "maximum": 9, "default": 1, "description": "How often."},
            "whom": {"type": "string", "description": "To whom."},
            "sing": {"type": "boolean", "default": False, "description": "Whether to sing."},
        },
        "required": ["word"],
        "additionalProperties": False,
    }


def test_json_of_a_command_has_every_field_of_the_contract() -> None:
    row = define(declared(severity=Severity.READ)(say)).to_json()
    assert row.keys() >= {
        "name",
        "human_name",
        "description",
        "forms",
        "returns",
        "severity",
        "destructive",
        "read_only",
        "batch",
        "async",
        "for_agents",
    }
    assert row["forms"] == [
        [{"name": "word", "type": "text", "required": True, "default": None, "allowed": [], "description": "a word"}]
    ]
    assert (row["severity"], row["read_only"]) == ("READ", True)


def test_without_a_text_for_models_no_agent_gets_it() -> None:
    assert not define(declared(for_model="")(say)).for_agents


def test_a_mark_outside_wins_over_the_one_of_the_type() -> None:
    named = Annotated[str, Param("a part", names="part")]

    @declared()
    def speak(ctx: Context, word: Annotated[named, Param("the part that speaks")]) -> Said:
        """Says it."""
        return Said(said=word)

    (parameter,) = define(speak).parameters
    assert (parameter.description, parameter.names) == ("the part that speaks", "part")


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"name": "say it"}, "is no name of a command"),
        ({"name": ""}, "is no name of a command"),
        ({"title": " "}, "lacks a title"),
        ({"returns": ""}, "lacks what it returns"),
        ({"example": ""}, "lacks an example"),
        ({"destructive": True}, "is destructive, so its severity"),
        ({"severity": Severity.CHANGE}, "returns an Effect"),
    ],
)
def test_incomplete_is_refused_with_a_sentence(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(Invalid, match=sentence):
        define(declared(**changes)(say))


def test_what_a_signature_must_not_be() -> None:
    def no_docstring(ctx: Context, word: Word) -> Said:
        return Said(said=word)

    def no_context(word: Word) -> Said:
        """Says it."""
        return Said(said=word)

    def no_mark(ctx: Context, word: str) -> Said:
        """Says it."""
        return Said(said=word)

    def needed_behind_optional(ctx: Context, word: Word = "", *, other: Word) -> Said:
        """Says it."""
        return Said(said=word)

    def two_of_one_name(ctx: Context, max_word: Word, maxWord: Word) -> Said:
        """Says it."""
        return Said(said=max_word)

    def any_number(ctx: Context, *word: Word) -> Said:
        """Says it."""
        return Said(said="".join(word))

    def no_result(ctx: Context, word: Word) -> str:
        """Says it."""
        return word

    def effect_of_a_reader(ctx: Context, word: Word) -> Effect[Said]:
        """Says it."""
        return Effect(lambda tx: Said(said=word))

    for function, sentence in (
        (no_docstring, "lacks a description"),
        (no_context, "must be ctx: Context"),
        (no_mark, "lacks a description: mark it"),
        (needed_behind_optional, "must be an ordinary one"),
        (two_of_one_name, "two parameters of one name"),
        (any_number, "takes anything, so no agent"),
        (no_result, "must say that it returns"),
        (effect_of_a_reader, "is READ, so it has no effect"),
        (lambda: None, "is no command"),
    ):
        marked = function if function.__name__ == "<lambda>" else declared()(function)
        with pytest.raises(Invalid, match=sentence):
            define(marked)


def test_severities_are_ordered() -> None:
    assert Severity.READ < Severity.ADD < Severity.CHANGE < Severity.REMOVE
    assert [each.word for each in Severity] == ["reads", "adds", "changes", "removes"]
