"""The verbs that look into a run. As they are parsed, on a real store, against the scripted server."""

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from marginalia_tui.domain.errors import Invalid, NotFound, Refused
from marginalia_tui.headless.grammar import build
from marginalia_tui.headless.runs import VERBS
from marginalia_tui.studio import Studio
from tests.conftest import NewHome
from tests.screens.working import agent_home
from tests.support.scripted_server import ScriptedServer, calls

SCRIPT = (
    calls(("list-parts", {}), usage=(4_000, 10)),
    calls(("edit-part", {"part": "h:m1", "old": "nowhere", "new": "the cat"}), ("list-parts", {}), usage=(5_000, 20)),
    calls(("report", {"text": "The dog is never named."}), usage=(5_200, 20)),
    calls(("edit-part", {"part": "h:m1", "old": "teh cat", "new": "the cat"}), said="I correct it.", usage=(5_500, 20)),
    calls(("finish", {"report": "One slip corrected."}), usage=(6_000, 50)),
)
Print = Callable[..., str]


@pytest.fixture
def printed(new_home: NewHome, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Print]:
    """What a verb prints about a run that was worked to its end."""
    home = new_home(tmp_path / "home")
    grammar = build("1")
    with ScriptedServer(list(SCRIPT)) as server:
        _, agent = agent_home(home, server.url)
        with closing(Studio(home, pace=0)) as studio:
            run = studio.runner.start(agent)
            studio.runner.wait(run, lambda seen: not seen.status.active, 20.0)

            def call(*arguments: str) -> str:
                options = grammar.parse_args(arguments)
                capsys.readouterr()
                assert VERBS[options.action](studio, options) == 0
                return capsys.readouterr().out

            yield call


def test_a_run_is_looked_into(printed: Print, tmp_path: Path) -> None:
    told: dict[str, Any] = json.loads(printed("--json", "run", "diagnostics", "latest"))
    totals = told["totals"]
    assert (totals["rounds"], totals["calls"], totals["errors"], totals["interrupted"]) == (5, 6, 1, 1)
    assert told["telemetry"]["prompt"] == 25_700
    assert [each["context"] for each in told["rounds"]] == [4_010, 5_020, 5_220, 5_520, 6_050]
    page = printed("run", "diagnostics", "latest")
    assert page.startswith("# Corrector on The Cat\n\n- rounds: 5, 4 with one call")
    assert printed("--json", "run", "diagnostics", "latest", "--markdown") == page

    told = json.loads(printed("--json", "run", "context", "latest"))
    kinds = [part["kind"] for part in told["parts"]]
    assert (kinds[0], kinds[-2:]) == ("system prompt", ["answer", "result"])
    assert told["tokens"] == sum(part["tokens"] for part in told["parts"])
    assert [each["reported"] for each in told["history"]] == [4_010, 5_020, 5_220, 5_520, 6_050]
    assert told["problem"] is None and told["cap"] == 20_000
    page = printed("run", "context", "latest")
    assert page.startswith("# Corrector on The Cat\n\nAbout ") and "## task: task (" in page

    (finding,) = json.loads(printed("--json", "run", "findings", "latest"))
    assert (finding["text"], finding["agent"]) == ("The dog is never named.", "Corrector")
    for of in ("agent", "book"):
        assert json.loads(printed("--json", "run", "findings", "latest", "--of", of)) == [finding]
    assert json.loads(printed("--json", "run", "findings", "--book", "The Cat")) == [finding]
    with pytest.raises(Invalid):
        printed("run", "findings")
    assert "The dog is never named." in printed("run", "findings", "latest")
    assert printed("run", "findings", "latest", "--delete", finding["id"]) == "Nothing was reported.\n"
    with pytest.raises(NotFound):
        printed("run", "findings", "latest", "--delete", finding["id"])

    target = tmp_path / "run.md"
    made = json.loads(printed("--json", "run", "export", "latest", "--output", str(target)))
    assert made == {"path": str(target), "bytes": target.stat().st_size}
    assert "> I correct it." in target.read_text(encoding="utf-8")
    with pytest.raises(Refused):
        printed("run", "export", "latest", "--output", str(target))
    printed("run", "export", "latest", "--output", str(target), "--force")
    assert "### Call of edit-part" in printed("run", "transcript", "latest")
