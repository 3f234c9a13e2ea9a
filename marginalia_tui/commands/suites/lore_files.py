"""Commands that bring a lorebook in from a file of another program, and write one out.

They read and write files, which only the author may name: no agent is given them.
"""

from typing import Annotated

from pydantic import Field

from marginalia_tui.commands.context import Context, Effect
from marginalia_tui.commands.declare import command
from marginalia_tui.commands.definition import Param, Severity, Work
from marginalia_tui.commands.lore_references import LorebookPlace, LorebookRef, open_lore
from marginalia_tui.commands.results import LorebookHandle, Told
from marginalia_tui.commands.suites.lore_write import Name
from marginalia_tui.domain.errors import NotFound
from marginalia_tui.domain.paths import typed_path
from marginalia_tui.domain.sentences import counted, quoted
from marginalia_tui.services import lore
from marginalia_tui.services.exchange import files
from marginalia_tui.services.exchange.lorefile import left_note
from marginalia_tui.store.store import WriteTx

FilePath = Annotated[str, Field(min_length=1, max_length=4_096)]


class LoreImported(Told):
    """A lorebook that came in, with those below it; `above` is there unless it is the root."""

    lorebook: LorebookHandle
    name: str
    entries: int
    below: int
    """Lorebooks below it."""
    above: LorebookHandle | None = None
    note: str = ""
    """What was kept of the file without effect here, by name and number."""

    def sentence(self) -> str:
        """What it is, and what was left."""
        below = f" and {counted(self.below, 'lorebook')} below it" if self.below else ""
        root = "" if self.above else ", the root of the lore of the book"
        made = f"The lorebook {quoted(self.name)} is new{root}: {counted(self.entries, 'entry', 'entries')}{below}."
        return f"{made} {self.note}".rstrip()


@command(
    "import-lore",
    title="Import a lorebook",
    severity=Severity.ADD,
    work=Work.LONG,
    returns="the new lorebook, its entries, and what of the file has no place here",
    example="/import-lore coast.json",
)
def import_lore(
    ctx: Context,
    file: Annotated[
        FilePath,
        Param(
            "world info, a .lorebook of NovelAI, or a character card (JSON or picture) with a lorebook", names="file"
        ),
    ],
    name: Annotated[Name, Param("its name; without it the one that it has, or that of the file")] = "",
    parent: Annotated[
        LorebookRef | None, Param("the lorebook that it stands below; without it the root", names="lorebook")
    ] = None,
) -> Effect[LoreImported]:
    """Brings a lorebook of SillyTavern, NovelAI or a character card into the lore of the book."""
    # The readers are imported when they are needed: no opening of the studio waits for them.
    from marginalia_tui.services.exchange.loreimport import read_lore
    from marginalia_tui.services.exchange.lorelibrary import add_lore

    wanted = lore.check_name(name, "lorebook") if name.strip() else None
    with open_lore(ctx) as opened:
        above = None if parent is None else opened.written_lorebook(parent).uuid
    ctx.status("Reading the file")
    found = read_lore(typed_path(file))
    ctx.check()
    ctx.status("Adding the lorebook", done=0, total=found.count())

    def apply(tx: WriteTx) -> LoreImported:
        made, over = add_lore(tx.space(ctx.scope.space), ctx.scope.open_book, found, above, name=wanted)
        return LoreImported(
            lorebook=made.uuid,
            name=made.name,
            entries=found.count(),
            below=sum(1 for _ in found.lorebooks()) - 1,
            above=over,
            note=left_note(found.left),
        )

    return Effect(apply)


class LoreExported(Told):
    """A lorebook that was written to a file."""

    file: str
    bytes: int
    name: str
    entries: int
    note: str = ""
    """What of it other programs can't know, by name and number."""

    def sentence(self) -> str:
        """Where it is, and what was left."""
        made = f"Wrote {quoted(self.name)} with {counted(self.entries, 'entry', 'entries')} to {self.file}"
        return f"{made} ({counted(self.bytes, 'byte')}). {self.note}".rstrip()


@command(
    "export-lore",
    title="Export a lorebook",
    severity=Severity.READ,
    work=Work.LONG,
    returns="the file that was written, and what of the lorebook other programs can't know",
    example="/export-lore coast.json 2",
)
def export_lore(
    ctx: Context,
    file: Annotated[FilePath, Param("the file to write, world info as JSON", names="file")],
    lorebook: Annotated[
        LorebookPlace | None, Param("the lorebook; without it the root, with all the lore", names="lorebook")
    ] = None,
    replace: Annotated[bool, Param("whether a file that stands there is replaced")] = False,
) -> LoreExported:
    """Writes a lorebook, with those below it, as world info for SillyTavern and its like."""
    from marginalia_tui.services.exchange.lorelibrary import lore_of
    from marginalia_tui.services.exchange.worldinfo import write_worldinfo

    path = typed_path(file)
    files.check_target(path, replace)
    with open_lore(ctx) as opened:
        if lorebook is None and opened.tree.root is None:
            raise NotFound("This book has no lore yet: create-lore-entry begins it.")
        root = opened.tree.root if lorebook is None else opened.read_lorebook(lorebook)
        assert root is not None
        found = lore_of(opened.space, root.uuid)
    ctx.status("Writing the file")
    data, left = write_worldinfo(found)
    ctx.check()
    files.write_file(path, data, replace)
    return LoreExported(
        file=str(path.absolute()),
        bytes=len(data),
        name=found.title,
        entries=found.count(),
        note=left_note(left, out=True),
    )
