"""The tables, cell by cell, and the lists of programs that only read."""

import pytest

from actors.vocabulary.settings import ApprovalPolicy, DangerFullAccess, ReadOnly, SandboxMode, WorkspaceWrite
from supervisor.work.safety.judge import confinement, judge_command, judge_patch
from supervisor.work.safety.known_safe import programs
from supervisor.work.safety.rules import MayRun, MustAsk, Reject, Verdict

ASK = MustAsk()
ASK_INSIDE = MustAsk(inside=True)  # a yes means in the sandbox
FREE = MayRun()
BOXED = MayRun(sandboxed=True)
READING = MayRun(sandboxed=True, read_only=True)
BOXED_THEN_ASK = MayRun(sandboxed=True, retry_unsandboxed_on_failure=True)
NOT_TRUSTED = Reject("exec command rejected: auto-rejected because command is not on trusted list")
OUTSIDE = Reject("writing outside of the project; rejected by user approval settings")
OUTSIDE_ASK = MustAsk("writes outside of the project")
MODES = ("danger-full-access", "read-only", "workspace-write")

# policy -> danger-full-access, sandboxed with a sandbox, sandboxed without one
COMMANDS: dict[str, tuple[Verdict, Verdict, Verdict]] = {
    "untrusted": (ASK, ASK_INSIDE, ASK),
    "on-failure": (FREE, BOXED_THEN_ASK, ASK),
    "on-request": (FREE, BOXED, ASK),
    "never": (FREE, BOXED, NOT_TRUSTED),
}
PATCHES_INSIDE: dict[str, tuple[Verdict, Verdict, Verdict]] = {
    "untrusted": (ASK, ASK, ASK),
    "on-failure": (FREE, FREE, ASK),
    "on-request": (FREE, FREE, ASK),
    "never": (FREE, FREE, FREE),
}
PATCHES_OUTSIDE: dict[str, Verdict] = {
    "untrusted": ASK,
    "on-failure": OUTSIDE_ASK,
    "on-request": OUTSIDE_ASK,
    "never": OUTSIDE,
}
PATCHES_READ_ONLY: dict[str, Verdict] = {
    "untrusted": ASK,
    "on-failure": MustAsk("the sandbox is read-only"),
    "on-request": MustAsk("the sandbox is read-only"),
    "never": Reject("writing is blocked by the read-only sandbox; rejected by user approval settings"),
}
CELLS = [(policy, mode, available) for policy in COMMANDS for mode in MODES for available in (True, False)]


def column(mode: str, available: bool) -> int:
    return 0 if mode == "danger-full-access" else 1 if available else 2


def judged(argv: list[str], policy: str, mode: str, available: bool, **more: bool) -> Verdict:
    return judge_command(argv, ApprovalPolicy(policy), SandboxMode(mode), sandbox_available=available, **more)


@pytest.mark.parametrize(("policy", "mode", "available"), CELLS)
def test_an_unknown_command_is_judged_by_policy_and_sandbox(policy: str, mode: str, available: bool) -> None:
    assert judged(["make"], policy, mode, available) == COMMANDS[policy][column(mode, available)]
    assert judged([], policy, mode, available) == COMMANDS[policy][column(mode, available)]


def everything_runs(policy: str, mode: str) -> bool:
    return mode == "danger-full-access" and policy != "untrusted"


READS = (["cat", "f"], ["bash", "-lc", "cat f | wc"])
READS_WITH_GIT = (["git", "status"], ["git", "diff"], ["bash", "-lc", "cat f && git log"])


@pytest.mark.parametrize("plain", [True, False])
@pytest.mark.parametrize(("policy", "mode", "available"), CELLS)
def test_a_known_safe_command_runs_read_only_where_there_is_a_sandbox_and_else_only_if_it_obeys_no_file(
    policy: str, mode: str, available: bool, plain: bool
) -> None:
    table = COMMANDS[policy][column(mode, available)]
    for argv in (*READS, *READS_WITH_GIT):
        verdict = judged(argv, policy, mode, available, plainly_named=plain)
        if everything_runs(policy, mode):
            assert verdict == FREE
        elif available:
            assert verdict == READING
        else:
            assert verdict == (FREE if plain and argv in READS else table)


@pytest.mark.parametrize(("policy", "mode", "available"), CELLS)
def test_a_known_safe_command_that_asks_to_leave_the_sandbox_is_judged_like_any_other(
    policy: str, mode: str, available: bool
) -> None:
    for argv in (*READS, *READS_WITH_GIT):
        unknown = judged(["make"], policy, mode, available, escalated=True)
        assert judged(argv, policy, mode, available, escalated=True, plainly_named=True) == unknown


def test_a_read_only_verdict_is_a_read_only_sandbox_whatever_the_conversation_has() -> None:
    for own in (DangerFullAccess(), ReadOnly(), WorkspaceWrite(network_access=True)):
        assert confinement(READING, own) == ReadOnly()
        assert confinement(BOXED, own) == own
        assert confinement(FREE, own) == DangerFullAccess()


@pytest.mark.parametrize(("policy", "mode", "available"), CELLS)
def test_the_model_may_ask_to_leave_the_sandbox_where_a_person_is_asked_before_a_command_fails(
    policy: str, mode: str, available: bool
) -> None:
    plain = COMMANDS[policy][column(mode, available)]
    expected = ASK if policy in {"on-request", "untrusted"} and column(mode, available) == 1 else plain
    assert judged(["make"], policy, mode, available, escalated=True) == expected


def patch_judged(policy: str, mode: str, available: bool, *, inside: bool, empty: bool = False) -> Verdict:
    return judge_patch(
        inside_roots=inside,
        empty=empty,
        policy=ApprovalPolicy(policy),
        sandbox_mode=SandboxMode(mode),
        sandbox_available=available,
    )


@pytest.mark.parametrize(("policy", "mode", "available"), CELLS)
def test_a_patch_inside_the_roots_is_judged_by_policy_and_sandbox(policy: str, mode: str, available: bool) -> None:
    assert patch_judged(policy, mode, available, inside=True) == PATCHES_INSIDE[policy][column(mode, available)]


@pytest.mark.parametrize(("policy", "mode", "available"), CELLS)
def test_a_patch_outside_the_roots_is_judged_by_policy(policy: str, mode: str, available: bool) -> None:
    table = PATCHES_READ_ONLY if mode == "read-only" else PATCHES_OUTSIDE
    assert patch_judged(policy, mode, available, inside=False) == table[policy]


@pytest.mark.parametrize(("policy", "mode", "available"), CELLS)
def test_an_empty_patch_is_rejected(policy: str, mode: str, available: bool) -> None:
    assert patch_judged(policy, mode, available, inside=True, empty=True) == Reject("empty patch")


# --- known safe ----------------------------------------------------------------------------------------------------

SAFE = [
    *("cat f", "cd d", "echo hello", "false", "grep -rn x .", "head -5 f", "ls -la", "nl f", "pwd", "tail -f f"),
    *("true", "wc -l f", "which python"),
    *("find . -name x -type f", "find . -size +1 -print0", "find"),
    *("rg pattern src", "rg -n --pretty x", "rg --files", "rg --pre-glob x y", "rg -e x"),
    *("sed -n 1p f", "sed -n 10,200p dir/f"),
]
GIT_SAFE = [
    *(
        "git status",
        "git status --porcelain",
        "git log --oneline -5",
        "git log -p -- f",
        "git diff",
        "git diff HEAD~1",
    ),
    *("git diff --stat --cached", "git diff --output-indicator-new=+", "git show HEAD:f", "git show --format=%H"),
    *("git branch", "git branch -a", "git branch -vv", "git branch --show-current", "git branch --list x-y"),
    *("git branch --contains HEAD", "git branch --merged=main -r", "git branch --sort=-committerdate"),
]
NOT_SAFE = [
    *("rm f", "make", "bash", "bash -lc", "sh -lc ls", "bash -c ls", "/bin/cat f", "./cat f", "Cat f", "cat\0 f"),
    *("find . -exec rm {} ;", "find . -execdir x ;", "find . -ok x ;", "find . -okdir x ;", "find . -delete"),
    *("find . -fls f", "find . -fprint f", "find . -fprint0 f", "find . -fprintf f %p"),
    *("rg --pre x y", "rg --pre=x y", "rg --hostname-bin x y", "rg --hostname-bin=x y", "rg --search-zip y"),
    *("rg -z y", "rg -nz y", "rg -zn y"),
    *("git", "git push", "git commit", "git -C d status", "git -c core.pager=x log", "git --git-dir=x status"),
    *("git --paginate log", "git status --help", "git diff --output=f", "git diff --output f", "git diff --outpu=f"),
    *("git log --output=f", "git show --ext-diff", "git show --ext", "git log -p --textconv", "git show --textc"),
    *("git log --show-signature", "git log --format=%G?", "git log --pretty %GG", "git show --he"),
    *("git log --format=%+G?", "git log --format=%-GK", "git show --format=%h%+GG", "git log --pretty=tformat:%+GT"),
    *("git branch --format=%(signature)", "git branch --list --sort signature", "git branch --sort=-signature:grade"),
    *("git branch new", "git branch -D x", "git branch -d x", "git branch --delete x", "git branch -m a b"),
    *("git branch -M a", "git branch -c a b", "git branch -f x y", "git branch --force x", "git branch -u o/x"),
    *("git branch --set-upstream-to=x", "git branch --unset-upstream", "git branch --edit-description"),
    *("git branch -t x o/x", "git branch -a new", "git branch -v new", "git branch -l new", "git branch -- new"),
    *("git branch --list -D x", "git branch --merged main -d", "git branch --track x", "git branch --sort new"),
    *("cargo build", "cargo", "cargo check"),  # build scripts are programs, and their output is written
    *("sed -n p f", "sed -n 1p", "sed 1p f", "sed -n 1p f g", "sed -i 1p f", "sed -n 1,p f", "sed -n ,2p f"),
    *("sed -n 1,2,3p f", "sed -n 1d f", "sed -n 1pe f", "sed -n 1p -i", "sed -n 1p -fscript", "sed -n 1p -"),
    *("sed -n \u0661p f", "sed -n $p f", "sed -n /x/p f", "sed -n 1p;w f"),
]


@pytest.mark.parametrize("command", [*SAFE, *GIT_SAFE])
def test_commands_that_only_read_are_safe(command: str) -> None:
    assert programs(command.split(" "))


@pytest.mark.parametrize("command", NOT_SAFE)
def test_commands_that_may_write_or_start_programs_are_not_safe(command: str) -> None:
    assert not programs(command.split(" "))


def test_a_format_with_a_blank_in_it_that_asks_for_a_signature_is_not_safe() -> None:
    assert not programs(["git", "log", "--format=% G?"])
