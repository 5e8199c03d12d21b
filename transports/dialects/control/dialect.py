"""The dialect of the control API: requests to scripts, slices to `events` notifications. Part of its connection."""

from collections.abc import Iterable

from pydantic import ValidationError

from actors.messages.effects import Deliver, EndSubscription
from actors.vocabulary.errors import GreenroomError
from actors.vocabulary.ids import Caller, RequestId
from transports import jsonrpc
from transports.dialect import Action, Client, Dialect, Write
from transports.dialects.control.api.answers import Announcement, EndedSubscription, HistoryPage, NewsPage
from transports.dialects.control.api.results import events_of, notification_line, result_line
from transports.dialects.control.api.subscriptions import LIMIT, ControlState
from transports.dialects.control.methods import METHODS
from transports.dialects.kit.methods import MethodCall
from transports.dialects.kit.requests import REQUESTS_LIMIT


class ControlDialect(Dialect):
    def __init__(self, client: Client, requests_in_flight: int = REQUESTS_LIMIT, subscriptions: int = LIMIT) -> None:
        self._state = ControlState(client, requests_in_flight, subscriptions)

    # --- from the client ------------------------------------------------------------------------------------------

    def receive_line(self, line: bytes) -> Iterable[Action]:
        match jsonrpc.read(line):
            case jsonrpc.Request() as request:
                return self._request(request)
            case jsonrpc.Malformed(code, message, request_id):
                return (Write(jsonrpc.error(request_id, code, message)),)
            case _:
                return ()  # a client sends only requests

    def refuse_line(self, reason: str) -> Iterable[Action]:
        return (Write(jsonrpc.error(None, jsonrpc.INVALID_REQUEST, reason)),)

    def _request(self, request: jsonrpc.Request) -> Iterable[Action]:
        method = METHODS.get(request.method)
        if method is None:
            text = f"no method {request.method!r}; `schema` lists them"
            return (Write(jsonrpc.error(request.id, jsonrpc.METHOD_NOT_FOUND, text)),)
        try:
            params = method.params.model_validate({} if request.params is None else request.params)
        except ValidationError as error:
            return (Write(jsonrpc.error(request.id, jsonrpc.INVALID_PARAMS, _complaint(error))),)
        state = self._state
        refusal = state.requests.refusal(request.id, urgent=method.urgent(params))
        if refusal is not None:
            return (Write(jsonrpc.refusal_line(request.id, refusal)),)
        state.requests.run(request.id, method.begin(MethodCall(state, request.id), params), self._finish)
        return state.take_actions()

    def _finish(self, request: RequestId, outcome: object) -> None:
        match outcome:
            case GreenroomError():
                line = jsonrpc.refusal_line(request, outcome)
            case HistoryPage() | NewsPage():
                line = result_line(request, outcome)
            case _:
                line = jsonrpc.result(request, outcome)
        self._state.do(Write(line))

    # --- from the actors ------------------------------------------------------------------------------------------

    def take_answer(self, caller: Caller, answer: object) -> Iterable[Action]:
        self._state.scripts.take_answer(caller, answer)
        return self._state.take_actions()

    def take_slice(self, deliver: Deliver) -> Iterable[Action]:
        line = notification_line("events", {"subscription": deliver.subscription}, events_of(deliver.slice))
        return (Write(line, ready=deliver.subscription),)

    def end_subscription(self, end: EndSubscription) -> Iterable[Action]:
        self._state.forget(end.news.subscription)
        ended = EndedSubscription(end.news.subscription, end.news.reason)
        return (Write(jsonrpc.notification("ended", ended)),)

    def announce(self, text: str) -> Iterable[Action]:
        return (Write(jsonrpc.notification("announcement", Announcement(text))),)


def _complaint(error: ValidationError) -> str:
    places = (
        f"{'.'.join(str(part) for part in problem['loc']) or 'params'}: {problem['msg']}"
        for problem in error.errors()
    )
    return "; ".join(places)
