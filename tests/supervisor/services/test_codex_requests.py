"""The requests of Codex's conversation methods, answered by the real services over a real engine."""

import queue
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from actors.runtime.shared import call_on_loop
from actors.vocabulary.errors import ConfigError, GreenroomError, NotAllowed
from actors.vocabulary.ids import Caller, ConnectionId
from actors.vocabulary.settings import DangerFullAccess
from supervisor.config.load import load
from supervisor.engine.engine import Engine
from supervisor.paths import Paths
from supervisor.services.services import Services
from transports import supervisor_requests as ask
from transports.dialect import Client
from transports.hello import Identity
from transports.messages import ServiceAnswer, ServiceRequest
from transports.supervisor_answers import ConfigValue, SingleCommandResult
from transports.switchboard import Switchboard

PATIENCE_S = 20.0  # a busy machine; a test that waits this long has failed

CALLER = Caller(ConnectionId("c"), 7)


class RealServices:
    def __init__(self, tmp_path: Path, config: str) -> None:
        file = tmp_path / "config.toml"
        file.write_text(config)
        paths = Paths(str(tmp_path / "config"), str(tmp_path / "state"), str(tmp_path / "run"))
        switchboard = Switchboard()
        self.engine = Engine(load(str(file), environ={}), paths, {"PATH": "/usr/bin:/bin"}, switchboard)
        reread = partial(load, str(file), environ={})
        self.services = Services(self.engine, switchboard, Identity("1", "i"), lambda _: None, reread)
        self.client = Client(ConnectionId("c"), cwd=str(tmp_path), env={"PATH": "/usr/bin:/bin", "HELLO": "there"})
        self._answers: queue.Queue[Any] = queue.Queue()

    def tell(self, message: object) -> None:
        self._answers.put(message)

    def put(self, request: ask.SupervisorRequest) -> None:
        call_on_loop(self.engine.loop.loop, self.services.tell, ServiceRequest(request, CALLER, self.client, self))

    def ask(self, request: ask.SupervisorRequest) -> Any:
        self.put(request)
        return self.heard()

    def heard(self) -> Any:
        served = self._answers.get(timeout=PATIENCE_S)
        assert isinstance(served, ServiceAnswer)
        assert served.caller == CALLER
        return served.answer


@pytest.fixture
def services(tmp_path: Path) -> Iterator[RealServices]:
    services = RealServices(tmp_path, 'model = "m"\nmodel_provider = "openai"\napproval_policy = "never"\n')
    services.engine.start()
    try:
        yield services
    finally:
        services.engine.stop()


def test_a_command_of_its_own_runs_where_the_client_is_with_what_the_client_has(
    services: RealServices, tmp_path: Path
) -> None:
    argv = ("sh", "-c", "pwd; echo $HELLO")
    answer = services.ask(ask.RunOnce(argv, sandbox=DangerFullAccess()))
    assert answer == SingleCommandResult(0, f"{tmp_path}\nthere\n", "")


def test_a_timeout_and_a_refusal_are_answers(services: RealServices) -> None:
    slow = services.ask(ask.RunOnce(("sleep", "30"), timeout_ms=100, sandbox=DangerFullAccess()))
    assert isinstance(slow, GreenroomError)
    assert "timed out" in slow.message


def test_a_diff_where_there_is_no_repository_is_refused(services: RealServices) -> None:
    assert isinstance(services.ask(ask.DiffToRemote("nowhere")), GreenroomError)


def test_files_are_found_below_roots_that_are_relative_to_the_client(services: RealServices, tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "wanted.py").touch()
    (row,) = services.ask(ask.FindFiles("want", ("src", "nowhere"))).files
    assert (row.root, row.path) == (str(tmp_path / "src"), "wanted.py")


def test_a_search_gives_way_to_a_later_one_of_its_series(
    services: RealServices, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, begun, queries = threading.Event(), threading.Event(), []

    def slow(query: str, _: object) -> tuple[str, ...]:
        queries.append(query)
        begun.set()
        assert gate.wait(PATIENCE_S)
        return (query,)

    monkeypatch.setattr("supervisor.services.file_searches.search", slow)
    services.put(ask.FindFiles("a", (), "typed"))
    assert begun.wait(PATIENCE_S)
    for query, series in (("ab", "typed"), ("abc", "typed"), ("x", None), ("y", None)):
        services.put(ask.FindFiles(query, (), series))
    assert services.ask(ask.ReadConfig()).path  # what was asked before has begun to wait
    gate.set()
    found = [services.heard().files for _ in range(5)]
    assert queries == ["a", "abc", "x", "y"]
    assert sorted(map(str, found)) == sorted(map(str, ((), *((query,) for query in queries))))


def test_the_config_in_force_is_told(services: RealServices) -> None:
    answer = services.ask(ask.ReadConfig())
    assert (answer.value["model"], answer.value["approval_policy"]) == ("m", "never")


def test_the_saved_config_is_what_the_file_says_now_and_no_defaults(services: RealServices, tmp_path: Path) -> None:
    answer = services.ask(ask.ReadSavedConfig())
    saved = {"model": "m", "model_provider": "openai", "approval_policy": "never"}
    assert answer == ConfigValue(saved, str(tmp_path / "config.toml"))
    (tmp_path / "config.toml").write_text("model = 'another'")
    assert services.ask(ask.ReadSavedConfig()).value == {"model": "another"}
    (tmp_path / "config.toml").write_text("model = [")
    assert isinstance(services.ask(ask.ReadSavedConfig()), ConfigError)


def test_the_approval_policy_of_the_config_holds(tmp_path: Path) -> None:
    services = RealServices(tmp_path, 'model = "m"\nmodel_provider = "openai"\napproval_policy = "untrusted"\n')
    services.engine.start()
    try:
        assert isinstance(services.ask(ask.RunOnce(("touch", "there"))), NotAllowed)
    finally:
        services.engine.stop()
    assert not (tmp_path / "there").exists()
