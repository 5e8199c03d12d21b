"""The most that a client, and the model behind it, may ask for. The person's own settings have no ceiling.

A request that goes too far is refused by name, with the setting that would allow it; nothing is silently reduced.
Uses the file system only to follow links.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from actors.vocabulary.errors import NotAllowed
from actors.vocabulary.settings import ApprovalPolicy, SandboxMode, Settings, WorkspaceWrite
from supervisor.config.budgets import BudgetsTable
from supervisor.config.greenroom_table import Mcp
from supervisor.config.overrides import Tree

WIDTH = {SandboxMode.READ_ONLY: 0, SandboxMode.WORKSPACE_WRITE: 1, SandboxMode.DANGER_FULL_ACCESS: 2}
HOW_TO_RAISE = "raise it with greenroom.mcp.max_sandbox in the config file"
# Overrides that only a person may set, and why.
PERSONAL = {
    "agents": "an agent is a program, and its table says how it is confined; they may choose one with `agent`",
    "experimental_instructions_file": "it names a file to read; write its text into base-instructions",
    "greenroom": "it is the daemon's own",
    "notify": "it is a program that runs outside of every sandbox",
    "profiles": "a profile is what a person has written",
    "shell_environment_policy": "it decides which secrets commands see",
}


def widest(named: Iterable[str | None]) -> SandboxMode:
    """The widest of these sandboxes; other words and None don't count."""
    modes = [SandboxMode(name) for name in named if name in set(SandboxMode)]
    return max(modes, key=WIDTH.__getitem__, default=SandboxMode.READ_ONLY)


class Ceiling(Struct, frozen=True):
    """The ceiling of a client. `own`: its settings if it asks for nothing; `opened`: the config's workspace-write.

    `chosen`: a person has named the directory in `own`; otherwise the client just happened to be started there.
    `unconfined`: agents that run outside of every sandbox.
    """

    mcp: Mcp
    own: Settings
    workspace_write: WorkspaceWrite
    home: Path
    is_directory_chosen: bool = False
    unconfined_agents: frozenset[str] = frozenset()

    def check(self, asked: Settings) -> None:
        """Raise NotAllowed for the first thing that goes too far."""
        for problem in self._problems(asked):
            raise NotAllowed(problem)

    def _problems(self, asked: Settings) -> Iterator[str]:
        mode, own = SandboxMode(asked.sandbox.mode), SandboxMode(self.own.sandbox.mode)
        own_agent = self.own.agent
        granted, allowed = WIDTH[self.mcp.max_sandbox], max(WIDTH[self.mcp.max_sandbox], WIDTH[own])
        if WIDTH[mode] > allowed:
            widest = next(known for known, width in WIDTH.items() if width == allowed)
            yield f"sandbox {mode} is wider than clients may ask for ({widest}): {HOW_TO_RAISE}"
        if WIDTH[mode] > granted and self._asks_less(asked.approval_policy):
            yield (
                f"approval-policy {asked.approval_policy} together with sandbox {mode} asks a person less than the "
                f"config does (untrusted): {HOW_TO_RAISE}"
            )
        if asked.agent in self.unconfined_agents and asked.agent != own_agent and granted < max(WIDTH.values()):
            yield f"agent {asked.agent} runs outside of every sandbox (agents.{asked.agent}.confine): {HOW_TO_RAISE}"
        if isinstance(asked.sandbox, WorkspaceWrite) and allowed == WIDTH[SandboxMode.WORKSPACE_WRITE]:
            pinned = {pin.name: pin.path for pin in asked.roots or () if pin.path is not None}
            yield from self._openings(asked.sandbox, asked.cwd, pinned)

    def _asks_less(self, policy: ApprovalPolicy) -> bool:
        """Whether the policy asks less than the config. Without a sandbox, only `untrusted` asks by itself."""
        return self.own.approval_policy is ApprovalPolicy.UNTRUSTED is not policy

    def _openings(self, asked: WorkspaceWrite, cwd: Path, pinned: Mapping[Path, Path]) -> Iterator[str]:
        """Yield the parts that the config leaves closed. `pinned`: the real directories that names will open."""
        opened = self.workspace_write
        if asked.network_access and not opened.network_access:
            yield _opens("network_access")
        if not set(asked.unix_sockets).issubset(opened.unix_sockets):
            yield (
                "unix_sockets opens more than the config does, and the program behind a socket is not confined: "
                f"set greenroom.sandbox.unix_sockets in the config file, or {HOW_TO_RAISE}"
            )
        if opened.exclude_slash_tmp and not asked.exclude_slash_tmp:
            yield _opens("exclude_slash_tmp")
        if opened.exclude_tmpdir_env_var and not asked.exclude_tmpdir_env_var:
            yield _opens("exclude_tmpdir_env_var")
        real_cwd = pinned.get(cwd) or _real(cwd)
        allowed = [real_cwd, *map(_real, opened.writable_roots)]
        for root in asked.writable_roots:
            real = pinned.get(cwd / root) or _real(cwd / root)
            if not any(real.is_relative_to(folder) for folder in allowed):
                yield f"{_opens('writable_roots')} ({root} is outside of the working directory)"
        meant = real_cwd == _real(self.own.cwd) and (
            self.is_directory_chosen or isinstance(self.own.sandbox, WorkspaceWrite)
        )
        if not meant and _real(self.home).is_relative_to(real_cwd):
            yield (
                f"cwd {cwd} with sandbox workspace-write makes the whole home directory writable: name a directory "
                f"in it, give this one to `greenroom mcp -C`, or {HOW_TO_RAISE}"
            )


def check_overrides(overrides: Tree, mcp: Mcp) -> None:
    """Check the client's own overrides, without those that the person gave to the bridge."""
    for key in overrides:
        if key in PERSONAL and not (key == "greenroom" and _only_budgets(overrides[key])):
            raise NotAllowed(
                f"override `{key}` can't be set by clients, because {PERSONAL[key]}; "
                "a person can set it in the config file or with `greenroom mcp -c`"
            )
    providers = overrides.get("model_providers")
    if isinstance(providers, Mapping) and providers and not mcp.allow_provider_overrides:
        name = next(iter(providers))
        raise NotAllowed(
            f"override `model_providers.{name}` can't be set by clients, because it says where keys are sent: "
            "write it into the config file, or set greenroom.mcp.allow_provider_overrides there"
        )
    servers = overrides.get("mcp_servers")
    for name, server in servers.items() if isinstance(servers, Mapping) else ():
        if not isinstance(server, Mapping) or dict(server) != {"enabled": False}:
            raise NotAllowed(
                f"override `mcp_servers.{name}` can't be set by clients, because a server is a program that runs "
                "outside of every sandbox; they may only switch it off (`enabled = false`). A person can write it "
                "into the config file"
            )


def _only_budgets(ours: object) -> bool:
    """Whether these are only budgets of turns and of the conversation; `check_budgets` checks their size."""
    if not isinstance(ours, Mapping) or set(ours) != {"budget"} or not isinstance(ours["budget"], Mapping):
        return False
    return set(ours["budget"]) <= {"turn", "conversation"}


def check_budgets(asked: BudgetsTable, own: BudgetsTable) -> None:
    """Refuse a budget that is larger than the person's: a client may only make it smaller."""
    for scope in ("turn", "conversation"):
        for unit, most in getattr(own, scope):
            wanted = getattr(getattr(asked, scope), unit)
            if most is not None and (wanted is None or wanted > most):
                raise NotAllowed(
                    f"override `greenroom.budget.{scope}.{unit}` is more than the config allows ({most}): "
                    "a person can raise it there, or with `greenroom budget`"
                )


def _opens(key: str) -> str:
    return (
        f"sandbox_workspace_write.{key} opens more than the config does: set it in the config file, or {HOW_TO_RAISE}"
    )


def _real(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError):
        return path.absolute()
