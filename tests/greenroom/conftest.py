"""A real daemon with the built-in demo model, in the home that this process' clients find."""

from collections.abc import Iterator

import pytest

import greenroom
from tests.support.daemon_process import DaemonProcess


@pytest.fixture
def daemon(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[DaemonProcess]:
    with DaemonProcess(tmp_path_factory.mktemp("home")) as daemon:
        monkeypatch.setenv("GREENROOM_HOME", str(daemon.home))
        yield daemon


@pytest.fixture
def client(daemon: DaemonProcess) -> Iterator[greenroom.Client]:  # noqa: ARG001  # it has to run
    with greenroom.Client() as client:
        yield client
