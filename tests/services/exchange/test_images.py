"""Pictures come in with their chapters, stand where they stood, and go out again; what can't be kept is counted."""

import io
import json
import zipfile
from dataclasses import replace
from pathlib import Path

import docx
import pytest
from PIL import Image as Pillow

from marginalia_tui.domain.errors import Refused
from marginalia_tui.domain.items import Book, Part
from marginalia_tui.services import images
from marginalia_tui.services.exchange import library
from marginalia_tui.services.exchange.docx_writer import write_docx
from marginalia_tui.services.exchange.epub_writer import write_epub
from marginalia_tui.services.exchange.export import write_manuscript
from marginalia_tui.services.exchange.importer import read_manuscript
from marginalia_tui.services.exchange.leftout import left_out
from marginalia_tui.services.exchange.library import export_book, import_book
from marginalia_tui.services.exchange.manuscript import Chapter, Manuscript, Picture
from marginalia_tui.services.exchange.pictures import without_last
from marginalia_tui.services.parts import story_tree
from marginalia_tui.store import integrity
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import Store
from tests.support.books import CONTAINER, page, zipped
from tests.support.images import SVG, bomb, picture

MAP, LAMP, FRONT = picture(), picture("JPEG", (20, 10)), picture("WEBP", (9, 12))


def a_picture(data: bytes, name: str, caption: str = "") -> Picture:
    return Picture(images.image_of(data, name, caption=caption), data)


def a_book(*, webp: bool = True) -> Manuscript:
    """Images in a text, behind it, in a part without any text, under one name in two parts."""
    other = picture(colour="red")
    return Manuscript(
        title="The Lamp",
        author="A. Writer",
        language="en",
        cover=replace(a_picture(FRONT, "c"), image=replace(images.image_of(FRONT, "c"), name="cover")),
        chapters=(
            Chapter(
                title="One",
                text="It rained.\n\nSee ![the old map](map.png) there.\n\nAnd ![](map.png) again.",
                images=(a_picture(MAP, "map.png", "the old map"), a_picture(LAMP, "lamp.jpg", "A [lamp]")),
            ),
            Chapter(title="Two", text="Sun.\n\n![no picture](none.png)", images=(a_picture(other, "map.png"),)),
            Chapter(title="Plate", images=(a_picture(FRONT if webp else LAMP, "plate.webp", "A plate"),)),
        ),
    )


def essence(book: Manuscript) -> list[tuple[str, str, list[tuple[str, str, bytes]]]]:
    return [
        (
            chapter.title,
            chapter.text,
            [(each.image.name, each.image.caption, each.data) for each in chapter.images],
        )
        for chapter in book.chapters
    ]


def test_an_epub_keeps_the_pictures_of_its_chapters(tmp_path: Path) -> None:
    book = a_book()
    path = tmp_path / "lamp.epub"
    path.write_bytes(write_epub(book))
    found = read_manuscript(path)
    assert found.notes == ()
    wanted = essence(book)
    # What is no picture of the part stays what the text says of it.
    wanted[1] = ("Two", "Sun.\n\n![no picture](none.png)", wanted[1][2])
    assert essence(found.manuscript) == wanted
    assert found.manuscript.cover is not None and found.manuscript.cover.data == FRONT
    assert found.manuscript.cover.image.name == "cover"
    again = tmp_path / "again.epub"
    again.write_bytes(write_epub(found.manuscript))
    assert essence(read_manuscript(again).manuscript) == essence(found.manuscript)


def package(items: str, spine: str) -> str:
    return f"""<package xmlns="http://www.idpf.org/2007/opf" version="3.0">
    <metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>T</dc:title>
    <meta name="cover" content="front"/></metadata>
    <manifest>{items}<item id="front" href="pics/front%20page.webp" media-type="image/webp"/></manifest>
    <spine>{spine}</spine></package>"""


def an_epub(pages: dict[str, str], more: dict[str, bytes]) -> bytes:
    items = "".join(f'<item id="{name}" href="{name}.xhtml" media-type="application/xhtml+xml"/>' for name in pages)
    spine = "".join(f'<itemref idref="{name}"/>' for name in pages)
    return zipped(
        {
            "META-INF/container.xml": CONTAINER,
            "OPS/book.opf": package(items, spine),
            **{f"OPS/{name}.xhtml": page(body) for name, body in pages.items()},
            **more,
        }
    )


def test_pictures_of_other_programs_and_a_page_that_shows_the_cover(tmp_path: Path) -> None:
    path = tmp_path / "x.epub"
    drawn = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">'
    pages = {
        "cover": f'{drawn}<image xlink:href="pics/front%20page.webp"/></svg>',
        "one": '<p><img src="pics/a.jpg" alt="An ornament"/></p><h1>Chapter <img src="pics/b.png"/>I</h1>'
        '<p>It rained.<img src="pics/b.png" alt="two\n [words]"/></p>'
        '<figure><img src="pics/a.jpg" alt="A lamp"/><figcaption>A lamp</figcaption></figure><p>Sun.</p>'
        '<figure><img src="pics/b.png"/><figcaption>Another one</figcaption></figure>',
        "two": '<h1>II</h1><p>Wind.</p><p><img src="pics/a.jpg"/></p><div><img src="pics/b.png" alt="Last"/></div>',
    }
    path.write_bytes(an_epub(pages, {"OPS/pics/front page.webp": FRONT, "OPS/pics/a.jpg": LAMP, "OPS/pics/b.png": MAP}))
    found = read_manuscript(path)
    one, two = found.manuscript.chapters
    assert found.notes == ()
    assert found.manuscript.cover is not None and found.manuscript.cover.data == FRONT
    assert one.title == "Chapter I"
    # A picture above the heading does not hide it, one in the heading stands below it.
    assert one.text == (
        "![An ornament](a.jpg)\n\n![](b.png)\n\nIt rained.![two \\[words\\]](b.png)\n\n![A lamp](a.jpg)\n\nSun.\n\n"
        "![](b.png)\n\nAnother one"
    )
    assert [(each.image.name, each.data) for each in one.images] == [("a.jpg", LAMP), ("b.png", MAP)]
    assert (two.text, [each.image.name for each in two.images]) == ("Wind.", ["a.jpg", "b.png"])
    assert [each.image.caption for each in two.images] == ["", "Last"]


def test_f53_what_can_not_be_kept_is_counted_and_the_book_comes_in(tmp_path: Path) -> None:
    path = tmp_path / "x.epub"
    names = ("s.svg", "bomb.png", "cut.png", "large.png", "none.png", "../../up.png", "http://a.example/b.png")
    body = "".join(f'<p>Word <img src="{name}"/></p>' for name in names)
    body += "<p><svg xmlns='http://www.w3.org/2000/svg'><circle r='1'/></svg></p><p><img src='s.svg'/></p>"
    more = {
        "s.svg": SVG,
        "bomb.png": bomb(90_000, 90_000),
        "cut.png": picture(size=(60, 60))[:-40],
        "large.png": MAP + b"\0" * 11_000_000,
    }
    path.write_bytes(an_epub({"one": f"<h1>I</h1>{body}"}, {f"OPS/{name}": data for name, data in more.items()}))
    found = read_manuscript(path)
    assert found.manuscript.chapters[0].images == ()
    assert found.manuscript.chapters[0].text == "\n\n".join(["Word"] * 7)
    (note,) = found.notes
    assert note == (
        "Left out: 9 picture(s) (4 of a kind that is not kept, or damaged, 2 too large, 1 missing, 2 not in the file)."
    )


def test_a_book_comes_into_the_library_with_its_images_and_goes_out_again(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "in.epub"
    source.write_bytes(write_epub(a_book()))
    made = import_book(store, source)
    with store.read() as tx:
        space = tx.space(LIBRARY)
        book = space.get(Book, made.uuid)
        parts = list(space.get_many(Part, story_tree(space, book).active).values())
        assert [space.blob(image.hash) for image in book.cover] == [FRONT]
        assert [[image.name for image in part.images] for part in parts] == [
            ["map.png", "lamp.jpg"],
            ["map.png"],
            ["plate.webp"],
        ]
        assert space.blob(parts[0].images[1].hash) == LAMP
    out = export_book(store, made.uuid, "epub", tmp_path / "out.epub")
    assert out.notes == ()
    assert essence(read_manuscript(out.path).manuscript) == essence(read_manuscript(source).manuscript)
    plain = export_book(store, made.uuid, "markdown", tmp_path / "out.md")
    assert plain.notes == ("Not in the file: 4 images and the cover.",)
    assert "![the old map](map.png)" in plain.path.read_text()
    assert integrity.check(store) == []
    monkeypatch.setattr(library, "MAX_PICTURES", 10)
    assert export_book(store, made.uuid, "text", tmp_path / "out.txt").notes
    with pytest.raises(Exception, match="at most 0 MB"):
        export_book(store, made.uuid, "epub", tmp_path / "no.epub")


def test_pictures_that_close_a_text_need_no_mark() -> None:
    one, two = images.image_of(MAP, "a.png", caption="A"), images.image_of(LAMP, "b.jpg")
    assert without_last("Text.\n\n![A](a.png)\n\n![](b.jpg)", [one, two]) == "Text."
    assert without_last("![A](a.png) ![](b.jpg)", [one, two]) == ""
    for kept in (
        "Text.\n\n![A](a.png) and words",
        "Text.\n\n![Other words](a.png)",
        "Text.\n\n![A](unknown.png)",
        "![A](a.png)\n\nText.\n\n![A](a.png)",
        '![A](a.png "title")',
        "![A](a.png)![A](a.png)",
    ):
        assert without_last(kept, [one, two]) == kept


def test_the_pictures_of_an_epub_are_declared(tmp_path: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(write_epub(a_book()))) as archive:
        opf = archive.read("EPUB/book.opf").decode()
        names = {name for name in archive.namelist() if name.endswith((".png", ".jpg", ".webp"))}
        assert names == {
            "EPUB/cover.webp", "EPUB/images/map.png", "EPUB/images/lamp.jpg", "EPUB/images/2/map.png",
            "EPUB/images/plate.webp",
        }  # fmt: skip
        for name in names:
            assert f'href="{name.removeprefix("EPUB/")}"' in opf
            Pillow.open(io.BytesIO(archive.read(name))).verify()
        assert 'properties="cover-image"' in opf and '<meta name="cover" content="cover"/>' in opf


def test_a_docx_keeps_the_pictures_of_its_chapters(tmp_path: Path) -> None:
    book = a_book(webp=False)
    path = tmp_path / "lamp.docx"
    path.write_bytes(write_docx(book))
    found = read_manuscript(path)
    assert found.notes == ()
    wanted = essence(book)
    wanted[1] = ("Two", "Sun.\n\n![no picture](none.png)", wanted[1][2])
    # A line is a paragraph there, and a picture is named by its file.
    assert essence(found.manuscript)[0] == wanted[0]
    assert [(title, text, [image[1:] for image in shown]) for title, text, shown in essence(found.manuscript)] == [
        (title, text, [image[1:] for image in shown]) for title, text, shown in wanted
    ]
    again = tmp_path / "again.docx"
    again.write_bytes(write_docx(found.manuscript))
    assert essence(read_manuscript(again).manuscript) == essence(found.manuscript)


def test_another_program_finds_the_pictures_of_a_docx(tmp_path: Path) -> None:
    path = tmp_path / "lamp.docx"
    path.write_bytes(write_docx(a_book()))
    document = docx.Document(str(path))
    shapes = document.inline_shapes
    assert len(shapes) == 5
    # Pictures are as large as they are, at 96 pixels for each inch, and none is wider than the text.
    assert (shapes[0].width, shapes[0].height) == (6 * 9_525, 4 * 9_525)
    kinds = sorted(part.content_type for part in document.part.related_parts.values() if "image" in part.content_type)
    assert kinds == ["image/jpeg", "image/png", "image/png", "image/png"]
    assert left_out(a_book(), "docx") == (
        "Not in the file: the cover.", "Written as PNG, since Word shows no WebP: 1 image.",
    )  # fmt: skip


def test_pictures_of_another_program_come_in_from_a_docx(tmp_path: Path) -> None:
    made = docx.Document()
    made.add_heading("One", 1).add_run().add_picture(io.BytesIO(LAMP))
    made.add_paragraph("It rained. ").add_run().add_picture(io.BytesIO(MAP))
    made.add_paragraph("Sun.")
    made.add_heading("Two", 1)
    made.add_paragraph("Wind.")
    made.add_picture(io.BytesIO(MAP))
    table = made.add_table(1, 2)
    table.cell(0, 0).paragraphs[0].add_run("a").add_picture(io.BytesIO(LAMP))
    made.save(str(tmp_path / "x.docx"))
    found = read_manuscript(tmp_path / "x.docx")
    one, two = found.manuscript.chapters
    assert found.notes == ()
    assert one.title == "One" and one.text == "![](image1.jpg)\n\nIt rained. ![](image2.png)\n\nSun."
    assert [each.data for each in one.images] == [LAMP, MAP]
    assert two.text.startswith("Wind.\n\n![](image2.png)\n\n") and "a![](image1.jpg)" in two.text
    assert {each.data for each in two.images} == {LAMP, MAP}


def test_a_folder_holds_the_files_of_pictures_beside_the_parts(tmp_path: Path) -> None:
    book = a_book()
    path = tmp_path / "lamp"
    write_manuscript(book, "folder", path)
    assert sorted(each.name for each in path.iterdir()) == [
        "001-lamp.jpg", "001-map.png", "001-one.md", "002-map.png", "002-two.md", "003-plate.md", "003-plate.webp",
        "book.json", "cover.webp",
    ]  # fmt: skip
    text = (path / "001-one.md").read_text()
    assert "![the old map](001-map.png)" in text and text.endswith("\n\n![A \\[lamp\\]](001-lamp.jpg)\n")
    found = read_manuscript(path)
    assert found.notes == ()
    assert essence(found.manuscript) == essence(book)
    assert found.manuscript.cover == book.cover
    # An export may be replaced, with its pictures; what is none may not.
    write_manuscript(found.manuscript, "folder", path, force=True)
    assert essence(read_manuscript(path).manuscript) == essence(book)
    (path / "mine.png").write_bytes(MAP)
    with pytest.raises(Refused, match="not from an export"):
        write_manuscript(book, "folder", path, force=True)


def test_links_of_a_folder_lead_to_pictures_inside_of_it_alone(tmp_path: Path) -> None:
    (tmp_path / "out.png").write_bytes(MAP)
    folder = tmp_path / "book"
    (folder / "pics").mkdir(parents=True)
    (folder / "pics" / "the map.png").write_bytes(MAP)
    (folder / "pics" / "text.png").write_text("no picture")
    (folder / "pics" / "unused.png").write_bytes(LAMP)
    (folder / "link.png").symlink_to(tmp_path / "out.png")
    links = [
        "pics/the%20map.png",
        "<pics/the map.png>",
        "../out.png",
        "link.png",
        "none.png",
        str(tmp_path / "out.png"),
    ]
    links += ["http://a.example/b.png", "pics/text.png", "pics"]
    body = "\n\n".join(f"Word ![w]({link})" for link in links)
    (folder / "1.md").write_text(f"# One\n\n{body}\n")
    found = read_manuscript(folder)
    (chapter,) = found.manuscript.chapters
    assert [(each.image.name, each.data) for each in chapter.images] == [("the-map.png", MAP)]
    left = [line.partition("](")[2] for line in chapter.text.split("\n\n")]
    assert left[:2] == ["the-map.png)"] * 2
    # What is not followed stays what it was.
    assert left[2:] == [f"{link})" for link in links[2:]]
    assert found.notes == (
        "Left out: 3 other file(s): 'link.png', 'pics/text.png', 'pics/unused.png'.",
        "Left out: 1 picture(s) (1 of a kind that is not kept, or damaged).",
    )


def test_f53_an_index_that_says_odd_things_of_pictures_is_read_as_far_as_it_fits(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# One\n\nWord ![w](a.png)\n\nMore.")
    (tmp_path / "a.png").write_bytes(MAP)
    (tmp_path / "secret.txt").write_text("x")
    rows = [{"file": "a.png", "name": "../../etc/x.png", "caption": 3}, {"file": "secret.txt"}, 7, {"name": "x"}]
    index = {"cover": {"file": "../up.png"}, "tree": [{"file": "a.md", "title": "One", "images": rows}]}
    (tmp_path / "book.json").write_text(json.dumps(index))
    found = read_manuscript(tmp_path).manuscript
    assert found.cover is None
    assert [each.image.name for each in found.chapters[0].images] == ["x.png"]
    assert "![w](x.png)" in found.chapters[0].text
    # And it names nothing that an export would then take away.
    with pytest.raises(Refused, match=r"secret\.txt"):
        write_manuscript(found, "folder", tmp_path, force=True)
