"""`notifications/cancelled`: what a request's id still stands for, and how that is taken back.

A call that runs a turn, a message whose turn has not ended, a stream: each by its own id and nothing else. An id that
stands for nothing any more is no error; the answer may have crossed it.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from actors.ids import RequestId
from transports.dialect import Action
from transports.dialects.mcp import creation
from transports.dialects.mcp.calls import codex, typed

if TYPE_CHECKING:
    from transports.dialects.mcp.desk import Desk


def cancelled(desk: "Desk", params: Any) -> Iterable[Action]:
    request = params.get("requestId") if isinstance(params, dict) else None
    if isinstance(request, int | str) and not isinstance(request, bool):
        yield from _take_back(desk, request)


def _take_back(desk: "Desk", request: RequestId) -> Iterable[Action]:
    turn = desk.running.get(request)
    if turn is not None and not turn.cancelled:
        yield from codex.cancel(turn)
    caller = desk.sent.pop(request)
    if caller is not None:
        yield from creation.take_back(desk, caller)
    stream = typed.stream_of(desk, request)
    if stream is not None:
        yield from typed.stream_off(desk, stream)
