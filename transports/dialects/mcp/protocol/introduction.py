"""The server's introduction in both eras of MCP: revisions, capabilities, `initialize` and `server/discover`.

Standard library alone, since the bridge answers from here before there is a daemon; the daemon's answers have the
same bytes. The name is the one that Codex clients look for; the title, which people read, is our own.
"""

from __future__ import annotations

from transports import SERVER

TYPE_CHECKING = False  # loading typing costs more than the whole bridge
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from transports.bridge.messages import Message

HANDSHAKE = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")  # revisions that begin with `initialize`
STATELESS = "2026-07-28"
SUPPORTED = (STATELESS, *reversed(HANDSHAKE))  # the order in errors and `server/discover`: newest first
NEWEST = HANDSHAKE[-1]
WITH_ICONS = WITH_TASKS = "2025-11-25"

META = "io.modelcontextprotocol/"
META_REVISION = META + "protocolVersion"
META_CAPABILITIES = META + "clientCapabilities"
META_CLIENT = META + "clientInfo"
META_SERVER = META + "serverInfo"
META_SUBSCRIPTION = META + "subscriptionId"
TASKS = META + "tasks"  # the extension

INVALID_PARAMS = -32602
MISSING_CAPABILITY = -32021  # this and the next are MCP's own numbers
UNSUPPORTED = -32022
REVISION_LENGTH = 40  # characters of an unknown revision

DISCOVER = "server/discover"
FRESH_MS = {  # how long a client may reuse a result: 0 if another client can change it
    DISCOVER: 3_600_000,
    "tools/list": 60_000,
    "prompts/list": 5_000,
    "resources/list": 0,
    "resources/templates/list": 3_600_000,
    "resources/read": 0,
}

# --- the server -----------------------------------------------------------------------------------------------------

TITLE = "Greenroom"
LISTED_TOOLS = (
    "codex",
    "codex-reply",
    "start_conversation",
    "send",
    "wait_conversation",
    "list_conversations",
    "interrupt_conversation",
    "waiting_messages",
    "read_conversation",
    "answer_approval",
)
INSTRUCTIONS = {
    "codex-reply": "codex-reply goes on with a conversation, by its threadId: also if its call was lost, or if it "
    "was begun elsewhere.",
    "wait_conversation": "start_conversation and send return at once, and wait_conversation tells what came of "
    "it so far: for work that takes longer than a tool call may.",
    "list_conversations": "list_conversations shows all conversations, those of other clients too: which run, which "
    "wait for an answer, which are idle.",
    "answer_approval": "answer_approval answers the question that a conversation waits for, as the person decides.",
}
CAPABILITIES: Message = {
    "tools": {"listChanged": True},
    "resources": {"subscribe": True, "listChanged": True},
    "prompts": {},
    "completions": {},
}
ABILITY: Message = {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}  # of the revision with tasks
ICON = (  # an open stage door
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path fill="#2e8b57" '
    'd="M3 1h10v14H3z"/><path fill="#fff" d="M5 3l5 1.5v9L5 13z"/><circle cx="9" cy="9" r=".8" fill="#2e8b57"/></svg>'
)


def server(version: str) -> Message:
    """The server in short. `version`: our program's."""
    return {"name": SERVER, "title": TITLE, "version": version}


def _server_with_icon(version: str) -> Message:
    from binascii import b2a_base64

    picture = b2a_base64(ICON.encode(), newline=False).decode()
    icon = {"src": f"data:image/svg+xml;base64,{picture}", "mimeType": "image/svg+xml", "sizes": ["any"]}
    return {**server(version), "icons": [icon]}


def _instructions(tools: Collection[str]) -> Message:
    """The member with the instructions for these tools, if there are any."""
    lines = [line for name, line in INSTRUCTIONS.items() if name in tools]
    return {"instructions": "\n".join(lines)} if lines else {}


# --- the era with a handshake ---------------------------------------------------------------------------------------


def agreed_revision(wanted: str) -> str:
    """The client's revision if we speak it, else our newest."""
    return wanted if wanted in HANDSHAKE else NEWEST


def welcome(revision: str, version: str, tools: Collection[str]) -> Message:
    """The result of `initialize`. `tools`: the listed ones."""
    return {
        "capabilities": {**CAPABILITIES, "logging": {}, **({"tasks": ABILITY} if revision == WITH_TASKS else {})},
        "protocolVersion": revision,
        "serverInfo": _server_with_icon(version) if revision >= WITH_ICONS else server(version),
        **_instructions(tools),
    }


# --- the stateless era ----------------------------------------------------------------------------------------------


def discovery_result(version: str, tools: Collection[str]) -> Message:
    """The result of `server/discover`, which alone has the server's icon."""
    members = {
        "supportedVersions": list(SUPPORTED),
        "capabilities": {**CAPABILITIES, "extensions": {TASKS: {}}},
        **_instructions(tools),
        "_meta": {META_SERVER: _server_with_icon(version)},
    }
    return complete_result(DISCOVER, members, version)


def complete_result(method: str, result: Message, version: str) -> Message:
    """The result with the members that this revision requires of every result and of every cacheable one."""
    lifetime = {"ttlMs": FRESH_MS[method], "cacheScope": "private"} if method in FRESH_MS else {}
    meta = {META_SERVER: server(version), **result.get("_meta", {})}
    return {"resultType": "complete", **lifetime, **result, "_meta": meta}


def refusal(meta: Mapping[str, object]) -> tuple[int, str, Message | None] | None:
    """The reason why a stateless request can't be served, by its `_meta`: code, message and data. None: it can be."""
    if META_REVISION not in meta:
        return INVALID_PARAMS, f"Invalid params: missing `_meta` member `{META_REVISION}`", None
    if meta[META_REVISION] != STATELESS:
        return unsupported_revision(meta[META_REVISION], SUPPORTED)
    if not isinstance(meta.get(META_CAPABILITIES), dict):
        return INVALID_PARAMS, f"Invalid params: `_meta` member `{META_CAPABILITIES}` must be an object", None
    return None


def unsupported_revision(named: object, supported: tuple[str, ...]) -> tuple[int, str, Message]:
    shown = str(named)[:REVISION_LENGTH]
    text = f"Unsupported protocol version: {shown}; this connection can speak {', '.join(supported)}"
    return UNSUPPORTED, text, {"supported": list(supported), "requested": shown}
