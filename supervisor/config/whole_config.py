"""The whole configuration as one frozen value: the shape of the file, and of the result."""

from collections.abc import Mapping
from typing import Self

from pydantic import Field, PrivateAttr

from supervisor.config.agents import AgentTable
from supervisor.config.greenroom_table import Greenroom
from supervisor.config.shared_keys import SharedKeys
from supervisor.config.stored_keys import StoredKeys


class Config(SharedKeys):
    """The configuration. In the result, profile and overrides are merged in; `profiles` is kept to be shown."""

    agent: str | None = Field(
        None,
        description="The agent that carries out turns: `greenroom` (our own), a known one such as `claude`, `codex`, "
        "`gemini` or `opencode`, or one of `agents`. Unset: `greenroom`. [More](agents.md).",
    )
    agents: Mapping[str, AgentTable] = Field(
        {}, description="Agents that speak ACP, by name; known ones need no table. Not read from Codex's file."
    )
    greenroom: Greenroom = Field(Greenroom.model_construct(), description="Keys of Greenroom alone.")
    _stored: StoredKeys = PrivateAttr(StoredKeys())

    @property
    def stored_keys(self) -> StoredKeys:
        """The keys of `greenroom login`, which stand in no file of configuration."""
        return self._stored

    def with_stored_keys(self, stored: StoredKeys) -> Self:
        """Return the same configuration with these keys."""
        copy = self.model_copy()
        copy._stored = stored  # noqa: SLF001  # nobody else has the copy yet
        return copy
