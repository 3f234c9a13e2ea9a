"""Three lists of images into one: each name by itself, in the order of the book. Pure rules on cells."""

from marginalia_tui.domain.items import Image
from marginalia_tui.store.content import decode_images, encode_images


def merge_images(base: object, agent: object, book: object) -> tuple[str, bool]:
    """What the book has, with what the agent added, changed and took out.

    Args:
        base: the cell of a row when the run began; None or empty for no image.
        agent: that of the agent.
        book: that of the book now.

    Returns:
        The cell (empty for no image), and whether it is clean: False when both sides changed one name differently.
    """
    before, theirs, ours = (_by_name(each) for each in (base, agent, book))
    made: dict[str, Image] = {}
    for name in dict.fromkeys([*ours, *theirs]):
        was, new, now = before.get(name), theirs.get(name), ours.get(name)
        if was not in (new, now) and new != now:
            return "", False
        kept = now if new == was else new
        if kept is not None:
            made[name] = kept
    # Where the author left the order alone, that of the agent holds.
    if list(ours) == list(before):
        made = {name: made[name] for name in dict.fromkeys([*theirs, *made]) if name in made}
    return encode_images(made.values(), "images") or "", True


def _by_name(cell: object) -> dict[str, Image]:
    return {image.name: image for image in decode_images(str(cell or ""))}
