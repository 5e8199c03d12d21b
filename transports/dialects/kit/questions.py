"""The approvals that a client was asked for and has not answered, each of them asked only once.

A question closes when it is answered anywhere or its turn ends; the client is told, and a later reply is ignored. A
question's wording is its sink's business.
"""

from collections import deque
from collections.abc import Callable, Mapping
from itertools import count

from msgspec import Struct

from actors.conversation.fitting_answers import fit_answer
from actors.messages.conversation import AnswerApproval, PassOn, ToConversation
from actors.messages.effects import Slice
from actors.vocabulary.errors import InvalidInput
from actors.vocabulary.events import APPROVAL_REQUESTED, APPROVAL_RESOLVED, ApprovalRequested, ApprovalResolved
from actors.vocabulary.ids import ApprovalId, ConversationId
from actors.vocabulary.records import Record
from actors.vocabulary.settings import Decision
from transports.dialect import Tell, Write
from transports.dialects.kit.bounded import Bounded
from transports.dialects.kit.client_state import ClientState
from transports.question_text import place, runs_outside, summary

DISMISSED_REASON = "the client dismissed the question"
DESCRIBED_LENGTH = 300  # characters of a question that a client can only be told of
CLOSED_KEPT = 256  # readers of one conversation are never further apart than this many approvals

QuestionWriter = Callable[[ApprovalRequested], None]


class Reply(Struct, frozen=True):
    """A client's answer. No decision: the question was dismissed without a choice."""

    decision: Decision | None
    reason: str = ""
    content: Mapping[str, object] = {}
    outside: bool = False


class QuestionRequest(Struct, frozen=True):
    number: int
    request: ApprovalRequested
    conversation: ConversationId

    @property
    def approval(self) -> ApprovalId:
        return self.request.approval_id


class OpenQuestions:
    def __init__(self, state: ClientState, withdrawal: Callable[[int, str], bytes], first: int = 0) -> None:
        """`withdrawal`: the line that takes a question back, from its number and a reason."""
        self._state = state
        self._withdrawal = withdrawal
        self._numbers = count(first)
        self._open: dict[int, QuestionRequest] = {}
        self._closed: deque[ApprovalId] = deque(maxlen=CLOSED_KEPT)
        self._unasked: dict[ApprovalId, ConversationId] = {}  # questions that the client was told of, not asked
        self._dismissed: Bounded[ApprovalId, ApprovalRequested] = Bounded()  # dismissed without a choice

    def open_in(self, conversation: ConversationId) -> bool:
        return any(question.conversation == conversation for question in self._open.values())

    # --- from the conversation ------------------------------------------------------------------------------------

    def heed(self, slice_: Slice, record: Record | None, ask: QuestionWriter) -> None:
        """Handle a written event. A question from history is asked only if it still waits, by `heed_pending`."""
        if record is None:
            return
        if record.type == APPROVAL_RESOLVED:
            self.close(ApprovalResolved.model_validate_json(record.body).approval_id, "answered elsewhere")
        elif record.type == APPROVAL_REQUESTED and slice_.live and slice_.pending is None:
            request = ApprovalRequested.model_validate_json(record.body)
            if not _resolved_within(slice_, request.approval_id):
                ask(request)

    def heed_pending(self, slice_: Slice, ask: QuestionWriter) -> None:
        """Ask all waiting questions when a reader begins, and close the rest: its last reader may have left."""
        if slice_.pending is None:
            return
        waiting = {request.approval_id for request in slice_.pending}
        asked_before = {question.approval: question.conversation for question in self._open.values()} | self._unasked
        for approval, conversation in asked_before.items():
            if conversation == slice_.conversation and approval not in waiting:
                self.close(approval, "answered elsewhere")
        for request in slice_.pending:
            ask(request)

    def settle(self, slice_: Slice) -> None:
        """Handle the events of a reader that shows none: only answers matter."""
        for record in slice_.records:
            self.heed(slice_, record, _not_here)
        self.heed_pending(slice_, _not_here)

    def ask(self, request: ApprovalRequested, conversation: ConversationId, write: Callable[[int], bytes]) -> None:
        """Ask the client, unless it was asked before. `write` makes the line for a number."""
        approval = request.approval_id
        if approval in self._closed or any(question.approval == approval for question in self._open.values()):
            return
        number = next(self._numbers)
        self._open[number] = QuestionRequest(number, request, conversation)
        self._state.do(Write(write(number)))

    def cannot_ask(self, request: ApprovalRequested, conversation: ConversationId, say: QuestionWriter) -> None:
        """Tell the client of the question; if nobody else can answer, the conversation decides."""
        approval = request.approval_id
        if approval not in self._closed and approval not in self._unasked:
            self._unasked[approval] = conversation
            say(request)
            client = self._state.client
            message = PassOn(client.connection, approval, asked=False, by=client.label)
            self._state.do(Tell(ToConversation(conversation, message)))

    def close(self, approval: ApprovalId, reason: str) -> None:
        self._closed.append(approval)
        self._unasked.pop(approval, None)
        for question in [question for question in self._open.values() if question.approval == approval]:
            self._withdraw(question, reason)

    def abandon(self, conversation: ConversationId, reason: str) -> None:
        """Drop the questions of a conversation without readers, whose answers could not be shown."""
        self.forget_unasked(conversation)
        for question in [question for question in self._open.values() if question.conversation == conversation]:
            self._withdraw(question, reason)

    def forget_unasked(self, conversation: ConversationId) -> None:
        """Forget the questions that were only told: a client that reads there again is told again."""
        self._unasked = {key: other for key, other in self._unasked.items() if other != conversation}

    def _withdraw(self, question: QuestionRequest, reason: str) -> None:
        del self._open[question.number]
        self._state.do(Write(self._withdrawal(question.number, reason)))

    # --- from the client ------------------------------------------------------------------------------------------

    def open_question(self, number: object) -> QuestionRequest | None:
        """The open question of this number."""
        return self._open.get(number) if isinstance(number, int) else None

    def drop(self, number: object) -> None:
        """Expect no answer any more, as the question is about to be withdrawn anyway."""
        self._take(number)

    def decide(self, number: object, reply: Reply) -> None:
        """Handle a reply. A reply that does not fit the question is no answer: others may still give one."""
        question = self._take(number)
        if question is None:
            return
        if reply.decision is None:
            self.dismiss(question.request, question.conversation)
            return
        fitting = fit_answer(question.request, reply.decision, "", reply.content, outside=reply.outside)
        if isinstance(fitting, InvalidInput):
            self._pass_on(question.approval, question.conversation, fitting.message)
            return
        label = self._state.client.label
        answer = AnswerApproval(
            question.approval, fitting.decision, label, reply.reason, fitting.option, fitting.content, fitting.outside
        )
        self._state.do(Tell(ToConversation(question.conversation, answer)))

    def decline(self, number: object) -> None:
        """Pass the question on, because the client can't answer; the conversation knows who else could."""
        question = self._take(number)
        if question is not None:
            self._pass_on(question.approval, question.conversation, "no client that was asked could answer it")

    def dismiss(self, request: ApprovalRequested, conversation: ConversationId) -> None:
        """Pass on a question that the client's person has closed without a choice."""
        self._dismissed[request.approval_id] = request
        self._pass_on(request.approval_id, conversation, DISMISSED_REASON)

    def denied_since_dismissed(self, record: Record | None) -> ApprovalRequested | None:
        """A question that this client dismissed, and that was therefore denied."""
        if record is None or record.type != APPROVAL_RESOLVED:
            return None
        resolved = ApprovalResolved.model_validate_json(record.body)
        question = self._dismissed.pop(resolved.approval_id, None)
        return question if resolved.decision is Decision.DENIED else None

    def _take(self, number: object) -> QuestionRequest | None:
        question = self._open.pop(number, None) if isinstance(number, int) else None
        if question is not None:
            self._closed.append(question.approval)
        return question

    def _pass_on(self, approval: ApprovalId, conversation: ConversationId, reason: str) -> None:
        client = self._state.client
        message = PassOn(client.connection, approval, by=client.label, reason=reason)
        self._state.do(Tell(ToConversation(conversation, message)))


def _not_here(_: ApprovalRequested) -> None:
    """Another reader asks."""


def waiting_text(request: ApprovalRequested) -> str:
    approval = request.approval_id
    return (
        f"waiting for an approval of {describe_question(request)}; `greenroom approvals {approval}` shows all of it; "
        f"answer with `greenroom approve {approval}` or the tool answer_approval"
    )


def describe_question(request: ApprovalRequested) -> str:
    """The question in a line, for progress: subject, directory, and the length of the omitted rest."""
    event = request.model_dump(mode="json")
    what = summary(event)
    left_out = len(what) - DESCRIBED_LENGTH
    if left_out > 0:
        what = f"{what[:DESCRIBED_LENGTH]}… ({left_out:,} more characters)"
    cwd = event["subject"].get("cwd")
    where = f" in `{place(cwd)}`" if cwd else ""
    return f"`{what}`{where}{', outside the sandbox' if runs_outside(event) else ''}"


def _resolved_within(slice_: Slice, approval: ApprovalId) -> bool:
    """True if the approval was answered within the slice that asks for it."""
    return any(
        record.type == APPROVAL_RESOLVED and ApprovalResolved.model_validate_json(record.body).approval_id == approval
        for record in slice_.records
    )
