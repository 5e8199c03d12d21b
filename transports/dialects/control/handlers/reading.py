"""Histories: a page, or attached and live."""

from collections.abc import Iterable

from msgspec import Raw

from actors.messages import conversation as m
from actors.vocabulary.answers import (
    AttachedReader,
    Done,
)
from actors.vocabulary.errors import GreenroomError, InvalidInput
from actors.vocabulary.ids import ConversationId, SubscriptionId
from actors.vocabulary.records import Record
from transports import supervisor_requests as r
from transports.dialect import Ask
from transports.dialects.control.api import params as p
from transports.dialects.control.api.answers import HistoryPage, NewsPage
from transports.dialects.control.api.results import envelope
from transports.dialects.control.api.subscriptions import ControlCall
from transports.dialects.kit.script import (
    Script,
    ask,
    command,
    conversation_named,
)


def attach(call: ControlCall, params: p.AttachParams) -> Script[AttachedReader]:
    conversation = yield from conversation_named(params.conversation)
    subscription = call.state.subscribe(conversation)
    try:
        attached = yield from command(
            conversation, m.Attach(call.client.connection, subscription, params.after, params.read_only)
        )
    except GreenroomError:
        call.state.forget(subscription)
        raise
    if not params.read_only:
        call.do(Ask(r.RememberEnvironment(conversation)))
    return attached


def detach(call: ControlCall, params: p.DetachParams) -> Script[Done]:
    subscription = SubscriptionId(params.subscription)
    conversation = call.state.forget(subscription)
    if conversation is None:
        raise InvalidInput(f"no subscription {subscription}")
    return command(conversation, m.Detach(subscription))


def history(_: ControlCall, params: p.HistoryParams) -> Script[HistoryPage]:
    if params.before is not None and "after" in params.model_fields_set:
        raise InvalidInput("give either after or before")
    conversation = yield from conversation_named(params.conversation)
    found = yield from ask(r.ReadHistory(conversation, params.after, params.limit, params.before))
    page = found.page
    events = _encode_events((conversation, record) for record in page.records)
    return HistoryPage(events, page.first_seq, page.last_seq, found.complete)


def read_events(_: ControlCall, params: p.ReadEventsParams) -> Script[NewsPage]:
    news = yield from ask(r.ReadNews(params.after, params.limit, params.wait_s))
    return NewsPage(_encode_events(news.records), news.cursor, news.lagged)


def _encode_events(records: Iterable[tuple[ConversationId, Record]]) -> Raw:
    return Raw(b"[%b]" % b",".join(envelope(conversation, record) for conversation, record in records))
