"""The state of one client: its requests and its subscriptions, by their names for the client."""

from actors.vocabulary.errors import Overloaded
from actors.vocabulary.ids import ConversationId, SubscriptionId
from transports.dialect import Client
from transports.dialects.kit.client_state import ClientState
from transports.dialects.kit.methods import MethodCall

LIMIT = 256  # per connection; an editor reads a handful


class ControlState(ClientState):
    def __init__(self, client: Client, requests_in_flight: int, subscriptions: int = LIMIT) -> None:
        super().__init__(client, requests_in_flight)
        self._limit = subscriptions
        self._subscriptions: dict[SubscriptionId, ConversationId] = {}

    def subscribe(self, conversation: ConversationId) -> SubscriptionId:
        """Add a subscription. Raises Overloaded."""
        if len(self._subscriptions) >= self._limit:
            most = f"{self._limit} subscriptions (greenroom.limits.subscriptions)"
            raise Overloaded(f"this connection has {most}; detach from a conversation, or connect once more")
        subscription = SubscriptionId(f"{self.client.connection}/{self.scripts.number()}")
        self._subscriptions[subscription] = conversation
        return subscription

    def forget(self, subscription: SubscriptionId) -> ConversationId | None:
        """Remove a subscription; returns its conversation, or None if there is no such subscription."""
        return self._subscriptions.pop(subscription, None)


ControlCall = MethodCall[ControlState]
