"""Third-party agents through both clients: listed as the client has them, and tried."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import greenroom
from tests.supervisor.agents.acp.alive import alive
from tests.supervisor.agents.acp.scripted import agent_table
from tests.support.daemon_process import DaemonProcess


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[greenroom.Client]:
    tables = (
        agent_table("options")
        + agent_table("no-auth", name="locked")
        + agent_table("no-init", f"sessions={tmp_path}/kept", name="deaf")
    )
    with DaemonProcess(tmp_path, 'agent = "locked"\nsandbox_mode = "read-only"\n' + tables) as daemon:
        monkeypatch.setenv("GREENROOM_HOME", str(daemon.home))
        with greenroom.Client() as client:
            yield client


def test_agents_are_listed_as_the_client_has_them_with_what_helps(
    client: greenroom.Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = {one.name: one for one in client.agents()}
    assert list(found)[:4] == ["greenroom", "scripted", "locked", "deaf"]
    assert [one.name for one in found.values() if one.default] == ["locked"]
    scripted = found["scripted"]
    assert (scripted.state, scripted.start[0], scripted.confine) == ("installed", sys.executable, "none")
    assert found["goose"].state == "missing"
    assert found["goose"].next == found["goose"].install != ""
    (tmp_path / "goose").touch(mode=0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("HOME", str(tmp_path))  # otherwise it lies where turns may write, and is not looked for
    with greenroom.Client() as other:
        assert {one.name: one.state for one in other.agents()}["goose"] == "installed"


def test_a_trial_tells_what_an_agent_can_or_why_it_can_not(client: greenroom.Client, tmp_path: Path) -> None:
    trial = client.check_agent("scripted")
    assert (trial.state, trial.program, trial.wrong) == ("ready", "scripted 1.0", "")
    assert (trial.modes, trial.models, trial.options) == (
        ["ask", "auto", "bypass"],
        ["small", "large"],
        ["mode", "model", "effort"],
    )
    locked = client.check_agent("locked")
    assert (locked.state, locked.needs_login, locked.wrong) == ("no login", True, "Authentication required")
    deaf = client.check_agent("deaf", seconds=0.3)
    assert (deaf.state, deaf.wrong) == ("failed", "it did not answer within 0.3 s")
    assert alive(f"sessions={tmp_path}") == []


def test_an_agent_that_is_not_here_or_is_our_own_is_refused_with_what_helps(client: greenroom.Client) -> None:
    with pytest.raises(greenroom.GreenroomError, match="there is no agent 'scriptde'; did you mean scripted"):
        client.check_agent("scriptde")
    with pytest.raises(greenroom.GreenroomError, match="it is not installed"):
        client.check_agent("vibe")
    with pytest.raises(greenroom.GreenroomError, match="runs in the daemon"):
        client.check_agent("greenroom")
