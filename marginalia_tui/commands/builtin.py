"""The registry as it ships."""

from functools import cache

from marginalia_tui.commands.registry import Registry
from marginalia_tui.commands.suites import (
    agents,
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
    summaries_write,
    trash,
)


@cache
def _shipped() -> Registry:
    registry = Registry()
    registry.register_shipped(read, search, search_library, edit, replace, structure, book, help)
    registry.register_shipped(folders, booksettings, trash, backups, book_files)
    registry.register_shipped(summaries, summaries_write, reshape, images)
    registry.register_shipped(statistics)
    registry.register_shipped(agents)
    registry.register_shipped(annotations, annotate, history, compare, blame)
    registry.register_shipped(lore_read, lore_preview, lore_write, lorebooks, lore_replace, lore_shelf, lore_files)
    return registry


def builtin_registry() -> Registry:
    """A new registry with the suites of the studio."""
    return _shipped().copy()
