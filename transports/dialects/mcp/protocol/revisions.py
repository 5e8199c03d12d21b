"""The era of a connection, the revision of MCP, and the abilities of the client. Pure.

Revisions up to 2025-11-25 begin with a handshake, which is valid for the connection. In 2026-07-28 every request
introduces its client. The first request decides the era of a connection; `server/discover` does not.
"""

from collections.abc import Mapping
from enum import Enum

from msgspec import Struct
from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from transports.dialects.kit.refusals import MethodError
from transports.dialects.mcp.protocol import introduction
from transports.dialects.mcp.protocol.introduction import DISCOVER, HANDSHAKE, META_REVISION, NEWEST, STATELESS

TELLS_MORE = "2025-11-25"  # from this revision on, clients match no texts exactly
LAST_WITH_TWINS = "2025-06-18"  # the last revision that clients of that summer spoke
# Clients whose models see no links: the Python SDK's default name, and OpenCode.
WITHOUT_LINKS = frozenset({"mcp", "opencode"})
LINKS_FROM = "2025-06-18"  # the first with resource_link
GEMINI = "gemini-cli"  # the beginning of the name; a client of today with the revision of that summer
WITH_BATCHES = "2025-03-26"


ClientMeta = Mapping[str, object]  # the `_meta` of a client's request


class Era(Enum):
    HANDSHAKE = "handshake"
    STATELESS = "stateless"


class McpParams(BaseModel):
    """The params of a method of MCP: unknown members are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True, alias_generator=to_camel)


class ClientInfo(McpParams):
    name: str
    version: str


class ClientCapabilities(McpParams):
    elicitation: object = None
    extensions: object = None

    @property
    def shows_forms(self) -> bool:
        """Whether the client can show forms: an empty object means so, an object with only other modes does not."""
        modes = self.elicitation
        return isinstance(modes, dict) and (not modes or "form" in modes or "url" not in modes)


class Initialize(McpParams):
    protocol_version: str
    capabilities: ClientCapabilities
    client_info: ClientInfo


class Introduction(Struct, frozen=True):
    """The client's introduction of itself; before that, the least that any client can do."""

    name: str = ""
    version: str = ""
    revision: str = NEWEST
    elicits: bool = False
    tasks: bool = False  # it knows the extension for tasks

    @property
    def stateless(self) -> bool:
        return self.revision == STATELESS

    @property
    def expects_text_alone(self) -> bool:
        """Whether the result of a turn is its text and nothing else, as clients of that summer expect."""
        return self.revision < TELLS_MORE and not self.name.startswith(GEMINI)


def introduction_of(method: str, meta: ClientMeta, era: Era | None) -> Introduction | None:
    """The client as its request introduces it; None if the handshake does. Raises MethodError otherwise."""
    revision = meta.get(META_REVISION)
    if era is Era.HANDSHAKE:
        if method != "initialize" and revision is not None and revision not in HANDSHAKE:
            raise MethodError(*introduction.unsupported_revision(revision, HANDSHAKE))
        return None
    if method == "initialize" and introduction.refusal(meta) is not None:
        if era is Era.STATELESS:
            raise MethodError(*introduction.unsupported_revision(NEWEST, (STATELESS,)))
        return None
    if META_REVISION not in meta and method != DISCOVER and era is None:
        return None
    refusal = introduction.refusal(meta)
    if refusal is not None:
        raise MethodError(*refusal)
    return _of_this_request(meta)


def _of_this_request(meta: ClientMeta) -> Introduction:
    who = meta.get(introduction.META_CLIENT)
    capabilities = ClientCapabilities.model_validate(meta[introduction.META_CAPABILITIES])
    texts = {key: value for key, value in who.items() if isinstance(value, str)} if isinstance(who, dict) else {}
    tasks = isinstance(capabilities.extensions, dict) and introduction.TASKS in capabilities.extensions
    name, version = texts.get("name", ""), texts.get("version", "")
    return Introduction(name, version, STATELESS, capabilities.shows_forms, tasks)


def peer(params: Initialize) -> Introduction:
    revision = introduction.agreed_revision(params.protocol_version)
    client = params.client_info
    return Introduction(client.name, client.version, revision, params.capabilities.shows_forms)
