"""A request of `subscriptions/listen`, in the state of its client. A leaf."""

from msgspec import Struct

from actors.vocabulary.ids import RequestId
from transports.dialects.mcp.protocol.introduction import META_SUBSCRIPTION
from transports.jsonrpc import JsonObject


class ListeningRequest(Struct, frozen=True):
    """A listening request. `methods`: the notifications without a subject that it gets."""

    request: RequestId
    methods: frozenset[str]

    @property
    def meta(self) -> JsonObject:
        return {"_meta": {META_SUBSCRIPTION: self.request}}
