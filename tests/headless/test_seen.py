"""The verbs that look into a run. In process, on a real store, against the scripted server."""

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from marginalia_tui import cli
from marginalia_tui.studio import Studio
from tests.conftest import NewHome
from tests.screens.working import agent_home
from tests.support.scripted_server import ScriptedServer, calls

SCRIPT = (
    calls(("list-parts", {}), usage=(4_000, 10)),
    calls(("edit-part", {"part": "h:m1", "old": "nowhere", "new": "the cat"}), ("list-parts", {}), usage=(5_000, 20)),
    calls(("edit-part", {"part": "h:m1", "old": "teh cat", "new": "the cat"}), said="I correct it.", usage=(5_500, 20)),
    calls(("finish", {"report": "One slip corrected."}), usage=(6_000, 50)),
)
Print = Callable[..., str]


@pytest.fixture
def printed(new_home: NewHome, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Print:
    """What a verb prints about a run that was worked to its end."""
    home = new_home(tmp_path / "home")
    with ScriptedServer(list(SCRIPT)) as server:
        agent_home(home, server.url)
        with closing(Studio(home, pace=0)) as studio:
            with studio.store.read() as tx:
                from marginalia_tui.agent.agents import list_agents

                agent = list_agents(tx)[0].uuid
            run = studio.runner.start(agent)
            studio.runner.wait(run, lambda seen: not seen.status.active, 20.0)

    def call(*arguments: str, code: int = 0) -> str:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            cli.main(["--home", str(home), *arguments])
        assert ended.value.code == code
        return capsys.readouterr().out

    return call


def test_a_run_is_looked_into(printed: Print) -> None:
    told: dict[str, Any] = json.loads(printed("--json", "run", "diagnostics", "latest"))
    totals = told["totals"]
    assert (totals["rounds"], totals["calls"], totals["errors"], totals["interrupted"]) == (4, 5, 1, 1)
    assert told["telemetry"]["prompt"] == 20_500
    assert [each["context"] for each in told["rounds"]] == [4_010, 5_020, 5_520, 6_050]
    page = printed("run", "diagnostics", "latest")
    assert page.startswith("# Corrector on The Cat\n\n- 4 rounds, 3 with one call")
    assert printed("--json", "run", "diagnostics", "latest", "--markdown") == page
