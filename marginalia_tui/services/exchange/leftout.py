"""What a format can't hold of a book, in sentences with names and numbers, so that nobody finds out later."""

from marginalia_tui.services.exchange.chat_data import CHAT
from marginalia_tui.services.exchange.manuscript import Manuscript
from marginalia_tui.services.exchange.recognise import Format

WITH_SWIPES: tuple[Format, ...] = ("chat",)
"""The formats that hold the swipes of a part, its turn input and its data."""
WITH_IMAGES: tuple[Format, ...] = ("epub", "docx", "folder")
"""The formats that hold the images of the parts that are read; EPUB and folders hold the cover too."""
WITH_COVER: tuple[Format, ...] = ("epub", "folder")
WITH_REMARKS: tuple[Format, ...] = ("docx",)
"""The formats that hold the open notes on passages."""
_TURN = ("instructions", "scene", "pov", "present")


def left_out(book: Manuscript, format: Format) -> tuple[str, ...]:
    """What is in a book and not in its file: one sentence, and others on what stands there in another way.

    Args:
        book: the whole book.
        format: that of the file.
    """
    if format == "card":
        more = len(book.chapters) - 1
        lost = [f"{_some(more, 'part')} behind the first"] if more else []
    else:
        lost = [] if format in WITH_SWIPES else _beside_the_prose(book)
    count = 0 if format in WITH_IMAGES else sum(len(chapter.images) for chapter in book.chapters)
    told = [_some(count, "image")] if count else []
    told += ["the cover"] if book.cover is not None and format not in WITH_COVER else []
    lost += [" and ".join(told)] if told else []
    lost += _notes(book, format)
    if book.other_branches:
        branches = _some(book.other_branches, "other branch", "other branches")
        lost.append(f"{branches} with {_some(book.other_parts, 'part')} in all")
    lost += [
        f"the lorebook {each.title!r} with {_some(each.count(), 'entry', 'entries')}"
        for each in (book.lorebooks if format != "card" else ())
    ]
    return (*([f"Not in the file: {'; '.join(lost)}."] if lost else []), *_otherwise(book, format))


def _otherwise(book: Manuscript, format: Format) -> list[str]:
    """What is in the file, and not as it is in the book."""
    found = _kept_unseen(book) if format in WITH_SWIPES else []
    webp = sum(each.image.type == "image/webp" for chapter in book.chapters for each in chapter.images)
    if format == "docx" and webp:
        found.append(f"Written as PNG, since Word shows no WebP: {_some(webp, 'image')}.")
    return found


def _notes(book: Manuscript, format: Format) -> list[str]:
    """The notes on passages that are not in the file."""
    lost = 0 if format in WITH_REMARKS else sum(len(each.remarks) for each in book.chapters)
    counts = {**({"open": lost} if lost else {}), **book.other_remarks}
    told = ", ".join(f"{count:,} {why}" for why, count in counts.items())
    notes = _some(sum(counts.values()), "note on a passage", "notes on passages")
    return [f"{notes} ({told})"] if told else []


def _beside_the_prose(book: Manuscript) -> list[str]:
    counts = (
        (sum(len(chapter.swipes) for chapter in book.chapters), "swipe"),
        (sum(any(getattr(each, name) for name in _TURN) for each in book.chapters), "turn input"),
        (sum(CHAT in each.attributes for each in book.chapters), "message header"),
    )
    told = [_some(count, word) for count, word in counts if count]
    return [", ".join(told)] if told else []


def _kept_unseen(book: Manuscript) -> list[str]:
    titles = sum(bool(each.title) for chapter in book.chapters for each in chapter.versions())
    if not titles:
        return []
    return [f"{_some(titles, 'title')} kept as data of the messages, which chat programs do not show."]


def _some(count: int, word: str, plural: str = "") -> str:
    return f"{count:,} {word if count == 1 else plural or word + 's'}"
