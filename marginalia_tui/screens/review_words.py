"""What a review says about a change, in words."""

from typing import TYPE_CHECKING

from marginalia_tui.screens.decisions import Decisions, is_whole

if TYPE_CHECKING:
    from marginalia_tui.agent.merge.model import FieldChange, MergeItem, MergePlan
    from marginalia_tui.desk.review import AppliedView

SIGNS = {True: "[x]", False: "[ ]"}


def change_words(item: "MergeItem") -> str:
    """What became of an item: `added`, `moved`, or the fields that changed."""
    if item.is_move:
        return "moved"
    if item.change != "changed":
        return item.change
    return ", ".join(each.label for each in item.fields)


def title_of(item: "MergeItem") -> str:
    """What a person calls an item."""
    place = f" {item.place}" if item.place else ""
    return f"{item.kind}{place}  {item.title}" if item.title else f"{item.kind}{place}"


def about(
    decisions: Decisions, plan: "MergePlan", item: "MergeItem", field: "FieldChange | None", take: str
) -> list[tuple[str, str]]:
    """The lines above the words of a change, each with a tone.

    Args:
        decisions: what the author decided.
        plan: what it belongs to.
        item: the change.
        field: the field that is looked at.
        take: how a conflict is decided, such as `g takes the agent's`.
    """
    lines = [("strong", title_of(item))]
    if len(item.fields) > 1 and not is_whole(item):
        lines.append(("plain", _field_line(decisions, item, field)))
    if item.problem is not None:
        lines.append(("attention", f"It can't be applied: {item.problem}"))
    lines.extend(("muted", line) for line in _around(decisions, plan, item))
    if field is None:
        return lines
    if field.problem is not None:
        lines.append(("attention", f"The {field.label} can't be applied: {field.problem}"))
    if field.note:
        lines.append(("muted", field.note))
    if (decided := _decided(decisions, item, field)) or field.conflict:
        lines.append(("muted", decided) if decided else ("attention", f"Both sides changed it: {take}."))
    return lines


def _field_line(decisions: Decisions, item: "MergeItem", field: "FieldChange | None") -> str:
    waiting = decisions.open_conflicts(item)
    words = []
    for each in item.fields:
        sign = "[!]" if each.name in waiting or each.problem else SIGNS[decisions.has_field(item, each.name)]
        here = field is not None and each.name == field.name
        words.append(f"{'>' if here else ' '}{sign} {each.label}")
    return " ".join(words)


def _around(decisions: Decisions, plan: "MergePlan", item: "MergeItem") -> list[str]:
    """What hangs together with a change of the structure."""
    lines = []
    if (parent := item.field("parent")) is not None and item.change != "deleted":
        before = plan.names.get(str(parent.agent), "another part") if parent.agent is not None else ""
        lines.append(f"It follows {before}." if before else "It begins the book.")
    if count := len(item.children):
        parts = "1 part" if count == 1 else f"{count} parts"
        verb = {"added": "follow it" if count > 1 else "follows it", "deleted": "move up" if count > 1 else "moves up"}
        lines.append(f"{parts} then {verb.get(item.change, 'move along')}.")
    needed = [decisions.items[each] for each in item.depends_on if each in decisions.items]
    if needed:
        lines.append(f"It needs {', '.join(title_of(each) for each in needed)}.")
    return lines


def _decided(decisions: Decisions, item: "MergeItem", field: "FieldChange") -> str:
    key = (item.id, field.name)
    if key in decisions.texts:
        if decisions.texts[key] == field.proposal:
            return "Both sides' words in one text."
        return "A text of your own."
    side = decisions.take.get(key)
    return {"agent": "You take the agent's.", "book": "You keep the book's."}.get(side or "", "")


def counted(count: int, word: str) -> str:
    """A count with its word: `1 change`, `12 changes`."""
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"


def counts(decisions: Decisions) -> str:
    """How many changes there are, and what is decided of them."""
    waiting = decisions.count_open()
    conflicts = f", {counted(waiting, 'conflict')}" if waiting else ""
    return f"{counted(len(decisions.items), 'change')}{conflicts}, {decisions.count_ready():,} picked"


def apply_question(decisions: Decisions) -> str:
    """What is asked before an apply."""
    ready = decisions.count_ready()
    if not ready:
        return "Nothing is picked: end the run without taking anything over?"
    total = counted(len(decisions.items), "change")
    sentences = [f"Apply {ready:,} of {total} to the book? The run ends with that; one key takes it back."]
    if waiting := decisions.count_open():
        verb = "is" if waiting == 1 else "are"
        sentences.append(f"{counted(waiting, 'conflict')} {verb} not decided: the book's words stay.")
    return " ".join(sentences)


def discard_question(decisions: Decisions) -> str:
    """What is asked before the work of a run is thrown away."""
    total = len(decisions.items)
    what = "the change" if total == 1 else f"all {total:,} changes" if total else "the copy"
    return f"Throw away {what}? The book stays as it is."


def applied_words(done: "AppliedView", undo: str, back: str) -> list[tuple[str, str]]:
    """What became of an apply, each line with a tone."""
    if not done.applied:
        lines = [("strong", "The run ended; nothing was applied.")]
    else:
        lines = [("strong", f"{counted(done.applied, 'change')} applied to the book.")]
        lines.append(("plain", f"{undo} takes all of it back, as undo does in the book."))
    lines.append(("plain", f"{back} goes back."))
    if done.skipped:
        lines += [("attention", "Left out:"), *(("plain", f"  {each}") for each in done.skipped)]
    return lines
