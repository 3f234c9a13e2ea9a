"""Commands that bring a book in from a file or a folder, and write one out.

They read and write files, which only the author may name: no agent is given them.
"""

from typing import Annotated

from pydantic import Field

from marginalia_tui.commands.context import Context, Effect
from marginalia_tui.commands.declare import command
from marginalia_tui.commands.definition import Param, Severity, Work
from marginalia_tui.commands.references import Reference
from marginalia_tui.commands.results import BookHandle, Told
from marginalia_tui.commands.suites.lore_files import FilePath
from marginalia_tui.domain.errors import Invalid
from marginalia_tui.domain.paths import typed_path
from marginalia_tui.domain.sentences import counted, quoted
from marginalia_tui.services.books import find_book
from marginalia_tui.services.exchange.recognise import Format, Written, written_format
from marginalia_tui.store.journal import Act
from marginalia_tui.store.store import WriteTx


class BookImported(Told):
    """A book that came in. `notes` are sentences: what was left out, kept as data, or replaced."""

    book: BookHandle
    title: str
    format: str
    parts: int
    """Swipes among them."""
    swipes: int
    words: int
    notes: list[str]

    def sentence(self) -> str:
        """What it is, and what was left."""
        swipes = f" ({counted(self.swipes, 'swipe')} among them)" if self.swipes else ""
        made = f"Imported {quoted(self.title)} ({self.format}): {counted(self.parts, 'part')}{swipes}"
        return " ".join([f"{made}, {counted(self.words, 'word')}.", *self.notes])


@command(
    "import-book",
    title="Import a book",
    severity=Severity.ADD,
    work=Work.LONG,
    returns="the new book, its parts and words, and what of the file has no place here",
    example="/import-book ferry.epub",
)
def import_book(
    ctx: Context,
    path: Annotated[FilePath, Param("a file, or the folder of a book", names="file")],
    format: Annotated[Format | None, Param("what it is; without it that is recognised from the content")] = None,
    title: Annotated[str, Param("its title; without it the one that it has, or the name of the file")] = "",
    level: Annotated[
        int | None, Field(ge=1, le=6), Param("headings up to this level begin a part; without it one is picked")
    ] = None,
) -> Effect[BookImported]:
    """Brings a book into the library from a file or a folder: Markdown, text, EPUB, DOCX, chat, card, backup."""
    # The readers of all formats are more than all else that the commands need.
    from marginalia_tui.services.exchange.library import read_book

    if not path.strip():
        raise Invalid("Name the file or the folder to import.")
    ctx.status("Reading the book")
    ready = read_book(ctx.scope.store, typed_path(path), title=title or None, format=format, level=level)
    ctx.check()
    ctx.status("Adding the book")

    def apply(tx: WriteTx) -> BookImported:
        made = ready.put(tx)
        return BookImported(
            book=made.uuid,
            title=made.title,
            format=made.format,
            parts=made.parts,
            swipes=made.swipes,
            words=made.words,
            notes=list(made.notes),
        )

    return Effect(apply, act=Act(actor="author", label="import", book=ready.uuid))


class BookExported(Told):
    """A book that was written to a file or a folder. `notes` say what is not in it, by name and number."""

    file: str
    bytes: int
    title: str
    format: str
    notes: list[str]

    def sentence(self) -> str:
        """Where it is, and what was left."""
        made = f"Wrote {quoted(self.title)} to {self.file} ({self.format}, {counted(self.bytes, 'byte')})."
        return " ".join([made, *self.notes])


@command(
    "export-book",
    title="Export a book",
    severity=Severity.READ,
    work=Work.LONG,
    returns="the file that was written, and what of the book is not in it",
    example="/export-book ferry.epub",
)
def export_book(
    ctx: Context,
    path: Annotated[FilePath, Param("the file or the folder to write", names="file")],
    format: Annotated[Written | None, Param("without it the one that the name of the file says")] = None,
    book: Annotated[Reference, Param("its title or uuid; without it the open book", names="book")] = "",
    replace: Annotated[bool, Param("whether an export that stands there is replaced")] = False,
) -> BookExported:
    """Writes the branch of a book that is read to a file, or to a folder; a backup has all of it."""
    from marginalia_tui.services.exchange.library import export_book as write_book

    if not path.strip():
        raise Invalid("Name the file or the folder to write.")
    target = typed_path(path)
    with ctx.scope.store.read() as tx:
        found = find_book(tx, book.strip() or ctx.scope.open_book)
    wanted = format or written_format(target.suffix)
    ctx.status("Writing the book")
    made = write_book(ctx.scope.store, found.uuid, wanted, target, force=replace)
    return BookExported(file=str(made.path), bytes=made.size, title=found.title, format=wanted, notes=list(made.notes))
