"""A turn in rounds: a stateless call ends when its turn asks something, and is made again with the answers.

Nothing is asked of the client, and nothing is kept for it: the question waits in its conversation, and which turn it
belongs to the client brings back, sealed. The call that is made again finds the turn by the key of its first message.
"""

from typing import cast

from msgspec import Struct, ValidationError, convert, field

from actors.messages.conversation import AnswerApproval, FindInput, Inspect, Send
from actors.messages.effects import Slice
from actors.vocabulary.answers import Accepted, InputFound, TurnResult
from actors.vocabulary.errors import AlreadyAnswered, InvalidInput, UnknownApproval
from actors.vocabulary.events import ApprovalRequest
from actors.vocabulary.ids import ApprovalId, Caller, ConversationId
from actors.vocabulary.settings import Decision
from transports import jsonrpc
from transports.codex_events import translated
from transports.dialect import Write
from transports.dialects.kit.endings import end_of
from transports.dialects.kit.questions import waiting_text
from transports.dialects.kit.script import Script, command
from transports.dialects.mcp.protocol.answers import Answers, bad_answers
from transports.dialects.mcp.protocol.elicitation import elicitation
from transports.dialects.mcp.protocol.notifications import note_activity, tell_progress
from transports.dialects.mcp.protocol.replay import BEGAN
from transports.dialects.mcp.protocol.seal import sealed, unsealed
from transports.dialects.mcp.protocol.sinks import denied_remark
from transports.dialects.mcp.protocol.state import McpState
from transports.dialects.mcp.protocol.turn_requests import TurnRequest
from transports.jsonrpc import JsonObject


class Asked(Struct, frozen=True):
    """Questions that a turn waits for. `seq`: up to where its conversation was read."""

    questions: tuple[ApprovalRequest, ...]
    seq: int


class Round(Struct, frozen=True):
    """The state that the client keeps between two calls of one turn."""

    conversation: ConversationId
    key: str
    digest: str  # of the tool and its arguments, which stay the same
    seq: int
    asked: tuple[ApprovalId, ...]
    reports: int = 0  # of progress, which goes on rising


class RoundSink(Struct, eq=False):
    """The reader of one call: it ends the call's wait as soon as there is a question."""

    state: McpState
    call: TurnRequest
    conversation: ConversationId
    passed_on: frozenset[ApprovalId] = frozenset()  # by this client, which is not asked again
    waits: Caller | None = None  # the caller of the message, who is told the end of the turn
    seq: int = 0
    questions: list[ApprovalRequest] = field(default_factory=list)

    @property
    def answers(self) -> bool:
        return self.call.peer.elicits

    def note(self, caller: Caller) -> None:
        self.waits = caller

    def take(self, slice_: Slice) -> None:
        known = self.state.questions
        for one in translated(slice_):
            note_activity(self.call, one)
            dismissed = known.denied_since_dismissed(one.record)
            self.call.remarks += (denied_remark(dismissed),) if dismissed is not None else ()
            known.heed(slice_, one.record, self._ask)
        known.heed_pending(slice_, self._ask)
        if slice_.records:
            self.seq = slice_.records[-1].seq
        if self.questions and self.waits is not None:
            self.state.scripts.answered(self.waits, Asked(tuple(self.questions), self.seq))

    def lost(self, reason: str) -> None:
        """Do nothing: the call gets the answer of the conversation, or a refusal."""

    def _ask(self, request: ApprovalRequest) -> None:
        if request.approval_id in self.passed_on:
            return
        if self.answers:
            self.questions.append(request)
        else:
            self.state.questions.cannot_ask(request, self.conversation, self._say)

    def _say(self, request: ApprovalRequest) -> None:
        self.call.activity = waiting_text(request)
        tell_progress(self.state, self.call, self.call.activity)


def until_asked(
    state: McpState,
    one: TurnRequest,
    conversation: ConversationId,
    said: Send | FindInput,
    after: int | None,
    passed_on: frozenset[ApprovalId] = frozenset(),
) -> Script[TurnResult | Asked | None]:
    """Send the input, or find it, and wait for the end of its turn, or for a question in its conversation."""
    sink = RoundSink(state, one, conversation, passed_on, seq=after or 0)
    reader = state.readers.new(conversation, sink)
    state.scripts.run(state.readers.attach(reader, after))
    one.sent = True
    tell_progress(state, one, one.activity)
    if one.progress is None and state.options.bridge:
        state.do(Write(jsonrpc.notification(BEGAN, {"_meta": one.meta()})))
    try:
        taken = cast(
            "Accepted | InputFound | TurnResult | Asked", (yield from command(conversation, said, noted=sink.note))
        )
    finally:
        state.readers.leave(reader)
    if isinstance(taken, Accepted | InputFound):  # it was over by then
        return (yield from end_of(conversation, taken))
    return taken


def input_required(state: McpState, one: TurnRequest, conversation: ConversationId, asked: Asked) -> JsonObject:
    ids = tuple(request.approval_id for request in asked.questions)
    kept = Round(conversation, one.key, one.digest, asked.seq, ids, one.reports)
    content: JsonObject = {name: getattr(kept, name) for name in kept.__struct_fields__}
    return {
        "resultType": "input_required",
        "inputRequests": {
            request.approval_id: question(request, conversation, str(one.request)) for request in asked.questions
        },
        "requestState": sealed(state.options.secret, content),
    }


def question(request: ApprovalRequest, conversation: ConversationId, call: str) -> JsonObject:
    params = elicitation(request, conversation, call, "", more_text=True)
    return {"method": "elicitation/create", "params": {"mode": "form", **params}}


# --- the call that is made again ------------------------------------------------------------------------------------


def last_round(state: McpState, answers: Answers, digest: str) -> Round:
    """Read what the client has kept. Raises MethodError if we did not give it for this call."""
    if answers.state is None:
        raise bad_answers("`inputResponses` without the `requestState` that came with the questions")
    try:
        kept = convert(unsealed(state.options.secret, answers.state), Round)
    except ValidationError:  # or of another version
        raise bad_answers("`requestState` is not as it was given") from None
    if kept.digest != digest:
        raise bad_answers("`requestState` belongs to a call with other arguments")
    return kept


def give_answers(state: McpState, answers: Answers, kept: Round) -> Script[frozenset[ApprovalId]]:
    """Answer what still waits; the ids of what was passed on instead. Questions without a response are asked again.

    What was answered elsewhere stays so; what this client has answered before is refused.
    """
    passed_on = set[ApprovalId]()
    replies = {name: answers.reply(name) for name in kept.asked}
    waiting = {one.approval_id: one for one in (yield from command(kept.conversation, Inspect())).pending}
    label = state.client.label
    for approval, reply in replies.items():
        if reply is None:
            continue
        if reply.decision is None and approval in waiting:
            state.questions.dismiss(waiting[approval], kept.conversation)
            passed_on.add(approval)
            continue
        decision = reply.decision or Decision.DENIED  # one that waits no more is only asked who has answered it
        said = AnswerApproval(approval, decision, label, reply.reason, content=reply.content, outside=reply.outside)
        try:
            yield from command(kept.conversation, said)
        except AlreadyAnswered as known:
            if known.details.get("by") == label:
                data = {"threadId": kept.conversation}
                raise bad_answers("`requestState` was used before: its question is answered", data) from None
        except UnknownApproval:
            pass  # its turn has ended; how is what the client wants to know
        except InvalidInput as why:
            raise bad_answers(f"the response to {approval!r} does not fit: {why.message}") from None
    return frozenset(passed_on)
