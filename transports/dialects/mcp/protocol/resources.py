"""Every conversation as a resource: `greenroom://conversation/ID` to read, `…/events` for programs."""

from datetime import UTC, datetime
from typing import TypeVar

from msgspec import UNSET, Struct, UnsetType

from actors.messages.routing import ListConversations
from actors.vocabulary.answers import Done
from actors.vocabulary.errors import GreenroomError, UnknownConversation
from actors.vocabulary.ids import ConversationId
from actors.vocabulary.records import Head, ListQuery, Record
from transports import jsonrpc
from transports.dialects.kit.conversation_readers import FULL
from transports.dialects.kit.identifiers import EVENTS, PREFIX, named_by, uri_of
from transports.dialects.kit.paged_history import RecentMessages, read_all
from transports.dialects.kit.paging import BadCursor, cursor_of, place_of
from transports.dialects.kit.refusals import MethodError
from transports.dialects.kit.script import Script, look_up
from transports.dialects.mcp.protocol.notifications import follow_list
from transports.dialects.mcp.protocol.revisions import McpParams
from transports.dialects.mcp.protocol.sinks import UpdateSink
from transports.dialects.mcp.protocol.state import McpCall, McpState
from transports.dialects.mcp.protocol.transcript import as_json, part_of

MARKDOWN, JSON = "text/markdown", "application/json"
NOT_FOUND = -32002  # MCP's own number for it
PAGE = 50
SPELLINGS = 8  # spellings of one watched conversation's address; each is notified

AnyList = TypeVar("AnyList")


class ResourceTemplate(Struct, frozen=True, rename="camel"):
    uri_template: str
    name: str
    title: str
    description: str
    mime_type: str


class ResourceTemplates(Struct, frozen=True, rename="camel"):
    resource_templates: tuple[ResourceTemplate, ...]


class Annotations(Struct, frozen=True, rename="camel"):
    last_modified: str


class ConversationResource(Struct, frozen=True, rename="camel"):
    uri: str
    name: str
    title: str
    description: str
    mime_type: str
    annotations: Annotations


class ResourcePage(Struct, frozen=True, rename="camel"):
    resources: list[ConversationResource]
    next_cursor: str | UnsetType = UNSET


class ResourceText(Struct, frozen=True, rename="camel"):
    uri: str
    mime_type: str
    text: str


class ReadResource(Struct, frozen=True):
    contents: tuple[ResourceText, ...]


TEMPLATES = (
    ResourceTemplate(PREFIX + "{id}", "conversation", "Conversation", "The transcript, to read.", MARKDOWN),
    ResourceTemplate(
        PREFIX + "{id}" + EVENTS,
        "conversation-events",
        "Conversation, as events",
        "The history as JSON, event by event.",
        JSON,
    ),
)


class ListPage(McpParams):
    cursor: str | None = None


class Uri(McpParams):
    uri: str


def list_all(call: McpCall, params: ListPage) -> Script[ResourcePage]:
    """List all; from now on a client of the handshake era is notified of changes."""
    if not call.peer.stateless:  # before the list is read, so that no change is missed
        follow_list(call.state)
    try:
        query = ListQuery(after=place_of(params.cursor), limit=PAGE)
    except BadCursor as error:
        raise _invalid_params(str(error)) from None
    page = yield from look_up(ListConversations(query))
    return ResourcePage([_resource(head) for head in page.heads], cursor_of(page.next) or UNSET)


def one_page(params: ListPage, result: AnyList) -> AnyList:
    """The only page; no cursor can be valid."""
    if params.cursor is not None:
        raise _invalid_params("this list has one page, so it has no cursors")
    return result


def templates(_: McpCall, params: ListPage) -> ResourceTemplates:
    return one_page(params, ResourceTemplates(TEMPLATES))


def read(_: McpCall, params: Uri) -> Script[ReadResource]:
    """Read a history; if it is too long for one answer, the newest part."""
    conversation, as_events = _conversation_at(params.uri)
    recent = RecentMessages()

    def keep(record: Record) -> None:
        part = as_json(record) if as_events else part_of(record)
        if part:
            recent.add(part.encode("utf-8", "replace"))

    try:
        yield from read_all(conversation, keep)
    except UnknownConversation:
        raise _not_found(params.uri) from None
    parts = [part.decode() for part in recent.messages]
    if as_events:
        text, kind = f'{{"left_out":{recent.left_out},"events":[{",".join(parts)}]}}', JSON
    else:
        start = [f"*{recent.left_out} earlier parts are not shown*"] if recent.left_out else []
        text, kind = "\n\n".join([*start, *parts]), MARKDOWN
    return ReadResource((ResourceText(params.uri, kind, text),))


# --- subscriptions ----------------------------------------------------------------------------------------------


def subscribe(call: McpCall, params: Uri) -> Script[Done]:
    state, (conversation, _) = call.state, _conversation_at(params.uri)
    watching = update_sink(state, conversation)
    if watching is not None:
        if len(watching.uris) >= SPELLINGS:
            raise MethodError(jsonrpc.INVALID_REQUEST, "too many spellings of one conversation's id are watched")
        watching.uris.add(params.uri)
        return Done()
    if state.readers.full:
        raise MethodError(jsonrpc.INVALID_REQUEST, FULL)
    reader = state.readers.new(conversation, UpdateSink(state, conversation, {params.uri}, state.scripts.number()))
    state.watched_resources[conversation] = reader
    try:
        yield from state.readers.attach(reader, None)
    except GreenroomError as why:
        if state.watched_resources.get(conversation) is reader:
            del state.watched_resources[conversation]
        raise _not_found(params.uri) if isinstance(why, UnknownConversation) else why from None
    return Done()


def unsubscribe(call: McpCall, params: Uri) -> Done:
    """Unsubscribe; the answer is the same if there was no subscription."""
    address = named_by(params.uri)
    sink = update_sink(call.state, address[0]) if address is not None else None
    if sink is not None:
        sink.uris.discard(params.uri)
        if not sink.uris:
            call.state.readers.leave(call.state.watched_resources.pop(sink.conversation))
    return Done()


def update_sink(state: McpState, conversation: ConversationId) -> UpdateSink | None:
    reader = state.watched_resources.get(conversation)
    return reader.sink if reader is not None and isinstance(reader.sink, UpdateSink) else None


def _invalid_params(why: str) -> MethodError:
    return MethodError(jsonrpc.INVALID_PARAMS, f"Invalid params: {why}")


def _conversation_at(uri: str) -> tuple[ConversationId, bool]:
    address = named_by(uri)
    if address is None:
        raise _not_found(uri)
    return address


def _not_found(uri: str) -> MethodError:
    return MethodError(NOT_FOUND, "Resource not found", {"uri": uri})


def _resource(head: Head) -> ConversationResource:
    changed = datetime.fromtimestamp(head.updated, tz=UTC).isoformat(timespec="seconds")
    return ConversationResource(
        uri=uri_of(head.conversation),
        name=head.name or head.conversation,
        title=head.title or head.conversation,
        description=f"{head.state}; {head.model} in {head.cwd}",
        mime_type=MARKDOWN,
        annotations=Annotations(changed),
    )
