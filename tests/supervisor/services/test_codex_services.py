"""One command, and a diff against the remote: real processes, a real sandbox where there is one, a real git."""

import asyncio
import os
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import pytest

from actors.vocabulary.errors import GreenroomError, InvalidInput, NotAllowed
from actors.vocabulary.settings import ApprovalPolicy, DangerFullAccess, ReadOnly, SandboxPolicy, WorkspaceWrite
from supervisor.agents.environments import CommandEnvironment
from supervisor.services import codex_services
from supervisor.services.codex_services import Machine
from supervisor.work.processes.processes import Processes
from supervisor.work.sandbox.order import Availability
from supervisor.work.sandbox.roots import Protection
from supervisor.work.sandbox.sandbox import Sandbox
from tests.supervisor.work.commands import INSTANCE, alive, limited, new_token
from tests.support.confinement import confinable
from transports.supervisor_answers import RemoteDiff, SingleCommandResult

T = TypeVar("T")
QUIET = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null", "PATH": os.environ["PATH"]}
NEVER, UNTRUSTED = ApprovalPolicy.NEVER, ApprovalPolicy.UNTRUSTED
SANDBOX = Sandbox()


def on(tmp_path: Path, cwd: Path, work: Callable[[Machine], Awaitable[T]], sandbox: Sandbox = SANDBOX) -> T:
    async def go() -> T:
        async with Processes(tmp_path / "ledger", INSTANCE, 0.2) as processes:
            return await work(Machine(processes, sandbox, CommandEnvironment(QUIET), cwd))

    return limited(go())


def run(tmp_path: Path, *argv: str, policy: ApprovalPolicy = NEVER, open_: bool = True) -> SingleCommandResult:
    sandbox = DangerFullAccess() if open_ else ReadOnly()
    return on(tmp_path, tmp_path, lambda machine: machine.run_once(argv, policy, sandbox, 5.0))


def test_a_command_is_run_and_all_of_it_told(tmp_path: Path) -> None:
    assert run(tmp_path, "sh", "-c", "pwd; echo no >&2; exit 3") == SingleCommandResult(3, f"{tmp_path}\n", "no\n")


@confinable
def test_its_sandbox_holds(tmp_path: Path) -> None:
    told = run(tmp_path, "sh", "-c", "echo x > there", open_=False)
    assert told.exit_code != 0
    assert not (tmp_path / "there").exists()


def test_a_command_that_needs_an_approval_is_refused_and_does_not_run(tmp_path: Path) -> None:
    with pytest.raises(NotAllowed, match="would need an approval"):
        run(tmp_path, "touch", "there", policy=UNTRUSTED)
    assert not (tmp_path / "there").exists()


def test_a_command_that_only_reads_needs_no_approval(tmp_path: Path) -> None:
    assert run(tmp_path, "echo", "hi", policy=UNTRUSTED).stdout == "hi\n"


def test_a_command_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="must not be empty"):
        run(tmp_path)
    with pytest.raises(InvalidInput, match="execution error"):
        run(tmp_path, "there-is-no-such-program")


def test_a_timeout_is_an_error_and_leaves_nothing_running(tmp_path: Path) -> None:
    token = new_token()
    argv = ("sh", "-c", f"sleep 30 & sleep 30; : {token}")
    with pytest.raises(GreenroomError, match="timed out after 200 milliseconds"):
        on(tmp_path, tmp_path, lambda machine: machine.run_once(argv, NEVER, DangerFullAccess(), 0.2))
    assert not alive(token)


def test_background_processes_of_a_command_are_ended_with_the_answer(tmp_path: Path) -> None:
    token = new_token()
    argv = ("sh", "-c", f"sh -c 'sleep 30; : {token}' & exit 0")

    async def left(machine: Machine) -> bool:
        await machine.run_once(argv, NEVER, DangerFullAccess(), 5.0)
        return bool(alive(token))

    assert not on(tmp_path, tmp_path, left)


# --- git --------------------------------------------------------------------------------------------------------


def git(cwd: Path, *arguments: str) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main")
    done = subprocess.run(("git", *who, *arguments), cwd=cwd, env=QUIET, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """One commit, which the remote has too."""
    origin, clone = tmp_path / "origin", tmp_path / "clone"
    origin.mkdir()
    git(origin, "init", "--bare")
    git(tmp_path, "clone", str(origin), "clone")
    commit(clone, "a", "one\n")
    git(clone, "push", "origin", "HEAD:main")
    return clone


def commit(where: Path, name: str, text: str) -> str:
    (where / name).write_text(text)
    git(where, "add", name)
    git(where, "commit", "-m", name)
    return git(where, "rev-parse", "HEAD")


def diff(tmp_path: Path, cwd: Path) -> tuple[str, str]:
    told = on(tmp_path, cwd, lambda machine: machine.diff_to_remote())
    return told.sha, told.diff


def test_a_clean_clone_differs_in_nothing(tmp_path: Path, clone: Path) -> None:
    assert diff(tmp_path, clone) == (git(clone, "rev-parse", "HEAD"), "")


def test_commits_changes_and_new_files_are_all_in_the_diff(tmp_path: Path, clone: Path) -> None:
    shared = git(clone, "rev-parse", "HEAD")
    commit(clone, "b", "two\n")
    commit(clone, "c", "three\n")
    (clone / "a").write_text("changed\n")
    (clone / "new file ü").write_text("new\n")
    sha, text = diff(tmp_path, clone)
    assert sha == shared
    for line in ("-one", "+changed", "+two", "+three", "+new"):
        assert line in text.splitlines()
    assert "new file ü" in text


def test_a_diff_that_is_too_long_is_refused_before_all_of_it_is_in_memory(
    tmp_path: Path, clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(codex_services, "DIFF_BYTES", 4000)
    for number in range(6):
        (clone / f"new-{number}").write_text("x" * 1000)
    asked: list[tuple[str, ...]] = []

    async def counted(machine: Machine) -> None:
        run = Machine._git

        async def git_(self: Machine, *arguments: str, may_differ: bool = False) -> str:
            asked.append(arguments)
            return await run(self, *arguments, may_differ=may_differ)

        monkeypatch.setattr(Machine, "_git", git_)
        with pytest.raises(InvalidInput, match="more than 4000 characters"):
            await machine.diff_to_remote()

    on(tmp_path, clone, counted)
    assert sum("--no-index" in arguments for arguments in asked) < 6


@pytest.mark.parametrize("place", ["nothing", "no remote", "unrelated"])
def test_without_a_common_commit_there_is_no_diff(tmp_path: Path, clone: Path, place: str) -> None:
    where = tmp_path / "elsewhere"
    where.mkdir()
    if place != "nothing":
        git(where, "init")
        commit(where, "a", "x")
    if place == "unrelated":
        git(where, "remote", "add", "origin", str(clone))
        git(where, "fetch", "origin")
    with pytest.raises(InvalidInput):
        diff(tmp_path, where)


def test_the_git_of_a_diff_is_none_that_a_project_has_put_on_the_search_path(tmp_path: Path, clone: Path) -> None:
    (clone / "bin").mkdir()
    fake = clone / "bin/git"
    fake.write_text(f"#!/bin/sh\ntouch '{tmp_path}/ran'\n")
    fake.chmod(0o755)
    env = {**QUIET, "PATH": f"{clone}/bin:.:{QUIET['PATH']}", "LD_LIBRARY_PATH": ""}

    async def go() -> RemoteDiff:
        async with Processes(tmp_path / "ledger", INSTANCE, 0.2) as processes:
            return await Machine(processes, SANDBOX, CommandEnvironment(env), clone).diff_to_remote()

    assert "bin/git" in limited(go()).diff
    assert not (tmp_path / "ran").exists()


def test_many_diffs_at_a_time_do_not_meet(tmp_path: Path, clone: Path) -> None:
    async def several(machine: Machine) -> list[RemoteDiff]:
        return list(await asyncio.gather(*(machine.diff_to_remote() for _ in range(5))))

    assert len({one.sha for one in on(tmp_path, clone, several)}) == 1


# --- a repository that names programs -------------------------------------------------------------------------------

BOTH = pytest.mark.parametrize("available", [pytest.param(True, marks=confinable), False])


class NoSandbox(Sandbox):
    availability = Availability(ok=False, reason="none here")


def trapped(place: Path, trap: str) -> tuple[tuple[str, ...], Path]:
    """A repository that has `touch PWNED` where git looks for a program, the command that meets it, and PWNED."""
    pwned = place / "PWNED"
    script = place / "trap.sh"
    script.write_text(f"#!/bin/sh\ntouch {pwned}\nexit 1\n")
    script.chmod(0o755)
    work = place / "work"
    git(place, "init", "-q", "work")
    (work / "f").write_text("old\n")
    (work / ".gitattributes").write_text("f diff=trap filter=trap\n")
    git(work, "add", ".")
    git(work, "commit", "-qm", "one")
    (work / "f").write_text("new and longer\n")
    where = work
    if trap == "bare":
        where = work / "sub"
        git(work, "init", "-q", "--bare", "sub")
        git(where, "config", "core.worktree", ".")
        git(where, "config", "core.bare", "false")
        git(where, "config", "core.fsmonitor", str(script))
        return ("bash", "-lc", f"cd {where} && git status"), pwned
    key, verb = {
        "fsmonitor": ("core.fsmonitor", "status"),
        "external": ("diff.external", "diff"),
        "textconv": ("diff.trap.textconv", "diff"),
        "filter": ("filter.trap.clean", "diff"),
        "pager": ("core.pager", "log"),
        "ssh": ("core.sshCommand", "log"),
    }[trap]
    git(work, "config", key, str(script))
    return ("bash", "-lc", f"cd {work} && git {verb}"), pwned


@BOTH
@pytest.mark.parametrize("trap", ["fsmonitor", "external", "textconv", "filter", "pager", "ssh", "bare"])
@pytest.mark.parametrize("policy", list(ApprovalPolicy))
@pytest.mark.parametrize("own", [DangerFullAccess(), ReadOnly(), WorkspaceWrite()], ids=lambda own: own.mode)
def test_programs_named_by_a_repository_change_nothing_unless_everything_may_run(
    tmp_path: Path, trap: str, policy: ApprovalPolicy, own: SandboxPolicy, available: bool
) -> None:
    argv, pwned = trapped(tmp_path, trap)
    sandbox = SANDBOX if available else NoSandbox()
    anything_goes = isinstance(own, DangerFullAccess) and policy is not UNTRUSTED
    refused = False
    try:
        on(tmp_path, tmp_path, lambda machine: machine.run_once(argv, policy, own, 5.0), sandbox)
    except NotAllowed:
        refused = True
    assert refused == (not anything_goes and not available)
    assert pwned.exists() == (anything_goes and trap not in {"pager", "ssh"})  # no terminal, nothing to fetch


@BOTH
@pytest.mark.parametrize("trap", ["fsmonitor", "external", "textconv", "filter", "pager", "ssh"])
def test_a_diff_to_the_remote_starts_nothing_that_the_repository_names(
    tmp_path: Path, trap: str, available: bool
) -> None:
    _, pwned = trapped(tmp_path, trap)
    git(tmp_path / "work", "update-ref", "refs/remotes/origin/main", "HEAD")
    sandbox = SANDBOX if available else NoSandbox()
    told = on(tmp_path, tmp_path / "work", lambda machine: machine.diff_to_remote(), sandbox)
    assert "+new and longer" in told.diff
    assert not pwned.exists()


@BOTH
def test_a_diff_of_a_home_that_is_a_repository_shows_nothing_of_ours(
    tmp_path: Path, clone: Path, available: bool
) -> None:
    state = clone / ".local" / "state"
    state.mkdir(parents=True)
    (state / "keys.json").write_text("sk-secret\n")
    (clone / "door").symlink_to(".local/state")
    (clone / "new").write_text("new\n")
    sandbox = Sandbox() if available else NoSandbox()
    sandbox.protection = Protection(hidden=(state,))
    text = str(on(tmp_path, clone, lambda machine: machine.diff_to_remote(), sandbox).diff)
    assert "+new" in text
    assert "sk-secret" not in text


@pytest.mark.parametrize("verb", ["status", "diff", "log", "show", "branch"])
@confinable
def test_git_that_only_reads_works_in_the_read_only_sandbox(tmp_path: Path, verb: str) -> None:
    trapped(tmp_path, "pager")
    argv = ("bash", "-lc", f"cd {tmp_path}/work && git {verb}")
    told = on(tmp_path, tmp_path, lambda machine: machine.run_once(argv, UNTRUSTED, WorkspaceWrite(), 5.0))
    assert told.exit_code == 0
    assert "fatal" not in told.stderr


def test_a_diff_goes_into_no_submodule(tmp_path: Path, clone: Path) -> None:
    """Even without a sandbox, which would hold what runs there."""
    ran = tmp_path / "ran"
    git(clone, "init", "sub")
    git(clone / "sub", "commit", "--allow-empty", "-m", "inner")
    git(clone, "add", "sub")
    git(clone, "commit", "-m", "sub")
    git(clone / "sub", "config", "core.fsmonitor", f"touch {ran}")

    async def unconfined(machine: Machine) -> object:
        machine.sandbox.availability = Availability(ok=False, reason="none")
        return await machine.diff_to_remote()

    told = on(tmp_path, clone, unconfined)
    assert "Subproject commit" in str(told)
    assert not ran.exists()
    git(clone, "status")
    assert ran.exists()
