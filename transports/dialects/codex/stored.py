"""Conversations of earlier: list them, take one up again, put one away. A path names one where Codex named a file."""

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from actors.answers import Summary
from actors.errors import GreenroomError, UnknownConversation
from actors.ids import ConversationId
from actors.messages import Archive, ChangeSettings, Inspect
from actors.records import Head, Record
from actors.registry_messages import ListConversations as AskForList
from actors.settings import Settings
from transports import jsonrpc
from transports.dialect import Action, Write
from transports.dialects.codex import params as p
from transports.dialects.codex.conversations import failed
from transports.dialects.mcp import creation
from transports.dialects.mcp.call import Call
from transports.dialects.mcp.events import seed_message
from transports.dialects.mcp.history import read_all
from transports.dialects.mcp.lines import event_notification
from transports.dialects.mcp.resources import named, uri_of
from transports.dialects.mcp.stream import History
from transports.requests import Permit

CURSOR_TIME = "%Y-%m-%dT%H-%M-%S"
OVERRIDDEN = {
    "model": ("model", "provider"),
    "cwd": ("cwd", "roots"),
    "approval_policy": ("approval_policy",),
    "sandbox": ("sandbox", "roots"),
    "base_instructions": ("base_instructions",),
    "developer_instructions": ("developer_instructions",),
    "include_plan_tool": ("include_plan_tool",),
    "include_apply_patch_tool": ("include_apply_patch_tool",),
}


def list_conversations(call: Call, wanted: p.ListConversations) -> Iterable[Action]:
    def listed(answer: Any) -> Iterable[Action]:
        if isinstance(answer, GreenroomError):
            return call.fail(jsonrpc.INTERNAL_ERROR, f"failed to list conversations: {answer.message}")
        page = _page(answer.heads, wanted.cursor, wanted.page_size)
        cursor = {"nextCursor": _cursor(page[-1])} if page else {}
        return call.finish({"items": [_item(head) for head in page], **cursor})

    return call.tell(AskForList, listed)


def _page(heads: Sequence[Head], cursor: str | None, size: int) -> list[Head]:
    """Newest first, by the second they were made in, then by id. A bad cursor means the first page."""
    ordered = sorted(heads, key=_cursor, reverse=True)
    if cursor is not None and _is_cursor(cursor):
        ordered = [head for head in ordered if _cursor(head) < cursor]
    return ordered[:size]


def _cursor(head: Head) -> str:
    made = datetime.fromtimestamp(head.created, tz=UTC)
    return f"{made.strftime(CURSOR_TIME)}|{head.conversation}"


def _is_cursor(text: str) -> bool:
    try:
        datetime.strptime(text.partition("|")[0], CURSOR_TIME).replace(tzinfo=UTC)
    except ValueError:
        return False
    return True


def _item(head: Head) -> dict[str, Any]:
    made = datetime.fromtimestamp(head.created, tz=UTC)
    return {
        "path": uri_of(head.conversation),
        "preview": head.preview,
        "timestamp": made.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
    }


def resume(call: Call, wanted: p.ResumeConversation) -> Iterable[Action]:
    """The conversation itself goes on, under its own id; nothing is copied."""
    meant = named(wanted.path)
    if meant is None:
        return call.fail(jsonrpc.INTERNAL_ERROR, f"error resuming conversation: no conversation {wanted.path}")
    conversation = meant[0]

    def refused(why: GreenroomError) -> Iterable[Action]:
        return call.fail(jsonrpc.INTERNAL_ERROR, f"error resuming conversation: {why.message}")

    def seen(answer: Any) -> Iterable[Action]:
        if not isinstance(answer, Summary):
            return refused(answer)
        if wanted.overrides is None:
            return _tell_history(call, conversation, answer.settings)
        return _override(call, conversation, answer.settings, wanted.overrides)

    return call.command(conversation, Inspect, seen)


def _override(
    call: Call, conversation: ConversationId, current: Settings, overrides: p.NewConversation
) -> Iterable[Action]:
    """What was named changes; with a profile or config everything may. All of it together has to be permitted."""
    person = call.desk.options.person

    def made(answer: Any) -> Iterable[Action]:
        if isinstance(answer, GreenroomError):
            return call.fail(jsonrpc.INVALID_REQUEST, f"error deriving config: {answer.message}")
        settings: Settings = answer.settings
        if overrides.profile is None and not overrides.config:
            given = [name for name in OVERRIDDEN if getattr(overrides, name) is not None]
            names = [one for name in given for one in OVERRIDDEN[name]]
            settings = current.model_copy(update={name: getattr(settings, name) for name in names})
        return call.ask(lambda token: Permit(token, settings, current, person), permitted)

    def permitted(answer: Any) -> Iterable[Action]:
        if isinstance(answer, GreenroomError):
            return call.fail(jsonrpc.INVALID_REQUEST, f"error deriving config: {answer.message}")
        return _change(call, conversation, answer.settings)

    return call.ask(lambda token: creation.settings_request(token, person, overrides), made)


def _change(call: Call, conversation: ConversationId, settings: Settings) -> Iterable[Action]:
    def changed(result: Any) -> Iterable[Action]:
        if isinstance(result, GreenroomError):
            return call.fail(jsonrpc.INTERNAL_ERROR, f"error resuming conversation: {result.message}")
        return _tell_history(call, conversation, settings)

    return call.command(conversation, lambda caller: ChangeSettings(caller, settings), changed)


def _tell_history(call: Call, conversation: ConversationId, settings: Settings) -> Iterable[Action]:
    history = History()

    def keep(record: Record) -> None:
        msg = seed_message(json.loads(record.body))
        if msg is not None and record.type != "session_configured":
            history.add(jsonrpc.line(msg).rstrip(b"\n"))

    def done(refusal: GreenroomError | None) -> Iterable[Action]:
        if refusal is not None:
            yield from call.fail(jsonrpc.INTERNAL_ERROR, f"error resuming conversation: {refusal.message}")
            return
        configured = {
            "type": "session_configured",
            "session_id": conversation,
            "model": settings.model,
            "history_log_id": 0,
            "history_entry_count": 0,
        }
        yield Write(event_notification("codex/event", {"id": ""}, jsonrpc.line(configured).rstrip(b"\n")))
        messages = [json.loads(msg) for msg in history.all()]
        told = {"conversationId": conversation, "model": settings.model, "rolloutPath": uri_of(conversation)}
        yield from call.finish({**told, "initialMessages": messages})

    return read_all(call, conversation, keep, done)


def archive(call: Call, wanted: p.ArchiveConversation) -> Iterable[Action]:
    meant = named(wanted.rollout_path)
    if meant is None:
        return call.fail(
            jsonrpc.INVALID_REQUEST, f"rollout path `{wanted.rollout_path}` must be in sessions directory"
        )
    if meant[0] != wanted.conversation:
        return call.fail(
            jsonrpc.INVALID_REQUEST,
            f"rollout path `{wanted.rollout_path}` does not match conversation id {wanted.conversation}",
        )

    def archived(answer: Any) -> Iterable[Action]:
        if isinstance(answer, UnknownConversation):
            yield from failed(call, wanted.conversation, answer)
        elif isinstance(answer, GreenroomError):
            yield from call.fail(jsonrpc.INTERNAL_ERROR, f"failed to archive conversation: {answer.message}")
        else:
            yield from call.finish({})

    return call.command(wanted.conversation, Archive, archived)
