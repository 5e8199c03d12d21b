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
from actors.messages.journal import LookupDone
from actors.messages.routing import ClaimName, HeadChanged, KnownHeads, ToRegistry, WatchList

# Messages of people go before those of the machinery, in the order in which they came: an interrupt does not wait
# for output, and never overtakes the message it is meant for.
#
# News to the registry goes with them: a client that was answered and asks at once must find the change, and a client
# that takes back a request that has just been answered must find nothing.
FIRST_LANE = frozenset(
    (
        *(ToConversation, ToRegistry, ClaimName, CancelRequest, ConnectionClosed, Quiesce),
        *(KnownHeads, LookupDone, HeadChanged, Settle),
    )
)

# Those of them that a full mailbox takes all the same: they make work less, or there is one for each request, commit,
# reader or connection. Of an envelope the content counts.
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
ALWAYS_TAKEN = frozenset((*LESS_WORK, KnownHeads, LookupDone, HeadChanged, Settle, WatchList))


def makes_work(message: object) -> bool:
    """True if a full mailbox refuses this message."""
    if isinstance(message, ToConversation):
        return type(message.command) not in ALWAYS_TAKEN
    if isinstance(message, ToRegistry):
        return type(message.query) not in ALWAYS_TAKEN
    return type(message) not in ALWAYS_TAKEN
