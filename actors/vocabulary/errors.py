"""Every error that crosses a boundary of ours, each with a stable code and its JSON-RPC number.

    GreenroomError
    ├── Refusal                     expected: a reply value, never raised between actors
    │   ├── InvalidInput            ├── UnknownConversation     ├── AmbiguousConversation
    │   ├── UnknownApproval         ├── AlreadyAnswered         ├── Busy
    │   ├── WrongState              ├── NotAllowed              ├── QueueFull
    │   ├── Overloaded              ├── Cancelled               ├── TurnFailed
    │   ├── NameTaken               ├── SettingsMoved           └── UnknownJob
    ├── JournalError                the durable log could not do what was asked
    │   ├── StorageFull             ├── StorageReadOnly         ├── StorageFailed
    │   ├── StorageLost             ├── SequenceConflict        ├── JournalTooNew
    │   └── JournalLocked
    ├── ConfigError                 a file or an option says something we can't accept
    ├── MailboxFull                 an actor has more to do than it may be asked to keep
    ├── TooManySessions             no thread left for another actor
    ├── ActorGone                   asked somebody who is no longer there
    └── DeadlineExceeded            a bounded wait ran out

The numbers lie outside -32768..-32000, which JSON-RPC and MCP keep for themselves. Errors of other packages derive
from GreenroomError too: -31400 and below are theirs.
"""

from typing import ClassVar


class GreenroomError(Exception):
    """The base. `code` is API: clients and exit codes depend on it; the text is for people."""

    code: ClassVar[str] = "internal"
    jsonrpc: ClassVar[int] = -32603
    retryable: ClassVar[bool] = False

    def __init__(self, message: str, **details: object) -> None:
        super().__init__(message)
        self.message = message
        self.details = details

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GreenroomError):
            return NotImplemented
        return (type(self), self.message, self.details) == (type(other), other.message, other.details)

    def __hash__(self) -> int:
        return hash((type(self), self.message))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.message!r})"


class Refusal(GreenroomError):
    code = "refused"
    jsonrpc = -31000


class InvalidInput(Refusal):
    code = "invalid_input"
    jsonrpc = -32602


class UnknownConversation(Refusal):
    code = "unknown_conversation"
    jsonrpc = -31001


class AmbiguousConversation(Refusal):
    code = "ambiguous_conversation"
    jsonrpc = -31002


class UnknownApproval(Refusal):
    code = "unknown_approval"
    jsonrpc = -31003


class AlreadyAnswered(Refusal):
    """Names the winner in `details`: decision, by."""

    code = "already_answered"
    jsonrpc = -31004


class Busy(Refusal):
    """A turn runs and the sender asked not to disturb it; `details` has the turn."""

    code = "busy"
    jsonrpc = -31006


class WrongState(Refusal):
    code = "wrong_state"
    jsonrpc = -31007


class NotAllowed(Refusal):
    code = "not_allowed"
    jsonrpc = -31008


class QueueFull(Refusal):
    code = "queue_full"
    jsonrpc = -31009
    retryable = True


class Overloaded(Refusal):
    code = "overloaded"
    jsonrpc = -31010
    retryable = True


class Cancelled(Refusal):
    """The caller took its own request back before anything came of it."""

    code = "cancelled"
    jsonrpc = -31011


class TurnFailed(Refusal):
    code = "turn_failed"
    jsonrpc = -31012


class NameTaken(Refusal):
    code = "name_taken"
    jsonrpc = -31013


class SettingsMoved(Refusal):
    """The settings from which a change was worked out are others by now."""

    code = "settings_moved"
    jsonrpc = -31014
    retryable = True


class UnknownJob(Refusal):
    code = "unknown_job"
    jsonrpc = -31015


class JournalError(GreenroomError):
    code = "journal"
    jsonrpc = -31100


class StorageFull(JournalError):
    code = "storage_full"
    jsonrpc = -31101
    retryable = True


class StorageReadOnly(JournalError):
    code = "storage_read_only"
    jsonrpc = -31102
    retryable = True


class StorageFailed(JournalError):
    """The disk answered with an error that is neither full nor read-only."""

    code = "storage_failed"
    jsonrpc = -31103
    retryable = True


class StorageLost(JournalError):
    """Its files were deleted, moved, replaced or cut while they were open: what is written there is kept nowhere."""

    code = "storage_lost"
    jsonrpc = -31107


class SequenceConflict(JournalError):
    """An append would leave a gap or write a number twice. A bug, or a second writer."""

    code = "sequence_conflict"
    jsonrpc = -31104


class JournalTooNew(JournalError):
    code = "journal_too_new"
    jsonrpc = -31105


class JournalLocked(JournalError):
    """Another process has the journal open for writing."""

    code = "journal_locked"
    jsonrpc = -31106


class ConfigError(GreenroomError):
    code = "config"
    jsonrpc = -31200


class MailboxFull(GreenroomError):
    code = "mailbox_full"
    jsonrpc = -31304
    retryable = True


class TooManySessions(GreenroomError):
    code = "too_many_sessions"
    jsonrpc = -31301
    retryable = True


class ActorGone(GreenroomError):
    code = "actor_gone"
    jsonrpc = -31302
    retryable = True


class DeadlineExceeded(GreenroomError):
    code = "deadline_exceeded"
    jsonrpc = -31303
    retryable = True


def bad_cursor(cursor: str | None) -> InvalidInput:
    return InvalidInput(f"cursor: {cursor!r} is not a next_cursor of an earlier answer")
