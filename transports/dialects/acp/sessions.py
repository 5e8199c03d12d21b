"""Sessions: made, loaded, resumed, attached by a bridge, listed, forked, deleted, closed."""

from collections import deque
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from actors.messages.conversation import Archive, ToConversation
from actors.messages.routing import ListConversations, Remove
from actors.vocabulary.answers import ConversationSummary, Done
from actors.vocabulary.errors import Cancelled, GreenroomError, InvalidInput, UnknownConversation
from actors.vocabulary.event_bases import MOST
from actors.vocabulary.ids import ConversationId
from actors.vocabulary.records import Head, ListQuery, Record
from transports.dialect import Ask, Tell
from transports.dialects.acp import params as p
from transports.dialects.acp.directories import open_directories, with_directories
from transports.dialects.acp.settings import Offers, options_of
from transports.dialects.acp.sink import SessionSink
from transports.dialects.acp.state import AcpCall, AcpState, EditorSession
from transports.dialects.acp.update_json import SessionSettings, settings
from transports.dialects.acp.updates import Commands, Option, Remark, SessionTitle
from transports.dialects.kit.creation import begin, make_settings
from transports.dialects.kit.identifiers import fresh_conversation
from transports.dialects.kit.moments import moment
from transports.dialects.kit.paging import BadCursor, cursor_of, place_of
from transports.dialects.kit.script import WHOLE_ID, Script, ask, look_up
from transports.supervisor_requests import Fork, GiveServers, ListAgents, ReadConfig, ReadHistory, RememberEnvironment

PAGE = 100  # sessions on one page of a list
LOOK_BACK = 200  # events before a resuming client's place; a waiting call is rarely older
RESUME_BYTES = 1 << 20  # bytes of events, searched for running calls and the agent's commands


class NewSession(SessionSettings, frozen=True, rename="camel", kw_only=True):
    session_id: str


class ListedSession(Struct, frozen=True, omit_defaults=True, rename="camel"):
    session_id: str
    cwd: str
    updated_at: str
    title: str = ""


class SessionPage(Struct, frozen=True, omit_defaults=True, rename="camel"):
    sessions: tuple[ListedSession, ...]
    next_cursor: str | None = None


class OpenedSession(Struct, frozen=True):
    """The result of a request that opens a session, sent before its updates. `described`: its state follows."""

    result: SessionSettings
    session: EditorSession
    described: bool


# --- opening --------------------------------------------------------------------------------------------------------


def new(call: AcpCall, params: p.NewSessionParams) -> Script[OpenedSession]:
    state = call.state
    derived = yield from make_settings(state, params)
    settings = yield from with_directories(call, derived.settings, params.additional_directories)
    conversation = fresh_conversation()
    offers = yield from _offers(state)
    session = state.open(conversation)
    session.offers = offers
    try:
        _give(state, conversation, params.mcp_servers)
        yield from begin(state, conversation, settings)
        yield from _attach(state, session, 0)
    except Cancelled:  # its id was never sent, so lists must not show it either
        state.close(conversation)
        state.do(Tell(ToConversation(conversation, Archive())))
        raise
    except GreenroomError:
        state.close(conversation)
        raise
    return OpenedSession(_new(conversation, _settings(session)), session, described=False)


def load(call: AcpCall, params: p.OpenSessionParams) -> Script[SessionSettings]:
    """Send the whole history, as far as it fits, then the state; the answer follows both."""
    state = call.state
    session, records = yield from _read(state, params, state.options.load_bytes)
    _replay(state, session, records)
    yield from _finish_opening(call, session, records, params)
    _tell_notices(state, session)
    describe(state, session)
    session.opening = False
    return _settings(session)


def resume(call: AcpCall, params: p.OpenSessionParams) -> Script[OpenedSession]:
    """Continue a session whose history the client has or does not want."""
    session, records = yield from _read(call.state, params, RESUME_BYTES)
    for record in records:
        deque(session.translator.take(record), maxlen=0)
    yield from _finish_opening(call, session, records, params)
    return OpenedSession(_settings(session), session, described=True)


def attach(call: AcpCall, params: p.AttachSessionParams) -> Script[Done]:
    """Continue where the client stood with another daemon, or on another connection.

    The reader comes first: a prompt may follow at once.
    """
    state, conversation = call.state, _conversation_of(params.session_id)
    session = state.open(conversation, params.shown)
    session.opening = False
    _enter(state, conversation, params.mcp_servers)
    try:
        yield from _attach(state, session, params.after, LOOK_BACK)
    except InvalidInput as why:  # events that the client has were lost in a power cut
        last = why.details.get("last_seq")
        if not isinstance(last, int):
            state.close(conversation)
            raise
        yield from _attach(state, session, last, LOOK_BACK)
    except GreenroomError:
        state.close(conversation)
        raise
    session.offers = yield from _offers(state)
    return Done()


def fork(call: AcpCall, params: p.OpenSessionParams) -> Script[OpenedSession]:
    source = _conversation_of(params.session_id)
    copy = yield from ask(Fork(source, fresh_conversation(), by=call.client.label))
    forked = params.model_copy(update={"session_id": copy.conversation})
    opened = yield from resume(call, forked)
    return replace(opened, result=_new(copy.conversation, opened.result))


def describe(state: AcpState, session: EditorSession) -> None:
    """Send the state of a session to a client that begins to read."""
    translator = session.translator
    state.tell(session, SessionTitle(translator.title, translator.updated))
    state.tell(session, translator.commands or Commands(()))
    if translator.usage is not None:
        state.tell(session, translator.usage)


def follow(state: AcpState, opened: OpenedSession) -> None:
    """Send the updates that follow the result of a request that opens a session."""
    session = opened.session
    session.opening = False
    _tell_notices(state, session)
    if opened.described:
        _describe_resumed(state, session)


def _tell_notices(state: AcpState, session: EditorSession) -> None:
    for at, (severity, text) in enumerate(state.log.take_waiting()):
        if severity != "info" or state.abilities.notices:  # as a message it would look like part of the answer
            state.tell(session, Remark(severity, text, f"notice-{at}"))


def _describe_resumed(state: AcpState, session: EditorSession) -> None:
    """Send the updates for a client that has the history of a session, or wants none."""
    state.tell(session, *session.translator.calls.running())
    describe(state, session)


def _read(state: AcpState, params: p.OpenSessionParams, most: int) -> Script[tuple[EditorSession, Sequence[Record]]]:
    conversation = _conversation_of(params.session_id)
    records = yield from _newest(conversation, most)
    offers = yield from _offers(state)
    session = state.open(conversation)
    session.offers = offers
    session.translator.replays, session.translator.calls.screens = True, False
    _enter(state, conversation, params.mcp_servers)
    return session, records


def _finish_opening(
    call: AcpCall, session: EditorSession, records: Sequence[Record], params: p.OpenSessionParams
) -> Script[None]:
    state = call.state
    session.translator.replays, session.translator.calls.screens = False, state.abilities.screens
    try:
        yield from _attach(state, session, records[-1].seq if records else 0)
        yield from open_directories(call, session, params.additional_directories)
    except GreenroomError:
        state.close(session.conversation)
        raise


def _replay(state: AcpState, session: EditorSession, records: Sequence[Record]) -> None:
    left_out = records[0].seq - 1 if records else 0
    if left_out:
        text = f"{left_out:,} earlier events of this conversation are not shown (greenroom.acp.load_bytes)"
        state.tell(session, Remark("info", text, "left-out"))
    for record in records:
        state.tell(session, *session.translator.take(record), seq=record.seq)


def _newest(conversation: ConversationId, most: int) -> Script[Sequence[Record]]:
    """The newest events, whole and in order, within a bound."""
    records: deque[Record] = deque()
    size, before, complete = 0, MOST, False
    while not complete and size < most:
        part = yield from ask(ReadHistory(conversation, before=before))
        records.extendleft(reversed(part.page.records))
        size += sum(len(record.body) for record in part.page.records)
        complete = part.complete or not part.page.records
        before = records[0].seq if records else before
    while size > most and len(records) > 1:
        size -= len(records.popleft().body)
    return records


def _attach(state: AcpState, session: EditorSession, after: int, back: int = 0) -> Script[ConversationSummary]:
    """Begin to read after `after`. `back`: events before that are read, too, for their open calls."""
    reader = state.readers.new(session.conversation, SessionSink(state, session))
    session.reader, session.seq, session.known_seq = reader, after, after
    attached = yield from state.readers.attach(reader, max(0, after - back))
    session.translator.take_over(attached.summary)
    session.runs = session.translator.turns
    return attached.summary


def _offers(state: AcpState) -> Script[Offers]:
    """Ask for the present choices: models in the config, installed agents."""
    config_answer = yield from ask(ReadConfig())
    agent_list = yield from ask(ListAgents())
    config = config_answer.value
    model_names = [
        config.get("model"),
        *(profile.get("model") for profile in (config.get("profiles") or {}).values()),
    ]
    models = tuple(dict.fromkeys(name for name in model_names if name))
    agents = tuple((agent.name, agent.title) for agent in agent_list.agents if agent.state != "missing")
    return Offers(models, agents, state.options.widest)


def _settings(session: EditorSession) -> SessionSettings:
    return settings(session_options(session))


def _new(conversation: ConversationId, opened: SessionSettings) -> NewSession:
    return NewSession(opened.modes, opened.config_options, session_id=conversation)


def session_options(session: EditorSession) -> tuple[Option, ...]:
    translator = session.translator
    if translator.settings is None:
        return ()
    return options_of(translator.settings, session.offers, translator.agent_options)


def _enter(state: AcpState, conversation: ConversationId, servers: p.Servers) -> None:
    state.do(Ask(RememberEnvironment(conversation)))
    _give(state, conversation, servers)


def _give(state: AcpState, conversation: ConversationId, servers: p.Servers) -> None:
    """Give the client's servers; without any, the servers of another client stay."""
    if servers:
        state.do(Ask(GiveServers(conversation, tuple(server.to_given_server() for server in servers))))


def _conversation_of(session: str) -> ConversationId:
    if not WHOLE_ID.fullmatch(session):
        raise UnknownConversation(f"there is no session {session!a}")
    return ConversationId(session)


# --- lists ----------------------------------------------------------------------------------------------------------


def list_sessions(_: AcpCall, params: p.ListSessionsParams) -> Script[SessionPage]:
    try:
        after = place_of(params.cursor)
    except BadCursor as error:
        raise InvalidInput(f"cursor: {error}") from None
    page = yield from look_up(ListConversations(ListQuery(cwd=params.cwd, after=after, limit=PAGE)))
    return SessionPage(tuple(map(_row, page.heads)), cursor_of(page.next))


def _row(head: Head) -> ListedSession:
    return ListedSession(head.conversation, head.cwd, moment(head.updated), head.title)


def delete(call: AcpCall, params: p.SessionParams) -> Script[Done]:
    """Delete for good. A missing session counts as deleted."""
    try:
        conversation = _conversation_of(params.session_id)
        call.state.close(conversation, "it was deleted")
        yield from look_up(Remove(conversation))
    except UnknownConversation:
        pass
    return Done()


def close(call: AcpCall, params: p.SessionParams) -> Done:
    """Stop reading. Turns go on: other clients may watch them."""
    call.state.close(ConversationId(params.session_id))
    return Done()
