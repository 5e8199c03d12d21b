"""Sessions: made, loaded, resumed, attached again by a bridge, listed, forked, deleted, closed."""

from collections import deque
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from actors.messages.conversation import Archive, ToConversation
from actors.messages.routing import ListConversations, Remove
from actors.vocabulary.answers import Summary
from actors.vocabulary.errors import Cancelled, GreenroomError, InvalidInput, UnknownConversation
from actors.vocabulary.event_bases import MOST
from actors.vocabulary.ids import ConversationId
from actors.vocabulary.records import Head, ListQuery, Record
from transports.dialect import Ask, Tell
from transports.dialects.acp import params as p
from transports.dialects.acp import v1
from transports.dialects.acp.directories import open_directories, with_directories
from transports.dialects.acp.settings import Offers, options_of
from transports.dialects.acp.sink import SessionSink
from transports.dialects.acp.state import AcpCall, AcpState, Session
from transports.dialects.acp.updates import Commands, Named, Option, Remark, Working
from transports.dialects.kit.creation import begin, make_settings
from transports.dialects.kit.identifiers import fresh_conversation
from transports.dialects.kit.paging import BadCursor, cursor_of, place_of
from transports.dialects.kit.script import WHOLE_ID, Script, ask, look_up
from transports.jsonrpc import JsonObject
from transports.requests import Fork, GiveServers, ListAgents, ReadConfig, ReadHistory, RememberEnvironment

PAGE = 100  # sessions of a list
LOOK_BACK = 200  # events before the place of a client that reads on; a call that waits is rarely older
RESUME_BYTES = 1 << 20  # of events, in which calls that run and commands of the agent are found


class Opened(Struct, frozen=True):
    """The result of a request that opens a session, which has no words before it. `described`: its state follows."""

    result: JsonObject
    session: Session
    described: bool


# --- opening --------------------------------------------------------------------------------------------------------


def new(call: AcpCall, given: p.NewSession) -> Script[Opened]:
    state = call.state
    made = yield from make_settings(state, given)
    settings = yield from with_directories(call, made.settings, given.additional_directories)
    conversation = fresh_conversation()
    offers = yield from _offers(state)
    session = state.open(conversation)
    session.offers = offers
    try:
        _give(state, conversation, given.mcp_servers)
        yield from begin(state, conversation, settings)
        yield from _attach(state, session, 0)
    except Cancelled:  # nobody knows its id, so nobody shall find it in lists
        state.close(conversation)
        state.do(Tell(ToConversation(conversation, Archive())))
        raise
    except GreenroomError:
        state.close(conversation)
        raise
    return Opened({"sessionId": conversation, **_settings(state, session)}, session, described=False)


def load(call: AcpCall, given: p.OpenSession) -> Script[JsonObject]:
    """Tell the whole history, as far as it fits, then the state; the answer comes behind both."""
    state = call.state
    session, records = yield from _read(state, given, state.options.load_bytes)
    _replay(state, session, records)
    yield from _opened(call, session, records, given)
    _tell_notices(state, session)
    describe(state, session)
    session.opening = False
    return _settings(state, session)


def resume(call: AcpCall, given: p.OpenSession) -> Script[Opened | JsonObject]:
    """Go on with a session whose history the client has, or does not want; version 2 can ask for all of it here."""
    if given.replay_from is not None:
        return (yield from load(call, given))
    opened = yield from _go_on(call, given)
    if not call.state.speaks.describes_first:
        return opened
    _describe_resumed(call.state, opened.session)
    return replace(opened, described=False)


def _go_on(call: AcpCall, given: p.OpenSession) -> Script[Opened]:
    session, records = yield from _read(call.state, given, RESUME_BYTES)
    for record in records:
        deque(session.teller.take(record), maxlen=0)
    yield from _opened(call, session, records, given)
    return Opened(_settings(call.state, session), session, described=True)


def attach(call: AcpCall, given: p.Attach) -> Script[JsonObject]:
    """Go on where the client stood with another daemon, or on another connection.

    The reader comes first: a prompt may follow at once.
    """
    state, conversation = call.state, _named(given.session_id)
    session = state.open(conversation, given.shown)
    session.opening = False
    _enter(state, conversation, given.mcp_servers)
    try:
        yield from _attach(state, session, given.after, LOOK_BACK)
    except InvalidInput as beyond:  # a power cut took events that the client has seen
        last = beyond.details.get("last_seq")
        if not isinstance(last, int):
            state.close(conversation)
            raise
        yield from _attach(state, session, last, LOOK_BACK)
    except GreenroomError:
        state.close(conversation)
        raise
    session.offers = yield from _offers(state)
    return {}


def fork(call: AcpCall, given: p.OpenSession) -> Script[Opened]:
    source = _named(given.session_id)
    made = yield from ask(Fork(source, fresh_conversation(), by=call.client.label))
    forked = given.model_copy(update={"session_id": made.conversation})
    opened = yield from _go_on(call, forked)
    return replace(opened, result={"sessionId": made.conversation, **opened.result})


def describe(state: AcpState, session: Session) -> None:
    """Tell the state of a session to a client that begins to read."""
    teller = session.teller
    state.tell(session, Named(teller.title, teller.updated))
    state.tell(session, teller.commands or Commands(()))
    if teller.usage is not None:
        state.tell(session, teller.usage)
    state.tell(session, Working("running" if teller.turns else "idle"))


def follow(state: AcpState, opened: Opened) -> None:
    """Tell what comes behind the result of a request that opens a session."""
    session = opened.session
    session.opening = False
    _tell_notices(state, session)
    if opened.described:
        _describe_resumed(state, session)


def _tell_notices(state: AcpState, session: Session) -> None:
    for at, (severity, text) in enumerate(state.log.taken()):
        if severity != "info" or state.can.notices:  # as a message it would pass for a part of the answer
            state.tell(session, Remark(severity, text, f"notice-{at}"))


def _describe_resumed(state: AcpState, session: Session) -> None:
    """Tell what a client needs that has the history of a session, or wants none."""
    state.tell(session, *session.teller.calls.running())
    describe(state, session)


def _read(state: AcpState, given: p.OpenSession, most: int) -> Script[tuple[Session, Sequence[Record]]]:
    conversation = _named(given.session_id)
    records = yield from _newest(conversation, most)
    offers = yield from _offers(state)
    session = state.open(conversation)
    session.offers = offers
    session.teller.replays, session.teller.calls.screens = True, False
    _enter(state, conversation, given.mcp_servers)
    return session, records


def _opened(call: AcpCall, session: Session, records: Sequence[Record], given: p.OpenSession) -> Script[None]:
    state = call.state
    session.teller.replays, session.teller.calls.screens = False, state.can.screens
    try:
        yield from _attach(state, session, records[-1].seq if records else 0)
        yield from open_directories(call, session, given.additional_directories)
    except GreenroomError:
        state.close(session.conversation)
        raise


def _replay(state: AcpState, session: Session, records: Sequence[Record]) -> None:
    left_out = records[0].seq - 1 if records else 0
    if left_out:
        text = f"{left_out:,} earlier events of this conversation are not shown (greenroom.acp.load_bytes)"
        state.tell(session, Remark("info", text, "left-out"))
    for record in records:
        state.tell(session, *session.teller.take(record), seq=record.seq)


def _newest(conversation: ConversationId, most: int) -> Script[Sequence[Record]]:
    """The newest events, whole and in order, within a bound."""
    records: deque[Record] = deque()
    size, before, complete = 0, MOST, False
    while not complete and size < most:
        read = yield from ask(ReadHistory(conversation, before=before))
        records.extendleft(reversed(read.page.records))
        size += sum(len(record.body) for record in read.page.records)
        complete = read.complete or not read.page.records
        before = records[0].seq if records else before
    while size > most and len(records) > 1:
        size -= len(records.popleft().body)
    return records


def _attach(state: AcpState, session: Session, after: int, back: int = 0) -> Script[Summary]:
    """Begin to read behind `after`. `back`: events before that are read, too, for the calls that they leave open."""
    reader = state.readers.new(session.conversation, SessionSink(state, session))
    session.reader, session.seq, session.known = reader, after, after
    attached = yield from state.readers.attach(reader, max(0, after - back))
    session.teller.take_over(attached.summary)
    session.runs = session.teller.turns
    return attached.summary


def _offers(state: AcpState) -> Script[Offers]:
    """Ask for the choices as they are now: models that the config names, agents that are here."""
    read = yield from ask(ReadConfig())
    listed = yield from ask(ListAgents())
    config = read.value["value"]
    named = [config.get("model"), *(one.get("model") for one in (config.get("profiles") or {}).values())]
    models = tuple(dict.fromkeys(name for name in named if name))
    agents = tuple((one["name"], one["title"]) for one in listed.value["agents"] if one["state"] != "missing")
    return Offers(models, agents, state.options.widest)


def _settings(state: AcpState, session: Session) -> JsonObject:
    return state.speaks.settings(session_options(session))


def session_options(session: Session) -> tuple[Option, ...]:
    teller = session.teller
    if teller.settings is None:
        return ()
    return options_of(teller.settings, session.offers, teller.agent_options)


def _enter(state: AcpState, conversation: ConversationId, servers: p.Servers) -> None:
    state.do(Ask(RememberEnvironment(conversation)))
    _give(state, conversation, servers)


def _give(state: AcpState, conversation: ConversationId, servers: p.Servers) -> None:
    """Give the servers of the client; one that has none leaves those of another."""
    if servers:
        state.do(Ask(GiveServers(conversation, tuple(one.given() for one in servers))))


def _named(session: str) -> ConversationId:
    if not WHOLE_ID.fullmatch(session):
        raise UnknownConversation(f"there is no session {session!a}")
    return ConversationId(session)


# --- lists ----------------------------------------------------------------------------------------------------------


def list_sessions(_: AcpCall, given: p.ListSessions) -> Script[JsonObject]:
    try:
        after = place_of(given.cursor)
    except BadCursor as error:
        raise InvalidInput(f"cursor: {error}") from None
    page = yield from look_up(ListConversations(ListQuery(cwd=given.cwd, after=after, limit=PAGE)))
    cursor = {"nextCursor": cursor_of(page.next)} if page.next else {}
    return {"sessions": [_row(head) for head in page.heads], **cursor}


def _row(head: Head) -> JsonObject:
    title = head.title
    named = {"title": title} if title else {}
    return {"sessionId": head.conversation, "cwd": head.cwd, **named, "updatedAt": v1.moment(head.updated)}


def delete(call: AcpCall, given: p.Named) -> Script[JsonObject]:
    """Delete for good. What is not there is deleted already."""
    try:
        conversation = _named(given.session_id)
        call.state.close(conversation, "it was deleted")
        yield from look_up(Remove(conversation))
    except UnknownConversation:
        pass
    return {}


def close(call: AcpCall, given: p.Named) -> JsonObject:
    """Read no more. Turns go on: others may watch them."""
    call.state.close(ConversationId(given.session_id))
    return {}
