"""Whatever is typed or passed, the answer is one sentence that says what to change, and it is there at once."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marginalia_tui.agent.handles import Handles
from marginalia_tui.agent.tools import resolve_handles
from marginalia_tui.commands.arguments import resolve
from marginalia_tui.commands.context import AlwaysYes, Context, Scope
from marginalia_tui.commands.declare import command, define
from marginalia_tui.commands.definition import CommandDefinition, Param, Severity
from marginalia_tui.commands.dispatch import Dispatcher
from marginalia_tui.commands.line import CommandLine
from marginalia_tui.commands.registry import Registry
from marginalia_tui.commands.results import Result
from marginalia_tui.domain.errors import Invalid, MarginaliaError, NotFound
from marginalia_tui.domain.items import Part
from marginalia_tui.domain.sentences import quoted
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import Store
from tests.commands.world import DISPATCHER, World, other_book

AT_ONCE = 5.0
"""Seconds; on a machine that does other things too."""
ESCAPES = "\x1b[2J\x1b]0;title\x07\x9b31m\r\n\x00\x7f"
TURNS = "\u202e\u2066\u200f\u2069\ufeff\u2028"


class Done(Result):
    text: str = ""


@command("try", title="Try", severity=Severity.READ, returns="nothing", example="/try")
def attempt(
    ctx: Context,
    count: Annotated[int, Param("how many")] = 1,
    share: Annotated[float, Param("how much")] = 0.5,
    day: Annotated[date, Param("a day")] = date(2000, 1, 1),
    how: Annotated[Literal["loud", "low"], Param("how")] = "low",
    again: Annotated[bool, Param("whether again")] = False,
    words: Annotated[tuple[str, ...], Param("words")] = (),
) -> Done:
    """Tries."""
    return Done()


NOWHERE = Scope(cast(Store, None), 1, None, AlwaysYes())
REGISTRY = Registry()
REGISTRY.register(attempt)
TRY = REGISTRY.get("try")


def is_a_sentence(text: str) -> bool:
    """Short, on one line, without anything that a terminal obeys."""
    return 0 < len(text) < 400 and text.isprintable()


def sentence(work: Callable[[], object]) -> str:
    """What work is refused with, at once."""
    began = time.perf_counter()
    with pytest.raises(MarginaliaError) as error:
        work()
    assert time.perf_counter() - began < AT_ONCE
    assert is_a_sentence(error.value.message), error.value.message
    return error.value.message


def of_line(line: str) -> str:
    return sentence(lambda: Dispatcher(REGISTRY).run_line(line, NOWHERE))


# Lines


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("", "A command begins with /"),
        ("try", "A command begins with /"),
        (" /try", "A command begins with /"),
        ("/", "There is no command ''. /help lists the commands."),
        ("/ try", "There is no command ''"),
        ("//try", "Did you mean try?"),
        ("/tyr", "There is no command 'tyr'. Did you mean try?"),
        ("/TRY", "Did you mean try?"),
        ('/"tr y"', "There is no command 'tr y'. Did you mean try?"),
        ('/"try', ""),
        ("/" + "a" * 1_000_000, "There is no command 'aaa"),
        ("/" + ESCAPES, r"There is no command '\x1b[2J"),
        ("/" + TURNS * 20, r"There is no command '\u202e"),
        ("/\ud800", r"There is no command '\ud800'"),
        ("/try " + "x " * 10_000, "try takes 6 arguments, not 10,000"),
        ("/try " + "x" * 1_000_000, "the argument count is a whole number, not 'xxx"),
        ('/try "' + "x " * 500_000, "the argument count is a whole number, not 'x x"),
        ("/try " + "\\" * 1_000_000, "the argument count is a whole number, not '"),
        ("/try " + '"' * 1_000_001, ""),
        ("/try " + "\x1b" * 100_000, r"the argument count is a whole number, not '\x1b"),
        (f"/try {ESCAPES}", r"the argument count is a whole number, not '\x1b[2J\x1b]0;title\x07\x9b31m\r\n\x00\x7f'"),
        (f"/try {TURNS}", r"the argument count is a whole number, not '\u202e\u2066\u200f\u2069\ufeff\u2028'"),
        ('/try "1', ""),
        ('/try "one two', "the argument count is a whole number, not 'one two'"),
        ("/try 1\\", r"the argument count is a whole number, not '1\\'"),
        ("/try \\", r"the argument count is a whole number, not '\\'"),
        ("/try how=low", "not 'how=low'. Arguments of a line go by their place, without names."),
        ("/try --count=2", "not '--count=2'. Arguments of a line go by their place, without names."),
        ("/try 1.5", "the argument count is a whole number, not '1.5'"),
        ("/try 0x10", "the argument count is a whole number, not '0x10'"),
        ("/try " + "9" * 5_000, "the argument count is a whole number, not '999"),
        ("/try 1 nan", "the argument share is a number, not 'nan'"),
        ("/try 1 -Infinity", "the argument share is a number, not '-Infinity'"),
        ("/try 1 1e999", "the argument share is a number, not '1e999'"),
        ("/try 1 1" + "0" * 400, "the argument share is a number, not '1000"),
        ("/try 1 1,5", "the argument share is a number, not '1,5'"),
        ("/try 1 1 2026-02-30", "the argument day is a date such as 2026-03-14, not '2026-02-30'"),
        ("/try 1 1 2025-02-29", "the argument day is a date such as 2026-03-14, not '2025-02-29'"),
        ("/try 1 1 0000-01-01", "the argument day is a date such as 2026-03-14, not '0000-01-01'"),
        ("/try 1 1 14.3.2026", "the argument day is a date such as 2026-03-14, not '14.3.2026'"),
        ("/try 1 1 tomorrow", "the argument day is a date such as 2026-03-14, not 'tomorrow'"),
        ("/try 1 1 2026-03-14 LOUD", "the argument how is one of loud, low, not 'LOUD'. Did you mean loud?"),
        ("/try 1 1 2026-03-14 lowd", "the argument how is one of loud, low, not 'lowd'. Did you mean lo"),
        ("/try 1 1 2026-03-14 low perhaps", "the argument again is true or false, not 'perhaps'"),
        ('/try 1 1 2026-03-14 low no "not json"', "the argument words is a list, not 'not json'"),
        ('/try 1 1 2026-03-14 low no {"a":', "the argument words is a list, not '{a:'"),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_a_bad_line_is_a_sentence(line: str, says: str) -> None:
    if says:
        assert says in of_line(line)
    else:
        Dispatcher(REGISTRY).run_line(line, NOWHERE)


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("count", 10**5_000, None),
        ("count", math.nan, "count is a whole number, not 'nan'"),
        ("count", math.inf, "count is a whole number, not 'inf'"),
        ("count", 1e300, "count is a whole number, not '1e+300'"),
        ("count", None, None),
        ("count", True, "count is a whole number, not 'True'"),
        ("count", {"a": 10**5_000}, "count is a whole number, not a value that is too large to write out"),
        ("share", math.nan, "share is a number, not 'nan'"),
        ("share", 10**400, "share is a number, not a number of more than a hundred digits"),
        ("share", -math.inf, "share is a number, not '-inf'"),
        ("day", 20260314, "day is a date such as 2026-03-14, not '20260314'"),
        ("day", 0.0, "day is a date such as 2026-03-14, not '0.0'"),
        ("how", ["loud"], "how is one of loud, low, not"),
        ("again", 2, "again is true or false, not '2'"),
        ("again", "", "again is true or false, not ''"),
        ("words", "a", "words is a list, not 'a'"),
        ("words", [1, [2]], "words is a list, not '[1, [2]]'"),
        ("words", {"a": 1}, "words is a list, not"),
        (
            "wrods",
            [],
            "try has no argument 'wrods'. Did you mean words? It takes: count, share, day, how, again, words.",
        ),
        (ESCAPES, 1, r"try has no argument '\x1b[2J\x1b]0;title\x07\x9b31m\r\n\x00\x7f'. It takes: count,"),
        ("x" * 1_000_000, 1, "try has no argument 'xxx"),
    ],
    ids=lambda value: quoted(value)[:30],
)
def test_a_bad_value_by_name_is_a_sentence(name: str, value: object, says: str | None) -> None:
    if says is None:
        resolve(TRY, {name: value})
    else:
        assert says in sentence(lambda: resolve(TRY, {name: value}))


def test_too_many_arguments_are_counted() -> None:
    said = sentence(partial(DISPATCHER.run, "undo", ["x"], NOWHERE))
    assert said == "undo takes no arguments: leave out what stands behind it."
    said = sentence(partial(DISPATCHER.run, "branch-part", ["a", "b"], NOWHERE))
    assert said == "branch-part takes 1 argument, not 2 (a text with spaces goes in quotes): /branch-part <part>"


def test_ten_thousand_names_are_a_sentence() -> None:
    assert "try has no argument 'name-0'" in sentence(
        lambda: resolve(TRY, {f"name-{each}": 1 for each in range(10_000)})
    )


@given(st.text(max_size=200))
def test_any_line_is_answered_or_refused_with_a_sentence(text: str) -> None:
    for line in (text, f"/{text}", f"/try {text}", f'/try 1 "{text}'):
        try:
            Dispatcher(REGISTRY).run_line(line, NOWHERE)
        except MarginaliaError as error:
            assert is_a_sentence(error.message), error.message


# Every command that ships

TEXTS = [
    "",
    " ",
    "9" * 5_000,
    "1" + "0" * 400,
    "-1",
    "0",
    "nan",
    "2026-02-30",
    "TEXT",
    "not json {",
    "h:m999",
    "h:z1",
    "h:m" + "9" * 400,
    "00000000-0000-0000-0000-000000000000",
    "\\",
    '"',
    "(" * 900,
    "[",
    r"\1",
    ESCAPES,
    TURNS * 50,
    "\u0301" * 500,
    "\U000e0001" * 300,
    "\ud800",
    "x" * 2_500_000,
]
VALUES = [
    *TEXTS,
    math.nan,
    math.inf,
    10**400,
    10**5_000,
    -(10**400),
    1e300,
    True,
    None,
    [],
    [1, "a"],
    {},
    {"a": [10**5_000]},
    date(2026, 3, 14),
]
GOOD = {"part": "1", "branch": "1", "command": "help", "topic": "start", "text": "lamp", "choice": "text"}
GOOD |= {"integer": "1", "boolean": "false"}
GOOD |= {"lorebook": "1", "entry": "1", "annotation": "1", "folder": "1", "gone": "1", "backup": "1"}
GOOD |= {"file": "picture.png", "image": "map.png"}
ALL = list(DISPATCHER.registry)


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands that write files are given names, too."""
    monkeypatch.chdir(tmp_path)


@contextmanager
def at_once(what: str) -> Iterator[None]:
    began = time.perf_counter()
    yield
    assert time.perf_counter() - began < AT_ONCE, what


def answered(world: World, definition: CommandDefinition, given_: Any, scope: Scope) -> None:
    """A command answers, or refuses with a sentence; in no time either way."""
    with at_once(definition.name):
        try:
            DISPATCHER.run(definition, given_, scope)
        except MarginaliaError as error:
            assert is_a_sentence(error.message), error.message


@pytest.mark.parametrize("definition", ALL, ids=[each.name for each in ALL])
def test_every_command_answers_bad_arguments_with_a_sentence(world: World, definition: CommandDefinition) -> None:
    for form in definition.forms:
        needed = {each.name: GOOD[each.type] for each in form.parameters if each.required}
        for parameter in form.parameters:
            for value in VALUES:
                for scope in (world.author, world.agent):
                    answered(world, definition, {**needed, parameter.name: value}, scope)
    answered(world, definition, ["x"] * 10_000, world.author)
    answered(world, definition, {ESCAPES: TURNS}, world.author)


@pytest.mark.parametrize("definition", ALL, ids=[each.name for each in ALL])
def test_every_command_answers_bad_lines_with_a_sentence(world: World, definition: CommandDefinition) -> None:
    for text in TEXTS:
        for written in (text, CommandLine.escape(text)):
            places = len(definition.parameters) + 1
            for place in range(places):
                line = f"/{definition.name} " + "1 " * place + written
                with at_once(line[:60]):
                    try:
                        DISPATCHER.run_line(line, world.author)
                    except MarginaliaError as error:
                        assert is_a_sentence(error.message), error.message


# What names nothing of the book


def deleted_part(world: World) -> str:
    uuid = world.add(world.parts[1], "Gone", "It was here.")
    with world.store.write(Act(actor="author", label="delete", book=world.book)) as tx:
        tx.space(LIBRARY).delete(Part, [uuid])
    return uuid


@pytest.mark.parametrize("what", ["of another book", "deleted", "of a copy of this book"])
@pytest.mark.parametrize(
    "line",
    [
        "/get-part {}",
        "/list-swipes {}",
        "/edit-part {} lamp lantern",
        "/replace-part-text {} new",
        "/append-to-part {} more",
        "/delete-part {}",
        "/branch-part {}",
        "/switch-branch {}",
        "/insert-part {} text",
        "/create-part text {}",
        "/find-occurrences lamp text {}",
        "/search-replace-parts lamp lantern text 9 false {}",
        "/count-tokens {}",
        "/list-parts {}",
    ],
)
def test_an_item_outside_of_the_book_does_not_exist(world: World, line: str, what: str) -> None:
    if what == "deleted":
        uuid = deleted_part(world)
    elif what == "of another book":
        _, uuid = other_book(world)
    else:
        uuid = world.store.clock.new_uuid()
    texts, position = [world.text(place) for place in (1, 2, 3)], world.journal()
    for scope in (world.author, world.agent):
        said = sentence(partial(DISPATCHER.run_line, line.format(uuid), scope))
        assert said == "This part was deleted, or is of another book: list-parts shows the parts there are."
    assert ([world.text(place) for place in (1, 2, 3)], world.journal()) == (texts, position)


def test_the_beginning_of_a_uuid_of_another_book_names_nothing(world: World) -> None:
    _, uuid = other_book(world)
    assert "This book has no part" in sentence(lambda: DISPATCHER.run_line(f"/get-part {uuid[:30]}", world.author))


def test_a_handle_of_another_run_is_none_of_this(world: World) -> None:
    command_ = DISPATCHER.registry.get("get-part")
    with world.store.write(Act(actor="agent", label="show")) as tx:
        first = Handles(tx, "first")
        assert [first.name("m", uuid) for uuid in world.parts] == ["h:m1", "h:m2", "h:m3"]
        first.save(tx)
        second = Handles(tx, "second")
        assert second.name("m", world.parts[2]) == "h:m1"
    found = resolve_handles(command_, {"part": "h:m1"}, second)
    assert found == {"part": world.parts[2]}  # and not the first part, which another run calls so
    said = sentence(lambda: resolve_handles(command_, {"part": "h:m3"}, second))
    assert "There is no h:m3" in said
    for text in ("h:m3", "h:b1", "h:m" + "9" * 300, "h:m1" + TURNS):
        for scope in (world.author, world.agent):
            said = sentence(partial(DISPATCHER.run, "get-part", {"part": text}, scope))
            assert "No part of this book has the handle" in said


WITHOUT_A_BOOK = {
    "help", "manual", "undo", "redo", "list-tags", "list-backups", "restore-backup",
    "list-folders", "create-folder", "update-folder", "set-folder-prompt", "move-folder", "delete-folder",
    "list-trash", "restore-from-trash", "delete-for-good", "empty-trash",
    "search-library", "get-statistics", "get-goals", "set-day-goal", "list-all-lorebooks", "delete-unused-lorebook",
    "import-book",
    "agent-pause", "agent-stop", "agent-discard", "agent-resume", "agent-finish", "agent-send",
}  # fmt: skip
"""What can be said of the library alone, or of an agent by its name."""


def test_without_a_book_every_command_that_needs_one_says_so(world: World) -> None:
    scope = replace(world.author, book=None)
    for definition in ALL:
        if definition.name in WITHOUT_A_BOOK:
            continue
        needed = [GOOD[each.type] for each in definition.forms[0].parameters if each.required]
        if definition.name == "set-book-info":
            needed = ["A title"]
        if definition.name == "count-tokens":
            needed = ["1"]
        if definition.name == "set-book-prompts":
            needed = ["A template"]
        if definition.name == "set-part-fields":
            needed = ["1", "tell it"]
        with pytest.raises(Invalid, match="No book is open"):
            DISPATCHER.run(definition, needed, scope)


def test_a_book_that_is_gone_is_a_sentence(world: World) -> None:
    scope = replace(world.author, book="00000000-0000-0000-0000-000000000000")
    with pytest.raises(NotFound, match="This book is gone: open another one"):
        DISPATCHER.run_line("/list-parts", scope)


def test_the_least_that_a_command_may_say() -> None:
    """So that the test of sentences can fail."""
    assert is_a_sentence("No.")
    for bad in ("", "No.\n", "No \x1b[2J.", "No \u202e.", "x" * 400 + "."):
        assert not is_a_sentence(bad)
    assert define(attempt).parameters
