"""The dialect of MCP, with further methods on the same connection: lines to scripts, answers and slices to lines.

Part of its connection. Open requests and readers are in the client's state; this module only routes.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import assert_never

from actors.messages.conversation import CancelRequest
from actors.vocabulary.errors import GreenroomError
from actors.vocabulary.ids import Caller, RequestId
from transports import jsonrpc
from transports.dialect import Action, Client, Tell
from transports.dialects.kit.methods import Method
from transports.dialects.kit.reading_dialect import ReadingDialect
from transports.dialects.kit.refusals import MethodError
from transports.dialects.mcp import stateless
from transports.dialects.mcp.calls.conversation_tools import end_stream
from transports.dialects.mcp.methods import METHODS
from transports.dialects.mcp.protocol import conversation_waits, notifications, replay, sinks
from transports.dialects.mcp.protocol.decoding import Undecodable, decode
from transports.dialects.mcp.protocol.elicitation import reply_of
from transports.dialects.mcp.protocol.introduction import DISCOVER
from transports.dialects.mcp.protocol.options import McpOptions
from transports.dialects.mcp.protocol.revisions import ClientMeta, introduction_of
from transports.dialects.mcp.protocol.state import McpCall, McpState
from transports.dialects.mcp.protocol.turn_requests import ProgressToken


class McpDialect(ReadingDialect):
    _state: McpState

    def __init__(
        self,
        client: Client,
        fresh: Callable[[], McpOptions] = McpOptions,
        methods: Mapping[str, Method[McpCall]] | None = None,
    ) -> None:
        """`fresh` makes the options, now and after the config was read again. `methods`: besides those of MCP."""
        self._state = McpState(client, fresh)
        self._methods = {**METHODS, **(methods or {})}

    # --- from the client ------------------------------------------------------------------------------------------

    def receive_line(self, line: bytes) -> Iterable[Action]:
        batch = jsonrpc.read_batch(line) if self._state.takes_batches else None
        for message in [jsonrpc.read(line)] if batch is None else batch:
            self._take(message)
        return self._state.take_actions()

    def _take(self, message: jsonrpc.Message) -> None:
        match message:
            case jsonrpc.Request():
                self._request(message)
            case jsonrpc.Notification("notifications/cancelled", params):
                self._handle_cancellation(params)
            case jsonrpc.Notification(replay.RECONNECTED, params):
                self._state.take_over_lost(params)
            case jsonrpc.Notification():
                pass
            case jsonrpc.Response(number, result):
                self._state.questions.decide(number, reply_of(result))
            case jsonrpc.ErrorResponse(number):
                self._state.questions.decline(number)
            case jsonrpc.Malformed(code, text, request):
                self._write(jsonrpc.error(request, code, text))
            case _:
                assert_never(message)

    def _request(self, request: jsonrpc.Request) -> None:
        raw_params, state = {} if request.params is None else request.params, self._state
        member = raw_params.get("_meta") if isinstance(raw_params, dict) else None
        meta = member if isinstance(member, dict) else {}
        try:
            peer = introduction_of(request.method, meta, state.era)
        except MethodError as why:
            return self._finish(request.id, why)
        if peer is not None:
            state.meet(peer, lasting=request.method != DISCOVER)
        methods = self._methods if peer is None else stateless.METHODS
        method = methods.get(request.method)
        if method is None:
            text = f"Method not found: {request.method}"
            return self._write(jsonrpc.error(request.id, jsonrpc.METHOD_NOT_FOUND, text))
        try:
            params = decode(method.params, raw_params)
        except Undecodable as error:
            return self._write(jsonrpc.error(request.id, jsonrpc.INVALID_PARAMS, f"Invalid params: {error}"))
        refusal = state.requests.refusal(request.id, urgent=method.urgent(params))
        if refusal is not None:
            return self._write(jsonrpc.refusal_line(request.id, refusal))
        state.cancellable_messages.pop(request.id, None)  # the id now names this request
        if peer is None and request.method not in METHODS:
            state.note_ignored(request.method, method.params, raw_params)
        call = McpCall(state, request.id, peer or state.peer, _progress_token(meta))
        finish = self._finish if peer is None else stateless.finish(request.method, state.version, self._finish)
        return state.requests.run(request.id, method.begin(call, params), finish)

    def _finish(self, request: RequestId, outcome: object) -> None:
        match outcome:
            case None:
                pass  # its client took it back
            case MethodError():
                self._write(jsonrpc.error(request, outcome.number, outcome.message, outcome.data))
            case GreenroomError():
                self._write(jsonrpc.refusal_line(request, outcome))
            case _:
                self._write(jsonrpc.result(request, outcome))

    def _handle_cancellation(self, params: jsonrpc.Params) -> None:
        """Cancel the object that the id still names: a call, a message whose turn has not ended, a stream.

        An unknown id is no error; the answer may have crossed the cancellation.
        """
        state, request = self._state, params.get("requestId") if isinstance(params, dict) else None
        if not isinstance(request, int | str) or isinstance(request, bool):
            return
        call = state.calls.get(request)
        if call is not None and not call.cancelled:
            call.cancelled = True
            if call.sent and not call.task:  # the conversation decides the outcome
                state.requests.cancel(request, state.client.label)
            else:
                state.requests.stop(request)
        wait = state.waits.get(request)
        if wait is not None:
            wait.cancelled = True
            wait.end()
        caller = state.cancellable_messages.pop(request, None)
        if caller is not None:
            state.do(Tell(CancelRequest(caller, state.client.label)))
        if request in state.listening_requests:
            state.requests.stop(request)
        end_stream(state, request)

    # --- from timers and the daemon ---------------------------------------------------------------------------------

    def wake(self, name: str) -> Iterable[Action]:
        state, (kind, _, subject) = self._state, name.partition(":")
        match kind:
            case notifications.PROGRESS:
                call = state.calls.with_number(int(subject))
                if call is not None:
                    notifications.tell_progress(state, call, call.activity)
                    notifications.follow_progress(state, call, state.options.progress_seconds)
            case conversation_waits.WAIT:
                state.scripts.take_answer(Caller(state.client.connection, int(subject)), None)
            case notifications.LIST:
                state.scripts.run(notifications.tell_list_change(state, int(subject)))
            case sinks.UPDATED:
                for reader in state.readers:
                    if isinstance(reader.sink, sinks.UpdateSink) and reader.sink.number == int(subject):
                        reader.sink.notify_if_changed()
            case _:
                raise ValueError(f"unknown timer {name}")
        return state.take_actions()

    def reconfigure(self) -> Iterable[Action]:
        state, tools = self._state, self._state.options.tools
        state.configure()
        if state.options.tools != tools:
            state.tell_change(notifications.TOOLS_CHANGED)
        return state.take_actions()

    def announce(self, text: str) -> Iterable[Action]:
        if self._state.has_shaken_hands:
            self._state.log.say("error", text)
        return self._state.take_actions()


def _progress_token(meta: ClientMeta) -> ProgressToken | None:
    token = meta.get("progressToken")
    return token if isinstance(token, int | str) and not isinstance(token, bool) else None
