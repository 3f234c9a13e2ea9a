"""The settings of the user: one JSON file in the home, read once and written whole."""

import os
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from marginalia_tui.domain.errors import StoreError

FILE = "settings.json"


class Settings(BaseModel):
    """What the author chose. A field that is left out has its default."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    theme: str = "ink"
    """The name of a theme."""
    keymap: dict[str, str] = {}
    """Id of a binding -> the keys that trigger it, separated by commas."""
    import_folder: str = ""
    """Where the file picker opens; empty is the folder in which the studio was started."""
    export_folder: str = ""
    """Where exports go; empty is the folder in which the studio was started."""
    max_agents: Annotated[int, Field(ge=1)] = 20
    """Agents at most."""
    max_copies: Annotated[int, Field(ge=1)] = 20
    """Runs that keep a working copy, at most."""
    max_running: Annotated[int, Field(ge=1)] = 4
    """Runs that work at once, at most."""
    token_budget: Annotated[int, Field(ge=0)] = 0
    """Tokens of one run, over the budgets of the agents; 0 is no limit."""
    max_rounds: Annotated[int, Field(ge=0)] = 0
    """Rounds of one run, as above."""
    max_cost: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    """Cost of one run at the prices of its model, as above."""
    max_minutes: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    """Minutes of work of one run, as above."""
    agent_system_prompt: str = ""
    """What agents are told first, where they have no prompt of their own; empty is the studio's own."""
    agent_compaction_prompt: str = ""
    """What agents are asked for a summary with, where they have no prompt of their own; empty is the studio's own."""
    default_language: str = ""
    """What holds for every book whose folders and own facts say nothing, and so for the next ones; empty: built in."""
    default_pov: str = ""
    default_tense: str = ""
    default_style: str = ""
    default_model: str = ""
    """The name of a model."""
    default_prompts: dict[str, str] = {}
    """Name of a prompt (`domain.prompts`) -> its template."""
    default_backup_changes: Annotated[int, Field(ge=0)] = 0
    """Changes after which a book that says nothing about it is backed up; 0: not by changes."""
    default_backup_minutes: Annotated[int, Field(ge=0)] = 0
    """Minutes with a change after which it is; 0: not by time."""
    default_history_limit: Annotated[int, Field(ge=0)] = 0
    """Versions of a part that are listed where the book says nothing; 0: all."""
    backups_kept: Annotated[int, Field(ge=1)] = 5
    """Automatic backups of each book that are kept."""
    keep_working: bool = False
    """Whether runs go on without a terminal when it goes away."""
    bell: bool = True
    """Whether the terminal rings when a run needs the author."""
    terminal_notice: Literal["off", "osc9", "osc777"] = "off"
    """Which sequence asks the terminal for a notice of the system: iTerm2 and others know 9, urxvt and others 777."""
    webhook_url: Annotated[str, Field(max_length=2_000)] = ""
    """Where notices of runs that need the author are sent; empty: nowhere. It may hold a secret."""
    webhook_format: Literal["plain", "discord", "gotify"] = "plain"
    webhook_always: bool = False
    """Also while a screen is open."""
    webhook_local: bool = False
    """Whether the address may be on this machine or in the local net."""


def load_settings(home: Path) -> Settings:
    """The settings of a home; the defaults where there are none.

    Raises:
        StoreError: the file can't be read or says what can't be.
    """
    path = home / FILE
    try:
        return Settings.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return Settings()
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "the file"
        raise StoreError(
            f"The settings in {path} are wrong at {where}: {first['msg']}. Correct or delete it."
        ) from error
    except OSError as error:
        raise StoreError(f"The settings in {path} can't be read: {error.strerror}.") from error


def save_settings(home: Path, settings: Settings) -> None:
    """Writes the settings whole: the old or the new file is there, whatever happens.

    Raises:
        StoreError: the disk refuses.
    """
    path = home / FILE
    draft = path.with_suffix(".new")
    try:
        fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        with open(fd, "w", encoding="utf-8") as file:
            file.write(settings.model_dump_json(indent=2, exclude_defaults=True) + "\n")
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError as error:
        raise StoreError(f"The settings can't be written to {path}: {error.strerror}.") from error
