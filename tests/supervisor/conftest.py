"""Homes for the tests that run a real daemon."""

from pathlib import Path

import pytest

from tests.support.home import Home


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")
