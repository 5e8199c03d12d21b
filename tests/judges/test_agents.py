"""Third-party agents, from npm, as backends: a turn, a question, a stop, a killed daemon, memory. Nobody's network.

Each is asked to do what it does in an editor, behind a real daemon, with a model server of ours on this machine.
"""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Self

import pytest

import greenroom
from greenroom.events import (
    AgentMessage,
    AgentSession,
    ApprovalRequested,
    KeptYesUsed,
    TaskComplete,
    TurnAborted,
    WorkBegan,
)
from tests.judges.agents.model import AgentModel
from tests.judges.agents.programs import PROGRAMS, AgentProgram
from tests.support.daemon_process import DaemonProcess
from tests.support.warden import MARK

LONG_S = 60.0  # for anything; opencode takes eight seconds to start on a busy machine
STUBBORN = "trap '' INT TERM; sleep 300 & echo started; sleep 300"


class AgentStage:
    """A daemon whose agent is a program from npm, and a directory to work in."""

    def __init__(self, base: Path, agent: AgentProgram, model: AgentModel) -> None:
        self.home, self.work, self.model = base / "home", base / "work", model
        for folder in (self.home, self.work, base / "greenroom"):
            folder.mkdir()
        agent.prepare(self.home, model.address)
        self.asks, self.sandbox = agent.asks, agent.sandbox
        table = {
            "command": str(agent.argv[0]),
            "args": [str(word) for word in agent.argv[1:]],
            "env": agent.variables(self.home, model.address),
            "writable": [str(self.home)] if agent.name not in {"claude", "codex", "opencode", "gemini"} else [],
        }
        lines = "".join(f"{key} = {_toml(value)}\n" for key, value in table.items())
        config = f'agent = "{agent.name}"\n[agents.{agent.name}]\n{lines}'
        self.daemon = DaemonProcess(
            base / "greenroom", config, {"HOME": str(self.home), MARK: os.environ.get(MARK, "")}
        )

    def __enter__(self) -> Self:
        self.daemon.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.daemon.end()

    def begin(self, client: greenroom.Client) -> str:
        return client.create(cwd=self.work, sandbox=self.sandbox).conversation

    def alive(self, words: str) -> list[int]:
        """The processes of this stage, wherever they have gone, whose command line has these words."""
        return [pid for pid in _processes() if str(self.work) in _cwd(pid) and words in _command(pid)]


def _toml(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(name)} = {json.dumps(one)}" for name, one in value.items()) + "}"
    return json.dumps(value)


def _processes() -> list[int]:
    return [int(one.name) for one in Path("/proc").iterdir() if one.name.isdecimal()]


def _cwd(pid: int) -> str:
    try:
        return str(Path(f"/proc/{pid}/cwd").readlink())
    except OSError:
        return ""


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


@pytest.fixture(params=PROGRAMS, ids=lambda one: one.name)
def stage(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[AgentStage]:
    agent: AgentProgram = request.param
    missing = [file.name for file in agent.files if not file.exists()]
    if missing:
        pytest.skip(f"`make judges` has not installed {', '.join(missing)}")
    with AgentModel() as model, AgentStage(tmp_path, agent, model) as stage:
        monkeypatch.setenv("GREENROOM_HOME", str(stage.daemon.home))
        monkeypatch.setenv("HOME", str(stage.home))
        yield stage


@pytest.fixture
def client(stage: AgentStage) -> Iterator[greenroom.Client]:  # noqa: ARG001  # it has to run
    with greenroom.Client(name="judge") as client:
        yield client


def until_running(client: greenroom.Client, conversation: str) -> None:
    """Wait until a tool is in use."""
    with client.attach(conversation, after=0) as events:
        next(event for event in events if isinstance(event, WorkBegan))


def until_asked(client: greenroom.Client, conversation: str) -> str:
    """Wait for a question. Its id."""
    with client.attach(conversation, after=0) as events:
        return next(event.approval_id for event in events if isinstance(event, ApprovalRequested))


def said(client: greenroom.Client, conversation: str) -> str:
    return "\n".join(event.message for event in client.history(conversation) if isinstance(event, AgentMessage))


def test_a_turn_and_then_another_that_remembers(stage: AgentStage, client: greenroom.Client) -> None:
    one = stage.begin(client)
    turn = client.send_and_wait(one, "@@say hello from the model", timeout_s=LONG_S)
    assert turn.ending == "completed", turn
    assert "hello from the model" in said(client, one)
    client.send_and_wait(one, "@@count", timeout_s=LONG_S)
    assert "count=2" in said(client, one)


def test_a_command_waits_for_an_answer_from_another_terminal(stage: AgentStage, client: greenroom.Client) -> None:
    one = stage.begin(client)
    client.send(one, f"@@{stage.asks} touch made.txt")
    question = until_asked(client, one)
    assert not (stage.work / "made.txt").exists()
    with greenroom.Client(name="another terminal") as other:
        other.answer(question, "approved")
    turn = client.wait(one, timeout_s=LONG_S)
    assert turn is not None
    assert turn.ending == "completed", turn
    assert (stage.work / "made.txt").exists()


def test_a_command_that_was_refused_has_not_run(stage: AgentStage, client: greenroom.Client) -> None:
    one = stage.begin(client)
    client.send(one, f"@@{stage.asks} touch made.txt")
    client.answer(until_asked(client, one), "denied")
    client.wait(one, timeout_s=LONG_S)
    assert not (stage.work / "made.txt").exists()
    assert client.send_and_wait(one, "@@say still here", timeout_s=LONG_S).ending == "completed"


# Where each keeps a rule that an `always` of its own makes: in the project, or in the home.
RULES = (".claude/settings.local.json", ".codex/rules/default.rules", ".gemini/policies/auto-saved.toml")


def test_always_is_kept_by_us_for_the_conversation_and_no_rule_of_the_agents_own_is_made(
    stage: AgentStage, client: greenroom.Client
) -> None:
    """With an always of its own, Claude Code allowed `sh` for the project: another conversation deployed unasked."""
    (stage.work / "deploy.sh").write_text("echo deployed >> made.txt\n")
    said, made = f"@@{stage.asks} sh deploy.sh", stage.work / "made.txt"
    one = stage.begin(client)
    client.send(one, said)
    first = ends_or_asks(client, one, known=())
    assert first is not None
    client.answer(first.approval_id, "approved_for_session")
    assert ends_or_asks(client, one, known=(first.approval_id,)) is None
    client.send(one, said)
    again = ends_or_asks(client, one, known=(first.approval_id,), turns=2)
    assert (again is None) == bool(first.fingerprint), "what is asked in words alone is asked again"
    if again is not None:
        client.answer(again.approval_id, "approved")
        client.wait(one, timeout_s=LONG_S)
    assert made.read_text() == "deployed\n" * 2
    used = [event.approval_id for event in client.history(one) if isinstance(event, KeptYesUsed)]
    assert used == [first.approval_id] * bool(first.fingerprint)
    two = stage.begin(client)
    client.send(two, said)
    client.answer(until_asked(client, two), "denied")
    client.wait(two, timeout_s=LONG_S)
    assert made.read_text() == "deployed\n" * 2
    assert [rule for rule in RULES for place in (stage.work, stage.home) if (place / rule).exists()] == []


def ends_or_asks(
    client: greenroom.Client, conversation: str, *, known: tuple[str, ...], turns: int = 1
) -> ApprovalRequested | None:
    """Wait for another question than those, and return it; None: so many turns have ended first."""
    ended = 0
    with client.attach(conversation, after=0) as events:
        for event in events:
            if isinstance(event, ApprovalRequested) and event.approval_id not in known:
                return event
            ended += isinstance(event, TaskComplete | TurnAborted)
            if ended == turns:
                return None
    raise AssertionError("the events ended")


def test_its_sandbox_lets_it_work_and_commit_and_write_nowhere_else(
    stage: AgentStage, client: greenroom.Client
) -> None:
    if stage.sandbox != "workspace-write":
        pytest.skip("it asks nothing in a sandbox, see programs.py")
    for words in (("init",), ("config", "user.name", "t"), ("config", "user.email", "t@localhost")):
        subprocess.run(["git", *words], cwd=stage.work, check=True, capture_output=True)
    one, outside = stage.begin(client), Path("/usr/share/greenroom-was-outside")  # temporary directories are open
    does = f"echo in > in.txt; git add in.txt; git commit -qm made; echo out > {outside}; echo evil > .git/hooks/x"
    client.send(one, f"@@{stage.asks} {does}")
    client.answer(until_asked(client, one), "approved")
    turn = client.wait(one, timeout_s=LONG_S)
    assert turn is not None
    assert turn.ending == "completed", turn
    log = subprocess.run(["git", "log", "--format=%s"], cwd=stage.work, check=True, capture_output=True, text=True)
    assert log.stdout == "made\n"
    assert (stage.work / "in.txt").read_text() == "in\n"
    assert not outside.exists()
    assert not (stage.work / ".git/hooks/x").exists()


def test_an_interrupt_returns_when_a_stubborn_command_is_gone(stage: AgentStage, client: greenroom.Client) -> None:
    one = stage.begin(client)
    client.send(one, f"@@{stage.asks} {STUBBORN}")
    client.answer(until_asked(client, one), "approved")
    until_running(client, one)
    assert client.interrupt(one).ending == "interrupted"
    assert stage.alive("sleep 300") == []
    client.send_and_wait(one, "@@count", timeout_s=LONG_S)
    assert "count=" in said(client, one)


def test_a_killed_daemon_leaves_nothing_and_the_agent_remembers(stage: AgentStage, client: greenroom.Client) -> None:
    one = stage.begin(client)
    client.send_and_wait(one, "@@say remember this", timeout_s=LONG_S)
    client.send(one, "@@slow 400 50")
    next(event for event in client.attach(one) if event.type == "agent_message_delta")
    stage.daemon.kill()
    stage.daemon.start()
    turn = client.wait(one, timeout_s=LONG_S)
    assert turn is not None
    assert turn.ending == "lost"
    client.send_and_wait(one, "@@count", timeout_s=LONG_S)
    begun = [event.how for event in client.history(one) if isinstance(event, AgentSession)]
    assert begun[0] == "new"
    assert begun[-1] in {"resumed", "loaded", "seeded"}
    assert "count=1" not in said(client, one)
    stage.daemon.end()
    assert stage.alive("") == []
    stage.daemon.start()


def ending_of(client: greenroom.Client, conversation: str, answered: str) -> str:
    """Wait for the end of the turn. An agent that is told of a question may ask again before it does it."""
    asked = False
    with client.attach(conversation) as events:
        for event in events:
            if isinstance(event, ApprovalRequested):
                if event.approval_id != answered:
                    client.answer(event.approval_id, "approved")
                asked = True
            elif asked and isinstance(event, TaskComplete | TurnAborted):
                return event.type
    raise AssertionError("the events ended")


def test_a_question_outlives_the_daemon_and_its_answer_goes_on(stage: AgentStage, client: greenroom.Client) -> None:
    one = stage.begin(client)
    client.send_and_wait(one, "@@say remember this", timeout_s=LONG_S)
    client.send(one, f"@@{stage.asks} touch made.txt")
    question = until_asked(client, one)
    stage.daemon.kill()
    stage.daemon.start()
    assert [asked.approval_id for asked in client.approvals()] == [question]
    client.answer(question, "approved")
    assert ending_of(client, one, answered=question) == "task_complete"
    assert client.send_and_wait(one, "@@say still here", timeout_s=LONG_S).ending == "completed"


def test_two_conversations_go_on_at_once(stage: AgentStage, client: greenroom.Client) -> None:
    one, two = stage.begin(client), stage.begin(client)
    client.send_and_wait(one, "@@say first", timeout_s=LONG_S)  # some can't make their home twice at once
    client.send(one, "@@slow 60 20\n")
    client.send(two, "@@say quick")
    for conversation in (one, two):
        turn = client.wait(conversation, timeout_s=LONG_S)
        assert turn is not None
        assert turn.ending == "completed", turn
    assert "tick59" in said(client, one)
    assert "quick" in said(client, two)
    assert "tick" not in said(client, two)
