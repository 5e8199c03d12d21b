"""The tools for `tools/list`: names, titles, hints, and the schemas of arguments and results. Data."""

from collections.abc import Iterable, Mapping

from msgspec import Struct
from msgspec.json import schema_components
from pydantic import AliasChoices, BaseModel

from actors.vocabulary.records import ConversationRow
from transports.dialects.mcp.protocol import arguments as a
from transports.jsonrpc import JsonObject as Schema

TEXT: Schema = {"type": "string"}
ID: Schema = {"type": "string", "description": a.ID}
STATE: Schema = {
    "type": "string",
    "description": "idle, running, waiting, interrupting, parked or archived; failed, denied, lost or over-budget "
    "until the next message, if the last turn did not end well.",
}
SHOWN_MEMBERS = {
    "type",
    "enum",
    "items",
    "minimum",
    "maximum",
    "additionalProperties",
    "description",
}  # shown members


def _object(properties: Mapping[str, Schema], required: Iterable[str] = (), **more: object) -> Schema:
    return {"type": "object", "properties": dict(properties), "required": list(required), **more}


def _with_description(schema: Schema, description: str) -> Schema:
    return {**schema, "description": description}


def _hints(*, reads: bool = False, destroys: bool = False, again: bool = False, world: bool = False) -> Schema:
    return {"readOnlyHint": reads, "destructiveHint": destroys, "idempotentHint": again, "openWorldHint": world}


def _takes(model: type[BaseModel]) -> Schema:
    """The schema of arguments, without members that are useless to a caller: titles, defaults, null."""
    whole = model.model_json_schema()
    aliases = (field.validation_alias for field in model.model_fields.values())
    others = {str(alias.choices[0]): alias.choices[1:] for alias in aliases if isinstance(alias, AliasChoices)}
    properties: dict[str, Schema] = {}
    for name, schema in whole["properties"].items():
        properties[name] = _argument(schema, whole.get("$defs", {}))
        properties |= {
            str(other): _with_description(TEXT, "The same; either will do.") for other in others.get(name, ())
        }
    required = [name for name in whole.get("required", ()) if name not in others]
    more = {"additionalProperties": False} if model.model_config.get("extra") == "forbid" else {}
    return _object(properties, required, **more)


def _argument(schema: Schema, shared: Mapping[str, Schema]) -> Schema:
    (type_,) = (variant for variant in schema.get("anyOf", [schema]) if variant.get("type") != "null")
    resolved = shared.get(type_.get("$ref", "").removeprefix("#/$defs/"), type_)
    members = {**resolved, "description": schema.get("description")}
    return {name: value for name, value in members.items() if name in SHOWN_MEMBERS and value is not None}


def _members_of(answer: type[Struct], names: Iterable[str]) -> dict[str, Schema]:
    """The schemas of an answer's members, as it describes them."""
    _, parts = schema_components((answer,))
    members = parts[answer.__name__]["properties"]
    return {name: _resolved(members[name], parts) for name in names}


def _resolved(schema: Schema, parts: Mapping[str, Schema]) -> Schema:
    if "anyOf" in schema:
        return {**schema, "anyOf": [_resolved(variant, parts) for variant in schema["anyOf"]]}
    part = parts.get(schema.get("$ref", "").rpartition("/")[2], {})
    return {name: value for name, value in {**part, **schema}.items() if name not in {"$ref", "title", "default"}}


def _tool(
    name: str, title: str, description: str, takes: type[BaseModel], gives: Schema, hints: Schema, **more: Schema
) -> Schema:
    return {
        "name": name,
        "title": title,
        "description": description,
        "inputSchema": _takes(takes),
        "outputSchema": gives,
        "annotations": {"title": title, **hints},
        **more,
    }


TURN = _object(
    {
        "threadId": ID,
        "sessionId": _with_description(TEXT, "The same id under its older name."),
        "content": _with_description(TEXT, "The agent's last message, or what went wrong."),
        "notices": {
            "type": "array",
            "items": TEXT,
            "description": "What was ignored, or denied unanswered.",
        },
    },
    ("threadId", "sessionId", "content"),
)

ROW_MEMBERS = ("name", "state", "ended", "cwd", "agent", "model", "preview", "created", "updated")
ROW = _object({"threadId": ID, **_members_of(ConversationRow, ROW_MEMBERS)}, ("threadId", *ROW_MEMBERS))

WAITING = _object(
    {
        "inputId": _with_description(TEXT, "The message's id."),
        "text": _with_description(TEXT, "Its first words."),
        "by": _with_description(TEXT, "Which client sent it."),
        "joins": {"type": "boolean", "description": "True if it joins the running turn, not one of its own."},
    },
    ("inputId", "text", "by"),
)

AFTER: Schema = {"type": "integer", "description": "The last event told; where wait_conversation goes on."}
SAID = _object(
    {
        "threadId": ID,
        "inputId": _with_description(TEXT, "The message's id."),
        "waits": {"type": "boolean", "description": "True if no turn has taken it yet."},
        "after": AFTER,
        "note": _with_description(TEXT, "How to go on."),
        "notices": {"type": "array", "items": TEXT, "description": "What was ignored."},
    },
    ("threadId", "inputId", "waits", "after", "note"),
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
                "text": _with_description(TEXT, "The words with some of those around them."),
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
        a.CodexArguments,
        TURN,
        _hints(destroys=True, world=True),
        execution={"taskSupport": "optional"},
    ),
    _tool(
        "codex-reply",
        "Codex Reply",
        "Continue a Codex session by providing the session id and prompt.",
        a.CodexReplyArguments,
        TURN,
        _hints(destroys=True, world=True),
        execution={"taskSupport": "optional"},
    ),
    _tool(
        "start_conversation",
        "Start a conversation",
        "Give an agent a task and return at once with the conversation's id, for work that takes longer than a tool "
        "call may. wait_conversation tells what comes of it.",
        a.StartConversationArguments,
        SAID,
        _hints(destroys=True, world=True),
    ),
    _tool(
        "send",
        "Say something in a conversation",
        "Say more in a conversation and return at once. wait_conversation tells what comes of it.",
        a.SendMessageArguments,
        SAID,
        _hints(destroys=True, world=True),
    ),
    _tool(
        "wait_conversation",
        "Wait for a conversation",
        "Returns when the work ends, at a question (with what to answer), or when the time is over; with "
        "what was said meanwhile. Call it again as long as the state is running.",
        a.WaitConversationArguments,
        _object(
            {
                "threadId": ID,
                "state": STATE,
                "text": _with_description(TEXT, "What was said since the cursor, in Markdown."),
                "after": AFTER,
                "complete": {"type": "boolean", "description": "False if there is more to read already."},
                "questions": {
                    "type": "array",
                    "items": _object({"approvalId": TEXT, "asks": TEXT}, ("approvalId", "asks")),
                    "description": "What waits for an answer; answer_approval gives it.",
                },
                "ending": _with_description(
                    TEXT, "How the last turn ended, if none runs: completed, error, interrupted …"
                ),
                "content": _with_description(TEXT, "That turn's last message, or what went wrong."),
                "note": _with_description(TEXT, "The state in words, and how to go on."),
            },
            ("threadId", "state", "text", "after", "complete", "questions", "note"),
        ),
        _hints(reads=True, again=True),
    ),
    _tool(
        "conversationCreate",
        "Create a conversation",
        "Make a conversation without saying anything in it.",
        a.ConversationCreateArguments,
        _object({"conversation_id": ID, "model": TEXT, "message": TEXT}),
        _hints(),
    ),
    _tool(
        "conversationSendMessage",
        "Send a message",
        "Say something in a conversation; answered when it is accepted.",
        a.ConversationSendMessageArguments,
        _object({"status": TEXT, "message": TEXT}, ("status",)),
        _hints(destroys=True, world=True),
    ),
    _tool(
        "conversationStream",
        "Stream a conversation",
        "Its history as notifications/initial_state, then its events as they happen, until this call is cancelled.",
        a.ConversationStreamArguments,
        _object({}),
        _hints(reads=True, again=True),
    ),
    _tool(
        "conversationsList",
        "List conversations",
        "List conversations, newest first.",
        a.ConversationsListArguments,
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
        a.ListConversationsArguments,
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
        a.InterruptConversationArguments,
        _object(
            {
                "threadId": ID,
                "interrupted": {"type": "boolean", "description": "False if nothing was running."},
                "queued": {"type": "integer", "description": "Inputs that still wait."},
                "waiting": {"type": "array", "items": WAITING, "description": "Those inputs, in their order."},
                "note": _with_description(TEXT, "How they go on."),
            },
            ("threadId", "interrupted", "queued"),
        ),
        _hints(destroys=True, again=True),
    ),
    _tool(
        "waiting_messages",
        "See to messages that wait",
        "The messages that wait behind a turn, or that an interrupt holds: list, edit, move or withdraw them, or let "
        "them go on.",
        a.WaitingMessagesArguments,
        _object(
            {
                "threadId": ID,
                "held": {"type": "boolean", "description": "True if they wait until somebody lets them go on."},
                "waiting": {"type": "array", "items": WAITING, "description": "What waits now, in its order."},
            },
            ("threadId", "held", "waiting"),
        ),
        _hints(destroys=True),
    ),
    _tool(
        "set_conversation",
        "Change a conversation's settings",
        "Change the model, the sandbox and the like, all that is named or nothing. A running turn goes on with it.",
        a.SetConversationArguments,
        _object(
            {
                "threadId": ID,
                "name": {"anyOf": [TEXT, {"type": "null"}], "description": "Its name now."},
                "changed": {
                    "type": "array",
                    "items": _object({"name": TEXT, "before": TEXT, "after": TEXT}, ("name", "before", "after")),
                    "description": "What has changed; empty if all of it was so already.",
                },
            },
            ("threadId", "name", "changed"),
        ),
        _hints(destroys=True, again=True),
    ),
    _tool(
        "read_conversation",
        "Read a conversation",
        "A page of the transcript: what was said, which commands ran and how they ended.",
        a.ReadConversationArguments,
        _object(
            {
                "threadId": ID,
                "text": _with_description(TEXT, "The transcript of this page, in Markdown."),
                "after": {"type": "integer", "description": "The last event of this page; where the next begins."},
                "before": {"type": "integer", "description": "The first event of this page, for the page before it."},
                "complete": {
                    "type": "boolean",
                    "description": "True if nothing comes after this page, or before it if `before` was given.",
                },
            },
            ("threadId", "text", "after", "before", "complete"),
        ),
        _hints(reads=True, again=True),
    ),
    _tool(
        "answer_approval",
        "Answer an approval",
        "Answer a question that a conversation waits for, by the id that progress messages and listings name.",
        a.AnswerApprovalArguments,
        _object({"threadId": ID, "approvalId": TEXT, "decision": TEXT}, ("threadId", "approvalId", "decision")),
        _hints(destroys=True, world=True),
    ),
)

BY_NAME: Mapping[str, Schema] = {tool["name"]: tool for tool in ALL}
