"""Homes for programs that run in a process of their own."""

from pathlib import Path

import pytest

from tests.conftest import NewHome


@pytest.fixture
def home(new_home: NewHome, tmp_path: Path) -> Path:
    """A home whose library is empty."""
    return new_home(tmp_path / "home")
