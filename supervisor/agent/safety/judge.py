"""Run, ask or refuse: the tables of `rules`, read. Pure; whoever asks the person supplies the model's own reason."""

from collections.abc import Sequence

from actors.settings import ApprovalPolicy, SandboxMode
from supervisor.agent.safety import rules
from supervisor.agent.safety.known_safe import known_safe
from supervisor.agent.safety.rules import Reject, Run, Sandboxing, Verdict


def judge_command(
    argv: Sequence[str],
    policy: ApprovalPolicy,
    sandbox_mode: SandboxMode,
    *,
    sandbox_available: bool,
    escalated: bool = False,
    approved: bool = False,
) -> Verdict:
    """`escalated`: the model asked to leave the sandbox. `approved`: a person let this run for the session."""
    if approved:
        return Run()
    column = _column(sandbox_mode, available=sandbox_available)
    if known_safe(argv):
        # Safe is a name; what answers to it the search path decides, and the first place on it is often one that a
        # sandboxed command may write, like the `bin` of an environment in the project. And the project may tell what
        # only reads to start programs, as it tells git by its configuration and cargo by build scripts.
        return Run(sandboxed=column is Sandboxing.AVAILABLE)
    cell = (policy, column)
    return rules.ESCALATED.get(cell, rules.COMMANDS[cell]) if escalated else rules.COMMANDS[cell]


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
