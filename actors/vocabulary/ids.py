"""Names of things, and what can be read from them. A leaf."""

from typing import NewType
from uuid import UUID

from msgspec import Struct

ConversationId = NewType("ConversationId", str)  # a lower-case hyphenated UUID on every wire
TurnId = NewType("TurnId", str)  # unique across conversations and daemon lives
ItemId = NewType("ItemId", str)  # a message, reasoning, command, patch or plan; unique in its conversation
CallId = NewType("CallId", str)  # the model's own name for a tool call; only unique within one response
ApprovalId = NewType("ApprovalId", str)  # random, unique across restarts; names its conversation
InputId = NewType("InputId", str)  # one accepted user input
JobId = NewType("JobId", str)  # a background command; short, unique among those that a daemon knows
ConnectionId = NewType("ConnectionId", str)  # one client, for as long as it is connected
SubscriptionId = NewType("SubscriptionId", str)  # one cursor of one connection into one conversation


def approval_in(conversation: ConversationId, name: str) -> ApprovalId:
    return ApprovalId(f"{name}@{conversation}")


def conversation_of(approval: str) -> ConversationId | None:
    """The conversation of an approval, for anybody who has its id. None if no approval can have that id."""
    try:
        return ConversationId(str(UUID(approval.partition("@")[2])))
    except ValueError:
        return None


RequestId = int | str  # as the client sent it; JSON 1 and "1" are different requests


class Caller(Struct, frozen=True):
    """The caller that waits for an answer: one request of one connection.

    Ids of different clients never meet, because the connection is part of the name.
    """

    connection: ConnectionId
    request: RequestId
