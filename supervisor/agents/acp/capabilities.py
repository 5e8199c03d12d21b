"""Capabilities of an agent, read leniently from its answer to `initialize`: `true`, `{}`, `{"form": true}` all count.

Pure.
"""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from supervisor.agents.acp.json_readers import Shape, member_at, shape

NAMES: Mapping[str, tuple[str, ...]] = {  # the name in events, and its path in the answer
    "load sessions": ("agentCapabilities", "loadSession"),
    "resume sessions": ("agentCapabilities", "sessionCapabilities", "resume"),
    "close sessions": ("agentCapabilities", "sessionCapabilities", "close"),
    "list sessions": ("agentCapabilities", "sessionCapabilities", "list"),
    "fork sessions": ("agentCapabilities", "sessionCapabilities", "fork"),
    "delete sessions": ("agentCapabilities", "sessionCapabilities", "delete"),
    "further directories": ("agentCapabilities", "sessionCapabilities", "additionalDirectories"),
    "pictures": ("agentCapabilities", "promptCapabilities", "image"),
    "sound": ("agentCapabilities", "promptCapabilities", "audio"),
    "embedded context": ("agentCapabilities", "promptCapabilities", "embeddedContext"),
    "MCP over HTTP": ("agentCapabilities", "mcpCapabilities", "http"),
    "MCP over SSE": ("agentCapabilities", "mcpCapabilities", "sse"),
    "log out": ("agentCapabilities", "auth", "logout"),
    "steering": ("_meta", "steering", "supported"),
}


class Capabilities(Struct, frozen=True):
    """The capabilities that an agent has announced, by name."""

    names: tuple[str, ...] = ()

    def __contains__(self, name: str) -> bool:
        return name in self.names


def capabilities_of(answer: Shape) -> Capabilities:
    return Capabilities(tuple(name for name, path in NAMES.items() if _is_offered(member_at(shape(answer), *path))))


def _is_offered(value: Any) -> bool:
    """Tell whether a value announces a capability: `true`, an empty object, or an object with such a member."""
    if isinstance(value, Mapping):
        return not value or any(_is_offered(member) for member in value.values())
    return value is True
