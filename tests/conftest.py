"""Fixtures that every test may use, and a warden for the case that the run is killed."""

import pytest

from tests.support import warden

pytest_plugins = ["tests.faults.reporting"]

warden.watch()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest soaks begin first, so that at the end no worker waits for one of them."""
    items.sort(key=_takes_s, reverse=True)


def _takes_s(item: pytest.Item) -> int:
    soak = item.get_closest_marker("soak")
    return int(soak.kwargs.get("takes_s", 0)) if soak else 0
