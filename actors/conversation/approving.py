"""Approvals: the answers of people to the questions of an open turn."""

from actors.conversation.draft import Draft
from actors.conversation.fitting_answers import FittingAnswer, fit_answer
from actors.conversation.starting import resume_turn
from actors.conversation.state import Stage, StopDecision
from actors.conversation.turns import stop_turn
from actors.messages.conversation import AnswerApproval
from actors.messages.orders import AnswerAgent
from actors.vocabulary import events as ev
from actors.vocabulary.answers import AnsweredApproval
from actors.vocabulary.errors import AlreadyAnswered, InvalidInput, Overloaded, UnknownApproval
from actors.vocabulary.ids import ApprovalId
from actors.vocabulary.settings import AbortReason, Decision


def answer_approval(draft: Draft, command: AnswerApproval) -> None:
    """Take the first valid answer; refuse later ones, and name the winner."""
    if command.decision is Decision.WITHDRAWN:
        draft.reply_now(InvalidInput("only the end of its turn withdraws a question"))
        return
    request = draft.facts.approval(command.approval)
    if request is None:
        draft.reply_now(_why_not(draft, command.approval))
        return
    if draft.state.quiescing:
        draft.reply_now(Overloaded("the daemon is stopping; the question will be asked again"))
        return
    answer = fit_answer(request, command.decision, command.option, command.content, outside=command.outside)
    if isinstance(answer, InvalidInput):
        draft.reply_now(answer)
        return
    resolve(draft, command.approval, answer, command.by, command.reason)
    draft.reply_when_stored(AnsweredApproval(command.approval, answer.decision, answer.option, answer.outside))


def deny(draft: Draft, approval: ApprovalId, by: str, reason: str, decision: Decision = Decision.DENIED) -> None:
    resolve(draft, approval, FittingAnswer(decision), by, reason)


def resolve(draft: Draft, approval: ApprovalId, answer: FittingAnswer, by: str, reason: str) -> None:
    decision, option, content, outside = answer.decision, answer.option, answer.content, answer.outside
    draft.emit(
        ev.ApprovalResolved(
            approval_id=approval,
            decision=decision,
            by=by,
            reason=reason,
            option=option,
            content=content,
            outside=outside,
        )
    )
    turn, run = draft.facts.turn, draft.state.run
    assert turn is not None, "an open question has an open turn"  # noqa: S101  # the callers found the question in it
    if decision is Decision.ABORT:
        stop_turn(draft, StopDecision(AbortReason.INTERRUPTED, (by,) if by else (), reason))
    elif run is not None and run.stage is Stage.RUNNING:
        draft.when_stored(AnswerAgent(turn.id, approval, decision, reason, option, content, outside))
    elif run is None and not turn.approvals:
        resume_turn(draft, turn)


def _why_not(draft: Draft, approval: ApprovalId) -> AlreadyAnswered | UnknownApproval:
    for answered, decision, by in draft.facts.answered:
        if answered == approval:
            winner = f" by {by}" if by else ""
            return AlreadyAnswered(f"already {decision.value}{winner}", decision=decision.value, by=by)
    return UnknownApproval(f"no approval {approval} waits in this conversation")
