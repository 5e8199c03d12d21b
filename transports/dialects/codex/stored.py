"""Earlier conversations: list, resume, archive. A path names a conversation where Codex named a file."""

import json

from msgspec import UNSET, Struct, UnsetType

from actors.messages.conversation import Archive, ChangeSettings, Inspect
from actors.messages.routing import ListConversations as AskForList
from actors.vocabulary.answers import Done
from actors.vocabulary.errors import GreenroomError, UnknownConversation
from actors.vocabulary.ids import ConversationId
from actors.vocabulary.records import Head, ListQuery, Record
from actors.vocabulary.settings import Settings
from transports.dialect import Write
from transports.dialects.codex import params as p
from transports.dialects.codex.conversations import CodexCall, internal_error, invalid_request
from transports.dialects.codex.events import (
    EventParams,
    encode_message,
    event_notification,
    history_of,
    seed_message,
)
from transports.dialects.kit.creation import SETTINGS, settings_request
from transports.dialects.kit.identifiers import named_by, uri_of
from transports.dialects.kit.moments import moment
from transports.dialects.kit.paged_history import RecentMessages, read_all
from transports.dialects.kit.paging import BadCursor, cursor_of, place_of
from transports.dialects.kit.refusals import prefix_refusals
from transports.dialects.kit.script import Script, ask, command, look_up
from transports.question_text import QuestionEvent as Event
from transports.supervisor_requests import PermitSettings

FOLLOWS = {"model": ("provider",), "cwd": ("roots",), "sandbox": ("roots",)}  # fields that a setting decides, too


class StoredHistory(Struct, frozen=True):
    path: str
    preview: str
    timestamp: str


class StoredHistories(Struct, frozen=True, rename="camel"):
    items: list[StoredHistory]
    next_cursor: str | UnsetType = UNSET


class ConfiguredSession(Struct, frozen=True, tag_field="type", tag="session_configured"):
    session_id: ConversationId
    model: str
    history_log_id: int = 0
    history_entry_count: int = 0


class ResumedConversation(Struct, frozen=True, rename="camel"):
    conversation_id: ConversationId
    model: str
    rollout_path: str
    initial_messages: list[Event]


def list_conversations(_: CodexCall, params: p.CodexListConversationsParams) -> Script[StoredHistories]:
    """A page, newest first. A bad cursor means the first page."""
    if params.page_size == 0:
        return StoredHistories([])
    try:
        after = place_of(params.cursor)
    except BadCursor:
        after = None
    query = ListQuery(order="created", after=after, limit=params.page_size)
    with prefix_refusals(internal_error, "failed to list conversations"):
        page = yield from look_up(AskForList(query))
    return StoredHistories([_item(head) for head in page.heads], cursor_of(page.next) or UNSET)


def _item(head: Head) -> StoredHistory:
    return StoredHistory(uri_of(head.conversation), head.preview, moment(head.created))


def resume(call: CodexCall, params: p.ResumeConversationParams) -> Script[ResumedConversation]:
    """Resume the conversation itself, under its own id; nothing is copied."""
    address = named_by(params.path)
    if address is None:
        raise internal_error(f"error resuming conversation: no conversation {params.path}")
    conversation, _ = address
    with prefix_refusals(internal_error, "error resuming conversation"):
        settings = (yield from command(conversation, Inspect())).settings
    if params.overrides is not None:
        with prefix_refusals(invalid_request, "error deriving config"):
            settings = yield from _apply_overrides(call, settings, params.overrides)
        with prefix_refusals(internal_error, "error resuming conversation"):
            yield from command(conversation, ChangeSettings(settings, by=call.client.label))
    with prefix_refusals(internal_error, "error resuming conversation"):
        messages = yield from _history(conversation)
    configured = encode_message(ConfiguredSession(conversation, settings.model))
    call.do(Write(event_notification("codex/event", EventParams(id=""), configured)))
    return ResumedConversation(conversation, settings.model, uri_of(conversation), messages)


def _apply_overrides(call: CodexCall, current: Settings, overrides: p.NewConversationParams) -> Script[Settings]:
    """Change the named settings; a profile or config may change all. The result must be permitted."""
    person = call.state.person
    settings = (yield from ask(settings_request(person, overrides))).settings
    if overrides.profile is None and not overrides.config:
        given = [name for name, value in overrides if name in SETTINGS - {"config"} and value is not None]
        names = [field for name in given for field in (name, *FOLLOWS.get(name, ()))]
        settings = current.model_copy(update={name: getattr(settings, name) for name in names})
    return (yield from ask(PermitSettings(settings, current, person))).settings


def _history(conversation: ConversationId) -> Script[list[Event]]:
    recent = RecentMessages()

    def keep(record: Record) -> None:
        msg = seed_message(json.loads(record.body))
        if msg is not None and record.type != "session_configured":
            recent.add(encode_message(msg))

    yield from read_all(conversation, keep)
    return [json.loads(msg) for msg in history_of(recent.messages, recent.left_out)]


def archive(_: CodexCall, params: p.ArchiveConversationParams) -> Script[Done]:
    address, path = named_by(params.rollout_path), f"rollout path `{params.rollout_path}`"
    if address is None:
        raise invalid_request(f"{path} must be in sessions directory")
    if address[0] != params.conversation:
        raise invalid_request(f"{path} does not match conversation id {params.conversation}")
    try:
        yield from command(params.conversation, Archive())
    except UnknownConversation:
        raise invalid_request(f"conversation not found: {params.conversation}") from None
    except GreenroomError as why:
        raise internal_error(f"failed to archive conversation: {why.message}") from None
    return Done()
