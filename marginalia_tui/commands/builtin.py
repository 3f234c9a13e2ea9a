"""The registry as it ships."""

from marginalia_tui.commands.registry import Registry
from marginalia_tui.commands.suites import (
    annotate,
    annotations,
    backups,
    blame,
    book,
    book_files,
    booksettings,
    compare,
    edit,
    folders,
    help,
    history,
    images,
    lore_files,
    lore_preview,
    lore_read,
    lore_replace,
    lore_shelf,
    lore_write,
    lorebooks,
    read,
    replace,
    reshape,
    search,
    search_library,
    statistics,
    structure,
    summaries,
    trash,
)


def builtin_registry() -> Registry:
    """A new registry with the suites of the studio."""
    registry = Registry()
    registry.register(read, search, search_library, edit, replace, structure, book, help)
    registry.register(folders, booksettings, trash, backups, book_files)
    registry.register(summaries, reshape, images)
    registry.register(statistics)
    registry.register(annotations, annotate, history, compare, blame)
    registry.register(lore_read, lore_preview, lore_write, lorebooks, lore_replace, lore_shelf, lore_files)
    return registry
