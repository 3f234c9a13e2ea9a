import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field

from marginalia_tui.commands.context import AlwaysYes, Context, Effect, NobodyToAsk, Scope
from marginalia_tui.commands.control import Control, Status
from marginalia_tui.commands.declare import command
from marginalia_tui.commands.definition import Param, Severity
from marginalia_tui.commands.dispatch import Dispatcher
from marginalia_tui.commands.registry import Registry
from marginalia_tui.commands.results import Result
from marginalia_tui.domain.errors import Cancelled, Declined, Invalid, NotFound, Refused, Stale
from marginalia_tui.domain.items import Part
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import WriteTx
from tests.commands.world import World


class Done(Result):
    text: str


Place = Annotated[int, Param("its place in the book")]
Text = Annotated[str, Param("a text")]


def declare(name: str, severity: Severity, destructive: bool = False) -> Callable[[Any], Any]:
    return command(
        name,
        title=name.capitalize(),
        severity=severity,
        returns="a text",
        example=f"/{name}",
        destructive=destructive,
    )


@declare("echo", Severity.READ)
def echo(
    ctx: Context,
    word: Text,
    how: Annotated[Literal["plain", "loud"], Param("how")] = "plain",
    times: Annotated[int, Field(ge=1, le=9), Param("how often")] = 1,
    again: Annotated[bool, Param("whether once more")] = False,
    part: Annotated[str | None, Param("a part", names="part")] = None,
) -> Done:
    """Echoes."""
    return Done(text=f"{word}|{how}|{times}|{again}|{part}")


def rewrite(ctx: Context, uuid: str, change: Callable[[str], str]) -> Effect[Done]:
    with ctx.reading() as space:
        part = space.get(Part, uuid)
        seen = space.hashes(Part, [uuid])

    def apply(tx: WriteTx) -> Done:
        tx.space(ctx.scope.space).put([replace(part, text=change(part.text))])
        return Done(text=change(part.text))

    return Effect(apply, reads={("part", uuid): seen[uuid]})


@declare("append", Severity.CHANGE)
def append(ctx: Context, part: Text, text: Text) -> Effect[Done]:
    """Appends."""
    return rewrite(ctx, part, lambda old: old + text)


@declare("wipe", Severity.REMOVE, destructive=True)
def wipe(ctx: Context, part: Text) -> Effect[Done]:
    """Wipes."""
    ctx.confirm("Wipe it?")
    return rewrite(ctx, part, lambda old: "")


@declare("wipe-unasked", Severity.REMOVE, destructive=True)
def wipe_unasked(ctx: Context, part: Text) -> Effect[Done]:
    """Wipes without a question."""
    return rewrite(ctx, part, lambda old: "")


@declare("sneak", Severity.READ)
def sneak(ctx: Context) -> Done:
    """Reads, it says."""
    with ctx.scope.store.write(Act(actor="author", label="sneak")):
        return Done(text="")


@declare("write-early", Severity.CHANGE)
def write_early(ctx: Context) -> Effect[Done]:
    """Writes before its effect."""
    with ctx.scope.store.write(Act(actor="author", label="early")):
        return Effect(lambda tx: Done(text=""))


@declare("ask-late", Severity.CHANGE)
def ask_late(ctx: Context) -> Effect[Done]:
    """Asks inside its effect."""

    def apply(tx: WriteTx) -> Done:
        ctx.confirm("Now?")
        return Done(text="")

    return Effect(apply)


@declare("append-two", Severity.CHANGE)
def append_two(ctx: Context, first: Text, second: Text) -> Effect[Done]:
    """Appends to two parts."""
    one = ctx.call("append", part=first, text=" one")
    two = ctx.call("append", part=second, text=" two")
    said = ctx.call("echo", word="hello").result

    def apply(tx: WriteTx) -> Done:
        return Done(text=f"{one.result.text}/{two.result.text}/{said.text}")

    return Effect(apply)


@declare("reader-calls-writer", Severity.READ)
def reader_calls_writer(ctx: Context, part: Text) -> Done:
    """Reads, and calls what changes."""
    ctx.call("append", part=part, text="!")
    return Done(text="")


@declare("result-too-early", Severity.CHANGE)
def result_too_early(ctx: Context, part: Text) -> Effect[Done]:
    """Asks for a result that is not there."""
    text = ctx.call("append", part=part, text="!").result
    return Effect(lambda tx: Done(text=text))


@declare("long", Severity.CHANGE)
def long_work(ctx: Context, part: Text) -> Effect[Done]:
    """Works step by step."""
    for step in range(1, 1_000_000):
        ctx.status("Working", f"step {step}")
        ctx.check()
    return rewrite(ctx, part, str.upper)


@pytest.fixture
def dispatcher() -> Dispatcher:
    registry = Registry()
    registry.register(
        echo,
        append,
        wipe,
        wipe_unasked,
        sneak,
        write_early,
        ask_late,
        append_two,
        reader_calls_writer,
        result_too_early,
        long_work,
    )
    return Dispatcher(registry)


def text_of(result: Result) -> str:
    assert isinstance(result, Done)
    return result.text


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"word": "a"}, "a|plain|1|False|None"),
        ({"word": "a", "again": True}, "a|plain|1|True|None"),
        ({"word": "a", "times": "3", "again": "yes", "part": None}, "a|plain|3|True|None"),
        ({"word": 7, "part": 3, "how": None}, "7|plain|1|False|3"),
        (["a"], "a|plain|1|False|None"),
        (["a", "loud", 2, False, "3"], "a|loud|2|False|3"),
        (["a", None, "2"], "a|plain|2|False|None"),
    ],
)
def test_by_name_and_by_place(
    dispatcher: Dispatcher, world: World, given: Mapping[str, Any] | Sequence[Any], text: str
) -> None:
    assert text_of(dispatcher.run("echo", given, world.author)) == text


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("/echo a", "a|plain|1|False|None"),
        ('/echo "a b" loud 2 true 3', "a b|loud|2|True|3"),
        ('/echo "" "" "" "" 4', "|plain|1|False|4"),
        ("/echo a plain 3 off", "a|plain|3|False|None"),
    ],
)
def test_a_line(dispatcher: Dispatcher, world: World, line: str, text: str) -> None:
    assert text_of(dispatcher.run_line(line, world.author)) == text


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({}, "echo needs the argument word"),
        ({"word": None}, "the argument word is a text"),
        ({"word": "a", "tims": 2}, "no argument 'tims'. Did you mean times"),
        ({"word": "a", "times": "many"}, "the argument times is a whole number from 1 to 9, not 'many'"),
        ({"word": "a", "times": 10**400}, "the argument times is a whole number from 1 to 9"),
        ({"word": "a", "times": 1.5}, "the argument times is a whole number from 1 to 9, not '1.5'"),
        ({"word": "a", "times": float("nan")}, "the argument times is a whole number from 1 to 9, not 'nan'"),
        ({"word": "a", "how": "Loud"}, "the argument how is one of plain, loud, not 'Loud'. Did you mean loud"),
        ({"word": "a", "again": "perhaps"}, "the argument again is true or false, not 'perhaps'"),
        ({"word": ["a"]}, "the argument word is a text, not"),
        ({"word": "\ud800"}, "the argument word holds half a character"),
        ({"word": "a", "times": 10**5000}, "not a number of more than a hundred digits"),
        (["a", "plain", 1, False, None, "more"], "echo takes 5 arguments, not 6"),
    ],
)
def test_a_wrong_argument_is_named_with_what_fits(
    dispatcher: Dispatcher, world: World, given: Mapping[str, Any] | Sequence[Any], sentence: str
) -> None:
    with pytest.raises(Invalid) as error:
        dispatcher.run("echo", given, world.author)
    assert sentence in error.value.message


def test_bad_lines_are_sentences(dispatcher: Dispatcher, world: World) -> None:
    for line, kind in (
        ("echo a", Invalid),
        ("", Invalid),
        ("/", NotFound),
        ("/nothing", NotFound),
        ("/echo " + "x " * 10_000, Invalid),
    ):
        with pytest.raises(kind) as error:
            dispatcher.run_line(line, world.author)
        assert 0 < len(error.value.message) < 400


def test_the_halves_can_be_run_apart(dispatcher: Dispatcher, world: World) -> None:
    prepared = dispatcher.prepare("append", {"part": world.parts[0], "text": "!"}, world.agent)
    assert prepared.needs_effect
    before = world.text(1)
    with world.store.write(Act(actor="agent", label="call", book=world.book)) as tx:
        result = prepared.effect(tx)
    assert world.text(1) == before + "!" == text_of(result)


def test_an_effect_goes_with_the_transaction_of_the_caller(dispatcher: Dispatcher, world: World) -> None:
    prepared = dispatcher.prepare("append", {"part": world.parts[0], "text": "!"}, world.agent)
    before = world.text(1)
    with pytest.raises(ZeroDivisionError), world.store.write(Act(actor="agent", label="call", book=world.book)) as tx:
        prepared.effect(tx)
        raise ZeroDivisionError
    assert world.text(1) == before


def test_f24_what_changed_between_the_halves_is_stale(dispatcher: Dispatcher, world: World) -> None:
    prepared = dispatcher.prepare("append", {"part": world.parts[0], "text": "!"}, world.author)
    world.put(replace(world.part(1), text="newer"))
    with pytest.raises(Stale, match="changed"):
        dispatcher.finish(prepared)
    assert world.text(1) == "newer"


def test_the_change_is_labelled_and_signed(dispatcher: Dispatcher, world: World) -> None:
    from sqlalchemy import text

    dispatcher.run("append", {"part": world.parts[0], "text": "!"}, world.author)
    with world.store.read() as tx:
        row = tx.connection.execute(text("SELECT actor, label, book FROM change ORDER BY id DESC LIMIT 1")).one()
    assert tuple(row) == ("author", "Append", world.book)


def test_a_reader_that_writes_fails(dispatcher: Dispatcher, world: World) -> None:
    position = world.journal()
    for name in ("sneak", "write-early"):
        with pytest.raises(RuntimeError, match="may only read"):
            dispatcher.run(name, [], world.author)
    assert world.journal() == position


def test_nothing_is_asked_inside_a_transaction(dispatcher: Dispatcher, world: World) -> None:
    with pytest.raises(RuntimeError, match="inside a write transaction"):
        dispatcher.run("ask-late", [], world.author)
    with (
        pytest.raises(RuntimeError, match="inside a write transaction"),
        world.store.write(Act(actor="author", label="x")),
    ):
        dispatcher.prepare("echo", ["a"], world.author)


def test_a_destructive_command_asks(dispatcher: Dispatcher, world: World) -> None:
    world.answers.answer = False
    with pytest.raises(Declined, match="nothing was changed"):
        dispatcher.run("wipe", [world.parts[0]], world.author)
    assert world.text(1)
    assert world.answers.questions == ["Wipe it?"]
    world.answers.answer = True
    dispatcher.run("wipe", [world.parts[0]], world.author)
    assert world.text(1) == ""


def test_a_destructive_command_that_does_not_ask_is_an_error_of_ours(dispatcher: Dispatcher, world: World) -> None:
    with pytest.raises(RuntimeError, match="did not ask"):
        dispatcher.run("wipe-unasked", [world.parts[0]], world.author)


def test_f22_nobody_to_ask_is_refused_at_once(dispatcher: Dispatcher, world: World) -> None:
    scope = Scope(world.store, LIBRARY, world.book, NobodyToAsk())
    with pytest.raises(Refused, match="--yes"):
        dispatcher.run("wipe", [world.parts[0]], scope)
    dispatcher.run("wipe", [world.parts[0]], replace(scope, answers=AlwaysYes()))
    assert world.text(1) == ""


def test_nested_commands_join_one_transaction(dispatcher: Dispatcher, world: World) -> None:
    one, two = world.text(1), world.text(2)
    result = dispatcher.run("append-two", world.parts[:2], world.author)
    assert text_of(result) == f"{one} one/{two} two/hello|plain|1|False|None"
    from sqlalchemy import text

    with world.store.read() as tx:
        changes = tx.connection.execute(
            text(
                "SELECT count(DISTINCT change_id), count(*) FROM journal WHERE change_id = (SELECT max(id) FROM change)"
            )
        ).one()
    assert tuple(changes) == (1, 2)


def test_nested_commands_on_one_part_do_not_overwrite_each_other(dispatcher: Dispatcher, world: World) -> None:
    before = world.text(1)
    with pytest.raises(Stale):
        dispatcher.run("append-two", [world.parts[0], world.parts[0]], world.author)
    assert world.text(1) == before


def test_a_command_calls_none_that_does_more_than_it_says(dispatcher: Dispatcher, world: World) -> None:
    with pytest.raises(RuntimeError, match="is READ and calls append"):
        dispatcher.run("reader-calls-writer", [world.parts[0]], world.author)


def test_the_result_of_an_effect_is_not_there_early(dispatcher: Dispatcher, world: World) -> None:
    with pytest.raises(RuntimeError, match="has not run yet"):
        dispatcher.run("result-too-early", [world.parts[0]], world.author)
    prepared = dispatcher.prepare("append", {"part": world.parts[0], "text": "!"}, world.author)
    with pytest.raises(RuntimeError, match="comes from its effect"):
        _ = prepared.result


def test_a_command_that_is_stopped_changes_nothing(dispatcher: Dispatcher, world: World) -> None:
    control = Control(lambda status: status.detail == "step 40" and control.stop())
    position = world.journal()
    with pytest.raises(Cancelled, match="nothing was changed"):
        dispatcher.run("long", [world.parts[0]], world.author, control)
    assert control.status == Status("Working", "step 40")
    assert world.journal() == position
    with pytest.raises(Cancelled):
        dispatcher.run("echo", ["a"], world.author, control)


def test_many_threads_use_one_dispatcher(dispatcher: Dispatcher, world: World) -> None:
    answers: list[tuple[int, str]] = []

    def work(number: int) -> None:
        for _ in range(50):
            answers.append((number, text_of(dispatcher.run("echo", [str(number)], world.author))))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 16 * 50
    assert all(text.startswith(f"{number}|") for number, text in answers)


def test_no_book_is_a_sentence(world: World) -> None:
    with pytest.raises(Invalid, match="No book is open"):
        _ = Scope(world.store, LIBRARY, None, AlwaysYes()).open_book
