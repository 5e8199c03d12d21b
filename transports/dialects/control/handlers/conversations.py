"""Conversations: made, listed, found, changed, copied, deleted."""

from msgspec import UNSET

from actors.messages import conversation as m
from actors.messages import routing as rm
from actors.vocabulary.answers import (
    Changed,
    Done,
    Resolved,
    Summary,
)
from actors.vocabulary.errors import InvalidInput
from actors.vocabulary.ids import ConversationId
from actors.vocabulary.records import ListQuery
from transports import requests as r
from transports.dialect import Ask
from transports.dialects.control.api import params as p
from transports.dialects.control.api.results import Raw, row, shown
from transports.dialects.control.api.subscriptions import ControlCall
from transports.dialects.control.handlers.naming import to_named
from transports.dialects.kit.changing import change_settings
from transports.dialects.kit.creation import settings_request
from transports.dialects.kit.identifiers import fresh_conversation
from transports.dialects.kit.paging import BadCursor, cursor_of, place_of
from transports.dialects.kit.script import (
    Script,
    ask,
    conversation_named,
    look_up,
)
from transports.jsonrpc import JsonObject

LARGEST = 19  # digits of a number that the journal can count to
CURSOR_LENGTH = 60  # three numbers that the journal can count to


def create(call: ControlCall, given: p.Create) -> Script[Raw]:
    made = yield from ask(settings_request(None, given, given.provider))
    settings = made.settings
    if given.writable_roots is not None:
        wanted = r.AlterSettings(settings, {"writable_roots": given.writable_roots})
        settings = (yield from ask(wanted)).settings
    conversation = fresh_conversation()
    begun = yield from look_up(rm.Create(conversation, m.Begin(settings, name=given.name)))
    call.do(Ask(r.RememberEnvironment(conversation)))
    told = {"conversation": begun.conversation, "notice": made.notice, "warnings": made.warnings}
    return Raw(told, {"settings": begun.settings.model_dump_json().encode()})


def list_conversations(_: ControlCall, given: p.ListConversations) -> Script[JsonObject]:
    try:
        after = place_of(given.cursor)
    except BadCursor:
        raise _bad_cursor(given.cursor) from None
    query = ListQuery(given.archived, given.state, given.cwd, given.name, given.order, after, given.limit)
    only = None if given.conversations is None else tuple(map(ConversationId, given.conversations))
    page = yield from look_up(rm.ListConversations(query, only))
    rows = [row(head) for head in page.heads]
    return {"conversations": rows, "total": page.total, "next_cursor": cursor_of(page.next)}


def _bad_cursor(cursor: str | None) -> InvalidInput:
    return InvalidInput(f"cursor: {cursor!r} is not a next_cursor of an earlier answer")


def search(_: ControlCall, given: p.Search) -> Script[JsonObject]:
    before = place_in_search(given.cursor) if given.cursor else None
    if given.cursor and before is None:
        raise _bad_cursor(given.cursor)
    one = None if given.conversation is None else (yield from conversation_named(given.conversation))
    best = given.order == "best"
    found = yield from ask(r.Search(given.query, one, given.cwd, given.since, given.limit, before, best))
    cursor = None if found.next is None else str(found.next)
    hits = [shown(hit) for hit in found.hits]
    return {"hits": hits, "next_cursor": cursor, "read": found.read, "complete": found.complete}


def place_in_search(cursor: str) -> int | None:
    return int(cursor) if cursor.isascii() and cursor.isdecimal() and len(cursor) < LARGEST else None


def resolve(_: ControlCall, given: p.Resolve) -> Script[Resolved]:
    return look_up(rm.Resolve(given.reference))


def get(_: ControlCall, given: p.Named) -> Script[Summary]:
    return to_named(given, m.Inspect())


def servers(_: ControlCall, given: p.Named) -> Script[r.Plain]:
    one = yield from conversation_named(given.conversation)
    return (yield from ask(r.ListServers(one)))


def set_(call: ControlCall, given: p.Set) -> Script[Changed]:
    one = yield from conversation_named(given.conversation)
    name = given.name if "name" in given.model_fields_set else UNSET
    if not given.settings.given and name is UNSET:
        raise InvalidInput(f"nothing to change; name one of {', '.join(p.Values.model_fields)}, or a name")
    if "provider" in given.settings.given:  # its key is in the environment of whoever chose it
        call.do(Ask(r.RememberEnvironment(one)))
    return (yield from change_settings(one, given.settings.given, None, call.client.label, name))


def rename(call: ControlCall, given: p.Rename) -> Script[Done]:
    return to_named(given, m.Rename(given.name, call.client.label))


def archive(_: ControlCall, given: p.Archive) -> Script[Done]:
    return to_named(given, m.Archive(given.archived))


def restart(call: ControlCall, given: p.Named) -> Script[Done]:
    return to_named(given, m.Restart(call.client.label))


def fork(call: ControlCall, given: p.Fork) -> Script[r.Stored]:
    one = yield from conversation_named(given.conversation)
    values, by = given.settings.given, call.client.label
    return (yield from ask(r.Fork(one, fresh_conversation(), given.at, given.name, values, by)))


def export(_: ControlCall, given: p.Export) -> Script[JsonObject]:
    place = place_in_export(given.cursor) if given.cursor else None
    if given.cursor and place is None:
        raise _bad_cursor(given.cursor)
    one = yield from conversation_named(given.conversation)
    piece = yield from ask(r.Export(one, place))
    cursor = "/".join(map(str, piece.place)) if piece.place else None
    return {"lines": piece.lines, "next_cursor": cursor, "partial": piece.partial}


def place_in_export(cursor: str) -> tuple[int, int, int] | None:
    numbers = cursor.split("/")
    if len(cursor) > CURSOR_LENGTH or len(numbers) not in {2, 3} or not all(map(str.isdecimal, numbers)):
        return None
    after, last, *offset = map(int, numbers)
    return after, last, offset[0] if offset else 0


def import_(call: ControlCall, given: p.Import) -> Script[JsonObject]:
    """Store a history; one that comes in several requests is stored with the last of them, whole or not at all.

    It is run by the settings that a new conversation of this client would have.
    """
    if given.more and given.upload is None:
        raise InvalidInput("upload: what comes in several requests needs a name")
    if given.partial and not given.more:
        raise InvalidInput("partial: nothing follows that the line could go on in; say more")
    new = fresh_conversation() if given.new_id else None
    settings = None if given.more else (yield from ask(settings_request(None, given))).settings
    done = yield from ask(r.Import(given.lines, settings, new, given.upload, given.more, given.partial))
    if isinstance(done, r.Plain):
        return dict(done.value)
    call.do(Ask(r.RememberEnvironment(done.conversation)))
    changed = [{"name": one.name, "file": one.before, "here": one.after} for one in done.changed]
    return {"conversation": done.conversation, "changed": changed}


def delete(_: ControlCall, given: p.Named) -> Script[r.Stored]:
    one = yield from conversation_named(given.conversation)
    yield from look_up(rm.Remove(one))
    return r.Stored(one)
