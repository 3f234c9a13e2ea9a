"""Commands that read the book: its facts, its parts and branches. They never write."""

from typing import Annotated

from marginalia_tui.commands.bounds import (
    LENGTH,
    LIMIT,
    Limit,
    Offset,
    Page,
    Slice,
    TextLength,
    TextOffset,
    page_of,
    slice_of,
)
from marginalia_tui.commands.context import Context
from marginalia_tui.commands.declare import command
from marginalia_tui.commands.definition import Param, Severity, Work
from marginalia_tui.commands.patterns import first_words
from marginalia_tui.commands.references import BranchRef, OpenBook, PlaceRef, open_book, texts_of
from marginalia_tui.commands.results import BookHandle, PartHandle, Result
from marginalia_tui.domain.errors import Invalid
from marginalia_tui.domain.inherit import Source
from marginalia_tui.domain.items import Part
from marginalia_tui.domain.prompts import PROMPTS
from marginalia_tui.domain.sentences import counted
from marginalia_tui.domain.words import count_words
from marginalia_tui.llm.tokens import count_tokens
from marginalia_tui.services.books import holder
from marginalia_tui.services.effective import inherited
from marginalia_tui.services.folders import path_names
from marginalia_tui.store.space import LIBRARY


class InheritedRow(Result):
    """A fact that the book does not say itself, and where it comes from."""

    field: str
    source: str


class BookInfo(Result):
    """The facts about a book, those that it inherits too. `parts` and `words` count the active branch."""

    book: BookHandle
    title: str
    author: str
    description: str
    language: str
    pov: str
    tense: str
    style: str
    model: str | None = None
    """The model that writes in it; None: whoever asks for one chooses."""
    tags: list[str]
    folder: str | None = None
    """The path of the folder that it stands in, for the author."""
    own: list[str]
    """Which of language, point of view, tense, style, model and prompts it says itself."""
    inherited: list[InheritedRow]
    """Those that a folder or the author's defaults say."""
    parts: int
    words: int
    all_parts: int
    """Parts of all branches."""
    branches: int
    active_branch: int | None
    held_by: str | None = None
    """The agent that works on a copy; the book can't be changed meanwhile."""


@command(
    "get-book-info",
    title="About the book",
    severity=Severity.READ,
    returns="title, author, language, style, and how many parts and words there are",
    example="/get-book-info",
    for_model="Returns the title, author, language, point of view, tense, style and tags of the book, and how many "
    "parts and words it has. own names the facts that the book says itself; the others are inherited. Takes no "
    "arguments. Call list-parts next to see the parts.",
)
def get_book_info(ctx: Context) -> BookInfo:
    """Shows the title, author, language and style of the book, and how large it is."""
    with open_book(ctx) as opened:
        book, tree = opened.book, opened.tree
        holds = inherited(opened.space, book)
        says = {**holds.values(), **{f"prompt {name}": holds.prompt(name) for name in PROMPTS}}
        path = [] if ctx.scope.is_agent else path_names(opened.space.tx.space(LIBRARY), book.folder)
        held_by = None if ctx.scope.is_agent else holder(opened.space.tx, book.uuid)
        return BookInfo(
            book=book.uuid,
            title=book.title,
            author=book.author,
            description=book.description,
            language=says["language"].value,
            pov=says["pov"].value,
            tense=says["tense"].value,
            style=says["style"].value,
            model=says["model"].value or None,
            tags=list(book.tags),
            folder=" / ".join(path) or None,
            own=[name for name, found in says.items() if found.own],
            inherited=[
                InheritedRow(field=name, source=found.where)
                for name, found in says.items()
                if found.source in (Source.FOLDER, Source.DEFAULTS)
            ],
            parts=len(tree.active),
            words=sum(opened.row(uuid).words for uuid in tree.active),
            all_parts=len(tree.rows),
            branches=len(tree.leaves),
            active_branch=tree.branch_number(tree.active_leaf) if tree.active_leaf else None,
            held_by=held_by,
        )


class PartRow(Result):
    """A part in a list. `swipes` is there when it has alternatives; `branch` when the active one lacks it."""

    position: int
    part: PartHandle
    title: str
    words: int
    swipes: int | None = None
    branch: int | None = None


class PartList(Page):
    """The parts of a branch, in reading order."""

    thing = ("part", "parts")

    branch: int | None
    parts: list[PartRow]


@command(
    "list-parts",
    title="List the parts",
    severity=Severity.READ,
    returns="a row for each part: position, handle, title, words",
    example="/list-parts",
    for_model="Lists the parts of the book in reading order. Each row has position, part (the handle to pass to "
    "other commands), title and words. The text is not in the list: call get-part to read it.",
)
def list_parts(ctx: Context, branch: BranchRef = None, offset: Offset = 0, limit: Limit = LIMIT) -> PartList:
    """Lists the parts of a branch in reading order, with their words."""
    with open_book(ctx) as opened:
        leaf = opened.leaf(branch)
        chain = opened.tree.branch(leaf) if leaf else []
        rows, page = page_of(chain, offset, limit)
        number = opened.branch_numbers[leaf] if leaf else None
        return PartList(branch=number, parts=[_part_row(opened, uuid) for uuid in rows], **page)


def _part_row(opened: OpenBook, uuid: str) -> PartRow:
    row = opened.row(uuid)
    swipes = len(opened.tree.swipes(uuid))
    return PartRow(
        position=opened.depths[uuid],
        part=uuid,
        title=row.title,
        words=row.words,
        swipes=swipes if swipes > 1 else None,
    )


class PartText(Slice):
    """A part with a slice of its text. `version` names the text as it is now."""

    part: PartHandle
    position: int
    title: str
    words: int
    branch: int | None = None
    swipe: str | None = None
    version: str
    instructions: str | None = None
    scene: str | None = None
    pov: str | None = None
    present: str | None = None


@command(
    "get-part",
    title="Read a part",
    severity=Severity.READ,
    returns="the text, or a slice of it, with what is known of the part",
    example="/get-part 3",
    for_model="Returns the text of one part. Pass part: its handle, such as h:m3, or its position. A long text comes "
    "in slices: when truncated is true, call again with offset set to nextOffset.",
)
def get_part(
    ctx: Context,
    part: PlaceRef,
    branch: BranchRef = None,
    offset: TextOffset = 0,
    length: TextLength = LENGTH,
) -> PartText:
    """Shows the text of a part, with its title and what the turn was given."""
    with open_book(ctx) as opened:
        uuid = opened.read_part(part, opened.leaf(branch))
        value = opened.space.get(Part, uuid)
        swipes = opened.tree.swipes(uuid)
        return PartText(
            part=uuid,
            position=opened.tree.position(uuid),
            title=value.title,
            words=value.words,
            branch=opened.off_branch(uuid),
            swipe=f"{list(swipes).index(uuid) + 1} of {len(swipes)}" if len(swipes) > 1 else None,
            version=version_of(opened.row(uuid).hash),
            instructions=value.instructions or None,
            scene=value.scene or None,
            pov=value.pov or None,
            present=value.present or None,
            **slice_of(value.text, offset, length),
        )


def version_of(hash: bytes) -> str:
    """The word for a state of a part."""
    return hash.hex()[:12]


class BranchRow(Result):
    """A branch: its number, its last part, how many parts it has."""

    number: int
    leaf: PartHandle
    last_title: str
    parts: int
    active: bool


class BranchList(Page):
    """The branches of a book, oldest first."""

    thing = ("branch", "branches")

    branches: list[BranchRow]


@command(
    "list-branches",
    title="List the branches",
    severity=Severity.READ,
    returns="a row for each branch: number, last part, parts, whether it is the active one",
    example="/list-branches",
    for_model="Lists the branches of the book. A branch is one way to read it, from the first part to a last one. "
    "Each row has number, leaf (the handle of its last part), parts and active. Most books have one branch.",
)
def list_branches(ctx: Context, offset: Offset = 0, limit: Limit = LIMIT) -> BranchList:
    """Lists the branches of the book: the ways to read it from the first part to a last one."""
    with open_book(ctx) as opened:
        leaves, page = page_of(opened.tree.leaves, offset, limit)
        rows = [
            BranchRow(
                number=opened.branch_numbers[leaf],
                leaf=leaf,
                last_title=opened.row(leaf).title,
                parts=opened.depths[leaf],
                active=leaf == opened.tree.active_leaf,
            )
            for leaf in leaves
        ]
        return BranchList(branches=rows, **page)


class SwipeRow(Result):
    """One of the alternatives of a part, and the branch that shows it."""

    number: int
    part: PartHandle
    title: str
    words: int
    branch: int
    active: bool
    begins: str


class SwipeList(Page):
    """The alternatives at one place of the book, oldest first."""

    thing = ("swipe", "swipes")

    position: int
    swipes: list[SwipeRow]


@command(
    "list-swipes",
    title="List the swipes of a part",
    severity=Severity.READ,
    returns="a row for each alternative of the part: handle, words, the branch that shows it",
    example="/list-swipes 3",
    for_model="Lists the alternatives (swipes) of one part: other parts at the same place of the book. Pass part: its "
    "handle or position. Each row has part (its handle), words, branch and how it begins.",
)
def list_swipes(ctx: Context, part: PlaceRef, offset: Offset = 0, limit: Limit = LIMIT) -> SwipeList:
    """Lists the alternatives of a part: the parts that stand at the same place."""
    with open_book(ctx) as opened:
        uuid = opened.read_part(part)
        swipes = list(opened.tree.swipes(uuid))
        some, page = page_of(swipes, offset, limit)
        texts = opened.space.texts(some)
        rows = [
            SwipeRow(
                number=swipes.index(each) + 1,
                part=each,
                title=opened.row(each).title,
                words=opened.row(each).words,
                branch=opened.branch_numbers[opened.tree.branch_showing(each)],
                active=each in opened.tree.positions,
                begins=first_words(texts[each]),
            )
            for each in some
        ]
        return SwipeList(position=opened.depths[uuid], swipes=rows, **page)


class TokenCount(Result):
    """An estimate of the tokens of a text: every model counts in its own way."""

    counted: str
    tokens: int
    words: int
    parts: int | None = None

    def sentence(self) -> str:
        """The numbers in words."""
        return f"About {counted(self.tokens, 'token')}, {counted(self.words, 'word')}: {self.counted}."

    def untold(self) -> frozenset[str]:
        """The sentence says all but the parts."""
        return frozenset({"counted", "tokens", "words"})


@command(
    "count-tokens",
    title="Count tokens",
    severity=Severity.READ,
    work=Work.LONG,
    returns="about how many tokens a part, a text or the whole branch has",
    example="/count-tokens 3",
    for_model="Estimates how many tokens a text has for a language model. Pass part (a handle or position) or text, "
    "not both. With neither it counts the whole active branch.",
)
def count_tokens_of(
    ctx: Context,
    part: Annotated[PlaceRef | None, Param("the part to count", names="part")] = None,
    text: Annotated[str, Param("the text to count, instead of a part")] = "",
) -> TokenCount:
    """Estimates the tokens of a part, of a text, or of the whole active branch."""
    if part is not None and text:
        raise Invalid("count-tokens counts a part or a text: give one of them.")
    if text:
        return TokenCount(counted="the text given", tokens=count_tokens(text), words=count_words(text))
    with open_book(ctx) as opened:
        chain = opened.tree.active if part is None else [opened.read_part(part)]
        what = "the active branch" if part is None else opened.label(chain[0])
        words = sum(opened.row(uuid).words for uuid in chain)
    tokens = 0
    for _, body in texts_of(ctx, chain, "Counting tokens"):
        tokens += count_tokens(body)
    return TokenCount(counted=what, tokens=tokens, words=words, parts=len(chain) if part is None else None)
