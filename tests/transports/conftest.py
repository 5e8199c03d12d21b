"""Fixtures of the transport tests: connections with one registry, one switchboard, a clock moved by hand;
a bridge with a daemon that is not real behind it.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.bridge import Client, FakeDaemon
from tests.transports.doors import DOORS, Door
from tests.transports.house import LoopThread, running_loop
from tests.transports.tenants import Tenants


@pytest.fixture
def loop() -> Iterator[LoopThread]:
    with running_loop() as loop:
        yield loop


@pytest.fixture(params=DOORS)
def door(request: pytest.FixtureRequest) -> Door:
    return DOORS[request.param]


@pytest.fixture
def tenants(loop: LoopThread) -> Iterator[Tenants]:
    tenants = Tenants(loop)
    yield tenants
    tenants.leave()


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[FakeDaemon]:
    with FakeDaemon(tmp_path) as daemon:
        yield daemon


@pytest.fixture
def client(daemon: FakeDaemon, tmp_path: Path) -> Iterator[Client]:
    assert Path(daemon.path).is_socket()
    with Client(tmp_path, env={"SECRET_OF_THE_CLIENT": "kept in memory"}) as client:
        yield client
