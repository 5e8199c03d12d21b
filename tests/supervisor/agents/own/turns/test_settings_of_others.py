"""A turn changes what agents and editors obey in the project only where a person was asked, by whatever name."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from actors.vocabulary import events as ev
from actors.vocabulary.settings import ApprovalPolicy, DangerFullAccess, Decision, ReadOnly, SandboxPolicy
from supervisor.work.sandbox import settings_watch
from tests.supervisor.agents.acp.scripted import agent_table
from tests.supervisor.work.place import CLOSED, on_linux
from tests.supervisor.work.reach.settings_attack import OURS, THEIRS, contents
from tests.support.engine_harness import EngineHarness, Talk
from tests.support.work import subject_of
from transports.question_text import title

ASKS = (ApprovalPolicy.UNTRUSTED, ApprovalPolicy.ON_FAILURE, ApprovalPolicy.ON_REQUEST)
TITLE = "may it change what other agents do here?"
# What is written, and who would obey it. `{}` is the project.
SPELLINGS = {
    ".claude/settings.json": "Claude Code",
    ".CLAUDE/settings.json": "Claude Code",
    "pkg/deep/er/than/any/search/.vscode/tasks.json": "VS Code",
    "link/hooks/new.sh": "Claude Code",
    "src/../.mcp.json": "Claude Code",
    "{}/opencode.json": "opencode",
    "docs/kept elsewhere.json": "Claude Code",
    "docs/all/of/it/new.toml": "Codex",
    ".github/hooks/new.json": "GitHub Copilot",
    "ws.code-workspace": "VS Code",
    ".clau\u200bde/settings.json": "Claude Code",
}


def prepare(project: Path) -> None:
    """Make settings that are files, folders, links, and reached by links."""
    (project / "src").mkdir()
    (project / "docs/all/of/it").mkdir(parents=True)
    (project / "docs/kept elsewhere.json").write_text(OURS)
    (project / ".claude/hooks").mkdir(parents=True)
    (project / ".claude/settings.json").write_text(OURS)
    (project / ".claude/settings.local.json").symlink_to("../docs/kept elsewhere.json")
    (project / ".codex").symlink_to("docs/all/of/it")
    (project / "link").symlink_to(".claude")
    (project / ".mcp.json").write_text(OURS)
    (project / "plain.txt").write_text("plain\n")
    os.link(project / ".mcp.json", project / "hard.txt")


def patch(path: Path, name: str) -> str:
    change = (
        f"*** Update File: {name}\n@@\n-{OURS}\n+{THEIRS}" if path.exists() else f"*** Add File: {name}\n+{THEIRS}"
    )
    return as_tool(change)


def as_tool(change: str) -> str:
    whole = f"*** Begin Patch\n{change}\n*** End Patch"
    return f"call apply_patch {json.dumps({'input': whole})}; then; say done"


def everything(project: Path) -> dict[str, object]:
    """All that is in the project, but for the empty folders that stand while an agent runs."""
    return {one.name: found for one in project.iterdir() if (found := contents(one))}


@pytest.fixture
def project(harness: EngineHarness) -> Path:
    prepare(harness.workspace)
    return harness.workspace


def begun(harness: EngineHarness, policy: ApprovalPolicy, sandbox: SandboxPolicy = CLOSED) -> Talk:
    return harness.talk(approval_policy=policy, sandbox=sandbox)


def denied(talk: Talk, said: str, number: int = 1) -> ev.ApprovalRequested:
    caller = talk.start(said)
    question = talk.wait(ev.ApprovalRequested, number)
    talk.decide(question.approval_id, Decision.DENIED)
    talk.result(caller)
    return question


# --- patches of our own agent ---------------------------------------------------------------------------------------


@on_linux
def test_a_patch_is_asked_about_by_whatever_name_and_says_who_would_obey(
    harness: EngineHarness, project: Path
) -> None:
    was, talk = everything(project), begun(harness, ApprovalPolicy.ON_REQUEST)
    for number, (name, who) in enumerate(SPELLINGS.items(), 1):
        written = name.format(project)
        question = denied(talk, patch(project / written, written), number)
        assert who in question.obeyed_by, name
        assert question.reason == f"{' and '.join(question.obeyed_by)} would obey it without asking you"
        assert question.outside_sandbox
        assert title(question.model_dump(mode="json")) == TITLE
        assert subject_of(question, ev.FilesSubject).changes
        assert everything(project) == was, name


@on_linux
def test_a_patch_is_refused_where_nobody_is_asked(harness: EngineHarness, project: Path) -> None:
    was, talk = everything(project), begun(harness, ApprovalPolicy.NEVER)
    for name in SPELLINGS:
        written = name.format(project)
        talk.ask(patch(project / written, written))
        assert everything(project) == was, name
    assert not talk.all(ev.WorkBegan)


@on_linux
@pytest.mark.parametrize(
    "change", ["*** Delete File: .mcp.json", "*** Update File: plain.txt\n*** Move to: .envrc\n@@\n-plain\n+x"]
)
@pytest.mark.parametrize("sandbox", [CLOSED, ReadOnly(), DangerFullAccess()])
def test_every_policy_that_asks_asks_about_it_in_every_sandbox(
    harness: EngineHarness, project: Path, sandbox: SandboxPolicy, change: str
) -> None:
    was = everything(project)
    for policy in ASKS:
        question = denied(begun(harness, policy, sandbox), as_tool(change))
        assert question.obeyed_by
        assert everything(project) == was, policy


@on_linux
def test_an_approved_patch_is_written_and_one_where_nothing_is_confined_and_nobody_asked(
    harness: EngineHarness, project: Path
) -> None:
    talk = begun(harness, ApprovalPolicy.ON_REQUEST)
    caller = talk.start(patch(project / ".vscode/tasks.json", ".vscode/tasks.json"))
    talk.decide(talk.wait(ev.ApprovalRequested).approval_id, Decision.APPROVED)
    talk.result(caller)
    assert (project / ".vscode/tasks.json").read_text() == f"{THEIRS}\n"
    free = begun(harness, ApprovalPolicy.NEVER, DangerFullAccess())
    free.ask(patch(project / ".mcp.json", ".mcp.json"))
    assert (project / ".mcp.json").read_text().strip() == THEIRS


@on_linux
def test_a_patch_of_a_hard_link_leaves_the_setting_as_it_was(harness: EngineHarness, project: Path) -> None:
    begun(harness, ApprovalPolicy.NEVER).ask(patch(project / "hard.txt", "hard.txt"))
    assert (project / "hard.txt").read_text().strip() == THEIRS
    assert (project / ".mcp.json").read_text() == OURS


@on_linux
def test_words_for_agents_and_what_a_project_consists_of_are_patched_unasked(
    harness: EngineHarness, project: Path
) -> None:
    talk = begun(harness, ApprovalPolicy.ON_REQUEST)
    for name in ("AGENTS.md", "CLAUDE.md", "pkg/package.json", ".github/workflows/ci.yml", ".env", "claude/x"):
        talk.ask(patch(project / name, name))
        assert (project / name).read_text() == f"{THEIRS}\n"
    assert not talk.all(ev.ApprovalRequested)


# --- a directory that is such a folder ------------------------------------------------------------------------------


@on_linux
def test_in_a_folder_of_settings_everything_is_asked_about_but_in_a_work_tree_of_its_own(
    harness: EngineHarness, project: Path
) -> None:
    """Agents keep work trees in their folders."""
    tree = project / ".claude/worktrees/one"
    (tree / ".git").mkdir(parents=True)
    talk = harness.talk(approval_policy=ApprovalPolicy.ON_REQUEST, sandbox=CLOSED, cwd=project / ".claude")
    assert denied(talk, patch(project / ".claude/new.txt", "new.txt")).obeyed_by == ("Claude Code",)
    shell(talk, "touch made.txt")
    assert not (project / ".claude/made.txt").exists()
    other = harness.talk(approval_policy=ApprovalPolicy.ON_REQUEST, sandbox=CLOSED, cwd=tree)
    other.ask(patch(tree / "new.txt", "new.txt"))
    assert (tree / "new.txt").exists()


def shell(talk: Talk, script: str) -> ev.WorkEnded:
    talk.ask(f"call shell {json.dumps(['bash', '-c', script])}; then; say done")
    return talk.all(ev.WorkEnded)[-1]


# --- commands, while they run and afterwards ------------------------------------------------------------------------


@on_linux
def test_a_command_is_told_what_was_set_aside_and_cannot_leave_it_standing_while_it_runs(
    harness: EngineHarness, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings_watch, "LOOK_S", 0.02)
    talk = begun(harness, ApprovalPolicy.NEVER)
    ended = shell(talk, f"echo '{THEIRS}' > opencode.json; timeout 9 sh -c 'while [ -e opencode.json ]; do :; done'")
    assert ended.exit_code == 0
    assert contents(project / "opencode.json") is None
    assert (project / "opencode.json.set-aside-by-greenroom").exists()
    told = [one.message for one in talk.all(ev.BackgroundEvent)]
    assert len(told) == 1
    assert "opencode would obey it unasked" in told[0]
    assert "made it by a patch" not in told[0]


@on_linux
def test_a_folder_that_is_held_is_read_only_and_nothing_of_it_is_seen_by_git(
    harness: EngineHarness, project: Path
) -> None:
    talk = begun(harness, ApprovalPolicy.NEVER)
    ended = shell(talk, "git init -q x; mkdir -p .zed && echo x > .zed/tasks.json")
    assert ended.exit_code != 0
    assert "Read-only file system" in ended.errors
    assert not (project / ".zed").exists()


# --- third-party agents ---------------------------------------------------------------------------------------------


@contextmanager
def with_agent(home: Path, *, confined: bool) -> Iterator[EngineHarness]:
    table = agent_table()
    with EngineHarness(home, table.replace('confine = "none"\n', "") if confined else table) as harness:
        prepare(harness.workspace)
        yield harness


def said(talk: Talk) -> str:
    return talk.all(ev.AgentMessage)[-1].message


def agent_in(harness: EngineHarness, policy: ApprovalPolicy, sandbox: SandboxPolicy = CLOSED) -> Talk:
    return harness.talk(agent="scripted", approval_policy=policy, sandbox=sandbox)


@on_linux
def test_an_agent_that_has_a_setting_written_by_us_is_asked_about_by_whatever_name(tmp_path: Path) -> None:
    with with_agent(tmp_path, confined=True) as harness:
        project = harness.workspace
        was, talk = everything(project), agent_in(harness, ApprovalPolicy.ON_REQUEST)
        for number, (name, who) in enumerate(SPELLINGS.items(), 1):
            caller = talk.start(f"write {name.format(project)}: {THEIRS}")
            question = talk.wait(ev.ApprovalRequested, number)
            assert who in question.obeyed_by, name
            assert title(question.model_dump(mode="json")) == TITLE
            assert list(subject_of(question, ev.FilesSubject).changes.values())
            talk.decide(question.approval_id, Decision.DENIED)
            talk.result(caller)
            assert "a person has refused it" in said(talk)
            assert everything(project) == was, name
        caller = talk.start(f"write .mcp.json: {THEIRS}")
        talk.decide(talk.wait(ev.ApprovalRequested, len(SPELLINGS) + 1).approval_id, Decision.APPROVED)
        talk.result(caller)
        assert said(talk) == "written"
        assert (project / ".mcp.json").read_text() == THEIRS


@on_linux
def test_an_agent_that_nobody_is_asked_about_is_refused(tmp_path: Path) -> None:
    with with_agent(tmp_path, confined=True) as harness:
        was, talk = everything(harness.workspace), agent_in(harness, ApprovalPolicy.NEVER)
        for name in SPELLINGS:
            talk.ask(f"write {name.format(harness.workspace)}: {THEIRS}")
            assert "rejected by user approval settings" in said(talk)
            assert everything(harness.workspace) == was, name
        reading = agent_in(harness, ApprovalPolicy.ON_REQUEST, ReadOnly())
        reading.ask(f"write .mcp.json: {THEIRS}")
        assert "does not let it be written" in said(reading)
        assert everything(harness.workspace) == was


@on_linux
def test_an_approved_setting_stays_and_what_the_agent_makes_of_it_does_not(tmp_path: Path) -> None:
    """The agent that runs beside it is watched for new ones."""
    with with_agent(tmp_path, confined=True) as harness:
        talk = agent_in(harness, ApprovalPolicy.ON_REQUEST)
        for number, (name, then) in enumerate(
            {"opencode.json": "say done", ".envrc": "run echo x >> .envrc"}.items(), 1
        ):
            caller = talk.start(f"write {name}: {OURS}; then {then}")
            talk.decide(talk.wait(ev.ApprovalRequested, number).approval_id, Decision.APPROVED)
            talk.result(caller)
        assert (harness.workspace / "opencode.json").read_text() == OURS
        assert not (harness.workspace / ".envrc").exists()
        talk.ask("run echo x >> opencode.json")
        assert (harness.workspace / "opencode.json").read_text() == OURS


@on_linux
def test_an_interrupt_ends_a_write_that_waits_for_its_answer(tmp_path: Path) -> None:
    with with_agent(tmp_path, confined=True) as harness:
        talk = agent_in(harness, ApprovalPolicy.ON_REQUEST)
        caller = talk.start(f"write .mcp.json: {THEIRS}")
        talk.wait(ev.ApprovalRequested)
        talk.interrupted(talk.interrupt())
        talk.result(caller)
        assert (harness.workspace / ".mcp.json").read_text() == OURS


@on_linux
@pytest.mark.parametrize("name", ["opencode.json", "pkg/.claude/settings.json", ".github/hooks/a.json"])
def test_settings_that_an_agent_leaves_are_set_aside_with_the_turn_and_reported(tmp_path: Path, name: str) -> None:
    with with_agent(tmp_path, confined=True) as harness:
        project = harness.workspace
        (project / "pkg").mkdir()
        talk = agent_in(harness, ApprovalPolicy.NEVER)
        talk.ask(f"run mkdir -p $(dirname {name}); then run echo '{THEIRS}' > {name}; then run cat {name}")
        assert contents(project / name) is None
        assert any("set-aside-by-greenroom" in one.message for one in talk.all(ev.BackgroundEvent))


@on_linux
def test_a_setting_that_its_person_makes_between_turns_stays_and_is_closed_to_the_agent(tmp_path: Path) -> None:
    with with_agent(tmp_path, confined=True) as harness:
        project = harness.workspace
        talk = agent_in(harness, ApprovalPolicy.NEVER)
        talk.ask("say warm")
        (project / "opencode.json").write_text(OURS)
        replaced = project / "new"
        replaced.write_text(OURS)
        talk.ask(f"run echo '{THEIRS}' > opencode.json")
        assert (project / "opencode.json").read_text() == OURS
        replaced.replace(project / "opencode.json")
        talk.ask(f"run echo '{THEIRS}' > opencode.json")
        assert (project / "opencode.json").read_text() == OURS
        told = [one.message for one in talk.all(ev.BackgroundEvent) if "anew" in one.message]
        assert len(told) >= 2


def test_an_agents_own_question_about_a_setting_says_who_would_obey(tmp_path: Path) -> None:
    with with_agent(tmp_path, confined=False) as harness:
        talk = agent_in(harness, ApprovalPolicy.ON_REQUEST)
        caller = talk.start("ask-about edit .claude/settings.json")
        question = talk.wait(ev.ApprovalRequested)
        assert question.obeyed_by == ("Claude Code",)
        assert title(question.model_dump(mode="json")) == TITLE
        talk.decide(question.approval_id, Decision.DENIED)
        talk.result(caller)
