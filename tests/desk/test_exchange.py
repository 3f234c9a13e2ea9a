"""Books in and out as the library screen has it: the formats that it offers, what it says afterwards."""

from pathlib import Path
from typing import get_args

import pytest

from marginalia_tui.desk.library import FORMATS, LibraryDesk
from marginalia_tui.headless import grammar
from marginalia_tui.services.exchange import recognise
from marginalia_tui.studio import Studio
from tests.conftest import NewHome
from tests.support.chats import message, written

WRITTEN = set(recognise.FORMATS) - set(recognise.ONLY_IN)


def test_every_format_that_is_written_is_offered_everywhere() -> None:
    assert {name for name, _ in FORMATS} == WRITTEN == set(get_args(recognise.Written))
    parser = grammar.build("0")
    for format in recognise.FORMATS:
        assert parser.parse_args(["import", "x", "--format", format]).format == format
    for format in WRITTEN:
        assert parser.parse_args(["export", "x", "--format", format, "--output", "y"]).format == format
    with pytest.raises(SystemExit):
        parser.parse_args(["export", "x", "--format", "novelwriter", "--output", "y"])


def test_a_chat_comes_in_and_goes_out_with_what_the_author_should_know(new_home: NewHome, tmp_path: Path) -> None:
    studio = Studio(new_home(tmp_path / "home"), pace=0)
    try:
        desk = LibraryDesk(studio)
        source = written(tmp_path / "in.jsonl", message("It rained.", swipes=["It rained.", "Sun."], swipe_id=0), "{")
        made = desk.bring_in(source, title=" ", format="", level=None)
        assert made.sentence == "Imported 'Ada': 2 parts, 3 words."
        assert made.notes[1] == "1 swipe stands beside them."
        assert made.notes[-1] == "Left out, as it is no JSON; the file may have been cut off there (line 3)."
        told = desk.take_out(made.uuid, tmp_path / "out", format="chat", force=False)
        assert told == f"Wrote {tmp_path / 'out.jsonl'} ({(tmp_path / 'out.jsonl').stat().st_size:,} bytes)."
        told = desk.take_out(made.uuid, tmp_path / "out", format="epub", force=False)
        assert told.endswith("bytes). Not in the file: 1 swipe, 1 turn input, 1 message header.")
    finally:
        studio.close()
