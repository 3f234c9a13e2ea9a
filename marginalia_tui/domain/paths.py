"""Paths as people write them."""

import os
from pathlib import Path


def typed_path(text: str) -> Path:
    """The path of a text in which `~` is a home.

    Of a user that there is not, `Path.expanduser` makes a fault; here the name stays as it is, and whoever opens it
    says that it is not there.
    """
    return Path(os.path.expanduser(text))
