"""The tables `[mcp_servers.NAME]`, as Codex writes them: servers whose tools conversations have.

Only a person can define a server, because it is a program that runs outside of every sandbox.
"""

from collections.abc import Iterator, Mapping
from enum import StrEnum

from pydantic import Field

from supervisor.config.config_table import (
    AbsolutePath,
    ConfigTable,
    Flag,
    HttpUrl,
    Milliseconds,
    PositiveSeconds,
    VariableName,
)
from supervisor.config.key_types import KeyPath

OURSELVES = "greenroom"  # a file shared with Codex may name it as a server, whose tools would be conversations


class ToolApproval(StrEnum):
    PROMPT = "prompt"
    WRITES = "writes"
    AUTO = "auto"
    APPROVE = "approve"


class McpTool(ConfigTable):
    """A tool of a server."""

    approval_mode: ToolApproval | None = Field(None, description="For this tool, in place of the server's.")


class McpServer(ConfigTable):
    """A server of tools: a program that is started (`command`), or an address (`url`)."""

    command: str | None = Field(None, description="The program to start. It runs outside the sandbox.")
    args: tuple[str, ...] = Field((), description="Its arguments.")
    env: Mapping[str, str] = Field({}, repr=False, description="Variables that it gets, whatever the client has.")
    env_vars: tuple[VariableName, ...] = Field(
        (), description="Variables of the client that it gets besides HOME, PATH, LANG and the like."
    )
    cwd: AbsolutePath | None = Field(
        None, description="Where it starts. Unset: `/`, because many programs load code from where they start."
    )
    url: HttpUrl | None = Field(None, description="Address of a server that speaks streamable HTTP.")
    bearer_token_env_var: VariableName | None = Field(
        None, description="Variable whose value is sent to that address as a bearer token."
    )
    http_headers: Mapping[str, str] = Field({}, repr=False, description="Headers to send there.")
    env_http_headers: Mapping[str, VariableName] = Field(
        {}, description="Headers whose value is in an environment variable; left out when that is unset or empty."
    )
    startup_timeout_sec: PositiveSeconds | None = Field(
        None, description="Give it up if it is not ready after this time. Unset: 10 s. The turn goes on without."
    )
    startup_timeout_ms: Milliseconds | None = Field(
        None, description="The same, as older versions of Codex wrote it."
    )
    tool_timeout_sec: PositiveSeconds = Field(60.0, description="Time limit of a call.")
    enabled: Flag = Field(True, description="Whether conversations have its tools.")
    enabled_tools: tuple[str, ...] | None = Field(None, description="The only tools that are offered. Unset: all.")
    disabled_tools: tuple[str, ...] = Field((), description="Tools that are not offered, whatever else is said.")
    default_tools_approval_mode: ToolApproval = Field(
        ToolApproval.PROMPT,
        description="When a person is asked before a call. prompt: always. writes: not for tools that the server "
        "says only read. auto: nor for those that it says destroy nothing. approve: never. The default is prompt, "
        "because nobody has checked what a server says of itself.",
    )
    tools: Mapping[str, McpTool] = Field({}, description="Settings of single tools, by the server's names of them.")

    @property
    def startup_timeout_s(self) -> float:
        if self.startup_timeout_sec is not None:
            return self.startup_timeout_sec
        return self.startup_timeout_ms / 1000 if self.startup_timeout_ms is not None else 10.0

    def offers(self, tool: str) -> bool:
        return (self.enabled_tools is None or tool in self.enabled_tools) and tool not in self.disabled_tools

    def approval_of(self, tool: str) -> ToolApproval:
        own = self.tools.get(tool)
        return own.approval_mode if own and own.approval_mode else self.default_tools_approval_mode

    @property
    def is_ourselves(self) -> bool:
        return self.command is not None and self.command.rpartition("/")[2] == OURSELVES


def misfits(servers: object) -> Iterator[tuple[KeyPath, str]]:
    """The invalid servers of a tree: neither a program nor an address, or both."""
    for name, server in servers.items() if isinstance(servers, Mapping) else ():
        if isinstance(server, Mapping):
            given = [key for key in ("command", "url") if server.get(key)]
            if len(given) != 1:
                found = "both" if given else "neither"
                yield ("mcp_servers", str(name)), f"expected either `command` or `url`, found {found}"
