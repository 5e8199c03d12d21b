"""The handlers of the control API: parameters to questions, answers to results."""

from collections.abc import Iterable

from actors.conversation import messages as m
from actors.conversation.messages import Query
from actors.routing import messages as rm
from actors.vocabulary.answers import (
    Accepted,
    Answered,
    Attached,
    Done,
    Interrupted,
    Reader,
    Resolved,
    Summary,
    TurnResult,
)
from actors.vocabulary.errors import GreenroomError, InvalidInput
from actors.vocabulary.ids import ApprovalId, ConnectionId, ConversationId, InputId, SubscriptionId
from actors.vocabulary.items import TextItem
from actors.vocabulary.records import ListQuery, Record
from transports import requests as r
from transports.dialect import Ask
from transports.dialects.control import params as p
from transports.dialects.control.endings import LAST_WORDS, ending_of
from transports.dialects.control.results import Raw, envelope, row, shown, waiting, with_readers
from transports.dialects.control.schema import api_schema
from transports.dialects.control.subscriptions import ControlCall
from transports.dialects.kit.creation import settings_request
from transports.dialects.kit.identifiers import approval_place, fresh_conversation
from transports.dialects.kit.paging import BadCursor, cursor_of, place_of
from transports.dialects.kit.script import (
    AnyAnswer,
    Script,
    ask,
    command,
    command_each,
    conversation_named,
    look_up,
    look_up_each,
)
from transports.jsonrpc import JsonObject

LARGEST = 19  # digits of a number that the journal can count to
CURSOR_LENGTH = 60  # three numbers that the journal can count to
BUSY = frozenset({"starting", "running", "waiting", "interrupting"})


# --- conversations ----------------------------------------------------------------------------------------------


def create(call: ControlCall, given: p.Create) -> Script[Raw]:
    made = yield from ask(settings_request(None, given, given.provider))
    conversation = fresh_conversation()
    begun = yield from look_up(rm.Create(conversation, m.Begin(made.settings, name=given.name)))
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


def _to_named(given: p.Named, query: Query[AnyAnswer]) -> Script[AnyAnswer]:
    one = yield from conversation_named(given.conversation)
    return (yield from command(one, query))


def get(_: ControlCall, given: p.Named) -> Script[Summary]:
    return _to_named(given, m.Inspect())


def send(call: ControlCall, given: p.Send) -> Script[Accepted | TurnResult]:
    if bool(given.items) == (given.prompt is not None):
        raise InvalidInput("give either a prompt or items")
    items = given.items or (TextItem(text=given.prompt or ""),)
    one = yield from conversation_named(given.conversation)
    said = m.Send(items, given.if_busy, key=given.key, await_end=given.wait, by=call.client.label)
    taken = yield from command(one, said)
    if given.wait and isinstance(taken, Accepted) and taken.turn is not None and taken.ended is not None:
        # The key was used before and that turn is over: how it ended is history.
        past = yield from ask(r.ReadHistory(one, limit=LAST_WORDS, before=taken.ended + 1))
        return ending_of(taken.turn, past.page.records) or taken
    return taken


def interrupt(call: ControlCall, given: p.Interrupt) -> Script[Interrupted]:
    stop = m.Interrupt(call.client.label, kill=given.kill, message=given.reason, clear=given.clear)
    return _to_named(given, stop)


def interrupt_many(call: ControlCall, given: p.InterruptMany) -> Script[JsonObject]:
    """Interrupt several; answered when the last has ended. A refused one does not keep the others from it."""
    if bool(given.conversations) == given.all:
        raise InvalidInput("name conversations, or say all")
    if given.all:
        awake = (yield from look_up(rm.ListAwake())).heads
        references = [str(head.conversation) for head in awake if head.state in BUSY and not head.archived]
    else:
        references = list(given.conversations)
    found = yield from look_up_each(rm.Resolve(reference) for reference in references)
    stop = m.Interrupt(call.client.label, kill=given.kill, message=given.reason)
    known = [one.conversation for one in found if isinstance(one, Resolved)]
    answers = iter((yield from command_each((one, stop) for one in known)))
    ends = [one if isinstance(one, GreenroomError) else next(answers) for one in found]
    rows = [{"conversation": named, **shown(end)} for named, end in zip(references, ends, strict=True)]
    return {"stopped": rows}


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


def rename(_: ControlCall, given: p.Rename) -> Script[Done]:
    return _to_named(given, m.Rename(given.name))


def archive(_: ControlCall, given: p.Archive) -> Script[Done]:
    return _to_named(given, m.Archive(given.archived))


def restart(call: ControlCall, given: p.Named) -> Script[Done]:
    return _to_named(given, m.Restart(call.client.label))


def resume_queue(_: ControlCall, given: p.Named) -> Script[Done]:
    return _to_named(given, m.ResumeQueue())


def withdraw(_: ControlCall, given: p.Withdraw) -> Script[Done]:
    return _to_named(given, m.WithdrawInput(InputId(given.input), given.reason))


def fork(_: ControlCall, given: p.Fork) -> Script[r.Stored]:
    one = yield from conversation_named(given.conversation)
    return (yield from ask(r.Fork(one, fresh_conversation(), given.at, given.name)))


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


def import_(_: ControlCall, given: p.Import) -> Script[r.Stored | r.Plain]:
    """Store a history; one that comes in several requests is stored with the last of them, whole or not at all."""
    if given.more and given.upload is None:
        raise InvalidInput("upload: what comes in several requests needs a name")
    if given.partial and not given.more:
        raise InvalidInput("partial: nothing follows that the line could go on in; say more")
    new = fresh_conversation() if given.new_id else None
    return (yield from ask(r.Import(given.lines, new, given.upload, given.more, given.partial)))


def delete(_: ControlCall, given: p.Named) -> Script[r.Stored]:
    one = yield from conversation_named(given.conversation)
    yield from look_up(rm.Remove(one))
    return r.Stored(one)


# --- approvals and requests -------------------------------------------------------------------------------------


def list_approvals(_: ControlCall, given: p.ListApprovals) -> Script[JsonObject]:
    """List open approvals, oldest first: the registry knows them, the journal when they were asked."""
    if given.conversation is None:
        asked = (yield from look_up(rm.ListApprovals())).requests
    else:
        one = yield from conversation_named(given.conversation)
        asked = tuple((one, request) for request in (yield from command(one, m.Inspect())).pending)
    wanted = tuple((one, request.approval_id) for one, request in asked)
    places: tuple[tuple[int, float] | None, ...]
    try:
        places = (yield from ask(r.FindAsked(wanted))).places
    except GreenroomError:  # when it was asked is good to know; what is asked is needed
        places = (None,) * len(asked)
    return {"approvals": waiting(asked, places)}


def answer_approval(call: ControlCall, given: p.AnswerApproval) -> Script[Answered]:
    decided = m.AnswerApproval(ApprovalId(given.approval), given.decision, call.client.label, given.reason)
    return (yield from command(approval_place(given.approval), decided))


def cancel(call: ControlCall, given: p.Cancel) -> Done:
    call.state.requests.cancel(given.request, call.client.label)
    return Done()


# --- the daemon -------------------------------------------------------------------------------------------------


def list_clients(_: ControlCall, __: p.Nothing) -> Script[JsonObject]:
    """List clients, and what each reads. Conversations are asked one after the other, which is no burst."""
    awake = (yield from look_up(rm.ListAwake())).heads
    readers: list[tuple[ConversationId, Reader]] = []
    for head in awake:
        (summary,) = yield from command_each([(head.conversation, m.Inspect())])
        if isinstance(summary, Summary):
            readers += [(head.conversation, one) for one in summary.readers]
    clients = yield from ask(r.ListClients())
    return {"clients": [with_readers(one, readers) for one in clients.value["clients"]]}


def kill_client(_: ControlCall, given: p.KillClient) -> Script[r.Plain]:
    return ask(r.KillClient(ConnectionId(given.connection)))


def status(_: ControlCall, __: p.Nothing) -> Script[r.Plain]:
    return ask(r.AskStatus())


def reload(_: ControlCall, __: p.Nothing) -> Script[r.Plain]:
    return ask(r.Reload())


def down(_: ControlCall, given: p.Down) -> Script[r.Plain]:
    return ask(r.Down(given.drain_s))


def config_get(_: ControlCall, given: p.ConfigGet) -> Script[r.Plain]:
    return ask(r.ReadConfig(given.key))


def schema(_: ControlCall, __: p.Nothing) -> JsonObject:
    return api_schema()
