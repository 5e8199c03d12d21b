"""The order of messages in a mailbox, and those that a full mailbox takes all the same. Sets of types: every message
is looked up here, in a tenth of the time of isinstance.
"""

from actors.messages.conversation import (
    AnswerApproval,
    CancelRequest,
    ConnectionClosed,
    Detach,
    Interrupt,
    PassOn,
    Quiesce,
    Ready,
    ToConversation,
    WithdrawAll,
    WithdrawInput,
)
from actors.messages.effects import Settle
from actors.messages.journal import LookedUp
from actors.messages.routing import ClaimName, HeadChanged, Known, ToRegistry, WatchList

# What people say goes before what the machinery reports, in the order they said it: an interrupt does not wait behind
# output, and never overtakes the message it is meant for.
#
# What the registry learns goes with them: a client that was answered and asks at once must find what the answer said,
# and one that takes a request back that has just been answered must find nothing.
FIRST_LANE = frozenset(
    (
        *(ToConversation, ToRegistry, ClaimName, CancelRequest, ConnectionClosed, Quiesce),
        *(Known, LookedUp, HeadChanged, Settle),
    )
)

# Of those, what a full mailbox takes all the same: it makes work less, or there is one for each request, commit,
# reader or connection. Of an envelope it is the content that counts.
LESS_WORK = (
    Quiesce,
    Interrupt,
    CancelRequest,
    AnswerApproval,
    PassOn,
    Detach,
    ConnectionClosed,
    WithdrawInput,
    WithdrawAll,
    Ready,
)
ALWAYS_TAKEN = frozenset((*LESS_WORK, Known, LookedUp, HeadChanged, Settle, WatchList))


def makes_work(message: object) -> bool:
    """True if a full mailbox refuses this message."""
    if isinstance(message, ToConversation):
        return type(message.command) not in ALWAYS_TAKEN
    if isinstance(message, ToRegistry):
        return type(message.query) not in ALWAYS_TAKEN
    return type(message) not in ALWAYS_TAKEN
