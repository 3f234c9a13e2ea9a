"""A few moments of `tests.support.kills`: a whole life of a run, with a kill in it, or with a server that fails."""

from pathlib import Path

import pytest

from tests.support.kills import pull
from tests.support.lives import Disturb, Life, Told, make_template


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A home to copy, and its book."""
    home = tmp_path_factory.mktemp("lives") / "template"
    home.mkdir(mode=0o700)
    return home, make_template(home)


def _live(template: tuple[Path, str], home: Path, kill_at: int = 0, disturb: Disturb | None = None) -> Told:
    told = Told()
    Life(template[0], home, template[1], told, kill_at=kill_at, sender_at=9, disturb=disturb, timeout=1.0).live()
    return told


@pytest.mark.parametrize("kill_at", [230, 690])
def test_f16_a_kill_leaves_messages_commands_approvals_and_notices_once(
    template: tuple[Path, str], tmp_path: Path, kill_at: int
) -> None:
    """While edits and messages go on, and after the call that waited was allowed."""
    told = _live(template, tmp_path / "home", kill_at)
    assert told.kills["who leaves a message"] == 1
    assert sum(told.kills.values()) == 2, "no process of the run was killed"


def test_f08_a_server_that_fails_is_named_and_the_run_goes_on(template: tuple[Path, str], tmp_path: Path) -> None:
    told = _live(template, tmp_path / "home", disturb=pull("429", 6, 1, 3_600))
    (reason,) = told.reasons
    assert "limit" in reason
