"""The tables `[agents.NAME]`: programs that speak ACP and carry out turns in place of our own agent.

Only a person can define an agent, because its table says which program is started and how it is confined.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from actors.vocabulary.setting_changes import OWN_AGENT
from supervisor.config.config_table import AbsolutePath, ConfigTable, Flag, PositiveSeconds
from supervisor.config.key_types import Expect, KeyPath
from supervisor.work.reach.known_agents import KNOWN_AGENTS

# A name stands in tables, in commands and in the journal.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")

Confine = Literal["workspace", "none"]
INHERIT = "inherit"


def _variables(value: object) -> object:
    """Turn the word `inherit` into a table that stands for all of the client's variables."""
    return {INHERIT: INHERIT} if value == INHERIT else value


Variables = Annotated[
    Mapping[str, str], BeforeValidator(_variables), Expect(f'a table, each value a string, or "{INHERIT}"')
]


class AgentTable(ConfigTable):
    """An agent that speaks ACP. A table with the name of a known agent changes only the keys that it sets."""

    command: str | None = Field(
        None, description="The program to start, by its path or as the client's PATH has it. Known agents have one."
    )
    args: tuple[str, ...] = Field((), description="Its arguments.")
    env: Variables = Field(
        {},
        repr=False,
        description="Variables that it gets, whatever the client has. Of the client's it gets what commands get "
        "(`shell_environment_policy`), and its own: its keys, and what is named like it. `inherit` in place of the "
        "table: all of them.",
    )
    env_vars: tuple[str, ...] = Field(
        (), description="Names of further variables of the client's that it gets; `*` stands for anything."
    )
    cwd: AbsolutePath | None = Field(
        None, description="Where the program starts. Unset: in the conversation's working directory."
    )
    confine: Confine = Field(
        "workspace",
        description="workspace: the program and all that it starts run in a sandbox, by the conversation's "
        "`sandbox`. none: they run outside of every sandbox, and what the agent asks is all that protects you; "
        "clients can choose such an agent only where they may ask for `danger-full-access`.",
    )
    network: Flag = Field(
        True,
        description="Whether it may use the network. On, because that is where its model is; its commands can, too.",
    )
    writable: tuple[AbsolutePath, ...] = Field(
        (), description="Its own directories, where it keeps settings and sessions: it may write there as well."
    )
    mode: str | None = Field(
        None, description="The agent's mode, by the agent's id of it. Unset: follows `approval_policy` and sandbox."
    )
    config_options: Mapping[str, str] = Field(
        {}, description="Other options of the agent, by the agent's ids of them; `true` and `false` for a switch."
    )
    mcp_servers: tuple[str, ...] = Field(
        (), description="Servers of `[mcp_servers]` to hand on to it. It has its own besides."
    )
    startup_timeout_seconds: PositiveSeconds = Field(
        60.0,
        description="Give it up if it is not ready after this time. Some load for 10 s on a busy machine.",
    )

    @property
    def variables(self) -> Mapping[str, str]:
        """The variables that are set for the agent."""
        return {} if self.inherits else self.env

    @property
    def inherits(self) -> bool:
        """Whether the agent gets all of the client's variables."""
        return self.env == {INHERIT: INHERIT}


def agent_misfits(tree: Mapping[str, object]) -> Iterator[tuple[KeyPath, str]]:
    """The invalid agents of a tree: without a program, or with a name that they may not have."""
    agents, servers = tree.get("agents"), tree.get("mcp_servers")
    for name, agent in agents.items() if isinstance(agents, Mapping) else ():
        path: KeyPath = ("agents", str(name))
        if name == OWN_AGENT:
            yield path, "this name is Greenroom's own agent's; choose another name"
        elif not _NAME.fullmatch(str(name)):
            yield path, "a name has at most 40 letters, digits, `-`, `_` and `.`, and begins with a letter or digit"
        elif isinstance(agent, Mapping):
            if name not in KNOWN_AGENTS and not agent.get("command"):
                yield (
                    path,
                    f"expected `command`, because this is none of the known agents ({', '.join(KNOWN_AGENTS)})",
                )
            yield from _unknown_servers(path, agent.get("mcp_servers"), servers)


def _unknown_servers(path: KeyPath, wanted: object, servers: object) -> Iterator[tuple[KeyPath, str]]:
    known = list(servers) if isinstance(servers, Mapping) else []
    for name in wanted if isinstance(wanted, (list, tuple)) else ():
        if isinstance(name, str) and name not in known:
            hint = f"expected one of {', '.join(map(str, known))}" if known else "none is defined"
            yield (*path, "mcp_servers"), f"there is no `[mcp_servers.{name}]`; {hint}"
