"""Saves an answer to a file of the author's choice."""

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from marginalia_tui.domain.errors import Refused
from marginalia_tui.widgets.filepicker import FilePicker

if TYPE_CHECKING:
    from marginalia_tui.desk.answer import Shown
    from marginalia_tui.screens.host import Host


async def ask_save(host: "Host", shown: "Shown") -> None:
    """Asks for a file and writes the answer as plain text; only inside `do`.

    Raises:
        Refused: the file is there already, or the disk refuses.
    """
    name = re.sub(r"[^\w.-]+", "-", shown.title.strip("/ "))[:40].strip("-.") or "answer"
    path = await host.ask(FilePicker("Save the answer", Path.cwd(), mode="save", name=f"{name}.txt"))
    if path is not None:
        await host.call(write_new, path, shown.text + "\n")
        host.tell(f"Saved: {path}")


def write_new(path: Path, text: str) -> None:
    """Writes a file that is not there yet, for its owner to read.

    Raises:
        Refused: it is there, or can't be written.
    """
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        with open(handle, "w", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise Refused(f"{path} is there already: choose another name.") from None
    except (OSError, UnicodeError) as error:
        raise Refused(f"{path} can't be written: {getattr(error, 'strerror', None) or error}.") from error
