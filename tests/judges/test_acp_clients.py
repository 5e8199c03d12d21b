"""Clients of other projects talk to `greenroom acp` over stdio, in a home and with a daemon of their own."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.faults.daemon_harness import until
from tests.judges.acp_promises.processes import of_home
from tests.judges.acp_reports import PROMPTS, approve_of, plan_for
from tests.judges.installed import HERE, MODULES, NODE, PYTHON, judge, judged, needs, package
from tests.scenarios.stage import Stage
from tests.support.model_server import ModelServer

SDK = package("@agentclientprotocol/sdk")
ACPX = MODULES / "acpx" / "dist" / "cli.js"
DENIED = 5  # its exit code
CAREFUL = 'approval_policy = "untrusted"\nsandbox_mode = "danger-full-access"\n'


class AcpStage(Stage):
    """A home in which commands are asked for, and a directory to work in."""

    def __init__(self, base: Path, model: ModelServer) -> None:
        super().__init__(base, model)
        self.work = base / "work"
        self.work.mkdir()
        config = self.home.directory / "config.toml"
        config.write_text(f"{CAREFUL}{config.read_text()}")
        self.program = judged(base, self.home.directory, "supervisor.cli.app acp")

    def plan(self) -> str:
        return json.dumps(plan_for(self.program, self.work, Path(self.home.paths.pid_file)))


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[AcpStage]:
    with ModelServer() as model:
        stage = AcpStage(tmp_path, model)
        yield stage
        stage.close()


def last(said: str) -> Any:
    return json.loads(said.splitlines()[-1])


@needs(PYTHON)
def test_the_python_sdk_is_content(stage: AcpStage, tmp_path: Path) -> None:
    report = last(judge([PYTHON, HERE / "acp_python_sdk.py", stage.plan()], tmp_path))
    approve_of(report, stage.work)


@needs(NODE, SDK)
def test_the_typescript_sdk_is_content(stage: AcpStage, tmp_path: Path) -> None:
    report = last(judge([NODE, HERE / "acp_typescript.mjs", stage.plan()], tmp_path))
    approve_of(report, stage.work)


class Acpx:
    """acpx in a home of its own. A warm process of its own keeps a named session's agent, and leaves by itself."""

    def __init__(self, stage: AcpStage, home: Path) -> None:
        self.words = [NODE, ACPX, "--agent", stage.program, "--cwd", stage.work, "--ttl", "2"]
        self.stage, self.home = stage, home

    def __call__(self, *words: str, code: int = 0) -> str:
        return judge([*self.words, *words], self.home, code=code)

    def quiet(self, *words: str) -> str:
        return self("--approve-all", "--format", "quiet", *words).strip()


@pytest.fixture
def acpx(stage: AcpStage, tmp_path: Path) -> Acpx:
    return Acpx(stage, tmp_path)


@needs(NODE, ACPX)
def test_acpx_asks_once_and_sees_nothing_but_the_protocol(acpx: Acpx) -> None:
    said = acpx("--format", "json", "--json-strict", "exec", PROMPTS["first"])
    wire = [json.loads(line) for line in said.splitlines()]
    assert all(line["jsonrpc"] == "2.0" for line in wire)
    assert wire[-1]["result"] == {"stopReason": "end_turn"}
    chunks = [line["params"]["update"] for line in wire if line.get("method") == "session/update"]
    told = [one["content"]["text"] for one in chunks if one["sessionUpdate"] == "agent_message_chunk"]
    assert "".join(told) == "first"


@needs(NODE, ACPX)
def test_acpx_lets_a_command_run_or_not(acpx: Acpx) -> None:
    acpx("--approve-all", "exec", PROMPTS["accept"])
    assert (acpx.stage.work / "accepted").exists()
    acpx("--deny-all", "exec", PROMPTS["refuse"], code=DENIED)
    assert not (acpx.stage.work / "refused").exists()


@needs(NODE, ACPX)
def test_acpx_keeps_two_sessions_that_remember_and_do_not_mix(acpx: Acpx) -> None:
    for name in ("one", "other"):
        acpx("sessions", "new", "--name", name)
        assert acpx.quiet("prompt", "-s", name, f"say {name} begun") == f"{name} begun"
    assert acpx.quiet("prompt", "-s", "one", "say one again") == "one again"
    asked = str(acpx.stage.asked("say one again")[-1].body)
    assert "say one begun" in asked
    assert "say other begun" not in asked
    listed = json.loads(acpx("--format", "json", "sessions", "list"))["sessions"]
    assert len(listed) == 2
    assert {one["cwd"] for one in listed} == {str(acpx.stage.work)}


@needs(NODE, ACPX)
def test_acpx_cancels_a_stubborn_command_from_another_process(acpx: Acpx) -> None:
    acpx("sessions", "new", "--name", "one")
    with ThreadPoolExecutor(1) as beside:
        running = beside.submit(acpx, "--approve-all", "prompt", "-s", "one", PROMPTS["stubborn"])
        until(lambda: of_home(acpx.stage.work, "sleep 4711"), "the command was not started")
        acpx("cancel", "-s", "one")
        assert "[done] cancelled" in running.result()
    assert not of_home(acpx.stage.work, "sleep 471")
    assert acpx.quiet("prompt", "-s", "one", PROMPTS["back"]) == "back"


@needs(NODE, ACPX)
def test_acpx_goes_on_after_the_daemon_was_killed_in_a_turn(acpx: Acpx) -> None:
    acpx("sessions", "new", "--name", "one")
    with ThreadPoolExecutor(1) as beside:
        running = beside.submit(acpx, "--approve-all", "prompt", "-s", "one", PROMPTS["stream"])
        acpx.stage.model.wait_requests(1)
        acpx.stage.kill_daemon()
        said = running.result()
    assert "[done] cancelled" in said
    assert "daemon" in said.lower()
    assert acpx.quiet("prompt", "-s", "one", PROMPTS["back"]) == "back"
    assert PROMPTS["stream"] in str(acpx.stage.asked(PROMPTS["back"])[-1].body)
