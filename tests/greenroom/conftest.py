"""A real daemon with the built-in demo model, in the home that this process' clients find."""

from collections.abc import Iterator

import pytest

import greenroom
from tests.support.daemon_process import DaemonProcess


@pytest.fixture(scope="module")
def shared_daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaemonProcess]:
    with DaemonProcess(tmp_path_factory.mktemp("home")) as daemon:
        yield daemon


@pytest.fixture
def daemon(shared_daemon: DaemonProcess, monkeypatch: pytest.MonkeyPatch) -> Iterator[DaemonProcess]:
    """A daemon without any conversation."""
    if not shared_daemon.runs:
        shared_daemon.start()
    with shared_daemon.connect() as peer:
        for archived in (False, True):
            for row in peer.call("conversation/list", archived=archived)["conversations"]:
                peer.call("conversation/interrupt", conversation=row["conversation"])
                peer.call("conversation/delete", conversation=row["conversation"])
    monkeypatch.setenv("GREENROOM_HOME", str(shared_daemon.home))
    yield shared_daemon
    shared_daemon.hang_up()


@pytest.fixture
def client(daemon: DaemonProcess) -> Iterator[greenroom.Client]:  # noqa: ARG001  # it has to run
    with greenroom.Client() as client:
        yield client
