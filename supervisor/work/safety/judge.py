"""Judges commands and patches by the tables of `rules`. Pure; the caller adds the model's reason to a question."""

from collections.abc import Sequence

from actors.vocabulary.settings import ApprovalPolicy, DangerFullAccess, ReadOnly, SandboxMode, SandboxPolicy
from supervisor.work.safety import rules
from supervisor.work.safety.known_safe import programs
from supervisor.work.safety.rules import MayRun, MustAsk, Reject, Sandboxing, Verdict


def judge_command(
    argv: Sequence[str],
    policy: ApprovalPolicy,
    sandbox_mode: SandboxMode,
    *,
    sandbox_available: bool,
    plainly_named: bool = False,
    escalated: bool = False,
    history: bool = False,
) -> Verdict:
    """Judge a command. `plainly_named`: its programs are the system's own; matters only without a sandbox.

    `escalated`: the model asked to leave the sandbox; if there is a sandbox, some policies pass that on to a person.
    `history`: the command changes a repository's history, for which the sandbox could be opened.
    """
    column = _column(sandbox_mode, available=sandbox_available)
    verdict = rules.COMMANDS[policy][column]
    if escalated:
        asks = policy in rules.HEARS_ESCALATION and column is Sandboxing.AVAILABLE
        return MustAsk() if asks else verdict
    if verdict == MayRun():
        return verdict  # everything runs there
    if safe := _only_reads(argv, available=sandbox_available, plainly=plainly_named):
        return safe
    asks = history and column is Sandboxing.AVAILABLE and policy is not ApprovalPolicy.NEVER
    return MustAsk(history=True) if asks else verdict


def _only_reads(argv: Sequence[str], *, available: bool, plainly: bool) -> MayRun | None:
    """Return how a known safe command runs without a question; None: it is judged like any other.

    A command is known by its name only: the search path decides which program that is, and a project can make a
    reading program start others, as with git's configuration. So the command runs in a sandbox in which it can do no
    harm; without a sandbox only a system program that obeys no project file runs at all.
    """
    names = programs(argv)
    if names and available:
        return MayRun(sandboxed=True, read_only=True)
    return MayRun() if names and plainly and rules.OBEYS_FILES.isdisjoint(names) else None


def confinement(run: MayRun, own: SandboxPolicy) -> SandboxPolicy:
    """Return the sandbox that a command runs in; `own` is the conversation's."""
    if run.read_only:
        return ReadOnly()
    return own if run.sandboxed else DangerFullAccess()


def judge_patch(
    *,
    inside_roots: bool,
    empty: bool,
    policy: ApprovalPolicy,
    sandbox_mode: SandboxMode,
    sandbox_available: bool,
    obeyed_by: Sequence[str] = (),
) -> Verdict:
    """Judge a patch. `inside_roots` is about every path that is written, moved or deleted.

    `obeyed_by`: the programs that would obey a written file. With policy `never` and without a sandbox the patch is
    allowed all the same, as any command could write it.
    """
    if empty:
        return Reject(rules.EMPTY_PATCH)
    if obeyed_by and policy is not ApprovalPolicy.NEVER:
        return MustAsk(rules.OBEYED_REASON.format(" and ".join(obeyed_by)))
    if obeyed_by and sandbox_mode is not SandboxMode.DANGER_FULL_ACCESS:
        return Reject(rules.OBEYED.format(" and ".join(obeyed_by)))
    if not inside_roots:
        read_only = sandbox_mode is SandboxMode.READ_ONLY
        return (rules.PATCHES_READ_ONLY if read_only else rules.PATCHES_OUTSIDE)[policy]
    return rules.PATCHES_INSIDE[policy][_column(sandbox_mode, available=sandbox_available)]


def _column(mode: SandboxMode, *, available: bool) -> Sandboxing:
    if mode is SandboxMode.DANGER_FULL_ACCESS:
        return Sandboxing.UNWANTED
    return Sandboxing.AVAILABLE if available else Sandboxing.MISSING
