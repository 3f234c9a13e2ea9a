"""Commands for the folders of the library. They are the author's: a working copy has no folders.

A change of a folder is none of the book that happens to be open, so undo of a book does not meet it; what a field
was is in the answer.
"""

from typing import Annotated, Any, Literal

from pydantic import Field

from marginalia_tui.commands.bounds import LIMIT, Limit, Offset, Page, page_of
from marginalia_tui.commands.context import Context, Effect
from marginalia_tui.commands.declare import command
from marginalia_tui.commands.definition import Param, Severity
from marginalia_tui.commands.references import Reference
from marginalia_tui.commands.results import BookHandle, FolderHandle, Result, Told
from marginalia_tui.commands.suites.book import Line, Lines, check_language
from marginalia_tui.commands.suites.booksettings import given_prompts, known_model, merged_prompts, shown_prompts
from marginalia_tui.domain.errors import Invalid
from marginalia_tui.domain.items import Book, Folder
from marginalia_tui.domain.prompts import LONGEST, PROMPTS
from marginalia_tui.domain.sentences import counted, listed, quoted
from marginalia_tui.services import folders
from marginalia_tui.store.journal import Act
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import WriteTx

FolderRef = Annotated[
    Reference, Param("the folder: its name, its path such as Series / Winter, or its uuid", names="folder")
]
Name = Annotated[str, Field(max_length=300), Param("its name")]
PromptName = Literal["master", "turn", "summary", "meta_summary", "annotate", "redraft", "impersonate"]
Into = Annotated[
    Reference, Param("the folder to put it into; without it the top of the library", names="folder")
]  # fmt: skip


class FolderRow(Result):
    """A folder in the tree. `books` stand in it, `all_books` in it and the folders below."""

    path: str
    folder: FolderHandle
    depth: int
    books: int
    all_books: int
    says: list[str]
    """What it says itself, for all in it."""


class FolderTree(Page):
    """The folders, each before those in it."""

    thing = ("folder", "folders")

    folders: list[FolderRow]
    books_at_the_top: int

    def sentence(self) -> str:
        """How many there are."""
        return f"{super().sentence()} {counted(self.books_at_the_top, 'book').capitalize()} in none."

    def untold(self) -> frozenset[str]:
        """The sentence says it."""
        return super().untold() | {"books_at_the_top"}


@command(
    "list-folders",
    title="List the folders",
    severity=Severity.READ,
    returns="a row for each folder: path, books in it and below, what it says for them",
    example="/list-folders",
)
def list_folders(ctx: Context, offset: Offset = 0, limit: Limit = LIMIT) -> FolderTree:
    """Lists the folders of the library as a tree, with the books in each."""
    with ctx.scope.store.read() as tx:
        library = tx.space(LIBRARY)
        lines = folders.folder_tree(library)
        there = {line.folder.uuid for line in lines}
        top = sum(book.deleted is None and book.folder not in there for book in library.books())
    some, page = page_of(lines, offset, limit)
    rows = [
        FolderRow(
            path=line.path,
            folder=line.folder.uuid,
            depth=line.depth,
            books=line.books,
            all_books=line.below,
            says=_says(line.folder),
        )
        for line in some
    ]
    return FolderTree(folders=rows, books_at_the_top=top, **page)


def _says(folder: Folder) -> list[str]:
    fields = [name for name in ("language", "pov", "tense", "style", "model") if getattr(folder, name)]
    return [*fields, *(f"prompt {name}" for name in sorted(folder.prompts))]


class FolderMade(Told):
    """A new folder, or one that stands elsewhere now."""

    folder: FolderHandle
    path: str
    verb: str

    def sentence(self) -> str:
        """Where it is."""
        return f"The folder {self.path} {self.verb}."


@command(
    "create-folder",
    title="Create a folder",
    severity=Severity.ADD,
    returns="the new folder and its path",
    example='/create-folder Winter "The Lamp series"',
)
def create_folder(ctx: Context, name: Name, parent: Into = "") -> Effect[FolderMade]:
    """Makes a folder at the top of the library, or in another folder."""
    above = _into(ctx, parent)

    def apply(tx: WriteTx) -> FolderMade:
        library = tx.space(LIBRARY)
        folder = folders.create_folder(library, name, above)
        return FolderMade(folder=folder.uuid, path=_path(tx, folder.uuid), verb="is new")

    return Effect(apply, act=_act("Create a folder"))


class Was(Result):
    """A field that was changed."""

    field: str
    before: str
    now: str


class FolderChanged(Result):
    """What was changed in a folder."""

    result: str
    folder: FolderHandle
    name: str
    changed: list[Was]

    def sentence(self) -> str:
        """The folder and how much."""
        if not self.changed:
            return f"Nothing was changed: the folder {quoted(self.name)} says so already."
        return f"Changed the {listed([each.field for each in self.changed])} of the folder {quoted(self.name)}."

    def untold(self) -> frozenset[str]:
        """The sentence says it."""
        return frozenset({"result", "folder", "name"})


@command(
    "update-folder",
    title="Change a folder",
    severity=Severity.CHANGE,
    returns="the fields that were changed, with what they were",
    example='/update-folder Winter "" de "third person" past',
)
def update_folder(
    ctx: Context,
    folder: FolderRef,
    name: Annotated[Line, Param("its name")] = None,
    language: Annotated[Line, Param("the language of the books in it, as a code such as en or pt-BR")] = None,
    pov: Annotated[Lines, Param("their point of view, such as first person")] = None,
    tense: Annotated[Lines, Param("their tense, such as past")] = None,
    style: Annotated[Lines, Param("their style, in a few words")] = None,
    model: Annotated[Line, Param("the model that writes in them", names="model")] = None,
) -> Effect[FolderChanged]:
    """Changes a folder and what its books inherit: `""` leaves a field as it is, a space in quotes empties it."""
    given: dict[str, Any] = {
        "name": name,
        "language": language if language is None else check_language(language),
        "pov": pov,
        "tense": tense,
        "style": style,
        "model": model,
    }
    wanted = {field: value.strip() for field, value in given.items() if value is not None}
    if not wanted:
        raise Invalid(f"Give what should change: {listed(list(given))}.")
    with ctx.scope.store.read() as tx:
        uuid = folders.find_folder(tx.space(LIBRARY), folder).uuid
        if wanted.get("model"):
            wanted["model"] = known_model(tx, wanted["model"])

    def apply(tx: WriteTx) -> FolderChanged:
        before, after = folders.change_folder(tx.space(LIBRARY), uuid, wanted)
        changed = [
            Was(field=field, before=getattr(before, field), now=getattr(after, field))
            for field in wanted
            if getattr(before, field) != getattr(after, field)
        ]
        result = "changed" if changed else "unchanged"
        return FolderChanged(result=result, folder=uuid, name=after.name, changed=changed)

    return Effect(apply, act=_act("Change a folder"))


@command(
    "set-folder-prompt",
    title="Change a prompt of a folder",
    severity=Severity.CHANGE,
    destructive=True,
    returns="the prompt with what it was",
    example='/set-folder-prompt Winter turn "{{instructions}}"',
)
def set_folder_prompt(
    ctx: Context,
    folder: FolderRef,
    prompt: Annotated[PromptName, Param("which one")],
    template: Annotated[str, Field(max_length=LONGEST), Param("its template; without it the prompt is inherited")] = "",
) -> Effect[FolderChanged]:
    """Changes a prompt that the books of a folder inherit, or takes it out of the folder. Asks first."""
    wanted = given_prompts({prompt: template})
    with ctx.scope.store.read() as tx:
        library = tx.space(LIBRARY)
        found = folders.find_folder(library, folder)
        reads = {("folder", found.uuid): library.hashes(Folder, [found.uuid])[found.uuid]}
    ctx.confirm(f"Change the prompts of the folder {quoted(found.name)}?", shown_prompts(found.prompts, wanted))
    before = str(found.prompts.get(prompt, ""))

    def apply(tx: WriteTx) -> FolderChanged:
        _, after = folders.change_folder(
            tx.space(LIBRARY), found.uuid, {"prompts": merged_prompts(found.prompts, wanted)}
        )
        now = str(after.prompts.get(prompt, ""))
        changed = [Was(field=PROMPTS[prompt].label, before=before, now=now)] if before != now else []
        result = "changed" if changed else "unchanged"
        return FolderChanged(result=result, folder=found.uuid, name=found.name, changed=changed)

    return Effect(apply, reads=reads, act=_act("Change the prompts of a folder"))


@command(
    "move-folder",
    title="Move a folder",
    severity=Severity.CHANGE,
    returns="its new path",
    example='/move-folder Winter "The Lamp series"',
)
def move_folder(ctx: Context, folder: FolderRef, parent: Into = "") -> Effect[FolderMade]:
    """Moves a folder with all in it into another one, or to the top of the library."""
    with ctx.scope.store.read() as tx:
        uuid = folders.find_folder(tx.space(LIBRARY), folder).uuid
    above = _into(ctx, parent)

    def apply(tx: WriteTx) -> FolderMade:
        folders.move_folder(tx.space(LIBRARY), uuid, above)
        return FolderMade(folder=uuid, path=_path(tx, uuid), verb="stands here now")

    return Effect(apply, act=_act("Move a folder"))


class FolderGone(Told):
    """A folder that was deleted."""

    result: str
    name: str

    def sentence(self) -> str:
        """Which one."""
        return f"The folder {quoted(self.name)} is deleted."


@command(
    "delete-folder",
    title="Delete a folder",
    severity=Severity.REMOVE,
    destructive=True,
    returns="the folder that is gone",
    example="/delete-folder Winter",
)
def delete_folder(ctx: Context, folder: FolderRef) -> Effect[FolderGone]:
    """Deletes an empty folder, after a question."""
    with ctx.scope.store.read() as tx:
        library = tx.space(LIBRARY)
        found = folders.check_empty(library, folders.find_folder(library, folder).uuid)
    says = _says(found)
    ctx.confirm(
        f"Delete the folder {quoted(found.name)}?", [f"What it says goes with it: {listed(says)}."] if says else ()
    )

    def apply(tx: WriteTx) -> FolderGone:
        folders.delete_folder(tx.space(LIBRARY), found.uuid)
        return FolderGone(result="deleted", name=found.name)

    return Effect(apply, act=_act("Delete a folder"))


class BookMoved(Told):
    """Where the book stands now."""

    result: str
    book: BookHandle
    folder: FolderHandle | None = None
    path: str

    def sentence(self) -> str:
        """The place."""
        place = f"in the folder {self.path}" if self.path else "at the top of the library"
        return f"The book stands {place}{' already' if self.result == 'unchanged' else ' now'}."


@command(
    "move-book",
    title="Move the book to a folder",
    severity=Severity.CHANGE,
    returns="the folder that the book is in",
    example="/move-book Winter",
)
def move_book(ctx: Context, folder: Into = "") -> Effect[BookMoved]:
    """Puts the open book into a folder, or takes it out to the top of the library."""
    uuid = ctx.scope.open_book
    target = _into(ctx, folder)

    def apply(tx: WriteTx) -> BookMoved:
        library = tx.space(LIBRARY)
        moved = folders.move_book(library, uuid, target)
        names = folders.path_names(library, library.get(Book, uuid).folder)
        return BookMoved(
            result="moved" if moved else "unchanged", book=uuid, folder=target, path=" / ".join(names)
        )  # fmt: skip

    return Effect(apply)


def _into(ctx: Context, folder: str) -> str | None:
    """The uuid of the folder that was named; None for the top."""
    if not folder.strip():
        return None
    with ctx.scope.store.read() as tx:
        return folders.find_folder(tx.space(LIBRARY), folder).uuid


def _path(tx: WriteTx, folder: str) -> str:
    return " / ".join(folders.path_names(tx.space(LIBRARY), folder))


def _act(label: str) -> Act:
    return Act(actor="author", label=label)
