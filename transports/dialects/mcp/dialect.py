"""Speaks MCP and the conversation methods on one connection: lines to calls, answers and slices to lines.

Part of its connection. What is open lies on the desk; here it is only decided who gets what.
"""

from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any, assert_never

from actors.effects import Deliver, EndSubscription, ReplyTo
from actors.ids import SubscriptionId
from transports import jsonrpc
from transports.dialect import Action, Client, Write
from transports.dialects.codex.methods import METHODS as CODEX_METHODS
from transports.dialects.mcp import creation, list_changes, progress, resources
from transports.dialects.mcp.call import Call, ProgressToken
from transports.dialects.mcp.cancelled import cancelled
from transports.dialects.mcp.decoding import Undecodable, decoded
from transports.dialects.mcp.desk import Desk
from transports.dialects.mcp.methods import METHODS as MCP_METHODS
from transports.dialects.mcp.options import McpOptions
from transports.dialects.mcp.revisions import REVISIONS, UNSUPPORTED, unsupported
from transports.requests import Served

METHODS = {**CODEX_METHODS, **MCP_METHODS}


class McpDialect:
    def __init__(self, client: Client, fresh: Callable[[], McpOptions] = McpOptions) -> None:
        """`fresh` makes the options, now and when the config was read again."""
        self._fresh = fresh
        self._desk = Desk(client, fresh())

    # --- from the client ------------------------------------------------------------------------------------------

    def opened(self) -> Iterable[Action]:
        return ()

    def arrived(self, line: bytes) -> Iterable[Action]:
        message = jsonrpc.read(line)
        match message:
            case jsonrpc.Request():
                return self._request(message)
            case jsonrpc.Notification(method, params):
                return cancelled(self._desk, params) if method == "notifications/cancelled" else ()
            case jsonrpc.Response(number, result):
                return self._desk.questions.decide(number, result)
            case jsonrpc.ErrorResponse(number):
                return self._desk.questions.decline(number)
            case jsonrpc.Malformed(code, text, request):
                return (Write(jsonrpc.error(request, code, text)),)
            case _:
                assert_never(message)

    def skipped(self, reason: str) -> Iterable[Action]:
        return (Write(jsonrpc.error(None, jsonrpc.INVALID_REQUEST, reason)),)

    def _request(self, request: jsonrpc.Request) -> Iterable[Action]:
        named = unsupported(request.params)
        if named is not None and request.method != "initialize":  # which agrees on a revision of its own
            data = {"supported": list(REVISIONS), "requested": named}
            text = f"Unsupported protocol version: {named}; initialize with one of {', '.join(REVISIONS)}"
            return (Write(jsonrpc.error(request.id, UNSUPPORTED, text, data)),)
        method = METHODS.get(request.method)
        if method is None:
            text = f"Method not found: {request.method}"
            return (Write(jsonrpc.error(request.id, jsonrpc.METHOD_NOT_FOUND, text)),)
        try:
            params = decoded(method.params, {} if request.params is None else request.params)
        except Undecodable as error:
            return (Write(jsonrpc.error(request.id, jsonrpc.INVALID_PARAMS, f"Invalid params: {error}")),)
        refusal = self._desk.open.admit(request.id, urgent=method.urgent(params))
        if refusal is not None:
            return (Write(jsonrpc.refused(request.id, refusal)),)
        self._desk.sent.pop(request.id)  # the id is in use again and means this one now
        call = Call(self._desk, request.id, _progress_token(request.params))
        actions = method.handler(call, params)
        if request.method in CODEX_METHODS:
            actions = chain(creation.ignoring(call, request.method, method.params, request.params or {}), actions)
        return actions

    # --- from the actors ------------------------------------------------------------------------------------------

    def replied(self, reply: ReplyTo) -> Iterable[Action]:
        return self._desk.expected.replied(reply.caller, reply.answer)

    def delivered(self, deliver: Deliver) -> Iterable[Action]:
        """Everything a slice leads to in one piece, after which the reader is ready for the next."""
        return _in_one_write(self._desk.readers.deliver(deliver), deliver.subscription)

    def ended(self, end: EndSubscription) -> Iterable[Action]:
        return self._desk.readers.ended(end)

    def served(self, answer: object) -> Iterable[Action]:
        return self._desk.expected.served(answer.token, answer.answer) if isinstance(answer, Served) else ()

    def woken(self, name: str) -> Iterable[Action]:
        desk = self._desk
        kind, _, rest = name.partition(":")
        match kind:
            case progress.WAKE:
                turn = desk.running.numbered(int(rest))
                return progress.beat(turn, desk.options.progress_seconds) if turn is not None else ()
            case list_changes.WAKE:
                return list_changes.woken(desk, rest)
            case resources.WAKE:
                return resources.woken(desk, rest)
            case _:
                raise ValueError(f"unknown timer {name}")

    def reconfigured(self) -> Iterable[Action]:
        desk, before = self._desk, self._desk.options
        desk.options = self._fresh()
        if desk.initialized and desk.options.tools != before.tools:
            yield Write(jsonrpc.notification("notifications/tools/list_changed"))

    def announced(self, text: str) -> Iterable[Action]:
        return self._desk.loudness.say("error", text) if self._desk.initialized else ()

    def statistics(self) -> dict[str, int]:
        """What there is of everything that could grow."""
        desk = self._desk
        return {
            "requests": len(desk.open),
            "expected": len(desk.expected),
            "readers": len(desk.readers),
            "running": len(desk.running),
            "questions": len(desk.questions),
            "unasked": desk.questions.unasked,
            "streams": len(desk.streams),
            "listeners": len(desk.listeners),
            "watched": len(desk.watched),
        }


def _progress_token(params: jsonrpc.Params) -> ProgressToken | None:
    meta: Any = params.get("_meta") if isinstance(params, dict) else None
    token = meta.get("progressToken") if isinstance(meta, dict) else None
    return token if isinstance(token, int | str) and not isinstance(token, bool) else None


def _in_one_write(actions: Iterable[Action], ready: SubscriptionId) -> Iterable[Action]:
    lines: list[bytes] = []
    others: list[Action] = []
    for action in actions:
        if isinstance(action, Write):
            lines.append(action.data)
        else:
            others.append(action)
    if lines:
        yield Write(b"".join(lines), ready)
    yield from others
