"""Commands by which git changes a history are known, with the place of the repository; others are not."""

import time

import pytest

from actors.vocabulary.settings import ApprovalPolicy, SandboxMode
from supervisor.work.safety.git_commands import history_directory
from supervisor.work.safety.judge import judge_command
from supervisor.work.safety.rules import MayRun, MustAsk


def bash(script: str) -> list[str]:
    return ["bash", "-lc", script]


@pytest.mark.parametrize(
    ("argv", "place"),
    [
        (["git", "commit", "-m", "x"], "."),
        (["git", "-C", "sub", "add", "."], "sub"),
        (["git", "-c", "user.name=x", "--no-pager", "stash"], "."),
        (["git", "checkout", "-b", "side"], "."),
        (["git", "tag", "v1"], "."),
        (bash("git add -A && git commit -m 'two words'"), "."),
        (bash("cd sub/deep && git add . && git status"), "sub/deep"),
        (bash("cd /work/shop && git commit -am x"), "/work/shop"),
        (bash("npm test && git commit -am x"), "."),
        (bash("git commit -m \"$(cat <<'EOF'\nfix: it\nEOF\n)\""), ""),
        (bash('cd sub && git add . && git commit -m "$MESSAGE"'), "sub"),
        (["/bin/sh", "-c", "git merge side"], "."),
    ],
)
def test_a_change_of_history_is_known_and_where(argv: list[str], place: str) -> None:
    assert history_directory(argv) == place


@pytest.mark.parametrize(
    "argv",
    [
        ["git", "status"],
        ["git", "log", "-1"],
        ["git", "stash", "list"],
        ["git", "tag"],
        ["git", "tag", "--list"],
        ["git", "push"],
        ["git", "config", "user.name", "x"],
        ["git", "rebase", "main"],
        ["git", "--git-dir=/elsewhere", "commit"],
        ["git"],
        ["gitk", "commit"],
        ["./git", "commit"],
        bash("echo git; make commit"),
        bash("ls | grep $commit"),
        [],
    ],
)
def test_other_commands_are_not(argv: list[str]) -> None:
    assert history_directory(argv) is None


def test_a_script_that_never_ends_takes_no_time() -> None:
    began = time.process_time()
    for script in (
        "git" + " -c" * 30_000 + " $",
        "git -" * 10_000 + "$",
        " git" * 15_000 + "$",
        "git" + " " * 60_000,
    ):
        assert history_directory(bash(script)) is None
    assert time.process_time() - began < 8.0


ASKS = MustAsk(history=True)


@pytest.mark.parametrize(
    ("policy", "verdict"),
    [
        (ApprovalPolicy.ON_REQUEST, ASKS),
        (ApprovalPolicy.ON_FAILURE, ASKS),
        (ApprovalPolicy.UNTRUSTED, ASKS),
        (ApprovalPolicy.NEVER, MayRun(sandboxed=True)),
    ],
)
def test_it_is_asked_for_history_alone_and_never_if_nobody_is_asked(
    policy: ApprovalPolicy, verdict: MustAsk | MayRun
) -> None:
    judged = judge_command(
        ["git", "commit"], policy, SandboxMode.WORKSPACE_WRITE, sandbox_available=True, history=True
    )
    assert judged == verdict


def test_a_command_that_asks_to_leave_the_sandbox_is_judged_by_that() -> None:
    judged = judge_command(
        ["git", "commit"],
        ApprovalPolicy.ON_REQUEST,
        SandboxMode.WORKSPACE_WRITE,
        sandbox_available=True,
        escalated=True,
        history=True,
    )
    assert judged == MustAsk()
