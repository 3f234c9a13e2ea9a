"""What ships with the studio: sample books, prompts, manual pages.

An installed wheel has them inside the package, a checkout beside it; this is the one module that knows both.
"""

from functools import cache
from pathlib import Path

from marginalia_tui.domain.errors import NotFound

SAMPLE_BOOK = "let-it-stand"
"""The folder of the sample book below `data/books`."""


@cache
def data_folder() -> Path:
    """The folder `data`."""
    inside = Path(__file__).parent / "data"
    return inside if inside.is_dir() else Path(__file__).parent.parent / "data"


@cache
def prompt(name: str) -> str:
    """A text for a model, without its last line break: `data/prompts/<name>.md`."""
    return (data_folder() / "prompts" / f"{name}.md").read_text(encoding="utf-8").strip()


def manual_pages() -> tuple[str, ...]:
    """The names of the pages of the manual."""
    return tuple(sorted(path.stem for path in (data_folder() / "manual").glob("*.md")))


@cache
def manual_page(name: str) -> str:
    """A page of the manual.

    Raises:
        NotFound: there is none of that name; the sentence lists those that are there.
    """
    if name not in manual_pages():
        raise NotFound(f"The manual has no page {name!r}. Its pages: {', '.join(manual_pages())}.")
    return (data_folder() / "manual" / f"{name}.md").read_text(encoding="utf-8")


def sample_book() -> Path:
    """The folder of the sample book."""
    return data_folder() / "books" / SAMPLE_BOOK


def sample_desk() -> Path:
    """The folder of what lies beside the sample book: lore, summaries, notes, other versions of parts."""
    return data_folder() / "books" / f"{SAMPLE_BOOK}-desk"
