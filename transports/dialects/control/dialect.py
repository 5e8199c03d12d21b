"""Speaks the control API: requests to messages, slices to `events` notifications. Part of its connection."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count

from pydantic import ValidationError

from actors.effects import Deliver, EndSubscription, ReplyTo
from actors.errors import GreenroomError, Overloaded
from actors.ids import Caller, ConversationId, RequestId, SubscriptionId
from actors.messages import CancelRequest
from transports import jsonrpc
from transports.dialect import Action, Client, Tell, Write
from transports.dialects.control.call import Call, Then
from transports.dialects.control.methods import METHODS
from transports.dialects.control.results import events_of, shown
from transports.dialects.control.text import Raw, notification_line, result_line, unwritable
from transports.inflight import REQUESTS_LIMIT, InFlight
from transports.requests import Served


@dataclass(frozen=True, slots=True)
class Expected:
    request: RequestId
    then: Then


SUBSCRIPTIONS_LIMIT = 256  # per connection; an editor reads a handful


class ControlDialect:
    def __init__(
        self, client: Client, requests_in_flight: int = REQUESTS_LIMIT, subscriptions: int = SUBSCRIPTIONS_LIMIT
    ) -> None:
        self._client = client
        self._most_subscriptions = subscriptions
        self._open = InFlight(requests_in_flight)
        self._cancelled: set[RequestId] = set()
        self._numbers = count(1)
        self._expected: dict[Caller, Expected] = {}
        self._served: dict[object, Then] = {}
        self._subscriptions: dict[SubscriptionId, ConversationId] = {}

    # --- from the client ------------------------------------------------------------------------------------------

    def opened(self) -> Iterable[Action]:
        return ()

    def arrived(self, line: bytes) -> Iterable[Action]:
        match jsonrpc.read(line):
            case jsonrpc.Request() as request:
                return self._request(request)
            case jsonrpc.Malformed(code, message, request_id):
                return (Write(jsonrpc.error(request_id, code, message)),)
            case _:
                return ()  # nothing is expected of the client but requests

    def skipped(self, reason: str) -> Iterable[Action]:
        return (Write(jsonrpc.error(None, jsonrpc.INVALID_REQUEST, reason)),)

    def _request(self, request: jsonrpc.Request) -> Iterable[Action]:
        method = METHODS.get(request.method)
        if method is None:
            text = f"no method {request.method!r}; `schema` lists them"
            return (Write(jsonrpc.error(request.id, jsonrpc.METHOD_NOT_FOUND, text)),)
        try:
            given = method.params.model_validate({} if request.params is None else request.params)
        except ValidationError as error:
            return (Write(jsonrpc.error(request.id, jsonrpc.INVALID_PARAMS, _told(error))),)
        refusal = unwritable(request.params) or self._open.admit(request.id, urgent=method.urgent)
        if refusal is not None:
            return (Write(jsonrpc.refused(request.id, refusal)),)
        return method.handler(Call(self, request.id, self._client), given)

    # --- for handlers ---------------------------------------------------------------------------------------------

    def expect(self, request: RequestId, then: Then) -> Caller:
        """A name of our own for a message: the client's ids are the client's business."""
        caller = Caller(self._client.connection, next(self._numbers))
        self._expected[caller] = Expected(request, then)
        return caller

    def expect_served(self, then: Then) -> object:
        token = next(self._numbers)
        self._served[token] = then
        return token

    def finish(self, request: RequestId, answer: object) -> Iterable[Action]:
        self._open.done(request)
        self._cancelled.discard(request)
        match answer:
            case GreenroomError():
                yield Write(jsonrpc.refused(request, answer))
            case Raw():
                yield Write(result_line(request, answer))
            case _:
                yield Write(jsonrpc.result(request, shown(answer)))

    def new_subscription(self, conversation: ConversationId) -> SubscriptionId | Overloaded:
        if len(self._subscriptions) >= self._most_subscriptions:
            most = f"{self._most_subscriptions} subscriptions (greenroom.limits.subscriptions)"
            return Overloaded(f"this connection has {most}; detach from a conversation, or connect once more")
        subscription = SubscriptionId(f"{self._client.connection}/{next(self._numbers)}")
        self._subscriptions[subscription] = conversation
        return subscription

    def subscription(self, name: str) -> tuple[SubscriptionId, ConversationId] | None:
        subscription = SubscriptionId(name)
        conversation = self._subscriptions.get(subscription)
        return (subscription, conversation) if conversation is not None else None

    def forget_subscription(self, subscription: SubscriptionId) -> None:
        self._subscriptions.pop(subscription, None)

    def cancel(self, request: RequestId) -> Iterable[Action]:
        """Whoever has it now is told; if it is between two of them, the next step is not taken."""
        if request not in self._open:
            return
        self._cancelled.add(request)
        for caller, expected in self._expected.items():
            if expected.request == request:
                yield Tell(CancelRequest(caller, self._client.label))

    def is_cancelled(self, request: RequestId) -> bool:
        return request in self._cancelled

    # --- from the actors ------------------------------------------------------------------------------------------

    def replied(self, reply: ReplyTo) -> Iterable[Action]:
        expected = self._expected.pop(reply.caller, None)
        return expected.then(reply.answer) if expected is not None else ()

    def delivered(self, deliver: Deliver) -> Iterable[Action]:
        line = notification_line("events", {"subscription": deliver.subscription}, events_of(deliver.slice))
        yield Write(line, ready=deliver.subscription)

    def ended(self, end: EndSubscription) -> Iterable[Action]:
        self.forget_subscription(end.news.subscription)
        told = {"subscription": end.news.subscription, "reason": end.news.reason}
        yield Write(jsonrpc.notification("ended", told))

    def served(self, answer: object) -> Iterable[Action]:
        if not isinstance(answer, Served):
            return ()
        then = self._served.pop(answer.token, None)
        return then(answer.answer) if then is not None else ()

    def woken(self, name: str) -> Iterable[Action]:  # noqa: ARG002  # it never asked to be
        return ()

    def reconfigured(self) -> Iterable[Action]:
        """What is set for it is set when its client comes."""
        return ()

    def announced(self, text: str) -> Iterable[Action]:
        return (Write(jsonrpc.notification("announcement", {"message": text})),)


def _told(error: ValidationError) -> str:
    places = (f"{'.'.join(str(part) for part in one['loc']) or 'params'}: {one['msg']}" for one in error.errors())
    return "; ".join(places)
