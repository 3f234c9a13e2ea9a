"""shell: commands typed line by line, or read from a pipe.

In a terminal that can draw the prompt completes and hints; in a dumb one, or with --plain, it is a plain line. From a
pipe one line after another is run, and the exit code tells whether one failed.
"""

import argparse
import sys
from collections.abc import Callable, Iterator
from typing import BinaryIO, Protocol

from marginalia_tui.commands.context import AlwaysYes, Answers, NobodyToAsk
from marginalia_tui.commands.line import CommandLine
from marginalia_tui.desk.answer import Shown
from marginalia_tui.desk.bar import Bar, shown
from marginalia_tui.domain.errors import Invalid, MarginaliaError
from marginalia_tui.domain.items import Book
from marginalia_tui.domain.visible import visible, visible_line
from marginalia_tui.headless.output import print_error, print_json, print_text, say, write_aside, write_out
from marginalia_tui.headless.shell_form import fill_in
from marginalia_tui.headless.shell_terminal import (
    Interrupts,
    StatusLine,
    can_draw,
    decoded,
    interrupt,
    is_terminal,
    read_typed,
    width,
)
from marginalia_tui.headless.shell_text import asked_about, command_of, is_end, laid_out, named, told_about, wrapped
from marginalia_tui.headless.shell_work import Foreground
from marginalia_tui.services.books import find_book, list_books, mark_opened
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.studio import Studio

LONGEST = 10_000_000
"""Bytes of a line from a pipe."""
_NO_BOOK = "marginalia"


def shell(studio: Studio, options: argparse.Namespace) -> int:
    """`shell`."""
    book, words = _book(studio, options.book)
    if not is_terminal(sys.stdin):
        if options.book is None:
            say(words)
        answers = AlwaysYes() if options.yes else NobodyToAsk()
        return _Pipe(studio, book, answers, as_json=options.json).run(_lines(sys.stdin))
    if book is not None:
        mark_opened(studio.store, book)
    with Interrupts() as interrupts:
        return _Conversation(studio, book, interrupts, options).run(words)


def _book(studio: Studio, name: str | None) -> tuple[str | None, str]:
    """The book that lines work on, and the sentence that says which."""
    with studio.store.read() as tx:
        if name is not None:
            book = find_book(tx, name)
            return book.uuid, f"The book is {book.title!r}."
        rows = [(row.opened, row.uuid, row.title) for row in list_books(tx) if row.opened is not None]
    if not rows:
        return None, "No book is open: --book names one."
    _, uuid, title = max(rows)
    return uuid, f"The book is {title!r}, which was opened last."


class _Printed:
    """Prints how lines ended.

    Args:
        as_json: one object a line.
        laid: whether answers are laid out for the width of the terminal.
    """

    def __init__(self, *, as_json: bool, laid: bool) -> None:
        self._as_json = as_json
        self._laid = laid
        self._any = False

    def answer(self, command: str, answer: Shown) -> None:
        """The answer of a command, parted from the one before by an empty line."""
        if self._as_json:
            print_json({"command": CommandLine.parse(command).name, "ok": True, "result": answer.data})
            return
        if self._any:
            write_out("\n")
        self._any = True
        print_text(laid_out(answer.blocks, width()) if self._laid else answer.text)

    def error(self, command: str, error: MarginaliaError) -> None:
        """Why there is none."""
        if self._laid:
            say_wrapped(visible_line(f"Error: {error.message}"))
        else:
            print_error(error, as_json=False)
        if self._as_json:
            told = {"kind": error.kind, "message": error.message}
            print_json({"command": CommandLine.parse(command).name, "ok": False, "result": None, "error": told})


# From a pipe


def _lines(stream: object) -> Iterator[bytes]:
    """The lines of a stream with their ends; of one that is too long a byte more than a line may have."""
    source: BinaryIO | None = getattr(stream, "buffer", None)
    while source is not None and (data := source.readline(LONGEST + 1)):
        yield data
        while len(data) > LONGEST and not data.endswith(b"\n") and (data := source.readline(LONGEST + 1)):
            pass  # the rest of a line that is refused


class _Pipe:
    """Runs lines, one after another, whatever becomes of them."""

    def __init__(self, studio: Studio, book: str | None, answers: Answers, *, as_json: bool) -> None:
        self._studio = studio
        self._scope = studio.scope(book, answers)
        self._printed = _Printed(as_json=as_json, laid=False)

    def run(self, lines: Iterator[bytes]) -> int:
        """Runs them; 1 when one was refused or failed."""
        failed = False
        for number, data in enumerate(lines, start=1):
            command = ""
            try:
                command = command_of(self._text(data, number))
                if not command:
                    continue
                if is_end(command):
                    break
                answer = shown(self._studio.commands.start_line(command, self._scope))
            except MarginaliaError as error:
                failed = True
                self._printed.error(command, error)
            else:
                self._printed.answer(command, answer)
        return 1 if failed else 0

    @staticmethod
    def _text(data: bytes, number: int) -> str:
        if len(data) > LONGEST:
            raise Invalid(f"Line {number:,} is longer than {LONGEST:,} bytes: make it shorter.")
        text = decoded(data, f"Line {number:,}")
        return text.removeprefix("\ufeff") if number == 1 else text


# In a terminal


class _Prompt(Protocol):
    def read(self, name: str) -> str:
        """A line; `KeyboardInterrupt` is Ctrl-C, `EOFError` the end."""
        ...


class _PlainPrompt:
    """A line that the terminal itself edits."""

    def __init__(self, interrupts: Interrupts) -> None:
        self._interrupts = interrupts

    def read(self, name: str) -> str:
        try:
            with self._interrupts.to(interrupt):
                write_aside(name)
                return read_typed()
        except (KeyboardInterrupt, EOFError):
            write_aside("\n")
            raise


class _Conversation:
    """Reads lines and runs them until the person has enough."""

    def __init__(self, studio: Studio, book: str | None, interrupts: Interrupts, options: argparse.Namespace) -> None:
        self._studio = studio
        self._book = book
        self._bar = Bar(studio)
        draws = can_draw() and not options.plain
        self._work = Foreground(interrupts, StatusLine(draws=draws), yes=options.yes)
        self._printed = _Printed(as_json=options.json, laid=is_terminal(sys.stdout))
        self._plain = _PlainPrompt(interrupts)
        self._prompt: _Prompt
        if draws:
            from marginalia_tui.headless.shell_prompt import DrawnPrompt

            self._prompt = DrawnPrompt(self._bar, book)
        else:
            self._prompt = self._plain

    def run(self, words: str) -> int:
        """The whole conversation; its exit code is 0, since each fault was told when it came."""
        say_wrapped(f"{words} /help lists the commands, a ? at the end of a line what fits there, exit ends.")
        while True:
            try:
                self._bar.read_names(self._book)
                line = self._prompt.read(self._name())
                if is_end(command_of(line)):
                    return 0
                self._do(line)
            except KeyboardInterrupt:
                continue
            except EOFError:
                return 0
            except Invalid as error:
                self._printed.error("", error)

    def _name(self) -> str:
        if self._book is None:
            return named(_NO_BOOK, width())
        with self._studio.store.read() as tx:
            book = tx.space(LIBRARY).find(Book, self._book)
        return named(book.title if book else _NO_BOOK, width())

    def _do(self, line: str) -> None:
        command = command_of(line)
        if self._bar.asks_for_sheet(command):
            command = self._filled_in(command)
        elif (about := asked_about(line)) is not None:
            print_text(told_about(self._bar, about, width()))
            return
        if command:
            self._run(command)

    def _filled_in(self, command: str) -> str:
        """The line that the form of a command makes; empty when it is given up."""
        sheet = self._bar.sheet(command)
        assert sheet is not None
        try:
            line = fill_in(sheet, self._plain.read, say_as_is, width())
        except EOFError:
            return ""
        say_wrapped(line)
        return line

    def _run(self, command: str) -> None:
        try:
            answer = shown(
                self._work.run(lambda answers, begun: self._bar.start_line(command, self._book, answers, begun))
            )
        except MarginaliaError as error:
            self._printed.error(command, error)
        else:
            self._printed.answer(command, answer)


def say_as_is(text: str) -> None:
    """A word on the side, in the lines that it has."""
    write_aside(visible(text) + "\n")


def say_wrapped(text: str) -> None:
    """A word on the side, in lines that fit."""
    write_aside(wrapped(text, width()) + "\n")


VERBS: dict[str, Callable[[Studio, argparse.Namespace], int]] = {"shell": shell}
