"""Fixtures that every test may use, and a warden for the case that the run is killed."""

import pytest
from hypothesis import HealthCheck, settings

from tests.support import warden

pytest_plugins = ["tests.faults.reporting"]

warden.watch()

# How long an example takes says how busy the machine is, and nothing of what is tried.
settings.register_profile("any-machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any-machine")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest soaks begin first, so that at the end no worker waits for one of them."""
    items.sort(key=_takes_s, reverse=True)


def _takes_s(item: pytest.Item) -> int:
    soak = item.get_closest_marker("soak")
    return int(soak.kwargs.get("takes_s", 0)) if soak else 0
