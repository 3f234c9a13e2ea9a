import gc
import logging
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from marginalia_tui.store.store import Store

# A time limit for one example measures the machine, not the code.
settings.register_profile("suite", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("suite")


@pytest.fixture(autouse=True)
def _quiet_log() -> Iterator[None]:
    """The log that a test started ends with it: others listen to what is logged."""
    yield
    for name in ("marginalia_tui", "py.warnings"):
        logger = logging.getLogger(name)
        for handler in list(logger.handlers):
            logger.removeHandler(handler)
            handler.close()
        logger.propagate = True
    logging.captureWarnings(False)


@pytest.fixture(scope="session", autouse=True)
def _runtime_folder() -> Iterator[None]:
    """Where processes listen whose home has a long path: what killed ones leave there ends with the tests."""
    with (
        tempfile.TemporaryDirectory(prefix="m-", ignore_cleanup_errors=True) as folder,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("XDG_RUNTIME_DIR", folder)
        yield


NewHome = Callable[[Path], Path]
NewStore = Callable[[], AbstractContextManager[Store]]


@pytest.fixture(scope="session")
def new_home(tmp_path_factory: pytest.TempPathFactory) -> NewHome:
    """Makes a home with an empty store of the newest schema at a path: migrated once, then copied."""
    template = tmp_path_factory.mktemp("template")
    Store.open(template).close()

    def make(home: Path) -> Path:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        with (
            closing(sqlite3.connect(template / "studio.db")) as source,
            closing(sqlite3.connect(home / "studio.db")) as copy,
        ):
            source.backup(copy)
        return home

    return make


@pytest.fixture(scope="session")
def new_store(new_home: NewHome, tmp_path_factory: pytest.TempPathFactory) -> NewStore:
    """Opens a store of its own as often as it is asked: for hypothesis, which runs a test many times."""

    @contextmanager
    def opened() -> Iterator[Store]:
        with closing(Store.open(new_home(tmp_path_factory.mktemp("home")))) as store:
            yield store

    return opened


@pytest.fixture
def store(new_home: NewHome, tmp_path: Path) -> Iterator[Store]:
    """An empty store in a home of its own."""
    with closing(Store.open(new_home(tmp_path / "home"))) as store:
        yield store


def pytest_collection_finish() -> None:
    """What was imported so far stays: the collector of garbage need not look through it again and again."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
