"""`subscriptions/listen`: an open request of the stateless revision that brings the notifications it asks for.

The acknowledgement comes first and names them; every notification names the request. The request ends with the
client's `notifications/cancelled`, or with the connection.
"""

from collections.abc import Iterable

from msgspec import Struct, field
from pydantic import Field

from actors.vocabulary.errors import Cancelled, GreenroomError
from actors.vocabulary.ids import Caller
from transports import jsonrpc
from transports.dialect import Action, Write
from transports.dialects.kit.conversation_readers import FULL, SinkReader
from transports.dialects.kit.identifiers import named_by
from transports.dialects.kit.refusals import MethodError
from transports.dialects.kit.script import Script
from transports.dialects.mcp.calls.extension_tasks import insist_on_tasks
from transports.dialects.mcp.protocol.listening_request import ListeningRequest, SubscriptionMeta
from transports.dialects.mcp.protocol.notifications import LIST_CHANGED, TOOLS_CHANGED, follow_list
from transports.dialects.mcp.protocol.revisions import McpParams
from transports.dialects.mcp.protocol.sinks import UpdateSink
from transports.dialects.mcp.protocol.state import McpCall

ACKNOWLEDGED = "notifications/subscriptions/acknowledged"


class WantedNotifications(McpParams):
    """The kinds of notifications that a client asks for. Unknown kinds are neither sent nor acknowledged."""

    tools_list_changed: bool = False
    resources_list_changed: bool = False
    resource_subscriptions: tuple[str, ...] = ()
    task_ids: tuple[str, ...] = ()


class AcknowledgedNotifications(Struct, frozen=True, rename="camel", omit_defaults=True):
    tools_list_changed: bool = False
    resources_list_changed: bool = False
    resource_subscriptions: tuple[str, ...] = ()


class Acknowledgement(Struct, frozen=True):
    meta: SubscriptionMeta = field(name="_meta")
    notifications: AcknowledgedNotifications


class Listen(McpParams):
    notifications: WantedNotifications = Field(default_factory=WantedNotifications)


def listen(call: McpCall, params: Listen) -> Script[None]:
    state, wanted = call.state, params.notifications
    if wanted.task_ids:
        insist_on_tasks(call)
    methods = {TOOLS_CHANGED: wanted.tools_list_changed, LIST_CHANGED: wanted.resources_list_changed}
    listening = ListeningRequest(call.request, frozenset(method for method, wants in methods.items() if wants))
    readers: list[SinkReader] = []
    state.listening_requests[call.request] = ListeningRequest(
        call.request, frozenset()
    )  # brings nothing before it is acknowledged
    try:
        yield from _read(call, wanted.resource_subscriptions, listening, readers)
        state.listening_requests[call.request] = listening
        if wanted.resources_list_changed:
            follow_list(state)
        yield (lambda caller: _acknowledgement(listening, wanted, readers, caller),)  # is never answered
    except Cancelled:
        pass  # a cancelled request gets no answer
    finally:
        del state.listening_requests[call.request]
        for reader in readers:
            state.readers.leave(reader)


def _read(call: McpCall, uris: Iterable[str], listening: ListeningRequest, readers: list[SinkReader]) -> Script[None]:
    """Attach a reader for each address of ours."""
    state = call.state
    for uri in dict.fromkeys(uris):
        address = named_by(uri)
        if address is None:
            continue
        if state.readers.full:
            raise MethodError(jsonrpc.INVALID_REQUEST, FULL)
        sink = UpdateSink(state, address[0], {uri}, state.scripts.number(), listening.meta, acknowledged=False)
        reader = state.readers.new(address[0], sink)
        try:
            yield from state.readers.attach(reader, None)
        except GreenroomError:
            continue  # no such conversation, so it is not acknowledged
        readers.append(reader)


def _acknowledgement(
    listening: ListeningRequest, wanted: WantedNotifications, readers: list[SinkReader], _: Caller
) -> Action:
    sinks = [reader.sink for reader in readers if isinstance(reader.sink, UpdateSink)]
    for sink in sinks:
        sink.acknowledged = True
    uris = tuple(uri for sink in sinks for uri in sink.uris)
    known = AcknowledgedNotifications(wanted.tools_list_changed, wanted.resources_list_changed, uris)
    return Write(jsonrpc.notification(ACKNOWLEDGED, Acknowledgement(listening.meta, known)))
