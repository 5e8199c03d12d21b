"""What a turn needs is loaded once a client has come that may want one, and before that nothing of it is."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.daemon_harness import served_by, until
from tests.support.daemon_process import DaemonProcess
from tests.support.loading_daemon import LOADED
from tests.support.mcp_client import McpClient
from tests.support.model_server import ModelServer

OF_TURNS = {"supervisor.agents.own.own_agent", "httpx", "ssl", "actors.vocabulary.settings.Settings"}


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[DaemonProcess]:
    environ = {LOADED: str(tmp_path / "loaded")}
    with ModelServer() as model:
        config = served_by(model.base_url)
        with DaemonProcess(tmp_path / "home", config, environ, program="tests.support.loading_daemon") as daemon:
            yield daemon


def loaded_in(daemon: DaemonProcess) -> set[str]:
    place = Path(daemon.environ[LOADED])
    place.unlink(missing_ok=True)
    daemon.signal(signal.SIGUSR2)
    until(place.exists, "the daemon did not say what it has loaded")
    return set(place.read_text(encoding="utf-8").splitlines())


def has_loaded_ahead(daemon: DaemonProcess) -> bool:
    return any(line["event"] == "agent.loaded" for line in daemon.log())


def test_the_first_turn_of_a_daemon_loads_nothing_that_was_not_there_before_it(daemon: DaemonProcess) -> None:
    with McpClient(daemon.environ, cwd=daemon.home) as client:
        until(lambda: has_loaded_ahead(daemon), "nothing was loaded ahead")
        before = loaded_in(daemon)
        assert before >= OF_TURNS
        assert not client.result("codex", {"prompt": "say done"}).get("isError")
        assert loaded_in(daemon) - before == set()


def test_a_client_that_only_looks_loads_nothing_that_a_turn_needs(daemon: DaemonProcess) -> None:
    with daemon.connect() as looking:
        looking.call("conversation/list")
        looking.call("clients/list")
    assert not loaded_in(daemon) & OF_TURNS
    assert not has_loaded_ahead(daemon)
