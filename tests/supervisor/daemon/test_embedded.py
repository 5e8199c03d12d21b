"""The embedded server: a real engine behind stdin and stdout, speaking the control dialect."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.bridge import Client
from tests.support.home import Home

PROGRAM = "tests.support.embedded"


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    with Client(tmp_path / "home", program=PROGRAM) as client:
        yield client


def create(client: Client) -> str:
    made = client.ask(1, "conversation/create", provider="demo", model="demo", cwd="/tmp")
    return str(made["result"]["conversation"])


def test_a_turn_runs_without_any_daemon_and_its_history_outlives_the_process(client: Client, tmp_path: Path) -> None:
    conversation = create(client)
    sent = client.ask(2, "conversation/send", conversation=conversation, prompt="say hello", wait=True)
    assert sent["result"]["message"] == "hello"
    assert not (tmp_path / "home" / "run" / "greenroom.sock").exists()
    client.leave()
    assert client.process.returncode == 0
    with Home(tmp_path / "home").daemon(), Home(tmp_path / "home").client() as later:
        history = later.ask("conversation/history", conversation=conversation)
        assert history["events"][-1]["event"]["last_agent_message"] == "hello"


def test_prints_and_log_lines_stay_out_of_the_wire(client: Client) -> None:
    conversation = create(client)
    client.ask(2, "conversation/send", conversation=conversation, prompt="run echo noise", wait=True)
    client.leave()
    assert client.line() == b""
    assert client.process.stderr is not None
    assert client.process.stderr.read() == b""


def test_a_signal_interrupts_what_runs_and_ends_it(client: Client, tmp_path: Path) -> None:
    conversation = create(client)
    client.ask(2, "conversation/send", conversation=conversation, prompt="count 5000")
    client.process.send_signal(signal.SIGTERM)
    assert client.process.wait(10) == 0
    with Home(tmp_path / "home").daemon(), Home(tmp_path / "home").client() as later:
        history = later.ask("conversation/history", conversation=conversation)
        assert history["events"][-1]["event"]["reason"] == "interrupted"


def test_a_home_that_has_a_daemon_is_left_alone(home: Home) -> None:
    with home.daemon():
        done = subprocess.run(
            [sys.executable, "-m", PROGRAM],
            env={**os.environ, **home.env},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=10,
            check=False,
        )
    assert done.returncode == 1
    assert done.stdout == b""
    assert b"leave --embedded out" in done.stderr
