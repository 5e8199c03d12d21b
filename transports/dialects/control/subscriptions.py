"""The state of one client: its requests and its subscriptions, by the names that it was given."""

from actors.vocabulary.errors import InvalidInput, Overloaded
from actors.vocabulary.ids import ConversationId, SubscriptionId
from transports.dialect import Client
from transports.dialects.kit.client import ClientState
from transports.dialects.kit.methods import Call

LIMIT = 256  # per connection; an editor reads a handful


class Subscriptions:
    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._open: dict[SubscriptionId, ConversationId] = {}

    def add(self, subscription: SubscriptionId, conversation: ConversationId) -> None:
        """Add a subscription. Raises Overloaded."""
        if len(self._open) >= self._limit:
            most = f"{self._limit} subscriptions (greenroom.limits.subscriptions)"
            raise Overloaded(f"this connection has {most}; detach from a conversation, or connect once more")
        self._open[subscription] = conversation

    def take(self, name: str) -> tuple[SubscriptionId, ConversationId]:
        """Remove a subscription. Raises InvalidInput."""
        subscription = SubscriptionId(name)
        conversation = self._open.pop(subscription, None)
        if conversation is None:
            raise InvalidInput(f"no subscription {name}")
        return subscription, conversation

    def forget(self, subscription: SubscriptionId) -> None:
        self._open.pop(subscription, None)


class ControlState(ClientState):
    def __init__(self, client: Client, requests_in_flight: int, subscriptions: int) -> None:
        super().__init__(client, requests_in_flight)
        self.subscriptions = Subscriptions(subscriptions)


ControlCall = Call[ControlState]
