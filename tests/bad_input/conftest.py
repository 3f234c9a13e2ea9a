"""Homes and programs for tests of what is refused."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from marginalia_tui import cli
from marginalia_tui.llm.retry import Retries
from tests.bad_input.program import Program, Said
from tests.conftest import NewHome


@pytest.fixture
def home(new_home: NewHome, tmp_path: Path) -> Path:
    return new_home(tmp_path / "home")


@pytest.fixture
def program(home: Path, capsys: pytest.CaptureFixture[str]) -> Program:
    """Runs `marginalia --home HOME ...` in this process."""

    def run(*arguments: object, as_json: bool = True) -> Said:
        capsys.readouterr()
        options = ["--home", str(home), *(["--json"] if as_json else []), *map(str, arguments)]
        with pytest.raises(SystemExit) as ended:
            cli.main(options)
        out, err = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return Said(ended.value.code, out, err)

    return run


@pytest.fixture
def unchanged(program: Program, home: Path, tmp_path: Path) -> Iterator[None]:
    """A book stands in the library, and after the test it stands there alone and as it was."""
    path = tmp_path / "kept.md"
    path.write_text("# Kept\n\n## One\n\nAll of it.\n", encoding="utf-8")
    program("import", path)
    before = program("books").json
    yield
    assert program("books").json == before
    assert program("exec", "--book", "Kept", "/get-part 1").json["result"]["text"] == "All of it."
    assert program("doctor").code == 0


@pytest.fixture
def once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every request is tried once."""
    monkeypatch.setattr("marginalia_tui.llm.models.Retries", lambda: Retries(attempts=1, loading_attempts=1))
