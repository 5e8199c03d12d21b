"""Fixtures of the transport tests: a house with one registry, one switchboard, a clock moved by hand."""

from collections.abc import Iterator

import pytest

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
