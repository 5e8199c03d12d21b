"""The errors of this package: those of `actors.vocabulary.errors`, by whose codes a daemon answers, and the client's.

    GreenroomError                  its `code` is stable, its text is for people
    ├── Refusal, …                  the daemon's answers, as docs/control-api.md lists them
    ├── DaemonDown                  no daemon listens
    │   └── ConnectionLost          it went away in the middle
    ├── Unreachable                 it may be there, and the way to its socket is barred
    ├── StartFailed                 a daemon was started and did not come up
    ├── OtherVersion                the daemon that runs is of another version
    ├── ClientClosed                the client was closed by this program
    └── TimedOut                    a wait of the client ran out; the daemon goes on with the request

Standard library only.
"""

from functools import cache
from typing import Any

import actors.vocabulary.errors
from actors.vocabulary.errors import (
    AlreadyAnswered as AlreadyAnswered,
    AmbiguousConversation as AmbiguousConversation,
    Busy as Busy,
    Cancelled as Cancelled,
    ConfigError as ConfigError,
    GreenroomError as GreenroomError,
    InvalidInput as InvalidInput,
    JournalError as JournalError,
    NameTaken as NameTaken,
    NotAllowed as NotAllowed,
    Overloaded as Overloaded,
    QueueFull as QueueFull,
    Refusal as Refusal,
    StorageFailed as StorageFailed,
    StorageFull as StorageFull,
    StorageLost as StorageLost,
    StorageReadOnly as StorageReadOnly,
    TurnFailed as TurnFailed,
    UnknownApproval as UnknownApproval,
    UnknownConversation as UnknownConversation,
    WrongState as WrongState,
)
from supervisor.daemon.launch import StartFailed as StartFailed

INVALID_PARAMS = -32602  # JSON-RPC's own number; its errors carry no code of ours


class DaemonDown(GreenroomError):
    code = "daemon_down"


class ConnectionLost(DaemonDown):
    """The request may have been carried out or not. Conversations are kept."""

    code = "connection_lost"


class Unreachable(GreenroomError):
    code = "unreachable"


class OtherVersion(GreenroomError):
    code = "unknown_protocol"


class ClientClosed(GreenroomError):
    code = "client_closed"


class TimedOut(GreenroomError):
    code = "timed_out"


def error_of(error: dict[str, Any]) -> GreenroomError:
    """The exception for the `error` of an answer, of the class with its code; its other members are in `details`."""
    data = dict(error.get("data") or {})
    code = str(data.pop("code", ""))
    data.pop("retryable", None)
    kind = _kinds().get(code)
    if kind is None and code:  # a daemon of a later version may refuse for reasons that this one does not know
        kind = type("Refusal", (Refusal,), {"code": code})
    elif kind is None:
        kind = InvalidInput if error.get("code") == INVALID_PARAMS else Refusal
    return kind(str(error.get("message", "refused")), **data)


@cache
def _kinds() -> dict[str, type[GreenroomError]]:
    """The class of each code. Other packages of this process may have errors with the same codes."""
    ours = {**vars(actors.vocabulary.errors), **globals()}.values()
    return {kind.code: kind for kind in ours if isinstance(kind, type) and issubclass(kind, GreenroomError)}
