"""What the settings screen asks: models and their tests, and the settings of the home."""

from dataclasses import asdict, dataclass, replace
from typing import Any

from pydantic import ValidationError

from marginalia_tui.domain.chat import ModelDefinition, Sampling
from marginalia_tui.domain.errors import Invalid
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

    def save_model(self, definition: ModelDefinition, *, new: bool, key: str) -> None:
        """Adds a model, or replaces the one of that name; keeps a key that is given.

        Raises:
            Invalid: the name is taken, or the definition can't work.
        """
        with self._studio.store.read() as tx:
            taken = any(each.name == definition.name for each in models.list_models(tx))
        if new and taken:
            raise Invalid(f"There is a model {definition.name!r} already: choose another name.")
        models.save_model(self._studio.store, definition)
        if key.strip():
            self._studio.keys.put(definition.name, key)

    def remove_model(self, name: str) -> None:
        """Removes a model and its key."""
        models.remove_model(self._studio.store, name)
        self._studio.keys.remove(name)

    def test(self, definition: ModelDefinition) -> ModelReport:
        """Asks a model three short questions, and waits for it.

        Raises:
            ModelError: it does not answer; the sentence says why.
        """
        return test_model(self._studio.models, definition)

    # Settings

    def settings(self) -> Settings:
        """The settings."""
        return self._studio.settings

    def change(self, **fields: Any) -> Settings:
        """Changes settings by name, and keeps them.

        Raises:
            Invalid: a value does not fit; the sentence names it.
        """
        try:
            changed = Settings.model_validate({**self._studio.settings.model_dump(), **fields})
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            raise Invalid(f"The setting {first['loc'][0]} does not fit: {first['msg']}.") from None
        self._studio.change_settings(changed)
        return changed


def changed_model(definition: ModelDefinition, values: dict[str, Any]) -> ModelDefinition:
    """A definition with other values; sampling values are among them by their names."""
    sampling = {name: values.pop(name) for name in list(values) if name in asdict(Sampling())}
    return replace(definition, **values, sampling=replace(definition.sampling, **sampling))
