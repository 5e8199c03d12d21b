"""Every conversation as a resource: `greenroom://conversation/ID` to read, `…/events` for programs."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict

from actors.effects import Slice
from actors.errors import GreenroomError, UnknownConversation
from actors.ids import ConversationId
from actors.records import Head, Record
from actors.registry_messages import ListConversations
from transports import jsonrpc
from transports.dialect import Action, Wake, Write
from transports.dialects.mcp import list_changes
from transports.dialects.mcp.call import Call
from transports.dialects.mcp.history import read_all
from transports.dialects.mcp.identifiers import conversation_id
from transports.dialects.mcp.paging import BadCursor, page_of
from transports.dialects.mcp.readers import FULL
from transports.dialects.mcp.stream import History
from transports.dialects.mcp.transcript import as_json, part_of

if TYPE_CHECKING:
    from transports.dialects.mcp.desk import Desk

PREFIX = "greenroom://conversation/"
EVENTS = "/events"
MARKDOWN, JSON = "text/markdown", "application/json"
NOT_FOUND = -32002  # MCP's own number for it
PAGE = 50
SPELLINGS = 8  # of the address of one conversation that a client watches; each is told
UPDATED_EVERY_S = 1.0  # a running turn says something many times a second
WAKE = "updated"

TEMPLATES = [
    {
        "uriTemplate": PREFIX + "{id}",
        "name": "conversation",
        "title": "Conversation",
        "description": "The transcript, to read.",
        "mimeType": MARKDOWN,
    },
    {
        "uriTemplate": PREFIX + "{id}" + EVENTS,
        "name": "conversation-events",
        "title": "Conversation, as events",
        "description": "The history as JSON, event by event.",
        "mimeType": JSON,
    },
]


class Page(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")
    cursor: str | None = None


class Uri(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")
    uri: str


def uri_of(conversation: str) -> str:
    return PREFIX + conversation


def named(uri: str) -> tuple[ConversationId, bool] | None:
    """The conversation and whether its events are meant, or None for what is no resource of ours."""
    rest = uri.removeprefix(PREFIX)
    try:
        conversation = conversation_id(rest.removesuffix(EVENTS))
    except ValueError:
        return None
    return (conversation, rest.endswith(EVENTS)) if rest != uri else None


def list_all(call: Call, wanted: Page) -> Iterable[Action]:
    """Who looks at the list is told from now on when it has changed."""

    def listed(answer: Any) -> Iterable[Action]:
        if isinstance(answer, GreenroomError):
            return call.refuse(answer)
        try:
            heads, cursor = page_of(answer.heads, wanted.cursor, PAGE)
        except BadCursor as error:
            return call.fail(jsonrpc.INVALID_PARAMS, f"Invalid params: {error}")
        more = {"nextCursor": cursor} if cursor else {}
        return call.finish({"resources": [_resource(head) for head in heads], **more})

    yield from list_changes.follow(call.desk)
    yield from call.tell(ListConversations, listed)


def one_page(call: Call, wanted: Page, result: dict[str, Any]) -> Iterable[Action]:
    """All there is; a cursor can't be one of ours."""
    if wanted.cursor is not None:
        return call.fail(jsonrpc.INVALID_PARAMS, "Invalid params: this list has one page, so it has no cursors")
    return call.finish(result)


def templates(call: Call, wanted: Page) -> Iterable[Action]:
    return one_page(call, wanted, {"resourceTemplates": TEMPLATES})


def read(call: Call, wanted: Uri) -> Iterable[Action]:
    """The newest part of a history that is too long to be read at once."""
    meant = named(wanted.uri)
    if meant is None:
        return _not_found(call, wanted.uri)
    conversation, as_events = meant
    history = History()

    def keep(record: Record) -> None:
        part = json.dumps(as_json(record), ensure_ascii=False) if as_events else part_of(record)
        if part:
            history.add(part.encode("utf-8", "replace"))

    def done(refusal: GreenroomError | None) -> Iterable[Action]:
        if isinstance(refusal, UnknownConversation):
            return _not_found(call, wanted.uri)
        if refusal is not None:
            return call.refuse(refusal)
        parts = [part.decode() for part in history.messages]
        if as_events:
            text, kind = f'{{"left_out":{history.left_out},"events":[{",".join(parts)}]}}', JSON
        else:
            start = [f"*{history.left_out} earlier parts are not shown*"] if history.left_out else []
            text, kind = "\n\n".join([*start, *parts]), MARKDOWN
        return call.finish({"contents": [{"uri": wanted.uri, "mimeType": kind, "text": text}]})

    return read_all(call, conversation, keep, done)


# --- subscriptions ----------------------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class UpdateSink:
    """Says that there is something new, at most once in a while. Which form of it was meant makes no difference."""

    desk: "Desk"
    conversation: ConversationId
    uris: set[str]
    resting: bool = False
    changed: bool = False
    answers: bool = False

    def take(self, slice_: Slice) -> Iterable[Action]:
        yield from self.desk.questions.settle(slice_)
        if slice_.records:
            self.changed = True
            if not self.resting:
                yield from self.rested()

    def rested(self) -> Iterable[Action]:
        self.resting = self.changed
        if self.changed:
            self.changed = False
            for uri in sorted(self.uris):
                yield Write(jsonrpc.notification("notifications/resources/updated", {"uri": uri}))
            yield Wake(f"{WAKE}:{self.conversation}", UPDATED_EVERY_S)

    def lost(self, reason: str) -> Iterable[Action]:
        self.desk.watched.pop(self.conversation, None)
        yield from self.desk.nobody_reads(self.conversation, reason)


def subscribe(call: Call, wanted: Uri) -> Iterable[Action]:
    meant, desk = named(wanted.uri), call.desk
    if meant is None:
        return _not_found(call, wanted.uri)
    conversation = meant[0]
    watching = desk.watched.get(conversation)
    if watching is not None and isinstance(watching.sink, UpdateSink):
        if len(watching.sink.uris) >= SPELLINGS:
            return call.fail(jsonrpc.INVALID_REQUEST, "too many spellings of one conversation's id are watched")
        watching.sink.uris.add(wanted.uri)
        return call.finish({})
    if desk.readers.full:
        return call.fail(jsonrpc.INVALID_REQUEST, FULL)
    reader = desk.watched[conversation] = desk.readers.new(conversation, UpdateSink(desk, conversation, {wanted.uri}))

    def attached(answer: Any) -> Iterable[Action]:
        if not isinstance(answer, GreenroomError):
            return call.finish({})
        if desk.watched.get(conversation) is reader:
            del desk.watched[conversation]
        return _not_found(call, wanted.uri) if isinstance(answer, UnknownConversation) else call.refuse(answer)

    return desk.readers.attach(reader, None, attached)


def unsubscribe(call: Call, wanted: Uri) -> Iterable[Action]:
    """What was not subscribed to is not, afterwards, either."""
    meant, desk = named(wanted.uri), call.desk
    reader = desk.watched.get(meant[0]) if meant is not None else None
    if reader is not None and isinstance(reader.sink, UpdateSink):
        reader.sink.uris.discard(wanted.uri)
        if not reader.sink.uris:
            del desk.watched[reader.conversation]
            yield from desk.leave(reader)
    yield from call.finish({})


def woken(desk: "Desk", conversation: str) -> Iterable[Action]:
    reader = desk.watched.get(ConversationId(conversation))
    return reader.sink.rested() if reader is not None and isinstance(reader.sink, UpdateSink) else ()


def _not_found(call: Call, uri: str) -> Iterable[Action]:
    return call.fail(NOT_FOUND, "Resource not found", {"uri": uri})


def _resource(head: Head) -> dict[str, Any]:
    changed = datetime.fromtimestamp(head.updated, tz=UTC).isoformat(timespec="seconds")
    return {
        "uri": uri_of(head.conversation),
        "name": head.name or head.conversation,
        "title": head.name or head.preview or head.conversation,
        "description": f"{head.state}; {head.model} in {head.cwd}",
        "mimeType": MARKDOWN,
        "annotations": {"lastModified": changed},
    }
