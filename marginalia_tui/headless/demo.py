"""demo: the main job on a sample book, with the embedded proofreader, in a home of its own.

The sample book is shipped clean. Slips of the kinds that drafts have are put into the copy of the demo, with a
fixed seed, so that what the proofreader does can be judged against what is known. Only the parts that are read get
slips: its lore, its notes and the other versions of parts stay as they are shipped.
"""

import argparse
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from marginalia_tui.agent import agents, transcript
from marginalia_tui.agent.definition import AgentDefinition
from marginalia_tui.agent.merge.model import MergePlan, Picks
from marginalia_tui.agent.merge.report import to_text
from marginalia_tui.agent.runs import get_run, latest_runs
from marginalia_tui.domain.errors import NotFound
from marginalia_tui.domain.items import Book
from marginalia_tui.domain.paths import typed_path
from marginalia_tui.domain.runs import RunStatus
from marginalia_tui.headless.output import print_json, print_text
from marginalia_tui.headless.stream import Stream, work_to_rest
from marginalia_tui.logs import start_log
from marginalia_tui.resources import sample_book, sample_desk
from marginalia_tui.services.models import OFFLINE
from marginalia_tui.services.parts import story_tree
from marginalia_tui.services.sample import add_sample, read_desk
from marginalia_tui.services.slips import SlipReport, judge, make_slips
from marginalia_tui.store.journal import Act
from marginalia_tui.store.schema import prepare_home
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.studio import Studio
from marginalia_tui.terminal import prepare as prepare_terminal

AGENT = "Proofreader"
TASK = (
    "Correct the typography of the whole book, part by part: doubled words and spaces, spaces before punctuation, "
    "quotation marks that lack their other half, dashes and quotation marks of the wrong kind. "
    "Touch nothing else. Report what a person has to look at."
)
SHOWN = 12
"""Changes of the review that are printed in full."""


@dataclass(frozen=True, slots=True)
class Sample:
    """The sample book as it is shipped, and as a draft with slips in it."""

    title: str
    author: str
    description: str
    titles: tuple[str, ...]
    clean: tuple[str, ...]
    draft: tuple[str, ...]


def read_sample() -> Sample:
    """The sample book of the studio."""
    from marginalia_tui.services.exchange.importer import read_manuscript

    manuscript = read_manuscript(sample_book(), format="folder").manuscript
    clean = tuple(chapter.text for chapter in manuscript.chapters)
    draft, _ = make_slips(clean)
    titles = tuple(chapter.title for chapter in manuscript.chapters)
    return Sample(manuscript.title, manuscript.author, manuscript.description, titles, clean, draft)


def prepare(studio: Studio, sample: Sample) -> AgentDefinition:
    """The draft of the sample book and its agent, made when the home does not have them yet."""
    with studio.store.read() as tx:
        found = [agent for agent in agents.list_agents(tx) if agent.name == AGENT]
    if found:
        return found[0]
    clock = studio.store.clock
    book = Book(
        uuid=clock.new_uuid(),
        title=sample.title,
        author=sample.author,
        description=sample.description,
        created=clock.now(),
    )
    chapters = tuple(zip(sample.titles, sample.draft, strict=True))
    desk = read_desk(sample_desk())
    with studio.store.write(Act(actor="author", label="sample book", book=book.uuid)) as tx:
        add_sample(tx.space(LIBRARY), book, chapters, desk)
    return studio.add_agent(name=AGENT, book=book.uuid, model=OFFLINE.name, instructions=TASK)


def run_demo(options: argparse.Namespace) -> int:
    """`demo`: in the studio, or without a screen."""
    if options.keep:
        return _in_home(typed_path(options.keep).absolute(), options)
    with tempfile.TemporaryDirectory(prefix="marginalia-demo-") as folder:
        return _in_home(Path(folder), options)


def _in_home(home: Path, options: argparse.Namespace) -> int:
    prepare_home(home)
    start_log(home)
    sample = read_sample()
    studio = Studio(home, pace=0)
    try:
        agent = prepare(studio, sample)
        if options.headless:
            return _headless(studio, agent, sample, as_json=options.json)
    finally:
        studio.close()
    prepare_terminal()
    from marginalia_tui.app import run_app

    return run_app(home, start=lambda opened: start_or_find(opened, agent))


def start_or_find(studio: Studio, agent: AgentDefinition) -> str:
    """The run that is shown: the one that an earlier demo of this home left, or a new one."""
    with studio.store.read() as tx:
        left = latest_runs(tx).get(agent.uuid)
    if left is not None and not left.status.ended:
        studio.runner.recover(left.uuid)
        return left.uuid
    return studio.runner.start(agent.uuid)


def _headless(studio: Studio, agent: AgentDefinition, sample: Sample, *, as_json: bool) -> int:
    stream = Stream(as_json=as_json)
    run = studio.runner.start(agent.uuid, observers=[stream])
    work_to_rest(studio.runner, run, stream)
    with studio.store.read() as tx:
        ended = get_run(tx, run)
        told = transcript.final_report(transcript.entries(tx, run))
    if ended.status is not RunStatus.DONE:
        print_text(f"The run rests as {ended.status.value}: {ended.reason}")
        return 3 if ended.status.rests else 1
    plan = studio.reviews.plan(run)
    applied = studio.reviews.apply(run, Picks.of_plan(plan))
    report = _judged(studio, agent.book, sample, told)
    changed = [item.title or item.uuid for item in plan.items if item.id in applied.applied]
    if as_json:
        print_json({"event": "demo", "run": run, "changed": changed, "slips": _slips_json(report)})
    else:
        _print_review(plan, changed)
        _print_report(report)
    return 0


def _judged(studio: Studio, book: str, sample: Sample, told: str) -> SlipReport:
    with studio.store.read() as tx:
        space = tx.space(LIBRARY)
        owner = space.find(Book, book)
        if owner is None:
            raise NotFound("The sample book is gone from this home: give another folder with --keep.")
        branch = story_tree(space, owner).active
        texts = space.texts(branch)
    _, slips = make_slips(sample.clean)
    return judge(slips, sample.clean, sample.draft, [texts[uuid] for uuid in branch], told)


def _slips_json(report: SlipReport) -> dict[str, Any]:
    return {name.replace(" ", "_"): len(found) for name, found in _named(report)} | {
        "touched": [asdict(touch) for touch in report.touched_beside]
    }


def _named(report: SlipReport) -> Sequence[tuple[str, Sequence[object]]]:
    return (
        ("corrected", report.corrected),
        ("reported", report.reported),
        ("left", report.left),
        ("altered", report.altered),
        ("touched beside them", report.touched_beside),
    )


def _print_review(plan: MergePlan, changed: Sequence[str]) -> None:
    shown = replace(plan, items=plan.items[:SHOWN])
    if plan.items:
        print_text("\nWhat the run changed:\n\n" + to_text(shown))
    if len(plan.items) > SHOWN:
        print_text(f"... and {len(plan.items) - SHOWN} more.")
    if changed:
        print_text(f"\nApplied to {len(changed)} parts: {', '.join(changed)}.")
    else:
        print_text("\nNothing was changed.")


def _print_report(report: SlipReport) -> None:
    total = len(report.corrected) + len(report.reported) + len(report.left) + len(report.altered)
    print_text(f"\nOf {total} slips that were put into the draft:")
    for name, found in _named(report):
        print_text(f"  {len(found):3} {name}")
    for touch in report.touched_beside:
        print_text(f"      part {touch.chapter + 1}: {touch.clean!r} is now {touch.result!r}")
