"""Tools of servers as offered to models: names that every provider takes, and bounded descriptions. Pure."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from hashlib import sha256
from typing import Any

from msgspec import Struct

from actors.vocabulary.brief import brief
from supervisor.agents.own.mcp_client.server_tools import ServerTool
from supervisor.agents.own.model.history_pieces import TOOLS_KEPT
from supervisor.agents.own.model.request import ToolSpec
from supervisor.config.mcp_servers import McpServer

LONGEST = 64  # of a name, with every provider
SEPARATOR = "__"
HASH = 8  # characters of a name that had to be changed, so that no two become one
MOST_OFFERED = 100  # tools of one conversation: OpenAI takes 128, and beyond some dozens models choose badly
DESCRIPTION = 2_000  # characters: it is sent with every request
SCHEMA_BYTES = 16 * 1024  # the same
UNFIT = re.compile(r"[^A-Za-z0-9_-]")


class OfferedTool(Struct, frozen=True):
    """A tool of a server, and the name under which models call it. `given`: by a client, not by the config."""

    name: str
    server: str
    tool: ServerTool
    config: McpServer
    given: bool = False
    confined: bool = False  # the server runs in the conversation's sandbox

    @property
    def spec(self) -> ToolSpec:
        return _spec_of(self.name, self.server, self.tool)

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the tool and its server's program or address; variables and headers count by name."""
        config = self.config
        server = config.model_dump(mode="json", include={"command", "args", "cwd", "url", "env_vars"})
        return fingerprint_of([self.tool.fingerprint, server, sorted(config.env), sorted(config.http_headers)])


def fingerprint_of(value: object) -> str:
    """Return the same text for the same JSON, whatever the order of its members."""
    return sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


@lru_cache(TOOLS_KEPT)
def _spec_of(name: str, server: str, tool: ServerTool) -> ToolSpec:
    """Describe a tool, once for as long as its server lists it so: a schema takes a while to be looked through."""
    description = tool.description or f"The tool {tool.name} of the MCP server {server}."
    return ToolSpec(name, brief(description, DESCRIPTION), schema_of(tool.schema))


def offer_tools(
    listed: Iterable[tuple[str, McpServer, Iterable[ServerTool]]], taken: Iterable[str]
) -> tuple[tuple[OfferedTool, ...], int]:
    """Return the tools in the order of servers and lists, and how many more there were. `taken` are names of ours."""
    names, made = set(taken), []
    for server, config, tools in listed:
        for tool in tools:
            if config.offers(tool.name):
                name = name_of(server, tool.name, names)
                names.add(name)
                made.append(OfferedTool(name, server, tool, config))
    return tuple(made[:MOST_OFFERED]), max(0, len(made) - MOST_OFFERED)


def name_of(server: str, tool: str, taken: Iterable[str]) -> str:
    """Return `server__tool`; with a hash at the end where that is too long, has other characters, or is taken."""
    plain = f"{server}{SEPARATOR}{tool}"
    fit = UNFIT.sub("_", plain)
    if fit == plain and len(plain) <= LONGEST and plain not in set(taken):
        return plain
    mark = sha256(f"{server}\0{tool}".encode("utf-8", "replace")).hexdigest()[:HASH]
    return f"{fit[: LONGEST - HASH - 1]}_{mark}"


def schema_of(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the parameters for a model, always an object. Too large ones lose their prose, then their members."""
    whole = {"type": "object", "properties": {}, **{key: value for key, value in schema.items() if key != "$schema"}}
    for candidate in (whole, dict(_without_prose(whole))):
        if len(json.dumps(candidate)) <= SCHEMA_BYTES:
            return candidate
    return {"type": "object", "properties": {}, "additionalProperties": True}


def _without_prose(schema: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the schema without descriptions and examples; a property of such a name stays."""
    for key, value in schema.items():
        if key == "properties" and isinstance(value, Mapping):
            yield key, {name: _plainer(member) for name, member in value.items()}
        elif key not in {"description", "examples", "title"}:
            yield key, _plainer(value)


def _plainer(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(_without_prose(value))
    return [_plainer(item) for item in value] if isinstance(value, list) else value
