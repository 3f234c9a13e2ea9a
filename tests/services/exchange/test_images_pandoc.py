"""Another program writes books with pictures that ours reads, and reads those that ours writes."""

from pathlib import Path

import pypandoc
import pytest

from marginalia_tui.services.exchange.export import write_manuscript
from marginalia_tui.services.exchange.importer import read_manuscript
from tests.services.exchange.test_images import FRONT, LAMP, MAP, a_book

TEXT = """# One

It rained. ![the map](map.png) More.

![A lamp](lamp.jpg)

# Two

Sun.
"""


@pytest.mark.parametrize("format", ["epub3", "epub2", "docx"])
def test_a_book_of_pandoc_comes_in_with_its_pictures(tmp_path: Path, format: str) -> None:
    (tmp_path / "map.png").write_bytes(MAP)
    (tmp_path / "lamp.jpg").write_bytes(LAMP)
    (tmp_path / "front.webp").write_bytes(FRONT)
    path = tmp_path / f"book.{format[:4]}"
    extra = ["--metadata=title:T", f"--resource-path={tmp_path}"]
    extra += [f"--epub-cover-image={tmp_path / 'lamp.jpg'}"] if format.startswith("epub") else []
    pypandoc.convert_text(TEXT, format, "markdown", outputfile=str(path), extra_args=extra)
    found = read_manuscript(path)
    one, two = found.manuscript.chapters
    assert [note for note in found.notes if "picture" in note] == []
    assert sorted(each.data for each in one.images) == sorted([MAP, LAMP]) and two.images == ()
    marked = next(each for each in one.images if each.data == MAP)
    assert f"It rained. ![the map]({marked.image.name}) More." in one.text
    assert (found.manuscript.cover is not None) == format.startswith("epub")
    assert found.manuscript.cover is None or found.manuscript.cover.data == LAMP


@pytest.mark.parametrize("format", ["epub", "docx"])
def test_pandoc_finds_the_pictures_of_our_books(tmp_path: Path, format: str) -> None:
    path = tmp_path / f"lamp.{format}"
    write_manuscript(a_book(webp=False), format, path)
    media = tmp_path / "media"
    text = pypandoc.convert_file(str(path), "markdown", format=format, extra_args=[f"--extract-media={media}"])
    extracted = [each.read_bytes() for each in media.rglob("*") if each.is_file()]
    wanted = {each.data for chapter in a_book(webp=False).chapters for each in chapter.images}
    assert wanted <= set(extracted)
    assert text.count("![") >= 5
