"""A text in a program of the author's: the pager or the editor, while the screens are suspended.

The program gets a private file with a copy of the text; what is changed in it is lost with the file. Characters that
a terminal would obey are signs in it.
"""

import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal

from marginalia_tui.domain.errors import Refused
from marginalia_tui.domain.visible import visible

Kind = Literal["pager", "editor"]
_NAMES: dict[Kind, tuple[str, ...]] = {"pager": ("PAGER",), "editor": ("VISUAL", "EDITOR")}
_USUAL: dict[Kind, tuple[str, ...]] = {"pager": ("less", "more"), "editor": ("nano", "vi")}


def program_of(
    kind: Kind, environment: Mapping[str, str], find: Callable[[str], str | None] = shutil.which
) -> list[str]:
    """The program and its options.

    Raises:
        Refused: none is named, and none of the usual ones is there.
    """
    for name in _NAMES[kind]:
        try:
            words = shlex.split(environment.get(name, ""))
        except ValueError:
            raise Refused(f"${name} can't be read: its quotes do not match.") from None
        if words:
            return words
    for name in _USUAL[kind]:
        if find(name):
            return [name]
    raise Refused(f"There is no {kind}: name one in ${_NAMES[kind][-1]}.")


def open_outside(text: str, program: list[str], run: Callable[[list[str]], object] = subprocess.call) -> None:
    """Runs a program on a private file that has the text, and takes the file away.

    Raises:
        Refused: the program can't be started, or the file not be written.
    """
    try:
        with tempfile.TemporaryDirectory(prefix="marginalia-") as folder:
            path = Path(folder) / "text.md"
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
                file.write(visible(text))
            run([*program, str(path)])
    except OSError as error:
        raise Refused(f"{program[0]} can't be started: {error.strerror}.") from error
