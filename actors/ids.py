"""Names of things. A leaf: no logic beyond telling two request ids apart."""

from dataclasses import dataclass
from typing import NewType

ConversationId = NewType("ConversationId", str)  # a lower-case hyphenated UUID on every wire
TurnId = NewType("TurnId", str)  # unique across conversations and daemon lives
ItemId = NewType("ItemId", str)  # a message, reasoning, command, patch or plan; unique in its conversation
CallId = NewType("CallId", str)  # the model's own name for a tool call; only unique within one response
ApprovalId = NewType("ApprovalId", str)  # random, unique across restarts
InputId = NewType("InputId", str)  # one accepted user input
ConnectionId = NewType("ConnectionId", str)  # one client, for as long as it is connected
SubscriptionId = NewType("SubscriptionId", str)  # one cursor of one connection into one conversation

RequestId = int | str  # as the client sent it; JSON 1 and "1" are different requests


@dataclass(frozen=True, slots=True)
class Caller:
    """Who waits for an answer: one request of one connection.

    Ids of different clients never meet, because the connection is part of the name.
    """

    connection: ConnectionId
    request: RequestId
