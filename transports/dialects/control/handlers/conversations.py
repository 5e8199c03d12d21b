"""Conversations: made, listed, found, changed, copied, deleted."""

from msgspec import UNSET

from actors.messages import conversation as m
from actors.messages import routing as rm
from actors.vocabulary.answers import ChangedSettings, ConversationSummary, Done, ResolvedReference
from actors.vocabulary.errors import InvalidInput, bad_cursor
from actors.vocabulary.ids import ConversationId
from actors.vocabulary.records import ListQuery
from transports import supervisor_requests as r
from transports.dialect import Ask
from transports.dialects.control.api import params as p
from transports.dialects.control.api.answers import ConversationPage, CreatedConversation
from transports.dialects.control.api.subscriptions import ControlCall
from transports.dialects.control.handlers.named_conversation import ask_named_conversation
from transports.dialects.kit.creation import settings_request
from transports.dialects.kit.identifiers import fresh_conversation
from transports.dialects.kit.paging import BadCursor, cursor_of, place_of
from transports.dialects.kit.script import (
    Script,
    ask,
    conversation_named,
    look_up,
)
from transports.dialects.kit.settings_changes import change_settings
from transports.supervisor_answers import (
    ExportedHistory,
    ImportedConversation,
    SearchHits,
    Servers,
    StoredConversation,
)


def create(call: ControlCall, params: p.CreateParams) -> Script[CreatedConversation]:
    made = yield from ask(settings_request(None, params, params.provider))
    settings = made.settings
    if params.writable_roots is not None:
        alteration = r.AlterSettings(settings, {"writable_roots": params.writable_roots})
        settings = (yield from ask(alteration)).settings
    conversation = fresh_conversation()
    begun = yield from look_up(rm.Create(conversation, m.Begin(settings, name=params.name)))
    call.do(Ask(r.RememberEnvironment(conversation)))
    return CreatedConversation(begun.conversation, begun.settings, made.notice, made.warnings)


def list_conversations(_: ControlCall, params: p.ListConversationsParams) -> Script[ConversationPage]:
    try:
        after = place_of(params.cursor)
    except BadCursor:
        raise bad_cursor(params.cursor) from None
    query = ListQuery(params.archived, params.state, params.cwd, params.name, params.order, after, params.limit)
    only = None if params.conversations is None else tuple(map(ConversationId, params.conversations))
    page = yield from look_up(rm.ListConversations(query, only))
    return ConversationPage(tuple(head.row for head in page.heads), page.total, cursor_of(page.next))


def search(_: ControlCall, params: p.SearchParams) -> Script[SearchHits]:
    conversation = None if params.conversation is None else (yield from conversation_named(params.conversation))
    best = params.order == "best"
    wanted = r.Search(params.query, conversation, params.cwd, params.since, params.limit, params.cursor, best)
    return (yield from ask(wanted))


def resolve(_: ControlCall, params: p.ResolveParams) -> Script[ResolvedReference]:
    return look_up(rm.Resolve(params.reference))


def get(_: ControlCall, params: p.ConversationParams) -> Script[ConversationSummary]:
    return ask_named_conversation(params, m.Inspect())


def servers(_: ControlCall, params: p.ConversationParams) -> Script[Servers]:
    conversation = yield from conversation_named(params.conversation)
    return (yield from ask(r.ListServers(conversation)))


def set_(call: ControlCall, params: p.SetParams) -> Script[ChangedSettings]:
    conversation = yield from conversation_named(params.conversation)
    name = params.name if "name" in params.model_fields_set else UNSET
    if not params.settings.set_values and name is UNSET:
        raise InvalidInput(f"nothing to change; name one of {', '.join(p.SettingValues.model_fields)}, or a name")
    if "provider" in params.settings.set_values:  # the provider's key is in the environment of this client
        call.do(Ask(r.RememberEnvironment(conversation)))
    return (yield from change_settings(conversation, params.settings.set_values, None, call.client.label, name))


def rename(call: ControlCall, params: p.RenameParams) -> Script[Done]:
    return ask_named_conversation(params, m.Rename(params.name, call.client.label))


def archive(_: ControlCall, params: p.ArchiveParams) -> Script[Done]:
    return ask_named_conversation(params, m.Archive(params.archived))


def restart(call: ControlCall, params: p.ConversationParams) -> Script[Done]:
    return ask_named_conversation(params, m.Restart(call.client.label))


def fork(call: ControlCall, params: p.ForkParams) -> Script[StoredConversation]:
    conversation = yield from conversation_named(params.conversation)
    values, by = params.settings.set_values, call.client.label
    return (yield from ask(r.Fork(conversation, fresh_conversation(), params.at, params.name, values, by)))


def export(_: ControlCall, params: p.ExportParams) -> Script[ExportedHistory]:
    conversation = yield from conversation_named(params.conversation)
    return (yield from ask(r.Export(conversation, params.file)))


def import_(call: ControlCall, params: p.ImportParams) -> Script[ImportedConversation]:
    """Store a history. Its settings are those that a new conversation of this client would have."""
    new = fresh_conversation() if params.new_id else None
    settings = (yield from ask(settings_request(None, params))).settings
    done = yield from ask(r.Import(params.file, settings, new))
    call.do(Ask(r.RememberEnvironment(done.conversation)))
    return done


def delete(_: ControlCall, params: p.ConversationParams) -> Script[StoredConversation]:
    conversation = yield from conversation_named(params.conversation)
    yield from look_up(rm.Remove(conversation))
    return StoredConversation(conversation)
