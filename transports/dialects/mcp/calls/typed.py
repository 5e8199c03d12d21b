"""The typed calls: `conversationCreate`, `conversationSendMessage`, `conversationStream`, `conversationsList`."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from actors.answers import Attached
from actors.errors import GreenroomError, UnknownConversation
from actors.ids import ConversationId, RequestId
from actors.messages import Begin, Send
from actors.registry_messages import Create, ListConversations, ToConversation
from transports import requests as ask
from transports.dialect import Action, Ask, Tell
from transports.dialects.mcp import arguments, creation
from transports.dialects.mcp.call import Call
from transports.dialects.mcp.decoding import Undecodable, decoded
from transports.dialects.mcp.identifiers import conversation_id
from transports.dialects.mcp.paging import BadCursor, page_of
from transports.dialects.mcp.readers import FULL, Reader
from transports.dialects.mcp.stream import TAKEN_OVER, StreamSink, disconnected

if TYPE_CHECKING:
    from transports.dialects.mcp.desk import Desk

PAGE = 100


def create(call: Call, given: Any) -> Iterable[Action]:
    wanted = decoded(arguments.ConversationCreate, given)
    conversation = ConversationId(str(uuid4()))
    yield from creation.ignoring(call, "conversationCreate", arguments.ConversationCreate, given)

    def failed(text: str) -> Iterable[Action]:
        return call.tool_payload({"message": text}, error=True)

    def made(answer: Any) -> Iterable[Action]:
        if isinstance(answer, GreenroomError):
            yield from failed(f"Failed to load config: {answer.message}")
            return
        yield from creation.notices(call, answer)
        yield Ask(ask.RememberEnvironment(None, conversation))
        yield from call.tell(lambda caller: Create(conversation, Begin(caller, answer.settings)), begun)

    def begun(answer: Any) -> Iterable[Action]:
        if isinstance(answer, GreenroomError):
            yield from failed(f"Failed to initialize session: {answer.message}")
            return
        call.desk.created.keep(conversation, call.request)
        yield from call.tool_payload({"conversation_id": conversation, "model": answer.settings.model})

    yield from call.ask(lambda token: creation.settings_request(token, call.desk.options.person, wanted), made)


def send_message(call: Call, given: Any) -> Iterable[Action]:
    """Answered when the input is kept. Its id can still be cancelled until the turn that took it has ended."""
    wanted = decoded(arguments.ConversationSendMessage, given)
    conversation = _known(wanted.conversation_id)
    desk = call.desk

    def failed(text: str) -> Iterable[Action]:
        return call.tool_payload({"status": "error", "message": text}, error=True)

    def accepted(answer: Any) -> Iterable[Action]:
        if not isinstance(answer, GreenroomError):
            return call.tool_payload({"status": "ok"})
        if desk.sent.get(call.request) == caller:
            desk.sent.pop(call.request)
        if isinstance(answer, UnknownConversation):
            return failed("Session does not exist")
        return failed(f"Failed to submit user input: {answer.message}")

    yield from creation.ignoring(call, "conversationSendMessage", arguments.ConversationSendMessage, given)
    if not wanted.content:
        yield from failed("No content items provided")
        return
    caller = desk.expected.reply(accepted)
    desk.sent.keep(call.request, caller)
    yield Ask(ask.RememberEnvironment(None, conversation))
    yield Tell(ToConversation(conversation, Send(caller, wanted.content, by=desk.client.label)))


def stream(call: Call, given: Any) -> Iterable[Action]:
    """First the answer, then the state, then what waits for an approval, then live."""
    conversation = _known(decoded(arguments.ConversationStream, given).conversation_id)
    desk = call.desk
    if desk.readers.full:
        yield from call.tool_error(FULL)
        return
    reader = desk.readers.new(conversation, StreamSink(desk, conversation, call.request))

    def attached(answer: Any) -> Iterable[Action]:
        if not isinstance(answer, Attached):
            yield from call.finish({"content": [], "isError": True})
            return
        if reader not in desk.readers:  # cancelled before it stood
            yield from call.tool_payload({}) if desk.options.answer_cancelled else call.drop()
            return
        replaced = desk.streams.get(conversation)
        desk.streams[conversation] = reader
        if replaced is not None:
            yield from desk.readers.detach(replaced)
            yield disconnected(conversation, TAKEN_OVER)
        yield from call.tool_payload({})

    yield from desk.readers.attach(reader, 0, attached)


def stream_of(desk: "Desk", request: RequestId) -> Reader | None:
    """The stream that this request began, if it is on. Another request's is none of its business."""
    for reader in desk.readers:
        if isinstance(reader.sink, StreamSink) and reader.sink.request == request:
            return reader
    return None


def stream_off(desk: "Desk", reader: Reader) -> Iterable[Action]:
    """Its turn goes on, and so does a question that was put already."""
    if desk.streams.get(reader.conversation) is reader:
        del desk.streams[reader.conversation]
    return desk.leave(reader)


def list_all(call: Call, given: Any) -> Iterable[Action]:
    wanted = decoded(arguments.ConversationsList, given)

    def listed(answer: Any) -> Iterable[Action]:
        if isinstance(answer, GreenroomError):
            return call.tool_payload({"message": answer.message}, error=True)
        limit = PAGE if wanted.limit is None else wanted.limit
        try:
            heads, cursor = page_of(answer.heads, wanted.cursor, limit)
        except BadCursor as error:
            return call.tool_payload({"message": str(error)}, error=True)
        rows = [{"conversation_id": head.conversation, "title": head.name or head.preview} for head in heads]
        return call.tool_payload({"conversations": rows, **({"next_cursor": cursor} if cursor else {})})

    return call.tell(ListConversations, listed)


def _known(text: str) -> ConversationId:
    try:
        return conversation_id(text)
    except ValueError as error:
        raise Undecodable(str(error)) from None
