"""A turn in rounds: a stateless call ends when its turn asks a question, and is repeated with the answers.

The client gets no requests, and no state is kept for it: the question waits in its conversation, and the client
returns the sealed reference to its turn. The repeated call finds the turn by the key of its first message.
"""

from collections.abc import Mapping
from typing import cast

from msgspec import Struct, ValidationError, convert, field
from msgspec.structs import replace

from actors.messages.conversation import AnswerApproval, FindInput, Inspect, Send
from actors.messages.effects import Slice
from actors.vocabulary.answers import AcceptedInput, InputFound, TurnResult
from actors.vocabulary.errors import AlreadyAnswered, InvalidInput, UnknownApproval
from actors.vocabulary.events import ApprovalRequested
from actors.vocabulary.ids import ApprovalId, Caller, ConversationId
from actors.vocabulary.settings import Decision
from transports import jsonrpc
from transports.dialect import Write
from transports.dialects.codex.events import EventParams, translate_slice
from transports.dialects.kit.questions import waiting_text
from transports.dialects.kit.script import Script, command
from transports.dialects.kit.turn_endings import end_of
from transports.dialects.mcp.protocol.answers import Answers, bad_answers
from transports.dialects.mcp.protocol.elicitation import InputRequest, elicitation
from transports.dialects.mcp.protocol.notifications import note_activity, tell_progress
from transports.dialects.mcp.protocol.replay import BEGAN
from transports.dialects.mcp.protocol.seal import seal_content, unseal
from transports.dialects.mcp.protocol.sinks import denied_remark
from transports.dialects.mcp.protocol.state import McpState
from transports.dialects.mcp.protocol.turn_requests import TurnRequest


class PendingQuestions(Struct, frozen=True):
    """Questions that a turn waits for. `seq`: the last event that was read."""

    questions: tuple[ApprovalRequested, ...]
    seq: int


class Round(Struct, frozen=True):
    """The state that the client keeps between two calls of one turn."""

    conversation: ConversationId
    key: str
    digest: str  # of the tool and its arguments, which must not change
    seq: int
    asked: tuple[ApprovalId, ...]
    reports: int = 0  # progress reports so far; the number must keep rising


class RoundSink(Struct, eq=False):
    """The reader of one call: it ends the call's wait as soon as there is a question."""

    state: McpState
    call: TurnRequest
    conversation: ConversationId
    passed_on: frozenset[ApprovalId] = frozenset()  # by this client; it is not asked again
    waits: Caller | None = None  # the caller of the message, which gets the end of the turn
    seq: int = 0
    questions: list[ApprovalRequested] = field(default_factory=list)

    @property
    def answers(self) -> bool:
        return self.call.peer.elicits

    def note(self, caller: Caller) -> None:
        self.waits = caller

    def take(self, slice_: Slice) -> None:
        questions = self.state.questions
        for event in translate_slice(slice_):
            note_activity(self.call, event)
            dismissed = questions.denied_since_dismissed(event.record)
            self.call.remarks += (denied_remark(dismissed),) if dismissed is not None else ()
            questions.heed(slice_, event.record, self._ask)
        questions.heed_pending(slice_, self._ask)
        if slice_.records:
            self.seq = slice_.records[-1].seq
        if self.questions and self.waits is not None:
            self.state.scripts.take_answer(self.waits, PendingQuestions(tuple(self.questions), self.seq))

    def handle_loss(self, reason: str) -> None:
        """Do nothing: the call gets the conversation's answer, or a refusal."""

    def _ask(self, request: ApprovalRequested) -> None:
        if request.approval_id in self.passed_on:
            return
        if self.answers:
            self.questions.append(request)
        else:
            self.state.questions.cannot_ask(request, self.conversation, self._say)

    def _say(self, request: ApprovalRequested) -> None:
        self.call.activity = waiting_text(request)
        tell_progress(self.state, self.call, self.call.activity)


def until_asked(
    state: McpState,
    open_call: TurnRequest,
    conversation: ConversationId,
    message: Send | FindInput,
    after: int | None,
    passed_on: frozenset[ApprovalId] = frozenset(),
) -> Script[TurnResult | PendingQuestions | None]:
    """Send the input, or find it, and wait for the end of its turn or for a question in its conversation."""
    sink = RoundSink(state, open_call, conversation, passed_on, seq=after or 0)
    reader = state.readers.new(conversation, sink)
    state.scripts.run(state.readers.attach(reader, after))
    open_call.sent = True
    tell_progress(state, open_call, open_call.activity)
    if open_call.progress is None and state.options.bridge:
        state.do(Write(jsonrpc.notification(BEGAN, EventParams(open_call.meta()))))
    try:
        outcome = cast(
            "AcceptedInput | InputFound | TurnResult | PendingQuestions",
            (yield from command(conversation, message, noted=sink.note)),
        )
    finally:
        state.readers.leave(reader)
    if isinstance(outcome, AcceptedInput | InputFound):  # its turn was over already
        return (yield from end_of(conversation, outcome))
    return outcome


class InputRequired(Struct, frozen=True, rename="camel"):
    result_type: str
    input_requests: Mapping[ApprovalId, InputRequest]
    request_state: str


def input_required(
    state: McpState, open_call: TurnRequest, conversation: ConversationId, pending: PendingQuestions
) -> InputRequired:
    ids = tuple(request.approval_id for request in pending.questions)
    round_ = Round(conversation, open_call.key, open_call.digest, pending.seq, ids, open_call.reports)
    call = str(open_call.request)
    questions = {request.approval_id: question(request, conversation, call) for request in pending.questions}
    return InputRequired("input_required", questions, seal_content(state.options.secret, round_))


def question(request: ApprovalRequested, conversation: ConversationId, call: str) -> InputRequest:
    params = elicitation(request, conversation, call, "", more_text=True)
    return InputRequest("elicitation/create", replace(params, mode="form"))


# --- the repeated call ----------------------------------------------------------------------------------------------


def last_round(state: McpState, answers: Answers, digest: str) -> Round:
    """Read the client's sealed state. Raises MethodError if it was not made for this call."""
    if answers.state is None:
        raise bad_answers("`inputResponses` without the `requestState` that came with the questions")
    try:
        round_ = convert(unseal(state.options.secret, answers.state), Round)
    except ValidationError:  # or a state of another version
        raise bad_answers("`requestState` is not as it was given") from None
    if round_.digest != digest:
        raise bad_answers("`requestState` belongs to a call with other arguments")
    return round_


def give_answers(state: McpState, answers: Answers, round_: Round) -> Script[frozenset[ApprovalId]]:
    """Answer the questions that still wait; returns those passed on instead. Unanswered ones are asked again.

    A question answered elsewhere stays answered; a second answer by this client is refused.
    """
    passed_on = set[ApprovalId]()
    replies = {name: answers.reply(name) for name in round_.asked}
    waiting = {
        request.approval_id: request for request in (yield from command(round_.conversation, Inspect())).pending
    }
    label = state.client.label
    for approval, reply in replies.items():
        if reply is None:
            continue
        if reply.decision is None and approval in waiting:
            state.questions.dismiss(waiting[approval], round_.conversation)
            passed_on.add(approval)
            continue
        decision = reply.decision or Decision.DENIED  # only to learn who answered it, if it waits no more
        answer = AnswerApproval(approval, decision, label, reply.reason, content=reply.content, outside=reply.outside)
        try:
            yield from command(round_.conversation, answer)
        except AlreadyAnswered as why:
            if why.details.get("by") == label:
                data = {"threadId": round_.conversation}
                raise bad_answers("`requestState` was used before: its question is answered", data) from None
        except UnknownApproval:
            pass  # its turn has ended, and the client wants to know how
        except InvalidInput as why:
            raise bad_answers(f"the response to {approval!r} does not fit: {why.message}") from None
    return frozenset(passed_on)
