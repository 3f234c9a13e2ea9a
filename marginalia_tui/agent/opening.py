"""What a run is given when it begins, and told when it goes on."""

from marginalia_tui.agent import inbox, meanwhile, transcript
from marginalia_tui.agent.definition import AgentDefinition
from marginalia_tui.agent.handles import Handles
from marginalia_tui.agent.runs import Run
from marginalia_tui.agent.tools import ASK_USER, FINISH
from marginalia_tui.domain.items import Book, Part
from marginalia_tui.resources import prompt
from marginalia_tui.services.parts import story_tree
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import WriteTx

NAMED_AT_START = 1_000
"""Parts that have a handle before the agent was shown them."""
TASK_SAID_AGAIN = 1_000
"""Characters of a task that is short enough to be said again in the first message."""


def name_parts(tx: WriteTx, run: str, book: str) -> None:
    """Gives the parts that are read the handles of their places, which is what small models take them to be."""
    space = tx.space(LIBRARY)
    branch = story_tree(space, space.get(Book, book)).active[:NAMED_AT_START]
    names = Handles(tx, run)
    for uuid in branch:
        names.name(Part.LETTER, uuid)
    names.save(tx)


def first_words(agent: AgentDefinition, *, interactive: bool) -> str:
    """What a run is told first. Small models follow the last message, so a short task is said again in it."""
    task = agent.instructions.strip()
    if interactive:
        return prompt("start-console")
    if not task or len(task) > TASK_SAID_AGAIN:
        return prompt("start-long")
    return prompt("start").format(instructions=task)


def say_changes(tx: WriteTx, run: Run) -> bool:
    """Tells a run that goes on what the author changed in the book meanwhile; whether there was something."""
    changes = meanwhile.changes_since(tx, run)
    if changes:
        inbox.enqueue(tx, run.uuid, "go-on", prompt("resume-changes").format(changes="\n".join(changes)))
    meanwhile.told_up_to(tx, run.uuid)
    return bool(changes)


def say_go_on(tx: WriteTx, run: str, note: str) -> None:
    """What a run reads when it goes on: the author's note, or a word that it may when the model spoke last."""
    if note:
        inbox.enqueue(tx, run, "resume", prompt("resume-note").format(note=note))
        return
    end = transcript.last_round(transcript.read_by_model(tx, run))
    if end.answer and not end.open_calls and not end.newer and not inbox.queued(tx, run):
        ended = not end.answer.message.calls or end.result_of(FINISH) or end.result_of(ASK_USER)
        if ended:
            inbox.enqueue(tx, run, "go-on", prompt("resume"))
