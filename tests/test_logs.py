"""The log: what it may hold, and a disk that takes no more of it."""

import logging
from pathlib import Path

import pytest

from marginalia_tui.logs import start_log

log = logging.getLogger("marginalia_tui.test")


def test_a_log_on_a_full_disk_is_no_fault_on_the_screen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "studio.log").symlink_to("/dev/full")
    start_log(tmp_path)
    log.info("something happened")
    assert capsys.readouterr().err == ""


def test_a_fault_of_a_log_line_is_still_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    start_log(tmp_path)
    log.info("%d", "no number")
    assert "Logging error" in capsys.readouterr().err
