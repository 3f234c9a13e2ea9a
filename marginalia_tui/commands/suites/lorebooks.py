"""Commands that change the tree of lorebooks of the book.

A lorebook may be used by several books; what is done to it is done for all of them, and the question says so.
"""

from typing import Annotated, Any

from pydantic import Field

from marginalia_tui.commands.context import Context, Effect
from marginalia_tui.commands.declare import command
from marginalia_tui.commands.definition import Param, Severity, parameter_names
from marginalia_tui.commands.lore_references import LorebookRef, OpenLore, open_lore
from marginalia_tui.commands.references import Reference
from marginalia_tui.commands.results import LorebookHandle, Told
from marginalia_tui.commands.suites.booksettings import read_tags
from marginalia_tui.commands.suites.lore_write import Name, Tags, changed_words, still_there
from marginalia_tui.domain.errors import Invalid, NotFound
from marginalia_tui.domain.sentences import counted, listed, quoted
from marginalia_tui.services import lore
from marginalia_tui.store.store import WriteTx


class LorebookMade(Told):
    """A new lorebook; `above` is there unless it is the root."""

    result: str
    lorebook: LorebookHandle
    name: str
    above: LorebookHandle | None = None

    def sentence(self) -> str:
        """What it is."""
        return f"The lorebook {quoted(self.name)} is new{'' if self.above else ', the root of the lore of the book'}."


@command(
    "create-lorebook",
    title="Create a lorebook",
    severity=Severity.ADD,
    returns="the handle of the new lorebook",
    example="/create-lorebook Places",
    for_model="Adds a lorebook: a group of lore entries. Pass name. It stands below the root lorebook, or below parent "
    "(a handle). A book without lore gets it as its root. Returns lorebook, the new handle.",
)
def create_lorebook(
    ctx: Context,
    name: Annotated[Name, Param("its name")],
    parent: Annotated[
        LorebookRef | None,
        Param(
            "the lorebook that it stands below; without it the root",
            for_model="The handle of the lorebook that it stands below. Leave it out for the root.",
            names="lorebook",
        ),
    ] = None,
) -> Effect[LorebookMade]:
    """Adds a lorebook below the root, or below another one."""
    name = lore.check_name(name, "lorebook")
    with open_lore(ctx) as opened:
        given = None if parent is None else opened.written_lorebook(parent).uuid

    def apply(tx: WriteTx) -> LorebookMade:
        made, above = lore.create_lorebook(tx.space(ctx.scope.space), ctx.scope.open_book, name, given)
        return LorebookMade(result="created", lorebook=made.uuid, name=name, above=above)

    return Effect(apply)


class LorebookChanged(Told):
    """What a command did to a lorebook: the fields that are another value now."""

    result: str
    lorebook: LorebookHandle
    name: str
    changed: list[str]

    def sentence(self) -> str:
        """The fields in words."""
        return changed_words(self.name, self.changed)


@command(
    "update-lorebook",
    title="Change a lorebook",
    severity=Severity.CHANGE,
    returns="the lorebook and the fields that were changed",
    example='/update-lorebook 2 "Places of the coast"',
    for_model="Changes the name, enabled, scanDepth or tags of a lorebook. Pass lorebook (its handle) and only what "
    "should change. scanDepth of the root says in how many passes found entries make other entries active.",
)
def update_lorebook(
    ctx: Context,
    lorebook: LorebookRef,
    name: Annotated[Name | None, Param("its name")] = None,
    enabled: Annotated[bool | None, Param("whether it and what is below it are used")] = None,
    scan_depth: Annotated[
        Annotated[int, Field(ge=0, le=lore.MAX_SCAN_DEPTH)] | None,
        Param("passes in which what was found makes other entries active; that of the root counts"),
    ] = None,
    tags: Annotated[
        Tags | None, Param("tags with commas between: its entries need one of them or of their own")
    ] = None,
) -> Effect[LorebookChanged]:
    """Changes a lorebook: `""` leaves a field as it is, a space in quotes takes all tags away."""
    given: dict[str, Any] = {
        "name": name if name is None else lore.check_name(name, "lorebook"),
        "enabled": enabled,
        "scan_depth": scan_depth,
        "tags": tags if tags is None else tuple(read_tags(tags)),
    }
    wanted = {key: value for key, value in given.items() if value is not None}
    with open_lore(ctx) as opened:
        value = opened.written_lorebook(lorebook)
        seen = opened.load_lorebook(value.uuid)
    if not wanted:
        raise Invalid(f"Give what should change: {parameter_names(given)}.")

    def apply(tx: WriteTx) -> LorebookChanged:
        changed = lore.change_lorebook(tx.space(ctx.scope.space), value.uuid, wanted)
        return LorebookChanged(
            result="changed" if changed else "unchanged",
            lorebook=value.uuid,
            name=wanted.get("name", value.name),
            changed=changed,
        )

    return Effect(apply, reads={("lorebook", value.uuid): seen})


class SubbookAdded(Told):
    """A lorebook that stands below another one now."""

    result: str
    """`added`, `revived` (it had been deleted), or `unchanged`."""
    lorebook: LorebookHandle
    name: str
    parent: LorebookHandle
    parent_name: str
    entries: int

    def sentence(self) -> str:
        """Where it is."""
        if self.result == "unchanged":
            return f"{quoted(self.name)} stood below {quoted(self.parent_name)} already."
        back = " again, brought back" if self.result == "revived" else ""
        entries = counted(self.entries, "entry", "entries")
        return f"{quoted(self.name)} stands below {quoted(self.parent_name)}{back} with {entries}."


@command(
    "add-subbook",
    title="Put a lorebook below another",
    severity=Severity.CHANGE,
    returns="the lorebook, what it stands below, and whether it was brought back",
    example="/add-subbook 1 Places",
    for_model="Puts a lorebook below another one; it may stand below several. Pass parent and lorebook, both as "
    "handles. It also brings back a lorebook that was deleted or taken out, when you have its handle.",
)
def add_subbook(
    ctx: Context,
    parent: LorebookRef,
    lorebook: Annotated[
        Reference,
        Param(
            "the lorebook: of this book, of another one, or deleted",
            for_model="The handle of the lorebook to put there, which may be a deleted one.",
            names="lorebook",
        ),
    ],
) -> Effect[SubbookAdded]:
    """Puts a lorebook below another one: one of this book, one that others use, or a deleted one."""
    with open_lore(ctx) as opened:
        above = opened.written_lorebook(parent)
        below = opened.any_lorebook(lorebook)
        seen = opened.load_lorebook(below.uuid)
        lore.check_below(opened.space, above.uuid, below.uuid)

    def apply(tx: WriteTx) -> SubbookAdded:
        space = tx.space(ctx.scope.space)
        still_there(space, above.uuid)
        return SubbookAdded(
            result=lore.add_subbook(space, above.uuid, below.uuid),
            lorebook=below.uuid,
            name=below.name,
            parent=above.uuid,
            parent_name=above.name,
            entries=lore.count_entries(space, [below.uuid])[below.uuid],
        )

    return Effect(apply, reads={("lorebook", below.uuid): seen})


class SubbookRemoved(Told):
    """A lorebook that does not stand below another one any more."""

    result: str
    lorebook: LorebookHandle
    name: str
    parent: LorebookHandle
    parent_name: str
    still_used: bool
    """Whether this book still uses it."""

    def sentence(self) -> str:
        """What was done."""
        rest = "" if self.still_used else "; this book does not use it any more. add-subbook puts it back"
        return f"Took {quoted(self.name)} out of {quoted(self.parent_name)}{rest}."


@command(
    "remove-subbook",
    title="Take a lorebook out of another",
    severity=Severity.REMOVE,
    destructive=True,
    returns="the lorebook, and whether the book still uses it",
    example="/remove-subbook 1 Places",
    for_model="Takes a lorebook out of the one it stands below; its entries stay with it. Pass parent and lorebook, "
    "both as handles. add-subbook puts it back. To switch it off call update-lorebook with enabled false instead.",
)
def remove_subbook(ctx: Context, parent: LorebookRef, lorebook: LorebookRef) -> Effect[SubbookRemoved]:
    """Takes a lorebook out of the one that it stands below; its entries stay with it."""
    with open_lore(ctx) as opened:
        above, below = opened.written_lorebook(parent), opened.written_lorebook(lorebook)
        if below.uuid not in above.subbooks:
            raise NotFound(
                f"{quoted(below.name)} does not stand right below {quoted(above.name)}: list-lorebooks shows where it "
                "stands."
            )
        seen = {("lorebook", above.uuid): opened.load_lorebook(above.uuid)}
        question = f"Take {opened.lorebook_label(below.uuid)} out of {opened.lorebook_label(above.uuid)}?"
        shows = [*_what_it_has(opened, below.uuid), *_whose(opened, above.uuid)]
    ctx.confirm(question, shows)

    def apply(tx: WriteTx) -> SubbookRemoved:
        space = tx.space(ctx.scope.space)
        lore.remove_subbook(space, above.uuid, below.uuid)
        return SubbookRemoved(
            result="removed",
            lorebook=below.uuid,
            name=below.name,
            parent=above.uuid,
            parent_name=above.name,
            still_used=lore.is_used(space, ctx.scope.open_book, below.uuid),
        )

    return Effect(apply, reads=seen)


class LorebookDeleted(Told):
    """A lorebook that is in the trash, with its entries."""

    result: str
    lorebook: LorebookHandle
    name: str
    entries: int

    def sentence(self) -> str:
        """What was done."""
        entries = counted(self.entries, "entry", "entries")
        return f"Deleted {quoted(self.name)} with its {entries}. undo or add-subbook brings it back."


@command(
    "delete-lorebook",
    title="Delete a lorebook",
    severity=Severity.REMOVE,
    destructive=True,
    returns="the lorebook that was deleted, and how many entries went with it",
    example="/delete-lorebook Places",
    for_model="Deletes a lorebook with its entries, wherever it is used. Pass lorebook (its handle). What stands only "
    "below it is not used any more. add-subbook brings it back.",
)
def delete_lorebook(ctx: Context, lorebook: LorebookRef) -> Effect[LorebookDeleted]:
    """Deletes a lorebook with its entries, wherever it is used."""
    with open_lore(ctx) as opened:
        value = opened.written_lorebook(lorebook)
        seen = {("lorebook", value.uuid): opened.load_lorebook(value.uuid)}
        entries = lore.count_entries(opened.space, [value.uuid])[value.uuid]
        question = f"Delete {opened.lorebook_label(value.uuid)}?"
        shows = [*_what_it_has(opened, value.uuid), *_whose(opened, value.uuid)]
    ctx.confirm(question, shows)

    def apply(tx: WriteTx) -> LorebookDeleted:
        lore.delete_lorebook(tx.space(ctx.scope.space), value.uuid)
        return LorebookDeleted(result="deleted", lorebook=value.uuid, name=value.name, entries=entries)

    return Effect(apply, reads=seen)


def _what_it_has(opened: OpenLore, uuid: str) -> list[str]:
    """What goes with a lorebook, as a line of a question."""
    entries = lore.count_entries(opened.space, [uuid])[uuid]
    below = sum(each in opened.tree.lorebooks for each in opened.tree.lorebooks[uuid].subbooks)
    rest = f", and {counted(below, 'lorebook')} below it" if below else ""
    return [f"It has {counted(entries, 'entry', 'entries')}{rest}."]


def _whose(opened: OpenLore, uuid: str) -> list[str]:
    """The other books for which it is done too, as a line of a question."""
    others = lore.other_books(opened.space, uuid, opened.book.uuid)
    return [f"Other books use it too: {listed([quoted(each.title, 40) for each in others], 5)}."] if others else []
