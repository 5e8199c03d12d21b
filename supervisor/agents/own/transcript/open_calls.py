"""The calls of a turn without an output, each with its question, its answer and its command's end.

No I/O. Fed by the transcript, which takes every event.
"""

from msgspec import Struct

from actors.vocabulary import events as ev
from actors.vocabulary.ids import ApprovalId, CallId, ItemId
from actors.vocabulary.settings import Decision


class OpenCall(Struct, frozen=True):
    """A tool call of the model without an output."""

    call: CallId
    item: ItemId
    name: str
    arguments: str


class PastDecision(Struct, frozen=True):
    """An approval of this turn that was decided, maybe in an earlier life of the daemon."""

    request: ev.ApprovalRequested
    decision: Decision
    reason: str
    outside: bool = False


class OpenCalls:
    def __init__(self) -> None:
        self._open: dict[ItemId, OpenCall] = {}
        self._asked: dict[ApprovalId, ev.ApprovalRequested] = {}
        self._decided: dict[ItemId, list[PastDecision]] = {}
        self._ended: dict[ItemId, ev.WorkEnded] = {}

    @property
    def open(self) -> tuple[OpenCall, ...]:
        return tuple(self._open.values())

    def begin(self, event: ev.ToolCall) -> None:
        self._open[event.item_id] = OpenCall(event.call_id, event.item_id, event.name, event.arguments)

    def ask(self, request: ev.ApprovalRequested) -> None:
        self._asked[request.approval_id] = request

    def decide(self, event: ev.ApprovalResolved) -> None:
        request = self._asked.pop(event.approval_id, None)
        if request is not None:
            decided = PastDecision(request, event.decision, event.reason, _leaves(request, event))
            self._decided.setdefault(request.item_id, []).append(decided)

    def end_command(self, event: ev.WorkEnded) -> None:
        self._ended[event.item_id] = event

    def answer(self, item: ItemId) -> None:
        """Close the call, and forget its approvals and its command's end."""
        self._open.pop(item, None)
        self._decided.pop(item, None)
        self._ended.pop(item, None)

    def past_decision(self, request: ev.ApprovalRequested) -> PastDecision | None:
        """Return the decision that answers a question, if there was one."""
        past = self._decided.get(request.item_id, ())
        return next((decision for decision in past if _holds(decision.request, request)), None)

    def command_end(self, item: ItemId) -> ev.WorkEnded | None:
        """Return the end of the item's command, if it ran."""
        return self._ended.get(item)

    def clear(self) -> None:
        self._open.clear()
        self._asked.clear()
        self._decided.clear()
        self._ended.clear()


def _leaves(request: ev.ApprovalRequested, event: ev.ApprovalResolved) -> bool:
    """Tell whether a yes let a command out of the sandbox: it says so, or the question was about nothing else."""
    return event.outside if request.may_leave else _is_outside(request)


def _is_outside(request: ev.ApprovalRequested) -> bool:
    return isinstance(request.subject, ev.CommandSubject) and request.outside_sandbox is not False


def _holds(asked: ev.ApprovalRequested, request: ev.ApprovalRequested) -> bool:
    """Tell whether an earlier answer holds for a question: never, if the question is about more.

    A yes about a repository's history, or about running inside, lets nothing run outside. A yes about a server's tool
    is about the tool as it was.
    """
    match asked.subject, request.subject:
        case ev.CommandSubject(), ev.CommandSubject():
            same = asked.retry == request.retry and asked.history_of == request.history_of
            return same and (_is_outside(asked) or not _is_outside(request))
        case ev.ToolSubject(), ev.ToolSubject():
            return asked.fingerprint in {"", request.fingerprint}
        case _:
            return True
