"""The answer to `initialize`, read leniently: `true`, `{}` and `{"form": true}` all say that an agent can. Pure."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from supervisor.agents.acp.shapes import Shape, shape, within

NAMES: Mapping[str, tuple[str, ...]] = {  # in the words of an event, and where the answer has it
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
    """The things that an agent said that it can do, in words."""

    told: tuple[str, ...] = ()

    def __contains__(self, name: str) -> bool:
        return name in self.told


def capabilities_of(about: Shape) -> Capabilities:
    return Capabilities(tuple(name for name, path in NAMES.items() if _is_offered(within(shape(about), *path))))


def _is_offered(value: Any) -> bool:
    """An empty object offers, as the protocol has it; so does one of which a member is offered."""
    if isinstance(value, Mapping):
        return not value or any(_is_offered(one) for one in value.values())
    return value is True
