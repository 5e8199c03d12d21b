"""One real daemon and one scripted model for all tests that only talk to them; each has conversations of its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.control_judge import judge
from tests.support.control_peer import ControlPeer
from tests.support.daemon_process import DaemonProcess
from tests.support.model_server import ModelServer

SECRET = "sk-very-secret-0123456789"


def config_with(model: ModelServer, extra: str = "") -> str:
    return f"""model_provider = "scripted"
{extra}
[model_providers.scripted]
base_url = "{model.base_url}"
wire_api = "chat"
http_headers = {{ Authorization = "Bearer {SECRET}" }}
query_params = {{ key = "{SECRET}" }}
"""


@pytest.fixture(scope="session")
def model() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


@pytest.fixture(scope="session")
def daemon(model: ModelServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaemonProcess]:
    """The shared daemon, whose messages are all checked by the schema."""
    with DaemonProcess(tmp_path_factory.mktemp("home"), config_with(model), judge=judge) as daemon:
        yield daemon
        bugs = [line for line in daemon.log() if line.get("level") == "error"]
    assert not bugs, bugs[0]


@pytest.fixture
def client(daemon: DaemonProcess) -> Iterator[ControlPeer]:
    with daemon.connect() as client:
        yield client


@pytest.fixture
def other(daemon: DaemonProcess) -> Iterator[ControlPeer]:
    with daemon.connect("other") as client:
        yield client


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home for a daemon of the test's own."""
    return tmp_path / "home"
