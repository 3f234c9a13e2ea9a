"""Meta summaries for tests: written as one that a model was asked for is, valid for what its parts say now."""

from dataclasses import replace

from marginalia_tui.domain.items import Part, Summary
from marginalia_tui.services.summaries import revalidate, summaries_of
from marginalia_tui.store.space import WritableSpace


def take_in(space: WritableSpace, part: str, until: str | None, text: str) -> str:
    """Puts a meta summary in the place of the summary of a part; it reaches back to `until`."""
    book = space.get(Part, part).book
    replaced = space.get(Summary, summaries_of(space, book).heads[part])
    clock = space.tx.store.clock
    meta = Summary(uuid=clock.new_uuid(), book=book, part=part, text=text, until=until, meta=True, created=clock.now())
    space.put([replace(replaced, under=meta.uuid), meta])
    revalidate(space, book, [meta.uuid])
    return meta.uuid
