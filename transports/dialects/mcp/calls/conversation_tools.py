"""The tools of August 2025: `conversationCreate`, `…SendMessage`, `…Stream`, `conversationsList`."""

from functools import partial

from msgspec import UNSET

from actors.messages.conversation import Send
from actors.messages.routing import ListConversations
from actors.vocabulary.errors import GreenroomError, UnknownConversation
from actors.vocabulary.ids import RequestId
from actors.vocabulary.records import ListQuery
from transports.dialect import Ask
from transports.dialects.kit.conversation_readers import FULL
from transports.dialects.kit.creation import begin, make_settings
from transports.dialects.kit.identifiers import fresh_conversation
from transports.dialects.kit.paging import BadCursor, cursor_of, place_of
from transports.dialects.kit.refusals import prefix_refusals
from transports.dialects.kit.script import Script, command, look_up
from transports.dialects.mcp.calls.results import CallResult, ToolError, payload, tool_error
from transports.dialects.mcp.protocol import arguments as a
from transports.dialects.mcp.protocol import tool_results as r
from transports.dialects.mcp.protocol.sinks import StreamSink, disconnection
from transports.dialects.mcp.protocol.state import McpCall, McpState
from transports.supervisor_requests import RememberEnvironment

PAGE = 100
TAKEN_OVER = "New stream() took over"


def create(call: McpCall, arguments: a.ConversationCreateArguments) -> Script[CallResult]:
    conversation = fresh_conversation()
    try:
        with prefix_refusals(ToolError, "Failed to load config"):
            made = yield from make_settings(call.state, arguments)
        with prefix_refusals(ToolError, "Failed to initialize session"):
            begun = yield from begin(call.state, conversation, made.settings)
    except ToolError as error:
        return payload(r.ConversationCreateContent(message=error.message), error=True)
    call.state.creating_requests[conversation] = call.request
    return payload(r.ConversationCreateContent(conversation, begun.settings.model))


def send_message(call: McpCall, arguments: a.ConversationSendMessageArguments) -> Script[CallResult]:
    """Send input; answered when it is stored. It can be cancelled until the turn that took it has ended."""
    if not arguments.content:
        return _send_error("No content items provided")
    state, conversation = call.state, arguments.conversation_id
    call.do(Ask(RememberEnvironment(conversation)))
    message = Send(arguments.content, key=call.saying.key, by=call.client.label, anew=not call.saying.again)
    try:
        yield from command(conversation, message, noted=partial(state.cancellable_messages.__setitem__, call.request))
    except GreenroomError as why:
        state.cancellable_messages.pop(call.request, None)
        if isinstance(why, UnknownConversation):
            return _send_error("Session does not exist")
        return _send_error(f"Failed to submit user input: {why.message}")
    return payload(r.SendMessageContent("ok"))


def _send_error(why: str) -> CallResult:
    return payload(r.SendMessageContent("error", why), error=True)


def stream(call: McpCall, arguments: a.ConversationStreamArguments) -> Script[CallResult | None]:
    """Stream: first the answer, then the state, then open questions, then live events."""
    state, conversation = call.state, arguments.conversation_id
    if state.readers.full:
        raise ToolError(FULL)
    reader = state.readers.new(conversation, StreamSink(state, conversation, call.request))
    try:
        yield from state.readers.attach(reader, 0)
    except GreenroomError:
        return tool_error()
    if reader not in state.readers:  # cancelled meanwhile
        return payload(r.StreamContent()) if state.options.answer_cancelled else None
    replaced = state.streams.get(conversation)
    state.streams[conversation] = reader
    if replaced is not None:
        state.readers.detach(replaced)
        call.do(disconnection(conversation, TAKEN_OVER))
    return payload(r.StreamContent())


def end_stream(state: McpState, request: RequestId) -> None:
    """End the stream that this request began, if it is open. Its turn and its questions go on."""
    for reader in state.readers:
        if isinstance(reader.sink, StreamSink) and reader.sink.request == request:
            if state.streams.get(reader.conversation) is reader:
                del state.streams[reader.conversation]
            state.readers.leave(reader)


def list_all(_: McpCall, arguments: a.ConversationsListArguments) -> Script[CallResult]:
    limit = PAGE if arguments.limit is None else arguments.limit
    if limit == 0:
        return payload(r.ConversationsListContent(()))
    try:
        query = ListQuery(after=place_of(arguments.cursor), limit=limit)
        page = yield from look_up(ListConversations(query))
    except (GreenroomError, BadCursor) as why:
        return payload(r.ConversationsListContent(message=str(why)), error=True)
    rows = tuple(r.TitledConversation(head.conversation, head.title) for head in page.heads)
    return payload(r.ConversationsListContent(rows, cursor_of(page.next) or UNSET))
