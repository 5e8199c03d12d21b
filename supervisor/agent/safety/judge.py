"""Run, ask or refuse: the tables of `rules`, read. Pure; whoever asks the person supplies the model's own reason."""

from collections.abc import Sequence

from actors.settings import ApprovalPolicy, DangerFullAccess, ReadOnly, SandboxMode, SandboxPolicy
from supervisor.agent.safety import rules
from supervisor.agent.safety.known_safe import programs
from supervisor.agent.safety.rules import Reject, Run, Sandboxing, Verdict


def judge_command(
    argv: Sequence[str],
    policy: ApprovalPolicy,
    sandbox_mode: SandboxMode,
    *,
    sandbox_available: bool,
    plainly_named: bool = False,
    escalated: bool = False,
) -> Verdict:
    """`plainly_named`: its programs are the system's own; asked only where there is no sandbox.

    `escalated`: the model asked to leave the sandbox.
    """
    cell = (policy, _column(sandbox_mode, available=sandbox_available))
    if escalated:
        return rules.ESCALATED.get(cell, rules.COMMANDS[cell])
    return _only_reads(argv, cell, available=sandbox_available, plainly=plainly_named) or rules.COMMANDS[cell]


def _only_reads(
    argv: Sequence[str], cell: tuple[ApprovalPolicy, Sandboxing], *, available: bool, plainly: bool
) -> Run | None:
    """How a known safe command runs without a question; None where it is judged like any other.

    Safe is a name: the search path decides what answers to it, and a project may tell what only reads to start
    programs, as it tells git by its configuration. So it runs where it can do no harm; where there is no such place,
    only what obeys no file, and is the system's own, runs at all.
    """
    if rules.COMMANDS[cell] == Run():
        return None  # everything runs there
    names = programs(argv)
    if names and available:
        return Run(sandboxed=True, read_only=True)
    return Run() if names and plainly and rules.OBEYS_FILES.isdisjoint(names) else None


def confinement(run: Run, own: SandboxPolicy) -> SandboxPolicy:
    """The sandbox that a command runs in, if `own` is the conversation's."""
    if run.read_only:
        return ReadOnly()
    return own if run.sandboxed else DangerFullAccess()


def judge_patch(
    *, inside_roots: bool, empty: bool, policy: ApprovalPolicy, sandbox_mode: SandboxMode, sandbox_available: bool
) -> Verdict:
    """`inside_roots` speaks of every path that is written, moved or deleted."""
    if empty:
        return Reject(rules.EMPTY_PATCH)
    if not inside_roots:
        read_only = sandbox_mode is SandboxMode.READ_ONLY
        return (rules.PATCHES_READ_ONLY if read_only else rules.PATCHES_OUTSIDE)[policy]
    return rules.PATCHES_INSIDE[policy, _column(sandbox_mode, available=sandbox_available)]


def _column(mode: SandboxMode, *, available: bool) -> Sandboxing:
    if mode is SandboxMode.DANGER_FULL_ACCESS:
        return Sandboxing.UNWANTED
    return Sandboxing.AVAILABLE if available else Sandboxing.MISSING
