"""Commands that change the entries of the lore of the book.

A change of an entry is refused when the entry was changed between what was read and what is written.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from marginalia_tui.commands.context import Context, Effect
from marginalia_tui.commands.declare import command
from marginalia_tui.commands.definition import Param, Severity, parameter_names
from marginalia_tui.commands.lore_references import EntryRef, LorebookRef, open_lore
from marginalia_tui.commands.omissions import new_omissions
from marginalia_tui.commands.patterns import Search, first_words
from marginalia_tui.commands.results import EntryHandle, LorebookHandle, Told
from marginalia_tui.commands.suites.booksettings import read_tags
from marginalia_tui.domain.errors import Invalid, NotFound
from marginalia_tui.domain.items import Lorebook
from marginalia_tui.domain.sentences import counted, listed, quoted
from marginalia_tui.domain.words import count_words
from marginalia_tui.services import lore
from marginalia_tui.store.space import Space
from marginalia_tui.store.store import WriteTx

LONGEST_TEXT = 500_000
LONGEST_FILTER = 1_000
LARGEST = 1_000_000

Name = Annotated[str, Field(max_length=1_000)]
Text = Annotated[str, Field(max_length=LONGEST_TEXT)]
Filter = Annotated[str, Field(max_length=LONGEST_FILTER)]
Number = Annotated[int, Field(ge=-LARGEST, le=LARGEST)]
Place = Annotated[int, Field(ge=0, le=LARGEST)]
Tags = Annotated[str, Field(max_length=10_000)]

NameParam = Param("its name")
TextParam = Param("what the model is told", for_model="What a writer must know: the complete text of the entry.")
FilterParam = Param(
    "what must be found for it to be active; without it always",
    for_model="The words that make it active when the story says them, such as a name.",
)
ModeParam = Param("how the filter is read: text or regex", for_model="text, or regex for a regular expression.")
ConstantParam = Param("whether it is always active")
EnabledParam = Param("whether it is used")
OrderParam = Param("its place among the entries that are told, lower first")
LookBackParam = Param("how many parts before the turn the filter is looked for in")
FirstParam = Param("the first part in which it may be active; 0 for none")
LastParam = Param("the last part in which it may be active; 0 for none")
TagsParam = Param("tags with commas between: the book must have one of them")
NegativeTagsParam = Param("tags with commas between: the book may have none of them")
InsertionParam = Param("where it is told: lore (with the other lore) or prompt (before the prompt of the turn)")
CommentParam = Param("a note for the author, which no model is told")


class EntryMade(Told):
    """A new entry."""

    result: str
    entry: EntryHandle
    name: str
    lorebook: LorebookHandle
    lorebook_name: str
    words: int

    def sentence(self) -> str:
        """Where it is."""
        return f"{quoted(self.name)} is new in {quoted(self.lorebook_name)}: {counted(self.words, 'word')}."


@command(
    "create-lore-entry",
    title="Create a lore entry",
    severity=Severity.ADD,
    returns="the handle of the new entry and the lorebook that it is in",
    example='/create-lore-entry "The lighthouse" "It has been dark since the storm." "" lighthouse',
    for_model="Adds an entry to the lore: a fact that the writer of a part is told when its filter is found. Pass "
    "name, text and filter (a word the story uses for it). Leave lorebook out for the root. Returns the new handle.",
)
def create_lore_entry(
    ctx: Context,
    name: Annotated[Name, NameParam],
    text: Annotated[Text, TextParam] = "",
    lorebook: Annotated[
        LorebookRef | None,
        Param(
            "the lorebook; without it the root, which is made when there is none",
            for_model="The handle of the lorebook, such as h:l2. Leave it out for the root.",
            names="lorebook",
        ),
    ] = None,
    filter: Annotated[Filter, FilterParam] = "",
    mode: Annotated[Literal["text", "regex"], ModeParam] = "text",
    constant: Annotated[bool, ConstantParam] = False,
    order: Annotated[Number, OrderParam] = 100,
    look_back: Annotated[Place, LookBackParam] = 0,
    first: Annotated[Place, FirstParam] = 0,
    last: Annotated[Place, LastParam] = 0,
    tags: Annotated[Tags, TagsParam] = "",
    negative_tags: Annotated[Tags, NegativeTagsParam] = "",
    insertion: Annotated[Literal["lore", "prompt"], InsertionParam] = "lore",
    comment: Annotated[Text, CommentParam] = "",
    enabled: Annotated[bool, EnabledParam] = True,
) -> Effect[EntryMade]:
    """Adds an entry to a lorebook; a book without lore gets its root lorebook."""
    wanted = _checked(
        {
            "name": name, "text": text, "filter": filter, "mode": mode, "constant": constant, "order": order,
            "look_back": look_back, "first": first, "last": last, "tags": tags, "negative_tags": negative_tags,
            "insertion": insertion, "comment": comment, "enabled": enabled,
        }
    )  # fmt: skip
    check_filter(wanted["filter"], mode)
    check_marks("", text)
    _check_range(wanted["first"], wanted["last"])
    with open_lore(ctx) as opened:
        into = None if lorebook is None else opened.written_lorebook(lorebook).uuid

    def apply(tx: WriteTx) -> EntryMade:
        space = tx.space(ctx.scope.space)
        where = lore.ensure_root(space, ctx.scope.open_book) if into is None else still_there(space, into)
        entry = lore.create_entry(space, where.uuid, wanted)
        return EntryMade(
            result="created",
            entry=entry.uuid,
            name=entry.name,
            lorebook=where.uuid,
            lorebook_name=where.name,
            words=count_words(text),
        )

    return Effect(apply)


def changed_words(name: str, changed: list[str]) -> str:
    """Which fields of a lorebook or an entry are another value now, as a sentence."""
    if not changed:
        return f"Nothing was changed: {quoted(name)} says so already."
    if changed == ["enabled"]:
        return f"Changed whether {quoted(name)} is used."
    return f"Changed the {listed([each.replace('_', ' ') for each in changed])} of {quoted(name)}."


class EntryChanged(Told):
    """What a command did to an entry: the fields that are another value now."""

    result: str
    """`changed`, or `unchanged` when it was so already."""
    entry: EntryHandle
    name: str
    changed: list[str]

    def sentence(self) -> str:
        """The fields in words."""
        return changed_words(self.name, self.changed)


@command(
    "update-lore-entry",
    title="Change a lore entry",
    severity=Severity.CHANGE,
    returns="the entry and the fields that were changed",
    example='/update-lore-entry 2.5 "" "It was lit again in spring."',
    for_model="Changes fields of a lore entry. Pass entry (its handle) and only the fields that should change; text "
    "replaces the whole text. Returns the fields that were changed.",
)
def update_lore_entry(
    ctx: Context,
    entry: EntryRef,
    name: Annotated[Name | None, NameParam] = None,
    text: Annotated[Text | None, TextParam] = None,
    filter: Annotated[Filter | None, FilterParam] = None,
    mode: Annotated[Literal["text", "regex"] | None, ModeParam] = None,
    constant: Annotated[bool | None, ConstantParam] = None,
    enabled: Annotated[bool | None, EnabledParam] = None,
    order: Annotated[Number | None, OrderParam] = None,
    look_back: Annotated[Place | None, LookBackParam] = None,
    first: Annotated[Place | None, FirstParam] = None,
    last: Annotated[Place | None, LastParam] = None,
    tags: Annotated[Tags | None, TagsParam] = None,
    negative_tags: Annotated[Tags | None, NegativeTagsParam] = None,
    insertion: Annotated[Literal["lore", "prompt"] | None, InsertionParam] = None,
    comment: Annotated[Text | None, CommentParam] = None,
) -> Effect[EntryChanged]:
    """Changes fields of a lore entry: `""` leaves one as it is, a space in quotes empties it."""
    given: dict[str, Any] = {
        "name": name, "text": text, "filter": filter, "mode": mode, "constant": constant, "enabled": enabled,
        "order": order, "look_back": look_back, "first": first, "last": last, "tags": tags,
        "negative_tags": negative_tags, "insertion": insertion, "comment": comment,
    }  # fmt: skip
    wanted = _checked({key: value for key, value in given.items() if value is not None})
    with open_lore(ctx) as opened:
        value, seen = opened.load_entry(opened.written_entry(entry))
    if not wanted:
        raise Invalid(f"Give what should change: {parameter_names(given)}.")
    if wanted.keys() & {"filter", "mode"}:
        check_filter(wanted.get("filter", value.filter), wanted.get("mode", value.mode))
    _check_range(wanted.get("first", value.first), wanted.get("last", value.last))
    check_marks(value.text, wanted.get("text", value.text))

    def apply(tx: WriteTx) -> EntryChanged:
        changed = lore.change_entry(tx.space(ctx.scope.space), value.uuid, wanted)
        return EntryChanged(
            result="changed" if changed else "unchanged",
            entry=value.uuid,
            name=wanted.get("name", value.name),
            changed=changed,
        )

    return Effect(apply, reads={("entry", value.uuid): seen})


class EntryMoved(Told):
    """An entry that stands in another lorebook now."""

    result: str
    entry: EntryHandle
    name: str
    lorebook: LorebookHandle
    lorebook_name: str

    def sentence(self) -> str:
        """Where it is."""
        verb = "stands" if self.result == "moved" else "stood already"
        return f"{quoted(self.name)} {verb} in {quoted(self.lorebook_name)}."


@command(
    "move-lore-entry",
    title="Move a lore entry",
    severity=Severity.CHANGE,
    returns="the entry and the lorebook that it is in now",
    example="/move-lore-entry 1.5 2",
    for_model="Moves a lore entry into another lorebook of the book. Pass entry and lorebook, both as handles. Returns "
    "the entry and its lorebook.",
)
def move_lore_entry(ctx: Context, entry: EntryRef, lorebook: LorebookRef) -> Effect[EntryMoved]:
    """Moves a lore entry into another lorebook."""
    with open_lore(ctx) as opened:
        value, seen = opened.load_entry(opened.written_entry(entry))
        into = opened.written_lorebook(lorebook).uuid

    def apply(tx: WriteTx) -> EntryMoved:
        space = tx.space(ctx.scope.space)
        where = still_there(space, into)
        moved = lore.move_entry(space, value.uuid, into)
        return EntryMoved(
            result="moved" if moved else "unchanged",
            entry=value.uuid,
            name=value.name,
            lorebook=into,
            lorebook_name=where.name,
        )

    return Effect(apply, reads={("entry", value.uuid): seen})


class EntryDeleted(Told):
    """An entry that is gone."""

    result: str
    entry: EntryHandle
    name: str
    lorebook_name: str

    def sentence(self) -> str:
        """What was done."""
        return f"Deleted {quoted(self.name)} from {quoted(self.lorebook_name)}. undo brings it back."


@command(
    "delete-lore-entry",
    title="Delete a lore entry",
    severity=Severity.REMOVE,
    destructive=True,
    returns="the entry that was deleted",
    example="/delete-lore-entry 2.5",
    for_model="Deletes one lore entry with its text. Pass entry (its handle). To keep it but not use it, call "
    "update-lore-entry with enabled false instead.",
)
def delete_lore_entry(ctx: Context, entry: EntryRef) -> Effect[EntryDeleted]:
    """Deletes a lore entry."""
    with open_lore(ctx) as opened:
        value, seen = opened.load_entry(opened.written_entry(entry))
        label = opened.entry_label(value.uuid)
        where = opened.tree.lorebooks[value.lorebook].name
    ctx.confirm(
        f"Delete {label} with its {counted(count_words(value.text), 'word')}?",
        [f"It begins: {first_words(value.text)}"] if value.text else [],
    )

    def apply(tx: WriteTx) -> EntryDeleted:
        lore.delete_entries(tx.space(ctx.scope.space), [value.uuid])
        return EntryDeleted(result="deleted", entry=value.uuid, name=value.name, lorebook_name=where)

    return Effect(apply, reads={("entry", value.uuid): seen})


def still_there(space: Space, uuid: str) -> Lorebook:
    """A lorebook inside the transaction that writes.

    Raises:
        NotFound: it was deleted since it was read.
    """
    found = space.find(Lorebook, uuid)
    if found is None or found.deleted is not None:
        raise NotFound("The lorebook was deleted meanwhile: nothing was changed. list-lorebooks shows the lorebooks.")
    return found


def check_filter(filter: str, mode: str) -> None:
    """Refuses a filter that could never fit.

    Raises:
        Invalid: it is no regular expression, but is to be read as one.
    """
    if mode == "regex" and filter:
        Search(filter, "regex", dot_all=True)


def check_marks(old: str, new: str) -> None:
    """Refuses a text that leaves words out.

    Raises:
        Invalid: it holds a mark such as `[...]` that the old one does not.
    """
    if added := new_omissions(old, new):
        raise Invalid(
            f"The text holds {quoted(added[0])}, which stands for words that are left out: write the words themselves."
        )


def _check_range(first: int | None, last: int | None) -> None:
    if first is not None and last is not None and first > last:
        raise Invalid(f"The first part ({first:,}) is behind the last ({last:,}): it could never be active.")


def _checked(given: Mapping[str, Any]) -> dict[str, Any]:
    """The fields as an entry has them: names on one line, 0 for no end of the range, tags as tags."""
    wanted = dict(given)
    if "name" in wanted:
        wanted["name"] = lore.check_name(wanted["name"], "entry")
    for key in ("text", "comment", "filter"):
        if key in wanted and not wanted[key].strip():
            wanted[key] = ""
    for key in ("first", "last"):
        if key in wanted:
            wanted[key] = wanted[key] or None
    for key in ("tags", "negative_tags"):
        if key in wanted:
            wanted[key] = tuple(read_tags(wanted[key]))
    return wanted
