from pathlib import Path

import pytest
from PIL import Image as Pillow

from marginalia_tui.commands import completion
from marginalia_tui.commands.builtin import builtin_registry
from marginalia_tui.commands.results import to_data
from marginalia_tui.domain.errors import Declined, Invalid, MarginaliaError, NotFound, Refused
from marginalia_tui.services import images, pixels
from marginalia_tui.store import integrity
from tests.commands.world import DISPATCHER, World
from tests.support.images import SVG, bomb, picture


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "the map (1).PNG"
    path.write_bytes(picture())
    return path


def added(world: World, file: Path, part: str = "2", caption: str = "") -> dict[str, object]:
    return to_data(DISPATCHER.run("add-image", {"part": part, "file": str(file), "caption": caption}, world.author))


def test_added_listed_described_and_taken_out(world: World, file: Path) -> None:
    made = added(world, file, caption="The  bay\n[at night]")
    assert made == {
        "part": world.parts[1], "name": "the-map-1.png", "type": "image/png", "width": 6, "height": 4,
        "mark": "![The bay \\[at night\\]](the-map-1.png)",
    }  # fmt: skip
    assert added(world, file)["name"] == "the-map-1-2.png"
    (first, second) = world.run("/list-images 2")["images"]
    assert first | {"kilobytes": 1} == {
        "part": world.parts[1], "position": 2, "name": "the-map-1.png", "type": "image/png", "width": 6, "height": 4,
        "kilobytes": 1, "inText": False, "caption": "The bay [at night]",
    }  # fmt: skip
    assert second["name"] == "the-map-1-2.png"
    assert world.run("/list-images 1")["images"] == []
    world.call("edit-part", part=f"{world.parts[1]}", old="stood still.", new="stood still. ![](the-map-1.png)")
    assert [row["inText"] for row in world.run("/list-images")["images"]] == [True, False]
    world.call("caption-image", part=world.parts[1], image="THE-MAP-1.png", caption="Low tide")
    assert world.part(2).images[0].caption == "Low tide"
    gone = world.call("remove-image", part=world.parts[1], image="the-map-1.png")
    assert gone == {"result": "removed", "name": "the-map-1.png", "timesNamed": 1}
    assert [image.name for image in world.part(2).images] == ["the-map-1-2.png"]
    world.run("/undo")
    assert len(world.part(2).images) == 2
    assert integrity.check(world.store) == []


def test_the_cover(world: World, file: Path, tmp_path: Path) -> None:
    assert "part" not in added(world, file, "cover")
    other = tmp_path / "front.jpg"
    other.write_bytes(picture("JPEG", (9, 12)))
    added(world, other, "Cover")
    (cover,) = world.opened().cover
    assert (cover.name, cover.type, cover.width) == ("cover", "image/jpeg", 9)
    assert [row["name"] for row in world.run("/list-images cover")["images"]] == ["cover"]
    out = tmp_path / "out"
    out.mkdir()
    saved = world.run(f"/export-image cover 1 {out}")
    assert (out / "cover.jpg").read_bytes() == other.read_bytes()
    assert saved["file"] == str(out / "cover.jpg")
    world.run("/remove-image cover cover")
    assert world.opened().cover == ()


def test_the_bytes_come_out_as_they_came_and_nothing_is_written_over(world: World, file: Path, tmp_path: Path) -> None:
    added(world, file)
    world.run(f"/export-image 2 the-map-1.png {tmp_path / 'copy.png'}")
    assert (tmp_path / "copy.png").read_bytes() == file.read_bytes()
    with pytest.raises(Refused, match="exists already"):
        world.run(f"/export-image 2 the-map-1.png {tmp_path / 'copy.png'}")


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP"])
def test_the_bytes_say_what_it_is_and_not_the_name(kind: str) -> None:
    image = images.image_of(picture(kind), "x.exe")
    assert image.type == f"image/{kind.lower()}" and image.name == f"x{Path(image.name).suffix}"
    assert (image.width, image.height) == (6, 4)


@pytest.mark.parametrize(
    ("data", "error", "words"),
    [
        (SVG, Invalid, "SVG"),
        (b"<html>no picture</html>", Invalid, "PNG, JPEG, GIF or WebP"),
        (picture("BMP"), Invalid, "PNG, JPEG, GIF or WebP"),
        (picture(size=(60, 60))[:-40], Invalid, "damaged"),
        (picture("JPEG", (200, 200))[:700], Invalid, "damaged"),
        (picture("GIF")[:20], Invalid, "damaged|can be kept"),
        (bomb(100_000, 100_000), Refused, "50 million pixels"),
        (bomb(8_000, 7_000), Refused, "50 million pixels"),
        (bomb(1_000, 1_000), Invalid, "damaged"),
    ],
    ids=["svg", "page", "bmp", "cut-png", "cut-jpeg", "cut-gif", "bomb", "large", "torn"],
)
def test_f53_hostile_pictures_are_told_in_a_sentence(
    world: World, tmp_path: Path, data: bytes, error: type[MarginaliaError], words: str
) -> None:
    path = tmp_path / "bad.png"
    path.write_bytes(data)
    with pytest.raises(error, match=words) as caught:
        added(world, path)
    assert caught.value.message.endswith((".", "too large.")) and "Traceback" not in caught.value.message
    assert world.run("/list-images")["images"] == []
    assert Pillow.MAX_IMAGE_PIXELS == pixels.MAX_PIXELS


def test_f53_a_file_that_is_too_large_is_not_read(world: World, tmp_path: Path) -> None:
    path = tmp_path / "huge.png"
    with path.open("wb") as file:
        file.truncate(50 << 20)
    with pytest.raises(Refused, match="52 MB, an image at most 10 MB"):
        added(world, path)
    with pytest.raises(Refused, match="at most 10 MB"):
        images.inspect(b"\0" * (images.MAX_BYTES + 1), "it")


def test_what_is_not_there_is_named(world: World, file: Path, tmp_path: Path) -> None:
    added(world, file)
    with pytest.raises(NotFound, match="there are the-map-1.png"):
        world.run("/remove-image 2 other.png")
    with pytest.raises(NotFound, match="it has none"):
        world.run("/caption-image 1 other.png words")
    with pytest.raises(NotFound, match="no file"):
        added(world, tmp_path / "none.png")
    world.answers.answer = False
    with pytest.raises(Declined):
        world.run("/remove-image 2 1")
    assert len(world.part(2).images) == 1


def test_a_part_has_so_many_images_and_no_more(world: World, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(images, "MAX_OF_PART", 1)
    added(world, file)
    with pytest.raises(Refused, match="at most 1 images"):
        added(world, file)


def test_paths_are_only_ever_the_authors() -> None:
    offered = {each.name: each.for_agents for each in builtin_registry() if "image" in each.name}
    assert offered == {
        "add-image": False,
        "export-image": False,
        "list-images": True,
        "caption-image": True,
        "remove-image": True,
    }


def test_parts_that_are_split_and_joined_keep_their_images(world: World, file: Path, tmp_path: Path) -> None:
    added(world, file)
    added(world, file)
    text = world.text(2)
    world.call("edit-part", part=world.parts[1], old=text.split(" ")[0], new=f"{text.split(' ')[0]} ![](the-map-1.png)")
    world.run('/split-part 2 "The lamp"')
    assert [each.name for each in world.part(2).images] == ["the-map-1.png"]
    rest = world.run("/list-images 3")["images"]
    assert [row["name"] for row in rest] == ["the-map-1-2.png"]
    # Another picture of a name that is taken gets a new one, in the text too.
    other = tmp_path / "the-map-1.png"
    other.write_bytes(picture(colour="red"))
    added(world, other, "3")
    world.run('/append-to-part 3 "![red](the-map-1.png)"')
    world.run("/merge-part-with-next 2")
    assert [each.name for each in world.part(2).images] == ["the-map-1.png", "the-map-1-2.png", "the-map-1-3.png"]
    assert "![red](the-map-1-3.png)" in world.text(2) and "![](the-map-1.png)" in world.text(2)


def test_names_of_images_are_completed_where_a_line_asks_for_one(world: World, file: Path) -> None:
    completers = completion.Completers()
    completers.register("image", completion.image_completer({"map.png": "The bay", "lamp.png": ""}))
    (first,) = completion.complete(builtin_registry(), completers, "/remove-image 2 ma")
    assert (first.text, first.description) == ("map.png", "The bay")
    assert completion.complete(builtin_registry(), completers, "/remove-image ma") == []
