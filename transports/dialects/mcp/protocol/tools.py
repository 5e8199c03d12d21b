"""The tools for `tools/list`: names, titles, hints, and the schemas of arguments and results. Data."""

from collections.abc import Iterable, Mapping

from msgspec import Struct
from msgspec.json import schema_components
from pydantic import AliasChoices, BaseModel

from actors.vocabulary.records import ConversationRow
from transports.dialects.mcp.protocol import arguments as a
from transports.dialects.mcp.protocol import tool_results as r
from transports.jsonrpc import JsonObject as Schema

TEXT: Schema = {"type": "string"}
ID: Schema = {"type": "string", "description": a.ID}
LEFT_OUT = {"$ref", "title", "default"}  # members of schemas that are useless to a caller
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
        same = {**TEXT, "description": "The same; either will do."}
        properties |= {str(other): same for other in others.get(name, ())}
    required = [name for name in whole.get("required", ()) if name not in others]
    more = {"additionalProperties": False} if model.model_config.get("extra") == "forbid" else {}
    return _object(properties, required, **more)


def _argument(schema: Schema, shared: Mapping[str, Schema]) -> Schema:
    (type_,) = (variant for variant in schema.get("anyOf", [schema]) if variant.get("type") != "null")
    resolved = shared.get(type_.get("$ref", "").removeprefix("#/$defs/"), type_)
    members = {**resolved, "description": schema.get("description")}
    return {name: value for name, value in members.items() if name in SHOWN_MEMBERS and value is not None}


def _schema_of(answer: type[Struct]) -> Schema:
    """The schema of an answer, as it describes itself, in one piece."""
    (reference,), parts = schema_components((answer,), schema_hook=_schema_of_model)
    return _resolved(reference, parts)


def _schema_of_model(model: type[BaseModel]) -> Schema:
    return model.model_json_schema()


def _resolved(schema: Schema, parts: Mapping[str, Schema]) -> Schema:
    part = parts.get(schema.get("$ref", "").rpartition("/")[2], {})
    members = {name: value for name, value in {**part, **schema}.items() if name not in LEFT_OUT}
    for name in ("anyOf", "prefixItems"):
        if name in members:
            members[name] = [_resolved(inner, parts) for inner in members[name]]
    if "items" in members:
        members["items"] = _resolved(members["items"], parts)
    if "properties" in members:
        members["properties"] = {name: _resolved(inner, parts) for name, inner in members["properties"].items()}
    return members


def _tool(
    name: str,
    title: str,
    description: str,
    takes: type[BaseModel],
    gives: type[Struct] | Schema,
    hints: Schema,
    **more: Schema,
) -> Schema:
    return {
        "name": name,
        "title": title,
        "description": description,
        "inputSchema": _takes(takes),
        "outputSchema": gives if isinstance(gives, dict) else _schema_of(gives),
        "annotations": {"title": title, **hints},
        **more,
    }


ROW_MEMBERS = ("name", "state", "ended", "cwd", "agent", "model", "preview", "created", "updated")
_ROW: Schema = _schema_of(ConversationRow)["properties"]
ROW = _object({"threadId": ID, **{name: _ROW[name] for name in ROW_MEMBERS}}, ("threadId", *ROW_MEMBERS))

FOUND_ROW = {**ROW, "properties": {**ROW["properties"], "found": _schema_of(r.FoundWords)}}

ALL = (
    _tool(
        "codex",
        "Codex",
        "Run a Codex session. Accepts configuration parameters matching the Codex Config struct.",
        a.CodexArguments,
        r.TurnContent,
        _hints(destroys=True, world=True),
        execution={"taskSupport": "optional"},
    ),
    _tool(
        "codex-reply",
        "Codex Reply",
        "Continue a Codex session by providing the session id and prompt.",
        a.CodexReplyArguments,
        r.TurnContent,
        _hints(destroys=True, world=True),
        execution={"taskSupport": "optional"},
    ),
    _tool(
        "start_conversation",
        "Start a conversation",
        "Give an agent a task and return at once with the conversation's id, for work that takes longer than a tool "
        "call may. wait_conversation tells what comes of it.",
        a.StartConversationArguments,
        r.SentMessage,
        _hints(destroys=True, world=True),
    ),
    _tool(
        "send",
        "Say something in a conversation",
        "Say more in a conversation and return at once. wait_conversation tells what comes of it.",
        a.SendMessageArguments,
        r.SentMessage,
        _hints(destroys=True, world=True),
    ),
    _tool(
        "wait_conversation",
        "Wait for a conversation",
        "Returns when the work ends, at a question (with what to answer), or when the time is over; with "
        "what was said meanwhile. Call it again as long as the state is running.",
        a.WaitConversationArguments,
        r.ConversationNews,
        _hints(reads=True, again=True),
    ),
    _tool(
        "conversationCreate",
        "Create a conversation",
        "Make a conversation without saying anything in it.",
        a.ConversationCreateArguments,
        r.ConversationCreateContent,
        _hints(),
    ),
    _tool(
        "conversationSendMessage",
        "Send a message",
        "Say something in a conversation; answered when it is accepted.",
        a.ConversationSendMessageArguments,
        r.SendMessageContent,
        _hints(destroys=True, world=True),
    ),
    _tool(
        "conversationStream",
        "Stream a conversation",
        "Its history as notifications/initial_state, then its events as they happen, until this call is cancelled.",
        a.ConversationStreamArguments,
        r.StreamContent,
        _hints(reads=True, again=True),
    ),
    _tool(
        "conversationsList",
        "List conversations",
        "List conversations, newest first.",
        a.ConversationsListArguments,
        r.ConversationsListContent,
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
        r.InterruptResult,
        _hints(destroys=True, again=True),
    ),
    _tool(
        "waiting_messages",
        "See to messages that wait",
        "The messages that wait behind a turn, or that an interrupt holds: list, edit, move or withdraw them, or let "
        "them go on.",
        a.WaitingMessagesArguments,
        r.WaitingMessages,
        _hints(destroys=True),
    ),
    _tool(
        "set_conversation",
        "Change a conversation's settings",
        "Change the model, the sandbox and the like, all that is named or nothing. A running turn goes on with it.",
        a.SetConversationArguments,
        r.ChangedConversation,
        _hints(destroys=True, again=True),
    ),
    _tool(
        "read_conversation",
        "Read a conversation",
        "A page of the transcript: what was said, which commands ran and how they ended.",
        a.ReadConversationArguments,
        r.TranscriptPage,
        _hints(reads=True, again=True),
    ),
    _tool(
        "answer_approval",
        "Answer an approval",
        "Answer a question that a conversation waits for, by the id that progress messages and listings name.",
        a.AnswerApprovalArguments,
        r.GivenAnswer,
        _hints(destroys=True, world=True),
    ),
)

BY_NAME: Mapping[str, Schema] = {tool["name"]: tool for tool in ALL}
