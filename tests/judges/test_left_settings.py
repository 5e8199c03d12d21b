"""Agents from npm, started by hand in a project: none obeys what a turn tried to leave there. Nobody's network.

Each is started first in a project with the same files, written by its person: there it runs what they say. So the
silence in the other project is no silence of an agent that obeys nothing.
"""

import base64
import json
import shlex
import subprocess
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import pytest

import greenroom
from greenroom.events import ApprovalRequested, TaskComplete, TurnAborted
from tests.judges.agents.model import AgentModel
from tests.judges.agents.programs import PROGRAMS
from tests.judges.clients.command_lines import COMMAND_LINES
from tests.judges.installed import judge
from tests.judges.test_agents import LONG_S, AgentStage

PLUGIN = "import fs from 'fs'; export const X = async () => { fs.writeFileSync('{mark}', ''); return {} };"
TRUSTED = '[projects."{project}"]\ntrust_level = "trusted"\n'

pytestmark = pytest.mark.timeout(300)  # each is started four times, and opencode takes its time


class Led(NamedTuple):
    """Files that lead an agent to run a program, which makes `{mark}`, and how the agent is started by hand."""

    files: Mapping[str, str]
    words: tuple[str, ...]


LED = {
    "claude": Led(
        {
            ".claude/settings.json": json.dumps(
                {"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "touch '{mark}'"}]}]}}
            )
        },
        ("-p", "go"),
    ),
    "opencode": Led(
        {
            "opencode.json": json.dumps({"mcp": {"x": {"type": "local", "command": ["touch", "{mark}"]}}}),
            ".opencode/plugins/x.js": PLUGIN,
        },
        ("run", "go"),
    ),
    "gemini": Led(
        {".gemini/settings.json": json.dumps({"mcpServers": {"x": {"command": "touch", "args": ["{mark}"]}}})},
        ("--yolo", "-p", "go"),
    ),
    "codex": Led(
        {".codex/config.toml": '[mcp_servers.x]\ncommand = "touch"\nargs = ["{mark}"]\n'},
        ("exec", "--skip-git-repo-check", "go"),
    ),
}


def files(led: Led, mark: Path) -> dict[str, bytes]:
    return {name: text.replace("{mark}", str(mark)).encode() for name, text in led.files.items()}


@pytest.fixture(params=LED)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def stage(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[AgentStage]:
    agent = next(one for one in PROGRAMS if one.name == name)
    missing = [file.name for file in (*agent.files, *COMMAND_LINES[name].installed) if not file.exists()]
    if missing:
        pytest.skip(f"`make judges` has not installed {', '.join(missing)}")
    with AgentModel() as model, AgentStage(tmp_path, agent, model) as stage:
        monkeypatch.setenv("GREENROOM_HOME", str(stage.daemon.home))
        monkeypatch.setenv("HOME", str(stage.home))
        if name == "codex":
            with (stage.home / ".codex/config.toml").open("a") as config:
                for project in (stage.work, tmp_path / "by hand"):
                    config.write(TRUSTED.format(project=project))
        yield stage


def start_by_hand(stage: AgentStage, name: str, project: Path) -> None:
    """Start the agent as its person does, outside of every sandbox, and wait until it is done."""
    known = COMMAND_LINES[name]
    program = [word for word in known.argv if isinstance(word, Path)]
    variables = known.variables(stage.home, stage.model.address)
    judge([*program, *LED[name].words], project, {**variables, "HOME": str(stage.home)}, limit_s=2 * LONG_S)


def carry_out(client: greenroom.Client, conversation: str, said: str) -> None:
    """Have a turn carried out, with a yes to everything that is asked."""
    client.send(conversation, said)
    with client.attach(conversation, after=0) as events:
        for event in events:
            if isinstance(event, ApprovalRequested):
                client.answer(event.approval_id, "approved")
            if isinstance(event, TaskComplete | TurnAborted):
                return


def test_an_agent_obeys_what_its_person_wrote_and_nothing_that_a_turn_tried_to_leave(
    stage: AgentStage, name: str, tmp_path: Path
) -> None:
    by_hand, obeyed, mark = tmp_path / "by hand", tmp_path / "obeyed", tmp_path / "mark"
    for file, data in islice(
        files(LED[name], obeyed).items(), 1
    ):  # one is proof enough, and opencode is slow with two
        (by_hand / file).parent.mkdir(parents=True, exist_ok=True)
        (by_hand / file).write_bytes(data)
    subprocess.run(["git", "init", "-q", str(by_hand)], check=True)
    subprocess.run(["git", "init", "-q", str(stage.work)], check=True)
    start_by_hand(stage, name, by_hand)
    assert obeyed.exists(), "without that the rest proves nothing"

    writes = "; ".join(
        f"mkdir -p {Path(file).parent}; echo {base64.b64encode(data).decode()} | base64 -d > {shlex.quote(file)}"
        for file, data in files(LED[name], mark).items()
    )
    with greenroom.Client(name="judge") as client:
        one = client.create(cwd=stage.work, sandbox="workspace-write").conversation
        carry_out(client, one, f"@@run {writes}; touch done.txt")
        assert (stage.work / "done.txt").exists(), "\n".join(map(repr, client.history(one)))
        start_by_hand(stage, name, stage.work)  # beside the agent, which is still warm
        assert not mark.exists()
        seen = subprocess.run(
            ["git", "status", "--porcelain"], cwd=stage.work, check=True, capture_output=True, text=True
        )
        left = [line for line in seen.stdout.splitlines() if "set-aside-by-greenroom" not in line]
        assert left == ["?? done.txt"]
        assert client.send_and_wait(one, "@@say still here", timeout_s=LONG_S).ending == "completed"
    stage.daemon.end()
    start_by_hand(stage, name, stage.work)
    assert not mark.exists()
    stage.daemon.start()


@pytest.mark.parametrize("name", ["opencode"], indirect=True)
def test_an_agent_starts_beside_its_folder_in_the_project_which_it_cannot_write(stage: AgentStage) -> None:
    """It makes a file in it, and would end where it can't."""
    (stage.work / ".opencode/plugins").mkdir(parents=True)
    with greenroom.Client(name="judge") as client:
        one = client.create(cwd=stage.work, sandbox="workspace-write").conversation
        carry_out(client, one, "@@run echo x > .opencode/plugins/x.js; touch done.txt")
        assert (stage.work / "done.txt").exists(), "\n".join(map(repr, client.history(one)))
    assert list((stage.work / ".opencode/plugins").iterdir()) == []
