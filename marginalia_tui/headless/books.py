"""import, export, books, exec, commands."""

import argparse
import sys
from collections.abc import Callable
from dataclasses import replace

from marginalia_tui.commands.context import AlwaysYes, Answers, NobodyToAsk, Question
from marginalia_tui.commands.control import Control
from marginalia_tui.commands.line import CommandLine
from marginalia_tui.commands.render import to_plain
from marginalia_tui.commands.results import to_data
from marginalia_tui.domain.errors import Invalid, MarginaliaError
from marginalia_tui.domain.paths import typed_path
from marginalia_tui.domain.sentences import counted
from marginalia_tui.domain.visible import visible_line
from marginalia_tui.headless.output import print_error, print_json, print_text, table, write_aside
from marginalia_tui.services.books import find_book, list_books
from marginalia_tui.studio import Studio


def bring_in(studio: Studio, options: argparse.Namespace) -> int:
    """`import`."""
    from marginalia_tui.services.exchange.library import import_book

    if not options.path.strip():
        raise Invalid("Name the file or the folder to import.")
    path = typed_path(options.path)
    book = import_book(studio.store, path, title=options.title, format=options.format, level=options.level)
    if options.json:
        told = {"book": book.uuid, "title": book.title, "parts": book.parts, "swipes": book.swipes}
        print_json({**told, "words": book.words, "notes": book.notes})
    else:
        print_text(f"Imported {book.title!r}: {counted(book.parts, 'part')}, {counted(book.words, 'word')}.")
        for note in book.notes:
            print_text(note)
    return 0


def take_out(studio: Studio, options: argparse.Namespace) -> int:
    """`export`."""
    from marginalia_tui.services.exchange.library import export_book

    with studio.store.read() as tx:
        book = find_book(tx, options.book)
    made = export_book(studio.store, book.uuid, options.format, typed_path(options.output), force=options.force)
    if options.json:
        print_json({"path": str(made.path), "bytes": made.size, "notes": made.notes})
    else:
        print_text(f"Wrote {made.path} ({made.size:,} bytes).")
        for note in made.notes:
            print_text(note)
    return 0


def show_books(studio: Studio, options: argparse.Namespace) -> int:
    """`books`."""
    with studio.store.read() as tx:
        rows = [
            {
                "book": row.uuid,
                "title": row.title,
                "folder": row.folder,
                "parts": row.parts,
                "words": row.words,
                "locked_by": row.locked_by,
            }
            for row in list_books(tx)
        ]
    if options.json:
        print_json(rows)
    else:
        columns = ("title", "parts", "words", "locked_by", "book")
        print_text(table(rows, columns, "There is no book yet: `marginalia import FILE` brings one in."))
    return 0


class _Terminal:
    """Asks on the terminal; the default is no."""

    def confirm(self, question: Question, control: Control) -> bool:
        """Whether the answer is yes."""
        for line in question.shows:
            write_aside(f"{visible_line(line)}\n")
        write_aside(f"{visible_line(question.text)} [y/N] ")
        return sys.stdin.readline().strip().lower() in ("y", "yes")


def answers(yes: bool) -> Answers:
    """Who answers the questions of a command."""
    if yes:
        return AlwaysYes()
    there = all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))
    return _Terminal() if there else NobodyToAsk()


def run_line(studio: Studio, options: argparse.Namespace) -> int:
    """`exec`."""
    book = None
    if options.book:
        with studio.store.read() as tx:
            book = find_book(tx, options.book).uuid
    name = CommandLine.parse(options.line).name
    try:
        # A run that a command would have go on could not be worked: this process ends with the command.
        scope = replace(studio.scope(book, answers(options.yes)), steering=None)
        result = studio.dispatcher.run_line(options.line, scope)
    except MarginaliaError as error:
        if not options.json:
            raise
        told = {"kind": error.kind, "message": error.message}
        print_json({"command": name, "ok": False, "result": None, "error": told})
        print_error(error, as_json=False)
        return 1
    if options.json:
        print_json({"command": name, "ok": True, "result": to_data(result)})
    else:
        print_text(to_plain(result))
    return 0


def show_commands(studio: Studio, options: argparse.Namespace) -> int:
    """`commands`."""
    registry = studio.registry
    found = [registry.get(options.name.removeprefix("/"))] if options.name else list(registry)
    if options.json:
        print_json([command.to_json() for command in found])
        return 0
    if options.name:
        result = studio.dispatcher.run("help", [options.name], studio.scope(None, NobodyToAsk()))
        print_text(to_plain(result))
        return 0
    rows = [
        {"command": f"/{command.name}", "does": command.severity.word, "description": command.description}
        for command in found
    ]
    print_text(table(rows, ("command", "does", "description"), "There are no commands."))
    return 0


VERBS: dict[str, Callable[[Studio, argparse.Namespace], int]] = {
    "import": bring_in,
    "export": take_out,
    "books": show_books,
    "exec": run_line,
    "commands": show_commands,
}
