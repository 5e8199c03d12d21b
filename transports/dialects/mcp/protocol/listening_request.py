"""A request of `subscriptions/listen`, in the state of its client. A leaf."""

from msgspec import Struct, field

from actors.vocabulary.ids import RequestId
from transports.dialects.mcp.protocol.introduction import META_SUBSCRIPTION


class SubscriptionMeta(Struct, frozen=True):
    """The `_meta` of the notifications that a listening request brings."""

    request: RequestId = field(name=META_SUBSCRIPTION)


class ListChange(Struct, frozen=True):
    meta: SubscriptionMeta = field(name="_meta")


class ListeningRequest(Struct, frozen=True):
    """A listening request. `methods`: the notifications without a subject that it gets."""

    request: RequestId
    methods: frozenset[str]

    @property
    def meta(self) -> SubscriptionMeta:
        return SubscriptionMeta(self.request)
