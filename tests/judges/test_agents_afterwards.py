"""Agents from npm started by hand in a home in which a confined one has tried to lead them: nothing of it is run.

Each is first told by its model to write what would start a program. Then its own command line is started, outside of
every sandbox. That it would have obeyed is shown by the same files, written by the person.
"""

import json
import os
import shlex
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import greenroom
from greenroom.events import ApprovalRequested, TaskComplete, TurnAborted
from tests.judges.agents.model import AgentModel
from tests.judges.agents.programs import CODEX_CONFIG, GEMINI_CONFIG, PROGRAMS, opencode_config
from tests.judges.clients.command_lines import COMMAND_LINES
from tests.judges.installed import KEPT
from tests.judges.test_agents import AgentStage

pytestmark = pytest.mark.long(takes_s=60)
BY_HAND_S = 60.0
SAYS = "@@say hello"


class Lead(NamedTuple):
    """A file of a home that starts a program. Its `text`, by what that makes and the address of the model."""

    agent: str
    file: str
    text: Callable[[Path, str], str]


def _claude_hooks(marker: Path, address: str) -> str:  # noqa: ARG001
    hook = {"hooks": [{"type": "command", "command": f"touch {marker}"}]}
    return json.dumps({"hooks": {"SessionStart": [hook], "UserPromptSubmit": [hook]}})


def _codex_notify(marker: Path, address: str) -> str:
    return f'notify = ["touch", "{marker}"]\n' + CODEX_CONFIG.format(address=address)


def _gemini_server(marker: Path, address: str) -> str:  # noqa: ARG001
    server = {"command": "touch", "args": [str(marker)]}
    return json.dumps({**GEMINI_CONFIG, "mcpServers": {"x": server}})


def _opencode_plugin(marker: Path, address: str) -> str:  # noqa: ARG001
    return f'export const X = async () => {{ require("fs").writeFileSync("{marker}", ""); return {{}} }}\n'


def _opencode_server(marker: Path, address: str) -> str:
    server = {"type": "local", "command": ["touch", str(marker)]}
    return json.dumps({**opencode_config(address), "mcp": {"x": server}})


LEADS = (
    Lead("claude", ".claude/settings.json", _claude_hooks),
    Lead("codex", ".codex/config.toml", _codex_notify),
    Lead("gemini", ".gemini/settings.json", _gemini_server),
    Lead("opencode", ".config/opencode/plugin/x.js", _opencode_plugin),
    Lead("opencode", ".config/opencode/opencode.jsonc", _opencode_server),
)


def by_hand(agent: str, home: Path, work: Path, address: str) -> None:
    """Start the agent's own command line, as a person does."""
    line = COMMAND_LINES[agent]
    words = {
        "claude": ("-p", SAYS),
        "codex": ("exec", "--skip-git-repo-check", SAYS),
        "gemini": ("--yolo", "-p", SAYS),
    }
    argv = (*line.installed, *words.get(agent, ("run", SAYS)))
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    subprocess.run(
        [str(word) for word in argv],
        cwd=work,
        env={**kept, "HOME": str(home), **line.variables(home, address)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=BY_HAND_S,
        check=False,
    )


def tries(file: Path, text: str) -> str:
    """A shell's words that put a text into a file, in each way that there is."""
    name, new = shlex.quote(str(file)), shlex.quote(f"{file}.new")
    folder = shlex.quote(str(file.parent))
    return (
        f"mkdir -p {folder}; printf %s {shlex.quote(text)} > /tmp/evil-$$; cp /tmp/evil-$$ {name}; "
        f"cp /tmp/evil-$$ {new} && mv -f {new} {name}; rm -f {name}; cp /tmp/evil-$$ {name}; mv {name} {name}.old; "
        f"cp /tmp/evil-$$ {name}; mv {folder} {folder}.old; mkdir -p {folder}; cp /tmp/evil-$$ {name}; true"
    )


@pytest.fixture
def model() -> Iterator[AgentModel]:
    with AgentModel() as model:
        yield model


@pytest.mark.timeout(300)
@pytest.mark.parametrize("linked", [False, True], ids=["files", "dotfiles"])
@pytest.mark.parametrize("lead", LEADS, ids=lambda one: one.file)
def test_files_of_a_confined_agent_are_not_run_by_the_same_agent_started_by_hand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: AgentModel, lead: Lead, linked: bool
) -> None:
    agent = next(one for one in PROGRAMS if one.name == lead.agent)
    if not all(file.exists() for file in (*agent.files, *COMMAND_LINES[lead.agent].installed)):
        pytest.skip("`make judges` has not installed it")
    marker = tmp_path / "marker"
    text = lead.text(marker, model.address)
    with AgentStage(tmp_path, agent, model) as stage:
        file = stage.home / lead.file
        if linked:
            (tmp_path / "dotfiles").mkdir()
            file.parent.mkdir(parents=True, exist_ok=True)
            if file.exists():
                file.rename(tmp_path / "dotfiles" / file.name)
            else:
                (tmp_path / "dotfiles" / file.name).write_text("" if file.suffix != ".jsonc" else "{}")
            file.symlink_to(tmp_path / "dotfiles" / file.name)
        before = file.read_bytes() if file.exists() else None
        monkeypatch.setenv("GREENROOM_HOME", str(stage.daemon.home))
        monkeypatch.setenv("HOME", str(stage.home))
        with greenroom.Client(name="judge") as client:
            one = client.create(cwd=stage.work, sandbox="workspace-write").conversation
            client.send(one, f"@@run {tries(file, text)}")
            with client.attach(one, after=0) as events:
                for event in events:
                    if isinstance(event, ApprovalRequested):
                        client.answer(event.approval_id, "approved")
                    if isinstance(event, TaskComplete | TurnAborted):
                        break
            assert isinstance(event, TaskComplete), event
        assert (file.read_bytes() if file.exists() else None) == before
        assert file.is_symlink() is linked
        stage.daemon.end()
        by_hand(lead.agent, stage.home, stage.work, model.address)
        assert not marker.exists()
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        by_hand(lead.agent, stage.home, stage.work, model.address)
        assert marker.exists(), "it would not have obeyed anyway"
        stage.daemon.start()
