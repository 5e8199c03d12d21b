"""The tools as `tools/list` shows them: names, titles, hints, and the schemas of arguments and results. Data."""

from collections.abc import Iterable, Mapping

from transports.jsonrpc import JsonObject as Schema

TEXT: Schema = {"type": "string"}
ID: Schema = {"type": "string", "description": "The conversation's id (threadId)."}
REFERENCE: Schema = {"type": "string", "description": "The conversation's id, a unique prefix of it, or its name."}
APPROVALS = ["untrusted", "on-failure", "on-request", "never"]
SANDBOXES = ["read-only", "workspace-write", "danger-full-access"]
BUSY = ["steer", "enqueue", "reject", "interrupt"]
DECISIONS = ["approved", "approved_for_session", "denied", "abort"]


def _object(properties: Mapping[str, Schema], required: Iterable[str] = (), **more: object) -> Schema:
    return {"type": "object", "properties": dict(properties), "required": list(required), **more}


def _said(schema: Schema, description: str) -> Schema:
    return {**schema, "description": description}


def _hints(*, reads: bool = False, destroys: bool = False, again: bool = False, world: bool = False) -> Schema:
    return {"readOnlyHint": reads, "destructiveHint": destroys, "idempotentHint": again, "openWorldHint": world}


def _tool(name: str, title: str, description: str, takes: Schema, gives: Schema, hints: Schema) -> Schema:
    return {
        "name": name,
        "title": title,
        "description": description,
        "inputSchema": takes,
        "outputSchema": gives,
        "annotations": {"title": title, **hints},
    }


TURN = _object(
    {
        "threadId": ID,
        "sessionId": _said(TEXT, "The same id under its older name."),
        "content": _said(TEXT, "The agent's last message, or what went wrong."),
        "notices": {
            "type": "array",
            "items": TEXT,
            "description": "What was ignored, or denied unanswered.",
        },
    },
    ("threadId", "sessionId", "content"),
)

ROW = _object(
    {
        "threadId": ID,
        "name": {"anyOf": [TEXT, {"type": "null"}], "description": "Its name, if it has one."},
        "state": _said(TEXT, "idle, running, waiting, interrupting, parked, failed or archived."),
        "cwd": _said(TEXT, "Its working directory."),
        "model": _said(TEXT, "Its model."),
        "preview": _said(TEXT, "How it began."),
        "created": {"type": "number", "description": "Seconds since 1970."},
        "updated": {"type": "number", "description": "Seconds since 1970."},
    },
    ("threadId", "name", "state", "cwd", "model", "preview", "created", "updated"),
)

FOUND_ROW = {
    **ROW,
    "properties": {
        **ROW["properties"],
        "found": _object(
            {
                "seq": {
                    "type": "integer",
                    "description": "The newest event with the words; the one before is `after`.",
                },
                "text": _said(TEXT, "The words with some of those around them."),
            },
            ("seq", "text"),
        ),
    },
}

ALL = (
    _tool(
        "codex",
        "Codex",
        "Run a Codex session. Accepts configuration parameters matching the Codex Config struct.",
        _object(
            {
                "prompt": _said(TEXT, "The task for the agent."),
                "model": _said(TEXT, "The model. Default: from the config."),
                "profile": _said(TEXT, "A profile of config.toml."),
                "cwd": _said(TEXT, "Working directory; a relative one is relative to the server's."),
                "approval-policy": {"type": "string", "enum": APPROVALS, "description": "When to ask for approval."},
                "sandbox": {"type": "string", "enum": SANDBOXES, "description": "What commands may read and write."},
                "config": {
                    "type": "object",
                    "additionalProperties": True,
                    "description": "Overrides of config.toml, by dotted key.",
                },
                "base-instructions": _said(TEXT, "Replaces the built-in instructions."),
                "developer-instructions": _said(TEXT, "Told to the model as the developer's, before all else."),
                "compact-prompt": _said(TEXT, "Accepted; has no effect yet."),
                "include-plan-tool": {"type": "boolean", "description": "Offer the plan tool to the model."},
            },
            ("prompt",),
        ),
        TURN,
        _hints(destroys=True, world=True),
    ),
    _tool(
        "codex-reply",
        "Codex Reply",
        "Continue a Codex session by providing the session id and prompt.",
        _object(
            {
                "prompt": _said(TEXT, "The next message."),
                "sessionId": ID,
                "threadId": _said(TEXT, "The same; either will do."),
                "conversationId": _said(TEXT, "The same; either will do."),
                "if-busy": {
                    "type": "string",
                    "enum": BUSY,
                    "description": "How to handle it while a turn runs; steer joins that turn (default).",
                },
            },
            ("prompt",),
        ),
        TURN,
        _hints(destroys=True, world=True),
    ),
    _tool(
        "conversationCreate",
        "Create a conversation",
        "Make a conversation without saying anything in it.",
        _object(
            {
                "prompt": _said(TEXT, "Not used; sends nothing."),
                "model": _said(TEXT, "The model."),
                "cwd": _said(TEXT, "Working directory."),
                "approval_policy": {"type": "string", "enum": APPROVALS, "description": "When to ask for approval."},
                "sandbox": {"type": "string", "enum": SANDBOXES, "description": "What commands may read and write."},
                "config": {"type": "object", "additionalProperties": True, "description": "Overrides of the config."},
                "profile": _said(TEXT, "A profile of config.toml."),
                "base_instructions": _said(TEXT, "Replaces the built-in instructions."),
            },
            ("prompt", "model", "cwd"),
        ),
        _object({"conversation_id": ID, "model": TEXT, "message": TEXT}),
        _hints(),
    ),
    _tool(
        "conversationSendMessage",
        "Send a message",
        "Say something in a conversation; answered when it is accepted.",
        _object(
            {
                "conversation_id": ID,
                "content": {"type": "array", "items": {"type": "object"}, "description": "Words and pictures."},
            },
            ("conversation_id", "content"),
        ),
        _object({"status": TEXT, "message": TEXT}, ("status",)),
        _hints(destroys=True, world=True),
    ),
    _tool(
        "conversationStream",
        "Stream a conversation",
        "Its history as notifications/initial_state, then its events as they happen, until this call is cancelled.",
        _object({"conversation_id": ID}, ("conversation_id",)),
        _object({}),
        _hints(reads=True, again=True),
    ),
    _tool(
        "conversationsList",
        "List conversations",
        "List conversations, newest first.",
        _object({"limit": {"type": "integer", "minimum": 0}, "cursor": TEXT}),
        _object(
            {
                "conversations": {
                    "type": "array",
                    "items": _object({"conversation_id": ID, "title": TEXT}, ("conversation_id", "title")),
                },
                "next_cursor": TEXT,
                "message": TEXT,
            }
        ),
        _hints(reads=True, again=True),
    ),
    _tool(
        "list_conversations",
        "List conversations",
        "The conversations of every client, most recently used first.",
        _object(
            {
                "limit": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": 200,
                    "description": "Greatest number of conversations. Default: 20.",
                },
                "cursor": _said(TEXT, "nextCursor of the page before."),
                "cwd": _said(TEXT, "Only those in this directory."),
                "archived": {"type": "boolean", "description": "Include archived conversations."},
                "search": _said(
                    TEXT,
                    'Only those in which this was said lately, with the place: words, "a phrase", the beginning of a '
                    "word*. read_conversation shows more of it.",
                ),
            },
            additionalProperties=False,
        ),
        _object(
            {"conversations": {"type": "array", "items": FOUND_ROW}, "nextCursor": TEXT},
            ("conversations",),
        ),
        _hints(reads=True, again=True),
    ),
    _tool(
        "interrupt_conversation",
        "Interrupt a conversation",
        "Stop the running turn with everything it started. Answered when all of it is gone; at once if nothing runs.",
        _object(
            {"threadId": REFERENCE, "reason": _said(TEXT, "Why; kept in the history.")},
            ("threadId",),
            additionalProperties=False,
        ),
        _object(
            {
                "threadId": ID,
                "interrupted": {"type": "boolean", "description": "False if nothing was running."},
                "queued": {"type": "integer", "description": "Inputs that still wait."},
            },
            ("threadId", "interrupted", "queued"),
        ),
        _hints(destroys=True, again=True),
    ),
    _tool(
        "read_conversation",
        "Read a conversation",
        "A page of the transcript: what was said, which commands ran and how they ended.",
        _object(
            {
                "threadId": REFERENCE,
                "after": {"type": "integer", "minimum": 0, "description": "Events after this one; 0 for the start."},
                "limit": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": 256,
                    "description": "Greatest number of events. Default: 100.",
                },
            },
            ("threadId",),
            additionalProperties=False,
        ),
        _object(
            {
                "threadId": ID,
                "text": _said(TEXT, "The transcript of this page, in Markdown."),
                "after": {"type": "integer", "description": "The last event of this page; where the next begins."},
                "complete": {"type": "boolean", "description": "True if nothing comes after this page."},
            },
            ("threadId", "text", "after", "complete"),
        ),
        _hints(reads=True, again=True),
    ),
    _tool(
        "answer_approval",
        "Answer an approval",
        "Answer a question that a conversation waits for, by the id that progress messages and listings name.",
        _object(
            {
                "approvalId": _said(TEXT, "The approval's id."),
                "decision": {"type": "string", "enum": DECISIONS, "description": "abort also ends the turn."},
                "reason": _said(TEXT, "Why; the model reads it when it is a denial."),
            },
            ("approvalId", "decision"),
            additionalProperties=False,
        ),
        _object({"approvalId": TEXT, "decision": TEXT}, ("approvalId", "decision")),
        _hints(destroys=True, world=True),
    ),
)

BY_NAME: Mapping[str, Schema] = {tool["name"]: tool for tool in ALL}


def listed(names: Iterable[str]) -> list[Schema]:
    return [BY_NAME[name] for name in names if name in BY_NAME]
