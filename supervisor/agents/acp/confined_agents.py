"""Known agents in our sandbox: which of them it is, and what they are started with there. Data, and choosing.

A sandbox of their own is off, because ours is round them. What they keep of their homes: reach/agent_homes.py.
"""

from collections.abc import Mapping

from msgspec import Struct, field

from actors.vocabulary.settings import ApprovalPolicy
from supervisor.config.agent_definitions import AgentDefinition, kind_named

# As Codex calls it, to ask before all that does more than read. `on-request` asks before leaving its own sandbox, and
# would ask nothing without one. Only one of the two adapters still knows it; the other reads no arguments.
ASKS, ASKS_NOTHING = "untrusted", "never"


def kind_of(definition: AgentDefinition) -> str:
    """Return which of the known agents it is."""
    return kind_named(definition.name, definition.argv)


# A file that an agent makes at its start in its folder of the project, if that is there. Where it can't, as in a
# folder that is closed to it, it does not start; so it is made before.
MADE_AT_START: Mapping[str, tuple[str, str, str]] = {
    "opencode": (".opencode", ".gitignore", "node_modules\npackage.json\npackage-lock.json\nbun.lock\n.gitignore"),
}

_VARIABLES: Mapping[str, Mapping[str, str]] = {
    "claude": {"IS_SANDBOX": "1"},  # as root it would refuse to ask nothing, which is safe in here
    "gemini": {"GEMINI_SANDBOX": "false"},  # otherwise it may start itself again in a container
}


class Inside(Struct, frozen=True):
    """Arguments and variables that an agent is started with, besides its own."""

    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)


def inside(agent: str, approvals: ApprovalPolicy) -> Inside:
    """Return what an agent in our sandbox is started with besides. What a person has set for it comes later."""
    if agent == "codex":
        asks = ASKS_NOTHING if approvals is ApprovalPolicy.NEVER else ASKS
        return Inside(
            ("-c", 'sandbox_mode="danger-full-access"', "-c", f'approval_policy="{asks}"'),
            {"INITIAL_AGENT_MODE": "agent-full-access"},  # the same for the adapter without arguments
        )
    return Inside(env=_VARIABLES.get(agent, {}))


def keeps_its_mode(agent: str) -> bool:
    """Tell whether an agent in our sandbox must stay in the mode that it was started with.

    Codex puts each command into a bubblewrap, which needs a user namespace: ours gives none, and each would fail.
    Another mode of it would bring that back.
    """
    return agent == "codex"
