"""Images in a review: each by its name, told in words, and never two of one name."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from marginalia_tui.agent.merge.images3 import merge_images
from marginalia_tui.agent.merge.model import FieldType, Picks, value_words
from marginalia_tui.domain.items import Image
from marginalia_tui.store.content import decode_images, encode_images
from marginalia_tui.store.store import Store
from tests.agent.merge.desk import Desk, Hand, chain


def image(name: str, caption: str = "") -> Image:
    return Image(hash="ab" * 32, type="image/png", name=name, caption=caption, width=640, height=480)


LISTS = st.dictionaries(st.sampled_from("abc"), st.sampled_from(["", "one", "two"])).map(
    lambda found: encode_images([image(name, caption) for name, caption in found.items()], "images")
)


def captions(cell: str | None) -> dict[str, str]:
    return {each.name: each.caption for each in decode_images(cell)}


@given(LISTS, LISTS, LISTS)
@settings(max_examples=50)
def test_each_name_is_merged_by_itself(base: str | None, agent: str | None, book: str | None) -> None:
    cell, clean = merge_images(base, agent, book)
    sides = [captions(each) for each in (base, agent, book)]
    assert clean == all(len({side.get(name) for side in sides}) < 3 for name in "abc")
    if clean:
        for name in "abc":
            was, theirs, ours = (side.get(name) for side in sides)
            assert captions(cell).get(name) == (ours if theirs == was else theirs)


def desk_with_images(store: Store) -> Desk:
    desk = Desk(store, chain("a", "b"))
    with store.write(desk.act("bytes")) as tx:
        key = tx.space(1).put_blob(b"pixels")
    show(desk.author, replace(image("map.png"), hash=key))
    return desk.start_again()


def show(hand: Hand, *images: Image) -> None:
    hand.edit("a", images=images)


def test_images_of_both_sides_are_no_conflict_and_are_told_in_words(store: Store) -> None:
    desk = desk_with_images(store)
    (kept,) = desk.author.part("a").images
    show(desk.agent, replace(kept, caption="The bay"))
    show(desk.author, kept, replace(kept, name="lamp.png"))
    [field] = desk.item("part:a").fields
    assert (field.type, field.conflict, field.label) == (FieldType.IMAGES, False, "images")
    told = [value_words({}, field, each) for each in (field.agent, field.book, field.proposal)]
    here = f"PNG, 640 x 480, {kept.hash[:8]}"
    assert told == [
        f"map.png: {here}, The bay",
        f"map.png: {here}\nlamp.png: {here}",
        f"map.png: {here}, The bay\nlamp.png: {here}",
    ]
    desk.apply_all()
    assert desk.author.part("a").images == (replace(kept, caption="The bay"), replace(kept, name="lamp.png"))


def test_one_image_changed_by_both_is_a_conflict(store: Store) -> None:
    desk = desk_with_images(store)
    (kept,) = desk.author.part("a").images
    show(desk.agent, replace(kept, caption="The bay"))
    show(desk.author)
    [field] = desk.item("part:a").fields
    assert field.conflict
    desk.apply(Picks(items={"part:a": None}))
    assert desk.author.part("a").images == ()
    desk.apply_all("agent")
    assert desk.author.part("a").images == (replace(kept, caption="The bay"),)
