"""The approvals this client was asked for and has not answered. Each once, whoever of its readers saw it first.

A question closes when it is answered anywhere or its turn ends; the client is told, and a later reply means nothing.
"""

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any

from actors.effects import Slice
from actors.events import APPROVAL_REQUESTS, ApprovalRequest, ApprovalResolved, durable_adapter
from actors.ids import ApprovalId, ConnectionId, ConversationId
from actors.messages import AnswerApproval, PassOn
from actors.registry_messages import ToConversation
from actors.settings import Decision
from transports import jsonrpc
from transports.dialect import Action, Tell, Write
from transports.dialects.mcp.bounded import Bounded
from transports.dialects.mcp.elicitation import decision_of, described
from transports.dialects.mcp.events import Told

RESOLVED = "approval_resolved"
HOW_TO_GO_ON = (
    "To go on, say so with `codex-reply` and let a person answer the next question, with `greenroom approve` or the "
    "tool `answer_approval`, or make a conversation with approval-policy never"
)
CLOSED_KEPT = 256  # readers of one conversation are never further apart than this many approvals

Params = Mapping[str, Any]
Manner = Callable[[ApprovalRequest], tuple[str, Params]]  # method and params of the request to the client
Label = Callable[[], str]  # who we are, as histories say it
Saying = Callable[[ApprovalRequest], Iterable[Action]]  # what is said where nobody can be asked


@dataclass(frozen=True, slots=True)
class Question:
    number: int
    approval: ApprovalId
    conversation: ConversationId
    what: str  # was asked for, in a few words


class Questions:
    def __init__(self, me: ConnectionId, label: Label, first: int = 0) -> None:
        self._me = me
        self._label = label
        self._numbers = count(first)
        self._open: dict[int, Question] = {}
        self._closed: deque[ApprovalId] = deque(maxlen=CLOSED_KEPT)
        self._unasked: dict[ApprovalId, ConversationId] = {}  # what was said instead of being asked
        self._dismissed: Bounded[ApprovalId, str] = Bounded()  # without a choice, and what was asked

    def __len__(self) -> int:
        return len(self._open)

    @property
    def unasked(self) -> int:
        return len(self._unasked)

    def open_in(self, conversation: ConversationId) -> bool:
        return any(one.conversation == conversation for one in self._open.values())

    # --- from the conversation ------------------------------------------------------------------------------------

    def heed(self, slice_: Slice, one: Told, ask: Callable[[ApprovalRequest], Iterable[Action]]) -> Iterable[Action]:
        """After the event was written. What history asks is asked only if it still waits: `heed_pending`."""
        record = one.record
        if record is None:
            return
        if record.type == RESOLVED:
            yield from self.close(_resolution(record.body).approval_id, "answered elsewhere")
        elif record.type in APPROVAL_REQUESTS and slice_.live and slice_.pending is None:
            request: Any = durable_adapter.validate_json(record.body)
            if not _resolved_within(slice_, request.approval_id):
                yield from ask(request)

    def heed_pending(self, slice_: Slice, ask: Callable[[ApprovalRequest], Iterable[Action]]) -> Iterable[Action]:
        yield from self._missed(slice_)
        for request in slice_.pending or ():
            yield from ask(request)

    def settle(self, slice_: Slice) -> Iterable[Action]:
        """For readers that show no events: only what was answered matters."""
        for record in slice_.records:
            if record.type == RESOLVED:
                yield from self.close(_resolution(record.body).approval_id, "answered elsewhere")
        yield from self._missed(slice_)

    def _missed(self, slice_: Slice) -> Iterable[Action]:
        """What waits no more where a new reader begins: the reader that would have heard of its end may have left."""
        if slice_.pending is None:
            return
        waiting = {request.approval_id for request in slice_.pending}
        known = {one.approval: one.conversation for one in self._open.values()} | self._unasked
        for approval, conversation in known.items():
            if conversation == slice_.conversation and approval not in waiting:
                yield from self.close(approval, "answered elsewhere")

    def ask(self, request: ApprovalRequest, conversation: ConversationId, manner: Manner) -> Iterable[Action]:
        approval = request.approval_id
        if approval in self._closed or any(one.approval == approval for one in self._open.values()):
            return
        number = next(self._numbers)
        self._open[number] = Question(number, approval, conversation, described(request))
        method, params = manner(request)
        yield Write(jsonrpc.request(number, method, dict(params)))

    def cannot_ask(self, request: ApprovalRequest, conversation: ConversationId, say: Saying) -> Iterable[Action]:
        """The client is told what waits. What becomes of it if nobody else comes is the conversation's business."""
        approval = request.approval_id
        if approval not in self._closed and approval not in self._unasked:
            self._unasked[approval] = conversation
            yield from say(request)
            yield Tell(ToConversation(conversation, PassOn(self._me, approval, asked=False, by=self._label())))

    def close(self, approval: ApprovalId, reason: str) -> Iterable[Action]:
        self._closed.append(approval)
        self._unasked.pop(approval, None)
        for question in [one for one in self._open.values() if one.approval == approval]:
            yield from self._withdraw(question, reason)

    def abandon(self, conversation: ConversationId, reason: str) -> Iterable[Action]:
        """Nobody reads it any more, so nobody would hear of its answer."""
        self.forget_unasked(conversation)
        for question in [one for one in self._open.values() if one.conversation == conversation]:
            yield from self._withdraw(question, reason)

    def forget_unasked(self, conversation: ConversationId) -> None:
        """Nobody of ours would see what becomes of it. Whoever reads there again is told again."""
        self._unasked = {key: one for key, one in self._unasked.items() if one != conversation}

    def _withdraw(self, question: Question, reason: str) -> Iterable[Action]:
        del self._open[question.number]
        params = {"requestId": question.number, "reason": reason}
        yield Write(jsonrpc.notification("notifications/cancelled", params))

    # --- from the client ------------------------------------------------------------------------------------------

    def decide(self, number: object, result: Any) -> Iterable[Action]:
        question = self._take(number)
        if question is None:
            return
        decision, reason = decision_of(result)
        if decision is None:
            why = "the client dismissed the question"
            self._dismissed.keep(question.approval, f"The agent asked for {question.what}; {why}")
            yield self._pass_on(question, why)
        else:
            yield self._answer(question, decision, reason)

    def decline(self, number: object) -> Iterable[Action]:
        """The client can't answer. The conversation knows who else could."""
        question = self._take(number)
        if question is not None:
            yield self._pass_on(question, "no client that was asked could answer it")

    def _pass_on(self, question: Question, reason: str) -> Action:
        passed = PassOn(self._me, question.approval, by=self._label(), reason=reason)
        return Tell(ToConversation(question.conversation, passed))

    def denied_since_dismissed(self, one: Told) -> str | None:
        """What a caller has to know of a question that this client dismissed, if that was its end."""
        if one.record is None or one.type != RESOLVED:
            return None
        resolved = _resolution(one.record.body)
        asked = self._dismissed.pop(resolved.approval_id)
        if asked is None or resolved.decision is not Decision.DENIED:
            return None
        return f"{asked}, so it was denied. {HOW_TO_GO_ON}"

    def _take(self, number: object) -> Question | None:
        question = self._open.pop(number, None) if isinstance(number, int) else None
        if question is not None:
            self._closed.append(question.approval)
        return question

    def _answer(self, question: Question, decision: Decision, reason: str) -> Action:
        answer = AnswerApproval(None, question.approval, decision, self._label(), reason)
        return Tell(ToConversation(question.conversation, answer))


def _resolution(body: bytes) -> ApprovalResolved:
    event = durable_adapter.validate_json(body)
    assert isinstance(event, ApprovalResolved)  # noqa: S101  # its record says so
    return event


def _resolved_within(slice_: Slice, approval: ApprovalId) -> bool:
    """Asked and answered before we could say anything."""
    return any(
        record.type == RESOLVED and _resolution(record.body).approval_id == approval for record in slice_.records
    )
