"""The bridge and the real daemon, which here speaks the control dialect: a bridge moves lines of any."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.support.bridge import Client, FakeDaemon, encoded, request, wait_until
from tests.support.home import Home
from tests.support.standstill import standing_still

pytestmark = pytest.mark.long(takes_s=25)

TOGETHER = 20
REAL = ("--launch", "real")


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    """A home; the daemons that bridges start in it are ended."""
    home = Home(tmp_path / "home")
    yield home
    end(home, signal.SIGTERM)


def end(home: Home, signum: signal.Signals) -> int | None:
    """End the daemon of this home, by its pid file; waits until it is gone."""
    try:
        pid = int(Path(home.paths.pid_file).read_text())
        os.kill(pid, signum)
    except (FileNotFoundError, ProcessLookupError):
        return None
    wait_until(lambda: not Path(f"/proc/{pid}").exists(), "the daemon did not go")
    return pid


def bridge(home: Home, *arguments: str) -> Client:
    return Client(home.directory, *REAL, "--dialect", "control", *arguments, env=home.env)


def result(message: dict[str, Any]) -> Any:
    assert "result" in message, message
    return message["result"]


def instance(client: Client, number: int) -> str:
    return str(result(client.ask(number, "daemon/status"))["instance"])


def test_twenty_bridges_at_once_start_one_daemon(home: Home) -> None:
    gate = threading.Barrier(TOGETHER)

    def ask(_: int) -> str:
        gate.wait()
        with bridge(home) as client:
            found = instance(client, 1)
            client.leave()
            return found

    with ThreadPoolExecutor(TOGETHER) as pool:
        assert len(set(pool.map(ask, range(TOGETHER)))) == 1
    assert len(home.logged("daemon.started")) == 1


@pytest.mark.parametrize("kills", [2, pytest.param(20, marks=[pytest.mark.soak, pytest.mark.timeout(300)])])
def test_a_bridge_outlives_its_daemon_however_often_it_is_killed(home: Home, kills: int) -> None:
    with bridge(home) as client:
        seen = [instance(client, 0)]
        for number in range(1, kills + 1):
            waiting = create(client, number * 100)
            client.say(request(number, "conversation/send", conversation=waiting, prompt="count 5000", wait=True))
            wait_until(lambda: result(client.ask("busy", "daemon/status"))["agents"]["turns"] == 1, "no turn began")
            end(home, signal.SIGKILL)
            answer = client.message()
            assert answer["id"] == number
            assert answer["error"]["data"]["retryable"] is True
            seen.append(instance(client, number * 1000))
        assert len(set(seen)) == kills + 1
        working = create(client, "last")
        sent = client.ask("say", "conversation/send", conversation=working, prompt="say hello", wait=True)
        assert result(sent)["message"] == "hello"
        assert client.process.poll() is None


def create(client: Client, number: object) -> str:
    made = client.ask(number, "conversation/create", provider="demo", model="demo", cwd="/tmp")
    return str(result(made)["conversation"])


def test_a_daemon_that_was_stopped_stays_so_until_the_client_asks(home: Home) -> None:
    with bridge(home) as client:
        first = instance(client, 1)
        result(client.ask(2, "daemon/down"))
        wait_until(lambda: not Path(home.paths.pid_file).exists(), "it did not stop")
        client.say({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"})
        threading.Event().wait(0.5)  # several times the pause between looks
        assert len(home.logged("daemon.started")) == 1
        assert instance(client, 3) != first


def test_a_bridge_leaves_in_time_when_its_daemon_is_stopped_by_a_signal(home: Home) -> None:
    with bridge(home) as client:
        pid = int(result(client.ask(1, "daemon/status"))["pid"])
        with standing_still(pid):
            client.say(request(2, "daemon/status"))
            assert client.leave() < 1.5  # a second, and what a busy machine adds
            assert client.message()["error"]["data"]["code"] == "client_left"


def test_a_turn_goes_on_when_its_bridge_has_left(home: Home) -> None:
    with bridge(home) as client:
        conversation = create(client, 1)
        result(client.ask(2, "conversation/send", conversation=conversation, prompt="count 30"))
        client.leave()
    with home.client() as later:
        later.ask("conversation/attach", conversation=conversation)
        assert later.until("task_complete")[-1]["event"]["type"] == "task_complete"


def test_a_start_that_fails_is_told_in_the_daemons_own_words(home: Home) -> None:
    (home.directory / "config.toml").write_text("model = [")
    with bridge(home) as client:
        began = time.monotonic()
        error = client.ask(1, "daemon/status")["error"]
        assert time.monotonic() - began < 10
        assert "config.toml" in error["message"]
        assert error["data"]["retryable"] is True
        (home.directory / "config.toml").unlink()
        assert instance(client, 2)


def test_a_dialect_that_the_daemon_does_not_know_is_an_error_and_no_silence(home: Home) -> None:
    with home.daemon(), Client(home.directory, "--dialect", "klingon", env=home.env) as client:
        assert "klingon" in client.ask(1, "initialize")["error"]["message"]


# --- what it costs --------------------------------------------------------------------------------------------------

BEFORE_HELLO = {"json", "re", "enum", "socket", "signal", "contextlib", "argparse", "collections"}
HEAVY = {"pydantic", "asyncio", "structlog", "httpx", "pykka", "typing", "dataclasses", "pathlib", "subprocess"}
BESIDE_THE_BRIDGE = {
    "transports",
    "transports.dialects",
    "transports.stdio",
}


@pytest.fixture
def started(tmp_path: Path) -> Iterator[tuple[Client, FakeDaemon]]:
    with FakeDaemon(tmp_path) as daemon, Client(tmp_path, program="supervisor.cli.mcp") as client:
        daemon.greet()
        yield client, daemon


@pytest.mark.parametrize("verb", ["acp", "mcp"])
def test_it_loads_nothing_that_is_expensive(tmp_path: Path, verb: str) -> None:
    """The running program itself reports: when it has said hello, and when its first line has gone to the daemon."""
    code = (
        "import sys\n"
        f"from supervisor.cli import {verb}\n"
        "from transports.bridge.bridge import Bridge\n"
        "from transports.bridge.daemon_link import DaemonLink\n"
        "def tell(*_): sys.stderr.write(' '.join(sys.modules) + '\\n'); sys.stderr.flush()\n"
        "begin, take = Bridge.begin, DaemonLink.take\n"
        "Bridge.begin = lambda self: (begin(self), tell())\n"
        "DaemonLink.take = lambda self, *given: (take(self, *given), tell())\n"
        f"{verb}.main([])\n"
    )
    env = {**os.environ, "GREENROOM_HOME": str(tmp_path)}
    with FakeDaemon(tmp_path) as daemon:
        program = subprocess.Popen(
            [sys.executable, "-S", "-c", f"import sys; sys.path.insert(0, {str(Path.cwd())!r})\n{code}"],
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=env,
        )
        daemon.greet()
        _, loaded = program.communicate(encoded(request(1, "initialize", protocolVersion=1)), timeout=10)
    first, then = (set(line.split()) for line in loaded.decode().splitlines())
    assert not first & (HEAVY | BEFORE_HELLO)
    assert not then & (HEAVY | BEFORE_HELLO)
    ours = {name for name in then if name.partition(".")[0] in ("actors", "transports", "supervisor")}
    beside = {name for name in ours if not name.startswith(("transports.bridge", "supervisor"))}
    assert beside == BESIDE_THE_BRIDGE | {name for name in then if name.startswith(f"transports.dialects.{verb}")}


def test_it_needs_little_memory(started: tuple[Client, FakeDaemon]) -> None:
    client, _ = started
    status = Path(f"/proc/{client.process.pid}/status").read_text()
    assert int(status.split("VmRSS:")[1].split()[0]) < 15 * 1024


@pytest.mark.parametrize("verb", ["acp", "mcp"])
def test_it_starts_in_twice_the_time_of_an_interpreter_with_socket_and_json(tmp_path: Path, verb: str) -> None:
    """Processor time, which a busy machine does not stretch."""

    def spent(command: list[str]) -> float:
        before = os.times()
        env = {**os.environ, "GREENROOM_HOME": str(tmp_path)}
        subprocess.run(command, env=env, stdin=subprocess.DEVNULL, check=True, timeout=10)
        after = os.times()
        return after.children_user + after.children_system - before.children_user - before.children_system

    with FakeDaemon(tmp_path):
        bare = sorted(spent([sys.executable, "-c", "import socket, json"]) for _ in range(9))[4]
        own = sorted(spent([sys.executable, "-m", f"supervisor.cli.{verb}"]) for _ in range(9))[4]
    assert own <= 2 * bare + 0.01  # the clock of processor time ticks in hundredths


# --- who listens ----------------------------------------------------------------------------------------------------

NOBODY = 65_534


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a directory away")
def test_a_listener_in_a_directory_of_another_user_is_told_nothing(tmp_path: Path) -> None:
    """Another user may make a directory of that name in /tmp first; the hello has the keys of our environment."""
    with FakeDaemon(tmp_path) as theirs:
        os.chown(Path(theirs.path).parent, NOBODY, NOBODY)
        with Client(tmp_path, *REAL) as client:
            error = client.ask(1, "initialize")["error"]
        assert f"belongs to uid {NOBODY}" in error["message"]
        assert theirs.nobody_comes(0.1)
