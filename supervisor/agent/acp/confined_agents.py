"""Known agents in our sandbox: what they must not change there, and what they are started with. Data, and choosing.

By some files an agent leads its later runs: settings, hooks, programs and instructions of its own. What one that is
confined wrote there would be obeyed outside of the sandbox, when the person starts it by hand. Sessions, logins and
caches stay writable, because it can't work without them. A sandbox of its own is off, because ours is round it.
"""

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct, field

from actors.vocabulary.settings import ApprovalPolicy
from supervisor.config.agent_definitions import AgentDefinition
from supervisor.config.known_agents import KNOWN

# As Codex calls it, to ask before all that does more than read. `on-request` asks before leaving its own sandbox, and
# would ask nothing without one. Only one of the two adapters still knows it; the other reads no arguments.
ASKS, ASKS_NOTHING = "untrusted", "never"
EMPTY_SETTINGS = "{}\n"  # an empty file is no JSON, and some agents don't start with one


def kind_of(definition: AgentDefinition) -> str:
    """Return which of the agents known here it is: by its name, or by its program, whatever its person calls it."""
    if definition.name in KNOWN:
        return definition.name
    words = {part for word in definition.argv[:2] for path in (Path(word),) for part in (*path.parts[-4:], path.stem)}
    return next((name for name in LEADING if words.intersection(KNOWN[name].programs)), "")


class Leading(Struct, frozen=True):
    """Names in the directory of an agent's settings, `place` of its known places. `json` files are made, if missing.

    `apart`: its own places, by number, that are such a file themselves.
    """

    place: int = 0
    json: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    apart: tuple[int, ...] = ()


# Found by running each in a sandbox: none of these is written in a turn, and a refusal is no end of one.
LEADING: Mapping[str, Leading] = {
    "claude": Leading(
        json=("settings.json",),
        files=("CLAUDE.md",),
        folders=("agents", "commands", "hooks", "output-styles", "plugins", "rules", "skills"),
        apart=(1,),  # it names MCP servers, which are programs
    ),
    "codex": Leading(
        files=("AGENTS.md", "AGENTS.override.md", "config.toml", "requirements.toml"),
        folders=("prompts", "rules"),
    ),
    "gemini": Leading(
        json=("settings.json", "trustedFolders.json"),
        files=("GEMINI.md", ".env"),
        folders=("agents", "commands", "extensions", "hooks", "policies", "skills"),
    ),
    "opencode": Leading(
        place=1,
        json=("opencode.json",),
        files=("AGENTS.md",),
        folders=("agent", "agents", "command", "commands", "plugin", "plugins", "skills", "tool", "tools"),
    ),
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
