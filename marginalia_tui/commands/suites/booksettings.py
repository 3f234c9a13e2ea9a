"""Commands for what holds for the whole book: its prompts, its tags, its model, when it is backed up."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated

from pydantic import Field

from marginalia_tui.commands.bounds import LIMIT, Limit, Offset, Page, page_of
from marginalia_tui.commands.context import Context, Effect
from marginalia_tui.commands.declare import command
from marginalia_tui.commands.definition import Param, Severity, parameter_names
from marginalia_tui.commands.patterns import first_words
from marginalia_tui.commands.references import open_book
from marginalia_tui.commands.results import BookHandle, Prose, Result, Told
from marginalia_tui.domain.errors import Invalid, NotFound
from marginalia_tui.domain.items import Book, Json
from marginalia_tui.domain.prompts import LONGEST, PROMPTS
from marginalia_tui.domain.sentences import counted, listed, quoted
from marginalia_tui.services.books import MAX_TAGS, TAG_LENGTH, tag_counts
from marginalia_tui.services.effective import backup_rule, inherited
from marginalia_tui.services.models import get_model, list_models
from marginalia_tui.store.store import ReadTx, WriteTx

Template = Annotated[str | None, Field(max_length=LONGEST)]
Master = Annotated[Template, Param("the template of the master prompt: how the book is written")]
Turn = Annotated[Template, Param("the template of the prompt of a turn: what the next part is about")]
Summarise = Annotated[Template, Param("the template of the prompt for a summary")]
MetaSummary = Annotated[Template, Param("the template of the prompt for one summary of several")]
Annotate = Annotated[Template, Param("the template of the prompt for notes on passages")]
Redraft = Annotated[Template, Param("the template of the prompt for a redraft of a part")]
Impersonate = Annotated[Template, Param("the template of the prompt for instructions of the next part")]


def given_prompts(templates: Mapping[str, str | None]) -> dict[str, str]:
    """The prompts that were given; one of spaces becomes empty: it is inherited again.

    Raises:
        Invalid: none was.
    """
    wanted = {name: text if text.strip() else "" for name, text in templates.items() if text is not None}
    if not wanted:
        raise Invalid(f"Give the prompt that should change: {parameter_names(PROMPTS)}.")
    return wanted


def merged_prompts(now: Mapping[str, Json], wanted: Mapping[str, str]) -> dict[str, Json]:
    """The prompts as they are to be: an empty one is left out."""
    return {name: text for name, text in {**now, **wanted}.items() if text != "" or name not in wanted}


def shown_prompts(now: Mapping[str, Json], wanted: Mapping[str, str]) -> list[str]:
    """What would change, a line for each prompt."""
    lines = []
    for name, text in wanted.items():
        before = now.get(name)
        old = quoted(first_words(before)) if isinstance(before, str) else "inherited"
        lines.append(f"{PROMPTS[name].label}: {old} becomes {quoted(first_words(text)) if text else 'inherited'}")
    return lines


class PromptsChanged(Told):
    """The prompts that were changed."""

    result: str
    book: BookHandle
    changed: list[str]

    def sentence(self) -> str:
        """The prompts in words."""
        if not self.changed:
            return "Nothing was changed: the prompts are these already."
        return f"Changed: {listed([PROMPTS[name].label for name in self.changed])}."


@command(
    "set-book-prompts",
    title="Change the prompts of the book",
    severity=Severity.CHANGE,
    destructive=True,
    returns="the prompts that were changed",
    example='/set-book-prompts "" "{{instructions}}"',
    for_model="Replaces prompt templates of the book. Pass only the prompts that should change, each with its complete "
    "new template. One space takes the book's own template away, so that it is inherited again. Returns the names of "
    "the prompts that were changed. Call get-book-prompts first to see what holds now.",
)
def set_book_prompts(
    ctx: Context,
    master: Master = None,
    turn: Turn = None,
    summary: Summarise = None,
    meta_summary: MetaSummary = None,
    annotate: Annotate = None,
    redraft: Redraft = None,
    impersonate: Impersonate = None,
) -> Effect[PromptsChanged]:
    """Changes the prompts of the book: `""` leaves one as it is, a space in quotes inherits it again. Asks first."""
    uuid = ctx.scope.open_book
    wanted = given_prompts(
        {
            "master": master,
            "turn": turn,
            "summary": summary,
            "meta_summary": meta_summary,
            "annotate": annotate,
            "redraft": redraft,
            "impersonate": impersonate,
        }
    )
    with ctx.reading() as space:
        now = space.get(Book, uuid).prompts
    ctx.confirm("Change the prompts of the book?", shown_prompts(now, wanted))

    def apply(tx: WriteTx) -> PromptsChanged:
        space = tx.space(ctx.scope.space)
        book = space.get(Book, uuid)
        after = merged_prompts(book.prompts, wanted)
        space.put([replace(book, prompts=after)])
        changed = [name for name in wanted if book.prompts.get(name) != after.get(name)]
        return PromptsChanged(result="changed" if changed else "unchanged", book=uuid, changed=changed)

    return Effect(apply)


class PromptRow(Result):
    """A prompt of the book. `own`: it is the book's; else `source` says from where it is inherited."""

    prompt: str
    purpose: str
    own: bool
    source: str
    text: Prose | None = None


class PromptList(Result):
    """The prompts that hold for the book."""

    prompts: list[PromptRow]


@command(
    "get-book-prompts",
    title="The prompts of the book",
    severity=Severity.READ,
    returns="the prompts that hold for the book, whether they are its own, and the template of one",
    example="/get-book-prompts master",
    for_model="Lists the prompts of the book: name, purpose, own (whether it is the book's own) and source (where it "
    "is inherited from). With prompt it returns the template of that one, too.",
)
def get_book_prompts(
    ctx: Context,
    prompt: Annotated[str, Field(max_length=100), Param("the prompt to show whole, such as master")] = "",
) -> PromptList:
    """Shows the prompts that hold for the book and where each comes from; one of them with its template."""
    wanted = prompt.strip().casefold().replace("-", "_")
    if wanted and wanted not in PROMPTS:
        raise Invalid(f"There is no prompt {quoted(prompt)}: choose one of {listed(list(PROMPTS))}.")
    with open_book(ctx) as opened:
        holds = inherited(opened.space, opened.book)
    rows = []
    for kind in PROMPTS.values():
        if wanted in ("", kind.name):
            found = holds.prompt(kind.name)
            text = found.value if wanted else None
            rows.append(PromptRow(prompt=kind.name, purpose=kind.purpose, own=found.own, source=found.where, text=text))
    return PromptList(prompts=rows)


class TagsSet(Result):
    """The tags of the book as they are now."""

    result: str
    book: BookHandle
    tags: list[str]
    added: list[str]
    removed: list[str]

    def sentence(self) -> str:
        """The tags in words."""
        return f"The book has the tags {', '.join(self.tags)}." if self.tags else "The book has no tags."

    def untold(self) -> frozenset[str]:
        """The sentence says it."""
        return frozenset({"result", "book", "tags"})


@command(
    "set-book-tags",
    title="Set the tags of the book",
    severity=Severity.CHANGE,
    returns="the tags of the book, those that are new and those that are gone",
    example='/set-book-tags "winter, draft"',
    for_model="Sets the tags of the book, which decide which lore entries can be active. Pass tags: all tags that it "
    "should have, separated by commas; those that are left out are taken away. Returns tags, added and removed.",
)
def set_book_tags(
    ctx: Context,
    tags: Annotated[
        Annotated[str, Field(max_length=10_000)],
        Param("all of them, with commas between; empty quotes take all away", for_model="All tags, with commas."),
    ],
) -> Effect[TagsSet]:
    """Gives the book these tags and no others."""
    wanted = read_tags(tags)
    uuid = ctx.scope.open_book

    def apply(tx: WriteTx) -> TagsSet:
        space = tx.space(ctx.scope.space)
        before = space.get(Book, uuid)
        after = sorted(wanted)
        space.put([replace(before, tags=tuple(after))])
        added = [tag for tag in after if tag not in before.tags]
        removed = [tag for tag in before.tags if tag not in wanted]
        result = "changed" if added or removed else "unchanged"
        return TagsSet(result=result, book=uuid, tags=after, added=added, removed=removed)

    return Effect(apply)


def read_tags(text: str) -> list[str]:
    """The tags of a text with commas between, each once whatever the case of its letters.

    Raises:
        Invalid: one is too long, or there are too many.
    """
    found: dict[str, str] = {}
    for each in text.split(","):
        tag = " ".join(each.split())
        if len(tag) > TAG_LENGTH:
            raise Invalid(f"A tag has at most {TAG_LENGTH} characters, and {quoted(tag)} has {len(tag)}: shorten it.")
        if tag:
            found.setdefault(tag.casefold(), tag)
    if len(found) > MAX_TAGS:
        raise Invalid(f"A book has at most {MAX_TAGS} tags, not {len(found)}: leave some out.")
    return list(found.values())


class TagRow(Result):
    """A tag and what has it. `entries` ask for it, or for its absence."""

    tag: str
    books: int
    lorebooks: int
    entries: int
    on_this_book: bool


class TagList(Page):
    """The tags there are."""

    thing = ("tag", "tags")

    tags: list[TagRow]


@command(
    "list-tags",
    title="List the tags",
    severity=Severity.READ,
    returns="a row for each tag: how many books, lorebooks and lore entries have it",
    example="/list-tags",
    for_model="Lists the tags there are. All arguments are optional. Each row has tag, how many books, lorebooks and "
    "lore entries have it, and onThisBook: whether the open book has it.",
)
def list_tags(ctx: Context, offset: Offset = 0, limit: Limit = LIMIT) -> TagList:
    """Lists the tags of books and lore, with how many have each."""
    with ctx.reading() as space:
        book = space.find(Book, ctx.scope.book) if ctx.scope.book else None
        own = set(book.tags) if book else set()
        rows = [
            TagRow(tag=tag, books=found[0], lorebooks=found[1], entries=found[2], on_this_book=tag in own)
            for tag, found in tag_counts(space).items()
        ]
    some, page = page_of(rows, offset, limit)
    return TagList(tags=list(some), **page)


def known_model(tx: ReadTx, name: str) -> str:
    """The name of a model as it was set up.

    Raises:
        NotFound: there is none; the sentence lists some of those that there are.
    """
    wanted = name.strip()
    names = [model.name for model in list_models(tx)]
    if wanted in names or wanted in ("offline", "proofreader"):
        return get_model(tx, wanted).name
    raise NotFound(f"There is no model {quoted(wanted, 30)}. There are: {listed([each[:60] for each in names], 4)}.")


class ModelSet(Told):
    """The model that writes in the book now."""

    result: str
    book: BookHandle
    model: str
    source: str

    def sentence(self) -> str:
        """The model in words."""
        if not self.model:
            return "The book has no model of its own and inherits none."
        return f"The model of the book is {self.model} ({self.source})."


@command(
    "set-book-model",
    title="Set the model of the book",
    severity=Severity.CHANGE,
    returns="the model that holds for the book",
    example="/set-book-model proofreader",
)
def set_book_model(
    ctx: Context,
    model: Annotated[
        Annotated[str, Field(max_length=300)], Param("its name; without it the book inherits one", names="model")
    ] = "",
) -> Effect[ModelSet]:
    """Says which model writes in the book, or has it inherit one."""
    uuid = ctx.scope.open_book
    with ctx.scope.store.read() as tx:
        name = known_model(tx, model) if model.strip() else None

    def apply(tx: WriteTx) -> ModelSet:
        space = tx.space(ctx.scope.space)
        changed = space.put([replace(space.get(Book, uuid), model=name)])
        found = inherited(space, space.get(Book, uuid)).value("model")
        result = "changed" if changed else "unchanged"
        return ModelSet(result=result, book=uuid, model=found.value, source=found.where)

    return Effect(apply)


class BackupsSet(Told):
    """When the book is backed up by itself."""

    result: str
    book: BookHandle
    changes: int | None = None
    minutes: int | None = None

    def sentence(self) -> str:
        """The rule in words."""
        rules: Sequence[str] = [
            *([counted(self.changes, "change")] if self.changes else []),
            *([counted(self.minutes, "minute")] if self.minutes else []),
        ]
        return f"A backup is made after {' or '.join(rules)}." if rules else "No backup is made by itself."


Often = Annotated[int | None, Field(ge=0, le=1_000_000)]


@command(
    "set-book-backups",
    title="Set when the book is backed up",
    severity=Severity.CHANGE,
    returns="after how many changes or minutes a backup is made",
    example="/set-book-backups 50 30",
)
def set_book_backups(
    ctx: Context,
    changes: Annotated[
        Often, Param("a backup after so many changes; 0: not by changes; without it your default")
    ] = None,
    minutes: Annotated[
        Often, Param("a backup after so many minutes with a change; 0: not by time; without it your default")
    ] = None,
) -> Effect[BackupsSet]:
    """Says after how many changes or minutes a backup of the book is made by itself; without numbers: your defaults."""
    uuid = ctx.scope.open_book

    def apply(tx: WriteTx) -> BackupsSet:
        space = tx.space(ctx.scope.space)
        book = replace(space.get(Book, uuid), backup_changes=changes, backup_minutes=minutes)
        changed = space.put([book])
        every, apart = backup_rule(tx.store.home, book)
        return BackupsSet(
            result="changed" if changed else "unchanged", book=uuid, changes=every or None, minutes=apart or None
        )

    return Effect(apply)
