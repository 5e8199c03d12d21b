"""The stateless revision of MCP: its names, and its answer to `server/discover`. Data; standard library alone.

A bridge can answer with this while its daemon starts: nothing here depends on the connection.
"""

from __future__ import annotations

STATELESS = "2026-07-28"
HANDSHAKE = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")  # revisions that begin with `initialize`
SUPPORTED = (STATELESS, *reversed(HANDSHAKE))  # as errors and `server/discover` tell them, newest first

META = "io.modelcontextprotocol/"
META_REVISION = META + "protocolVersion"
META_CAPABILITIES = META + "clientCapabilities"
META_CLIENT = META + "clientInfo"
META_SERVER = META + "serverInfo"
META_SUBSCRIPTION = META + "subscriptionId"
TASKS = META + "tasks"  # the extension

INVALID_PARAMS = -32602
MISSING_CAPABILITY = -32021  # these two are MCP's own numbers
UNSUPPORTED = -32022
SHOWN = 40  # characters of a revision that nobody knows

DISCOVER = "server/discover"
PRIVATE, PUBLIC = "private", "public"
FRESH_MS = {  # how long a client may use a result again: what another client can change is stale at once
    DISCOVER: 3_600_000,
    "tools/list": 60_000,
    "prompts/list": 5_000,
    "resources/list": 0,
    "resources/templates/list": 3_600_000,
    "resources/read": 0,
}

INSTRUCTIONS = """\
`codex` begins a conversation with a coding agent; its result names the threadId. `codex-reply` goes on with one.
`list_conversations` and `read_conversation` show what was said in all of them, by any client.
A question of the agent comes as an input request; `answer_approval` answers one that waits elsewhere."""

CAPABILITIES: dict[str, dict[str, object]] = {
    "tools": {"listChanged": True},
    "resources": {"subscribe": True, "listChanged": True},
    "prompts": {},
    "completions": {},
    "extensions": {TASKS: {}},
}


def completed(method: str, result: dict[str, object], server: dict[str, object]) -> dict[str, object]:
    """Return the result with the members that this revision requires of every result, and of those that are kept."""
    meta = result.get("_meta")
    known = meta if isinstance(meta, dict) else {}
    kept = {"ttlMs": FRESH_MS[method], "cacheScope": PRIVATE} if method in FRESH_MS else {}
    return {"resultType": "complete", **kept, **result, "_meta": {META_SERVER: server, **known}}


def discovered(server: dict[str, object]) -> dict[str, object]:
    """Return the result of `server/discover`. `server` is the name and version of the program."""
    told = {"supportedVersions": list(SUPPORTED), "capabilities": CAPABILITIES, "instructions": INSTRUCTIONS}
    return completed(DISCOVER, {**told, "cacheScope": PUBLIC}, server)


def refusal(meta: object) -> tuple[int, str, dict[str, object] | None] | None:
    """Return why a stateless request can't be served, by its `_meta`: code, message and data. None: it can be."""
    given = meta if isinstance(meta, dict) else {}
    named = given.get(META_REVISION)
    if META_REVISION not in given:
        return INVALID_PARAMS, f"Invalid params: missing `_meta` member `{META_REVISION}`", None
    if named != STATELESS:
        return unsupported(named, SUPPORTED)
    if not isinstance(given.get(META_CAPABILITIES), dict):
        return INVALID_PARAMS, f"Invalid params: `_meta` member `{META_CAPABILITIES}` must be an object", None
    return None


def unsupported(named: object, supported: tuple[str, ...]) -> tuple[int, str, dict[str, object]]:
    shown = str(named)[:SHOWN]
    text = f"Unsupported protocol version: {shown}; this connection can speak {', '.join(supported)}"
    return UNSUPPORTED, text, {"supported": list(supported), "requested": shown}
