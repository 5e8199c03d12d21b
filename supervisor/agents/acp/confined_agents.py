"""Known agents in Greenroom's sandbox: the arguments and variables that each is started with there. Data, and choice.

An agent's own sandbox is off, because ours is round it. The parts of its home that it keeps: reach/agent_homes.py.
"""

from collections.abc import Mapping

from msgspec import Struct, field

from actors.vocabulary.settings import ApprovalPolicy
from supervisor.config.agent_definitions import AgentDefinition, kind_named

# Codex's approval policies. `untrusted` asks before everything that does more than read. `on-request` asks before
# leaving Codex's own sandbox, and without one never. Only one of the two adapters still takes it from the arguments.
ASK_POLICY, NEVER_ASK_POLICY = "untrusted", "never"


def kind_of(definition: AgentDefinition) -> str:
    """Return the name of the known agent that a definition starts; empty for an unknown one."""
    return kind_named(definition.name, definition.argv)


# A file that an agent makes at its start in its folder of the project, if that exists. In a folder that is closed to
# it, it can't, and does not start; so the file is made before.
MADE_AT_START: Mapping[str, tuple[str, str, str]] = {
    "opencode": (".opencode", ".gitignore", "node_modules\npackage.json\npackage-lock.json\nbun.lock\n.gitignore"),
}

_VARIABLES: Mapping[str, Mapping[str, str]] = {
    "claude": {"IS_SANDBOX": "1"},  # as root it would refuse to ask nothing, which is safe in here
    "gemini": {"GEMINI_SANDBOX": "false"},  # otherwise it may start itself again in a container
}


class SandboxAdditions(Struct, frozen=True):
    """Arguments and variables that an agent in the sandbox is started with, besides its own."""

    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)


def sandbox_additions(agent: str, approvals: ApprovalPolicy) -> SandboxAdditions:
    """Return the additions for an agent in our sandbox. A person's own settings for it come later, and win."""
    if agent == "codex":
        asks = NEVER_ASK_POLICY if approvals is ApprovalPolicy.NEVER else ASK_POLICY
        return SandboxAdditions(
            ("-c", 'sandbox_mode="danger-full-access"', "-c", f'approval_policy="{asks}"'),
            {"INITIAL_AGENT_MODE": "agent-full-access"},  # for the adapter that reads no arguments
        )
    return SandboxAdditions(env=_VARIABLES.get(agent, {}))


def keeps_its_mode(agent: str) -> bool:
    """Tell whether an agent in our sandbox must stay in the mode that it was started with.

    In other modes Codex puts each command into bubblewrap, which needs a user namespace. Our sandbox gives none, so
    each would fail.
    """
    return agent == "codex"
