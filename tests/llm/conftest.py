from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from marginalia_tui.llm.keys import Keys
from marginalia_tui.llm.models import Models
from tests.support.asking import QUICK, SECRET
from tests.support.scripted_server import Script, ScriptedServer


@pytest.fixture
def models(tmp_path: Path) -> Iterator[Models]:
    made = Models(Keys(tmp_path, {"TEST_KEY": SECRET}), retries=QUICK)
    yield made
    made.close()


@pytest.fixture
def serve() -> Iterator[Callable[[Script], ScriptedServer]]:
    servers: list[ScriptedServer] = []

    def start(script: Script) -> ScriptedServer:
        servers.append(ScriptedServer(script))
        return servers[-1]

    yield start
    for server in servers:
        server.close()
