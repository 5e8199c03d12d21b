"""The whole configuration as one frozen value: the shape of the file, and of the result."""

from collections.abc import Mapping

from pydantic import Field

from supervisor.config.agents import AgentTable
from supervisor.config.own import Greenroom
from supervisor.config.shared import SharedKeys


class Config(SharedKeys):
    """The configuration. In the result, profile and overrides are merged in; `profiles` is kept to be shown."""

    agent: str | None = Field(
        None,
        description="The agent that carries out turns: `greenroom` (our own), a known one such as `claude`, `codex`, "
        "`gemini` or `opencode`, or one of `agents`. Unset: `greenroom`. [More](how-to/agents.md).",
    )
    agents: Mapping[str, AgentTable] = Field(
        {}, description="Agents that speak ACP, by name; known ones need no table. Not read from Codex's file."
    )
    greenroom: Greenroom = Field(Greenroom.model_construct(), description="Keys of Greenroom alone.")
