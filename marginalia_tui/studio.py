"""The studio without a screen: puts store, services, commands, models and agents together.

The app and the headless verbs hold one each. Nothing here knows Textual.
"""

import logging
import threading
from functools import cached_property
from pathlib import Path

from marginalia_tui.agent import agents, detached, review
from marginalia_tui.agent.definition import AgentDefinition
from marginalia_tui.agent.runner import Runner, RunnerParts
from marginalia_tui.agent.steered import RunnerSteering
from marginalia_tui.agent.webhooks import Webhooks
from marginalia_tui.commands.builtin import builtin_registry
from marginalia_tui.commands.context import Answers, Scope
from marginalia_tui.commands.dispatch import Dispatcher
from marginalia_tui.commands.running import CommandPool
from marginalia_tui.domain.clock import Clock
from marginalia_tui.domain.guard import may_wait
from marginalia_tui.extensions import load_extensions
from marginalia_tui.llm.keys import Keys
from marginalia_tui.llm.models import Models
from marginalia_tui.llm.offline.provider import OfflineProvider
from marginalia_tui.services.activity import Tracker
from marginalia_tui.services.backup_auto import AutoBackups
from marginalia_tui.settings import Settings, load_settings, save_settings
from marginalia_tui.store.space import LIBRARY
from marginalia_tui.store.store import Store

log = logging.getLogger(__name__)


class Studio:
    """Everything that works on one home.

    Args:
        home: the folder of the studio.
        pace: words a second that the offline proofreader writes; 0 writes at once.
        clock: time and uuids, for tests.
    """

    def __init__(self, home: Path, *, pace: float = 40.0, clock: Clock | None = None) -> None:
        self.home = home
        self.settings = load_settings(home)
        self.store = Store.open(home, clock=clock)
        self.registry = builtin_registry()
        self.extensions = load_extensions(self.registry)
        self.dispatcher = Dispatcher(self.registry)
        self.keys = Keys(home)
        self._pace = pace
        self._closed = threading.Event()
        self._backups = AutoBackups(self.store, lambda: self.settings.backups_kept)
        self._webhooks = Webhooks(self.store, lambda: self.settings)
        self.activity = Tracker(self.store)

    @cached_property
    def commands(self) -> CommandPool:
        """The commands that run."""
        return CommandPool(self.dispatcher)

    @cached_property
    def models(self) -> Models:
        """The models, with the embedded proofreader among them."""
        models = Models(self.keys, check=lambda: may_wait("the answer of a model"))
        models.register("offline", OfflineProvider(pace=self._pace))
        return models

    @cached_property
    def runner(self) -> Runner:
        """The runs."""
        return Runner(
            RunnerParts(self.store, self.dispatcher, self.models, lambda: self.settings, self.extensions.tools)
        )

    @cached_property
    def reviews(self) -> "review.Reviews":
        """What runs changed."""
        return review.Reviews(self.store, self.extensions.merges)

    def scope(self, book: str | None, answers: Answers) -> Scope:
        """The author's scope on a book of the library."""
        return Scope(store=self.store, space=LIBRARY, book=book, answers=answers, steering=self._steering)

    def _steering(self) -> RunnerSteering:
        return RunnerSteering(lambda: self.runner)

    def change_settings(self, settings: Settings) -> None:
        """Keeps settings, and uses them from now on."""
        save_settings(self.home, settings)
        self.settings = settings

    def add_agent(self, **fields: object) -> AgentDefinition:
        """Stores a new agent of these fields; its uuid is given here.

        Raises:
            Invalid, NotFound, Refused: the sentence says what to change.
        """
        agent = agents.define_agent(uuid=self.store.clock.new_uuid(), **fields)
        agents.add_agent(self.store, self.registry, self.settings, agent)
        return agent

    @property
    def closed(self) -> bool:
        """Whether it is closed, or about to be."""
        return self._closed.is_set()

    def close(self, *, keep_working: bool = False) -> None:
        """Parks the runs that work here and closes everything; a second time does nothing.

        Args:
            keep_working: the runs go on in a process that needs no terminal, when it can be started.
        """
        if self._closed.is_set():
            return
        self._closed.set()
        if "commands" in self.__dict__:
            self.commands.close()
        if "runner" in self.__dict__:
            if keep_working:
                detached.hand_over(self.home, self.runner)
            self.runner.park()
        self._backups.close()
        self._webhooks.close()
        self.activity.close()
        if "models" in self.__dict__:
            self.models.close()
        self.store.close()
