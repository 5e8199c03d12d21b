"""Fixtures that every test may use, who begins first, and a warden for the case that the run is killed."""

import os
import sys
from collections import Counter

import pytest
from hypothesis import HealthCheck, settings

from tests.support import warden

pytest_plugins = ["tests.faults.reporting"]

warden.watch()

# Every worker imports every test, and tests start a thousand interpreters: all of them read compiled modules, also
# where the environment says that none are written.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# How long an example takes says how busy the machine is, and nothing of what is tried.
settings.register_profile("any-machine", deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=30)
settings.register_profile("thorough", settings.get_profile("any-machine"), max_examples=1000)  # for `make soak`
settings.load_profile("any-machine")


def pytest_xdist_auto_num_workers() -> int:
    """Twice as many workers as cores, for tests of daemons wait half of their time; but each imports every test."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return cores + min(cores, 4)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest soaks and files begin first, so that at the end no worker waits for one of them."""
    sizes = Counter(item.path for item in items)
    items.sort(key=lambda item: (_takes_s(item, "soak"), _takes_s(item, "long"), sizes[item.path]), reverse=True)


def _takes_s(item: pytest.Item, name: str) -> int:
    mark = item.get_closest_marker(name)
    return int(mark.kwargs.get("takes_s", 0)) if mark else 0
