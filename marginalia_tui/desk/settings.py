"""What the settings screen asks: models and their tests, and the settings of the home."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import ValidationError

from marginalia_tui.desk.answer import Block, Facts, Shown, Words
from marginalia_tui.domain.chat import ModelDefinition, Sampling
from marginalia_tui.domain.errors import Invalid
from marginalia_tui.domain.paths import typed_path
from marginalia_tui.domain.sentences import quoted
from marginalia_tui.llm.report import ModelReport, test_model
from marginalia_tui.services import models
from marginalia_tui.settings import Settings
from marginalia_tui.studio import Studio


@dataclass(frozen=True, slots=True)
class ModelLine:
    """A model in the list. `has_key` says whether a key is kept in the file of the home."""

    definition: ModelDefinition
    embedded: bool
    has_key: bool


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting in the list: its name, its section, its value, and the value in words."""

    name: str
    section: str
    words: str
    help: str
    shown: str
    default: str | int | float
    kind: Literal["number", "text", "multiline", "choice", "boolean"] = "number"
    value: str | int = ""
    """What a form begins with; empty for what is not shown."""
    choices: tuple[tuple[str, str], ...] = ()
    """Pairs of a value and the words for it."""


_FORMATS = (("plain", "plain text, as ntfy takes it"), ("discord", "Discord"), ("gotify", "Gotify"))
_SEQUENCES = (("off", "none"), ("osc9", "OSC 9"), ("osc777", "OSC 777"))
_NOTICES: tuple[tuple[str, Literal["text", "choice", "boolean"], str, str, tuple[tuple[str, str], ...]], ...] = (
    ("bell", "boolean", "Terminal bell", "it rings when a run needs you", ()),
    ("terminal_notice", "choice", "Notice of the system", "the sequence that your terminal knows", _SEQUENCES),
    ("webhook_url", "text", "Webhook", "the address that notices are sent to; r removes it", ()),
    ("webhook_format", "choice", "Form of the webhook", "what its server takes", _FORMATS),
    ("webhook_always", "boolean", "Webhook with a screen open", "send also while a studio is open", ()),
    ("webhook_local", "boolean", "Local addresses", "the address may be on this machine or in the local net", ()),
)
_ROWS = (
    ("import_folder", "folders", "Imports begin in", "where the file picker opens"),
    ("export_folder", "folders", "Exports go to", "the folder that an export proposes"),
    ("max_agents", "limits", "Agents", "Agents at most"),
    ("max_copies", "limits", "Working copies", "Runs that keep a working copy, at most"),
    ("max_running", "limits", "Runs at once", "Runs that work at once, at most"),
    ("default_backup_changes", "defaults", "Backup after changes", "Changes after which a book is backed up; 0: never"),
    ("default_backup_minutes", "defaults", "Backup after minutes", "Minutes with a change; 0: not by time"),
    ("backups_kept", "defaults", "Backups kept", "Backups made by themselves that are kept of each book"),
    ("default_history_limit", "defaults", "Versions listed", "Versions of a part that are listed; 0: all"),
    ("max_rounds", "limits", "Rounds of a run", "Rounds of one run at most; 0 is no limit"),
    ("token_budget", "limits", "Tokens of a run", "Tokens of one run at most; 0 is no limit"),
    ("max_cost", "limits", "Cost of a run", "At the prices of its model; 0 is no limit"),
    ("max_minutes", "limits", "Minutes of a run", "Minutes that a run is worked; 0 is no limit"),
)


_PROMPTS = (
    ("agent_system_prompt", "System prompt", "What agents are told first, in place of the studio's own"),
    ("agent_compaction_prompt", "Summary prompt", "What asks them for a summary, in place of the studio's own"),
)


class SettingsDesk:
    """Models and settings of a studio."""

    def __init__(self, studio: Studio) -> None:
        self._studio = studio

    # Models

    def models(self) -> list[ModelLine]:
        """The models by name, the embedded one last."""
        with self._studio.store.read() as tx:
            found = models.list_models(tx)
        keys = self._studio.keys.names()
        return [ModelLine(each, each.name == models.OFFLINE.name, each.name in keys) for each in found]

    def keep_model(self, definition: ModelDefinition, values: Mapping[str, Any], new: bool) -> str:
        """Adds or changes a model, and keeps the key if one is given; answers its name.

        Args:
            definition: what it was.
            values: fields of the definition and of its sampling by name, and `key`.
            new: whether it is added.

        Raises:
            Invalid: the name is taken, or the definition can't work.
        """
        sampling = {each.name for each in fields(Sampling)}
        changed = replace(
            definition,
            **{name: value for name, value in values.items() if name not in sampling and name != "key"},
            sampling=replace(definition.sampling, **{name: values[name] for name in sampling & values.keys()}),
        )
        with self._studio.store.read() as tx:
            taken = any(each.name == changed.name for each in models.list_models(tx))
        if new and taken:
            raise Invalid(f"There is a model {changed.name!r} already: choose another name.")
        models.save_model(self._studio.store, changed)
        if values.get("key"):
            self._studio.keys.put(changed.name, values["key"])
        return changed.name

    def remove_model(self, name: str) -> None:
        """Removes a model and its key."""
        models.remove_model(self._studio.store, name)
        self._studio.keys.remove(name)

    def test(self, definition: ModelDefinition) -> Shown:
        """Asks a model three short questions, and waits for it.

        Raises:
            ModelError: it does not answer; the sentence says why.
        """
        return _report(test_model(self._studio.models, definition))

    # Settings

    @property
    def theme(self) -> str:
        """The theme that is kept."""
        return self._studio.settings.theme

    def keymap(self) -> dict[str, str]:
        """Id of a binding -> the keys that the author gave it."""
        return dict(self._studio.settings.keymap)

    def rows(self) -> list[Setting]:
        """The folders, the limits, and those defaults of books that are numbers."""
        settings, defaults = self._studio.settings, Settings()
        numbers = [
            Setting(name, section, words, help, _shown(getattr(settings, name)), getattr(defaults, name))
            for name, section, words, help in _ROWS
        ]
        lasting = Setting(
            "keep_working",
            "limits",
            "Work on without a terminal",
            "runs go on when their terminal goes away",
            "yes" if settings.keep_working else "no",
            False,
            "boolean",
            settings.keep_working,
        )
        notices = [
            Setting(
                name,
                "notices",
                words,
                help,
                _told(kind, getattr(settings, name), dict(choices)),
                getattr(defaults, name),
                kind,
                # An address may hold a secret: it is typed anew and never shown.
                "" if kind == "text" else getattr(settings, name),
                choices,
            )
            for name, kind, words, help, choices in _NOTICES
        ]
        prompts = [
            Setting(
                name,
                "agents",
                words,
                help,
                _prompt_shown(getattr(settings, name)),
                "",
                "multiline",
                getattr(settings, name),
            )
            for name, words, help in _PROMPTS
        ]
        return [*numbers, lasting, *notices, *prompts]

    def test_webhook(self) -> None:
        """Sends a notice to the address of the settings, and waits for it.

        Raises:
            Invalid, Refused: it was not taken; the sentence says why.
        """
        from marginalia_tui.llm import webhook

        settings = self._studio.settings
        if not settings.webhook_url:
            raise Invalid("There is no webhook yet: give its address first.")
        webhook.send(
            settings.webhook_url,
            settings.webhook_format,
            "Marginalia",
            "This is a test: notices of your agents arrive here.",
            allow_local=settings.webhook_local,
        )

    def folder(self, name: str) -> Path:
        """The folder of a setting; where the studio was started when it is empty or gone."""
        folder = typed_path(getattr(self._studio.settings, name))
        return folder if str(folder) != "." and folder.is_dir() else Path.cwd()

    def change(self, **values: Any) -> None:
        """Changes settings by name, and keeps them.

        Raises:
            Invalid: a value does not fit; the sentence names it.
        """
        if url := values.get("webhook_url"):
            from marginalia_tui.llm import webhook

            webhook.check_url(str(url))
        try:
            changed = Settings.model_validate({**self._studio.settings.model_dump(), **values})
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            words = next((each.words for each in self.rows() if each.name == first["loc"][0]), str(first["loc"][0]))
            raise Invalid(f"{words}: {first['msg']}.") from None
        self._studio.change_settings(changed)


def _told(kind: str, value: str | bool, choices: Mapping[str, str]) -> str:
    """A setting of the notices in words; of an address no more than its host."""
    if kind == "boolean":
        return "yes" if value else "no"
    if kind == "choice":
        return choices[str(value)]
    return urlsplit(str(value)).hostname or "nowhere"


def _prompt_shown(text: str) -> str:
    """A prompt in a few words."""
    return quoted(" ".join(text.split())) if text.strip() else "the studio's own"


def _shown(value: str | int | float) -> str:
    if isinstance(value, str):
        return value or "where the studio was started"
    return f"{value:,}" if isinstance(value, int) else f"{value:,g}"


def _report(report: ModelReport) -> Shown:
    facts = [
        ("answer", report.answer),
        ("first token", f"{report.first_token:.2f} s"),
        ("tokens a second", f"{report.tokens_per_second:.1f}" if report.tokens_per_second else "it came in one piece"),
        ("whole answer", f"{report.seconds:.2f} s"),
        ("counts tokens", "yes" if report.usage else "no, the studio counts"),
        ("calls tools", "yes" if report.tools else "no"),
        ("sees images", "not tried" if report.images is None else "yes" if report.images else "no"),
        ("thinks aloud", "yes" if report.reasoning else "no"),
    ]
    blocks: list[Block] = [Facts(facts), *(Words(note) for note in report.notes)]
    text = "\n".join([*(f"{label}: {value}" for label, value in facts), *report.notes])
    return Shown(f"Test of {report.name}", "", blocks, text, {})
