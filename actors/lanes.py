"""The two lanes of a mailbox: what goes before what, and what even a full one takes.

Sets of types, because every message is looked up here: a tenth of the time of isinstance.
"""

from actors.effects import Settle
from actors.messages import (
    AnswerApproval,
    Archive,
    Attach,
    Begin,
    CancelRequest,
    ChangeSettings,
    ConnectionClosed,
    Detach,
    Inspect,
    Interrupt,
    PassOn,
    Quiesce,
    Ready,
    Rename,
    Restart,
    ResumeQueue,
    Retire,
    Send,
    WithdrawInput,
)
from actors.registry_messages import (
    Create,
    HeadChanged,
    Known,
    ListApprovals,
    ListConversations,
    Remove,
    Resolve,
    ToConversation,
    WatchList,
)

# What people say goes before what the machinery reports, in the order they said it: an interrupt does not wait behind
# output, and never overtakes the message it is meant for.
COMMANDS = (
    Begin,
    Send,
    Interrupt,
    CancelRequest,
    AnswerApproval,
    PassOn,
    Attach,
    Detach,
    ConnectionClosed,
    Rename,
    Archive,
    ChangeSettings,
    ResumeQueue,
    WithdrawInput,
    Inspect,
    Restart,
    Retire,
)
SAID_BY_CLIENTS = (
    *COMMANDS,
    Quiesce,
    ToConversation,
    Create,
    ListConversations,
    WatchList,
    ListApprovals,
    Remove,
    Resolve,
)

# What the registry learns goes with them: who was answered and asks at once must find what the answer said, and
# who takes a request back that has just been answered must find nothing.
FIRST_LANE = frozenset((*SAID_BY_CLIENTS, Known, HeadChanged, Settle))

UNHURRIED = frozenset((Ready,))  # means nothing to a session that has nothing more for this reader

# Of those, what a full mailbox takes all the same: it makes work less, or there is one for each request, commit or
# connection.
LESS_WORK = (Quiesce, Interrupt, CancelRequest, AnswerApproval, PassOn, Detach, ConnectionClosed, WithdrawInput)
ALWAYS_TAKEN = frozenset((*LESS_WORK, Known, HeadChanged, Settle, WatchList))
