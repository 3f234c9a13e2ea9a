"""The terminal, before the toolkit is imported: whether the screens can be drawn in it, and what it needs.

The toolkit reads its environment when it is imported, so this comes first. What the author set stays.
"""

import os
import sys
from collections.abc import MutableMapping

from marginalia_tui.domain.errors import Refused

_FPS_OVER_SSH = "15"
"""Pictures a second over a line that may be slow."""


def prepare(environment: MutableMapping[str, str] = os.environ, *, is_terminal: bool | None = None) -> None:
    """Gets the environment ready for the screens.

    Args:
        environment: of the process.
        is_terminal: whether keys and pictures have one; None looks.

    Raises:
        Refused: there is no terminal, or nothing can be drawn in it.
    """
    if is_terminal is None:
        # The toolkit reads keys from the standard input and draws on the standard error.
        is_terminal = sys.stdin.isatty() and sys.stderr.isatty()
    if not is_terminal:
        raise Refused("The studio needs a terminal. Without one there are the verbs: `marginalia --help` lists them.")
    if environment.get("TERM", "") in ("", "dumb"):
        raise Refused(
            f"Nothing can be drawn in a terminal of the kind {environment.get('TERM', '')!r}: use another one, or the "
            "verbs, which `marginalia --help` lists."
        )
    environment.setdefault("TEXTUAL_ANIMATIONS", "none")
    if environment.get("SSH_CONNECTION"):
        environment.setdefault("TEXTUAL_FPS", _FPS_OVER_SSH)
        environment.setdefault("TEXTUAL_SMOOTH_SCROLL", "0")
    if environment.get("TERM_PROGRAM") == "iTerm.app" and not environment.get("TMUX"):
        # Its keyboard protocol loses what an input method composes.
        environment.setdefault("TEXTUAL_DISABLE_KITTY_KEY", "1")
