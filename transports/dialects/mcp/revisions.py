"""The handshake: the revision of MCP, the abilities of the client, and the name of the server. Pure.

The name is the one that Codex clients look for; the title, which people read, is our own.
"""

from msgspec import Struct
from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from transports.codex_events import SERVER
from transports.dialects.mcp.tasks import ABILITY, TASKS_FROM
from transports.jsonrpc import JsonObject

REVISIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
NEWEST = REVISIONS[-1]
TELLS_MORE = "2025-11-25"  # clients from here on match no texts exactly
LAST_WITH_TWINS = "2025-06-18"  # of the revisions that clients of that summer spoke
# Clients whose models see no links: the Python SDK's name of those that have given none, and OpenCode.
WITHOUT_LINKS = frozenset({"mcp", "opencode"})
LINKS_FROM = "2025-06-18"  # resource_link came with it
META_REVISION = "io.modelcontextprotocol/protocolVersion"
UNSUPPORTED = -32022  # MCP's own number for it
SHOWN = 40  # characters of a revision that nobody knows
TITLE = "Greenroom"


class McpParams(BaseModel):
    """The params of a method of MCP: members that are not known are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True, alias_generator=to_camel)


class ClientInfo(McpParams):
    name: str
    version: str


class Initialize(McpParams):
    protocol_version: str
    capabilities: JsonObject
    client_info: ClientInfo


class Introduction(Struct, frozen=True):
    """The client as it has introduced itself; before that, the least that a client can do."""

    name: str = ""
    version: str = ""
    revision: str = NEWEST
    elicits: bool = False


def unsupported(meta: object) -> str | None:
    """The revision that a request names for itself alone, if it is none that we speak."""
    named = meta.get(META_REVISION) if isinstance(meta, dict) else None
    return str(named)[:SHOWN] if named is not None and named not in REVISIONS else None


def peer(said: Initialize) -> Introduction:
    revision = said.protocol_version if said.protocol_version in REVISIONS else NEWEST
    return Introduction(said.client_info.name, said.client_info.version, revision, _elicits(said.capabilities))


def _elicits(capabilities: JsonObject) -> bool:
    """True if the client can show forms: an empty object means them, an object with only other modes does not."""
    elicitation = capabilities.get("elicitation")
    return isinstance(elicitation, dict) and (not elicitation or "form" in elicitation or "url" not in elicitation)


def welcome(revision: str, version: str) -> JsonObject:
    return {
        "capabilities": {
            "tools": {"listChanged": True},
            "resources": {"subscribe": True, "listChanged": True},
            "logging": {},
            "completions": {},
            **({"tasks": ABILITY} if revision >= TASKS_FROM else {}),
        },
        "protocolVersion": revision,
        "serverInfo": {"name": SERVER, "title": TITLE, "version": version},
    }
