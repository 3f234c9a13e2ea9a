"""Commands for the book as a whole: its facts, and the way back through its history."""

import re
from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field

from marginalia_tui.commands.context import Context, Effect
from marginalia_tui.commands.declare import command
from marginalia_tui.commands.definition import Param, Severity
from marginalia_tui.commands.results import BookHandle, Told
from marginalia_tui.domain.errors import Invalid, Stale
from marginalia_tui.domain.items import Book
from marginalia_tui.domain.sentences import counted, listed, quoted
from marginalia_tui.services import undo as history
from marginalia_tui.services.books import check_title
from marginalia_tui.store.store import WriteTx

_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*")

Line = Annotated[str | None, Field(max_length=300)]
Lines = Annotated[str | None, Field(max_length=20_000)]


class BookChanged(Told):
    """What was set in the book."""

    result: str
    book: BookHandle
    changed: list[str]

    def sentence(self) -> str:
        """The fields in words."""
        if not self.changed:
            return "Nothing was changed: the book says so already."
        return f"Changed the {listed(self.changed)} of the book."


@command(
    "set-book-info",
    title="Change the facts of the book",
    severity=Severity.CHANGE,
    returns="the fields that were changed",
    example='/set-book-info "A new title"',
    for_model="Changes the title, author, description, language, point of view, tense or style of the book. Pass only "
    "the fields that should change. Returns the fields that were changed. It does not change any part. One space takes "
    "a language, point of view, tense or style away: the book then inherits it.",
)
def set_book_info(
    ctx: Context,
    title: Annotated[Line, Param("its title")] = None,
    author: Annotated[Line, Param("who wrote it")] = None,
    description: Annotated[Lines, Param("what it is about")] = None,
    language: Annotated[Line, Param("its language, as a code such as en or pt-BR")] = None,
    pov: Annotated[Lines, Param("the point of view, such as first person")] = None,
    tense: Annotated[Lines, Param("the tense, such as past")] = None,
    style: Annotated[Lines, Param("the style, in a few words")] = None,
) -> Effect[BookChanged]:
    """Changes the facts of the book: `""` leaves a field as it is, a space in quotes empties or inherits it."""
    given: dict[str, Any] = {
        "title": title if title is None else check_title(title),
        "author": author,
        "description": description,
        "language": language if language is None else check_language(language),
        "pov": pov,
        "tense": tense,
        "style": style,
    }
    wanted = {name: value.strip() for name, value in given.items() if value is not None}
    if not wanted:
        raise Invalid(f"Give what should change: {listed(list(given))}.")
    uuid = ctx.scope.open_book

    def apply(tx: WriteTx) -> BookChanged:
        space = tx.space(ctx.scope.space)
        before = space.get(Book, uuid)
        changed = [name for name, value in wanted.items() if getattr(before, name) != value]
        space.put([replace(before, **wanted)])
        return BookChanged(result="changed" if changed else "unchanged", book=uuid, changed=changed)

    return Effect(apply)


def check_language(code: str) -> str:
    """The code of a language; empty (it is inherited) for spaces.

    Raises:
        Invalid: it is no code.
    """
    if code.strip() and not _LANGUAGE.fullmatch(code.strip()):
        raise Invalid(f"The language is a code such as en, de or pt-BR, not {quoted(code)}.")
    return code.strip()


class TakenBack(Told):
    """A step that was undone or redone. `run` is there when it was the apply of a run."""

    verb: str
    step: str
    items: int
    run: str | None = None

    def sentence(self) -> str:
        """The step in words."""
        return f"{self.verb}: {self.step} ({counted(self.items, 'item')})."


@command(
    "undo",
    title="Undo",
    severity=Severity.CHANGE,
    returns="the step that was taken back",
    example="/undo",
)
def undo(ctx: Context) -> Effect[TakenBack]:
    """Takes back your newest change of the book; again, and the one before it."""
    return _take_back(ctx, redo=False)


@command(
    "redo",
    title="Redo",
    severity=Severity.CHANGE,
    returns="the step that was done again",
    example="/redo",
)
def redo(ctx: Context) -> Effect[TakenBack]:
    """Does again what undo took back last."""
    return _take_back(ctx, redo=True)


def _take_back(ctx: Context, *, redo: bool) -> Effect[TakenBack]:
    book = ctx.scope.open_book
    with ctx.scope.store.read() as look:
        step = history.peek(look, book, redo=redo)

    def apply(tx: WriteTx) -> TakenBack:
        if history.peek(tx, book, redo=redo) != step:
            raise Stale("The book was changed meanwhile: nothing was taken back. Look at it and try again.")
        done = history.take_back(tx, book, step)
        return TakenBack(verb="Redone" if redo else "Undone", step=done.label, items=len(done.items), run=done.run)

    return Effect(apply, act=history.act_for(step, book, redo=redo))
