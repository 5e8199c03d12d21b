"""Histories as they are read, and as they grow."""

from collections.abc import Iterable

from actors.messages import conversation as m
from actors.vocabulary.answers import (
    Attached,
    Done,
)
from actors.vocabulary.errors import GreenroomError, InvalidInput
from actors.vocabulary.ids import ConversationId, SubscriptionId
from actors.vocabulary.records import Record
from transports import requests as r
from transports.dialect import Ask
from transports.dialects.control.api import params as p
from transports.dialects.control.api.results import Raw, envelope
from transports.dialects.control.api.subscriptions import ControlCall
from transports.dialects.kit.script import (
    Script,
    ask,
    command,
    conversation_named,
)


def attach(call: ControlCall, given: p.Attach) -> Script[Attached]:
    one = yield from conversation_named(given.conversation)
    subscription = call.state.subscribe(one)
    try:
        attached = yield from command(
            one, m.Attach(call.client.connection, subscription, given.after, given.read_only)
        )
    except GreenroomError:
        call.state.forget(subscription)
        raise
    if not given.read_only:
        call.do(Ask(r.RememberEnvironment(one)))
    return attached


def detach(call: ControlCall, given: p.Detach) -> Script[Done]:
    subscription = SubscriptionId(given.subscription)
    conversation = call.state.forget(subscription)
    if conversation is None:
        raise InvalidInput(f"no subscription {subscription}")
    return command(conversation, m.Detach(subscription))


def history(_: ControlCall, given: p.History) -> Script[Raw]:
    if given.before is not None and "after" in given.model_fields_set:
        raise InvalidInput("give either after or before")
    one = yield from conversation_named(given.conversation)
    read = yield from ask(r.ReadHistory(one, given.after, given.limit, given.before))
    page = read.page
    rest = {"first_seq": page.first_seq, "last_seq": page.last_seq, "complete": read.complete}
    return Raw(rest, {"events": _encoded((one, record) for record in page.records)})


def read_events(_: ControlCall, given: p.ReadEvents) -> Script[Raw]:
    news = yield from ask(r.ReadNews(given.after, given.limit, given.wait_s))
    return Raw({"cursor": news.cursor, "lagged": news.lagged}, {"events": _encoded(news.records)})


def _encoded(records: Iterable[tuple[ConversationId, Record]]) -> bytes:
    return b"[%b]" % b",".join(envelope(conversation, record) for conversation, record in records)
