"""The words of the lorebook screen: rows of the tree and of the list, the facts of an entry."""

from typing import TYPE_CHECKING

from textual.content import Content

from marginalia_tui.domain.visible import visible_line
from marginalia_tui.widgets.table import Column, Row, Tone

if TYPE_CHECKING:
    from collections.abc import Sequence

    from marginalia_tui.desk.lorebook import EntryLine, EntryView, LorebookLine, LoreView, PreviewView

ALL = "all"
"""The key of the row that stands for all lorebooks."""
SORT_WORDS = {
    "told": "as they are told",
    "name": "by name",
    "words": "the longest first",
    "active": "the active first",
}
NO_NAME = "(no name)"


def tree_rows(view: "LoreView") -> list[Row]:
    """The lorebooks as rows, before them one for all when there are several."""
    rows = [_tree_row(line) for line in view.lorebooks]
    if len(rows) > 1:
        rows.insert(0, Row(ALL, ("All", f"{len(view.entries):,}", ""), tones=((1, "muted"),)))
    return rows


def _tree_row(line: "LorebookLine") -> Row:
    told = []
    if line.agents:
        told.append("* " + line.agents[0])
    if line.again:
        told.append("again")
    elif line.others:
        told.append("shared")
    name = "  " * line.level + (line.name or NO_NAME)
    return Row(
        line.key,
        (name, f"{line.entries:,}", ", ".join(told)),
        check="on" if line.enabled else "off",
        tone="plain" if line.live else "muted",
        tones=((1, "muted"), (2, "attention" if line.agents else "muted")),
    )


def place_words(line: "LorebookLine") -> str:
    """What is worth knowing of a lorebook beside its name: who else uses it, who holds it, its tags."""
    told = []
    if line.agents:
        told.append(f"held by {', '.join(line.agents)}")
    if line.others:
        told.append(f"also in {', '.join(line.others)}")
    if not line.enabled:
        told.append("not used: Space switches it on")
    elif not line.live:
        told.append("not used: one above it is switched off")
    if line.scan_depth:
        told.append(f"scan depth {line.scan_depth}")
    if line.tags:
        told.append(f"tags {', '.join(line.tags)}")
    return "; ".join(told)


COLUMNS = {
    "name": Column("Entry", grow=3, minimum=12),
    "when": Column("Active when", grow=2, minimum=10, drop=3),
    "here": Column("Here", width=18, drop=1),
    "words": Column("Words", "right", drop=2),
    "tags": Column("Tags", width=12, drop=4),
    "lorebook": Column("Lorebook", width=16, drop=5),
}
"""The columns of the list."""


def entry_columns(lines: "Sequence[EntryLine]") -> tuple[str, ...]:
    """The names of the columns that say something of these entries."""
    unsaid = set() if any(line.tags for line in lines) else {"tags"}
    if len({line.lorebook for line in lines}) < 2:
        unsaid.add("lorebook")
    return tuple(name for name in COLUMNS if name not in unsaid)


def entry_rows(
    lines: "Sequence[EntryLine]", preview: "PreviewView | None", columns: "Sequence[str]" = tuple(COLUMNS)
) -> list[Row]:
    """The entries as rows, each with its verdict when there is one."""
    verdicts = preview.verdicts if preview is not None else {}
    rows = []
    for line in lines:
        verdict = verdicts.get(line.uuid)
        active = verdict is not None and verdict.active
        cells = {
            "name": line.name or NO_NAME,
            "when": line.when,
            "here": "" if verdict is None else f"{'*' if active else ' '} {verdict.short}",
            "words": f"{line.words:,}",
            "tags": ", ".join(line.tags),
            "lorebook": line.lorebook_name,
        }
        here: Tone = "added" if active else "muted"
        tones: dict[str, Tone] = {**dict.fromkeys(cells, "muted"), "name": "plain", "here": here}
        rows.append(
            Row(
                line.uuid,
                tuple(cells[name] for name in columns),
                check="on" if line.enabled else "off",
                tone="plain" if verdict is None or active else "muted",
                tones=tuple((place, tones[name]) for place, name in enumerate(columns) if name != "name"),
            )
        )
    return rows


def entry_facts(entry: "EntryView", line: "EntryLine", preview: "PreviewView | None") -> list[Content]:
    """What stands above the text of an entry: its name, when it is active, whether it is, how it is told."""
    value = entry.entry
    lines = [Content(visible_line(value.name or NO_NAME)).stylize("bold")]
    verdict = preview.verdicts.get(value.uuid) if preview is not None else None
    if preview is not None and verdict is not None:
        state = f"active at {preview.place}" if verdict.active else f"not active at {preview.place}"
        said = f"{'*' if verdict.active else '-'} {state}: {visible_line(verdict.long)}"
        lines.append(Content(said).stylize("$added" if verdict.active else "$muted"))
    how = [f"when: {line.when}"]
    if value.tags:
        how.append(f"needs the tag {' or '.join(value.tags)}")
    if value.negative_tags:
        how.append(f"not with the tag {' or '.join(value.negative_tags)}")
    if not value.enabled:
        how.append("switched off")
    lines.append(Content(visible_line("; ".join(how))).stylize("$muted"))
    told = ", told before the prompt" if value.insertion == "prompt" else ""
    size = f"{entry.words:,} word{'' if entry.words == 1 else 's'}, about {entry.tokens:,} tokens"
    lines.append(Content(visible_line(f"{line.lorebook_name}; order {value.order:,}{told}")).stylize("$muted"))
    lines.append(Content(size).stylize("$muted"))
    return lines


def entry_text(entry: "EntryView") -> str:
    """The text of an entry, below it the author's note."""
    value = entry.entry
    text = value.text or "*This entry has no text yet.*"
    return f"{text}\n\n* * *\n\n*Note, which no model reads:* {value.comment}" if value.comment else text
