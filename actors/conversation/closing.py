"""The one end of a turn: it balances everything that was begun, and answers all callers that waited for it."""

from collections.abc import Iterator, Mapping
from typing import assert_never

from actors.conversation.draft import Draft
from actors.conversation.facts import OpenItem, TurnFacts
from actors.conversation.jobs import end_with_turn
from actors.conversation.starting import start_next
from actors.conversation.state import InputClaim, StopDecision
from actors.conversation.summary import interrupted
from actors.conversation.tail import Tail
from actors.messages.effects import Settle
from actors.messages.orders import (
    AgentStopped,
    Completed,
    Crashed,
    ModelFailed,
    Outcome,
    OutOfBudget,
    PendingInput,
    Suspended,
)
from actors.vocabulary import events as ev
from actors.vocabulary.answers import Answer, TurnResult
from actors.vocabulary.conditions import Ending
from actors.vocabulary.ids import ItemId, TurnId
from actors.vocabulary.settings import AbortReason, BusyPolicy, Decision

INPUTS_NAMED = 5  # messages of a paused queue that its event names; `queue` lists all of them

ABORTED_OUTPUT = {
    AbortReason.INTERRUPTED: "aborted by user",
    AbortReason.REPLACED: "aborted by user",
    AbortReason.FAILED: "aborted: the supervisor failed",
    AbortReason.LOST: "aborted: the supervisor was stopped",
    AbortReason.BUDGET: "aborted: a budget was reached",
}
ABORTED_WORK: Mapping[ev.WorkKind, str] = {"files": "aborted", "tool": "aborted"}  # in place of what it would write
# Ends that nobody asked for are errors: clients that know only interrupts must not take them for an interrupt.
NOBODY_ASKED = {
    AbortReason.FAILED: "the turn failed",
    AbortReason.LOST: "the turn was lost with the daemon",
    AbortReason.BUDGET: "a budget was reached",
}


def close_turn(
    draft: Draft,
    outcome: Outcome,
    stopping: StopDecision | None,
    uncounted: ev.UncountedAnswer | None = None,
) -> None:
    """Balance open items, emit the one terminal event, answer all callers that waited for it, start the next turn."""
    turn = draft.facts.turn
    assert turn is not None, "only an open turn can be closed"  # noqa: S101  # callers have checked
    draft.state.run = None
    terminal, error = _terminal(outcome, stopping, uncounted)
    reason = terminal.reason if isinstance(terminal, ev.TurnAborted) else AbortReason.FAILED
    _balance(draft, turn, reason)
    if error is not None:
        draft.emit(ev.ErrorEvent(message=error))
    elif isinstance(terminal, ev.TurnAborted) and terminal.reason in NOBODY_ASKED:
        draft.emit(ev.ErrorEvent(message=terminal.message or NOBODY_ASKED[terminal.reason]))
    draft.emit(terminal, turn.id)
    draft.state.tails = ()
    ending = Ending.ERROR if error is not None else _ending(terminal)
    message = error if error is not None else _message(terminal)
    if ending is not Ending.COMPLETED or stopping is not None:
        _settle_the_queue(draft, stopping, turn.id, ending)
    by = terminal.by if isinstance(terminal, ev.TurnAborted) else ()
    answer_waiters(draft, turn, TurnResult(turn.id, ending, message, draft.facts.seq, by))
    start_next(draft)


def _terminal(
    outcome: Outcome, stopping: StopDecision | None, uncounted: ev.UncountedAnswer | None
) -> tuple[ev.TaskComplete | ev.TurnAborted, str | None]:
    match outcome:
        case Completed(last_message):
            return ev.TaskComplete(last_agent_message=last_message, uncounted=uncounted), None
        case ModelFailed(message) if stopping is None:
            return ev.TaskComplete(uncounted=uncounted), message
        case Crashed(message) if stopping is None:
            return ev.TurnAborted(reason=AbortReason.FAILED, message=message, uncounted=uncounted), None
        case OutOfBudget(message) if stopping is None:
            return ev.TurnAborted(reason=AbortReason.BUDGET, message=message, uncounted=uncounted), None
        case AgentStopped() | Suspended() | ModelFailed() | OutOfBudget() | Crashed():
            why = stopping or StopDecision(AbortReason.FAILED, message="the agent stopped without being asked to")
            return ev.TurnAborted(reason=why.reason, message=why.message, by=why.by, uncounted=uncounted), None
        case _:
            assert_never(outcome)


def _balance(draft: Draft, turn: TurnFacts, reason: AbortReason) -> None:
    """Give every begin its end, every call its output, every question its withdrawal; keep partial text once."""
    tails = draft.state.tails
    for item, opened in turn.items:
        _end_item(draft, item, opened, tails, reason)
    for call, item in turn.calls:  # before partial text: an output follows its call, whatever was said meanwhile
        draft.emit(ev.ToolOutput(call_id=call, item_id=item, output=_aborted_output(turn, item, reason)))
    for asked in turn.approvals:
        resolved = ev.ApprovalResolved(approval_id=asked.approval_id, decision=Decision.WITHDRAWN, reason=reason)
        draft.emit(resolved)
    for tail in tails:
        _keep_partial(draft, tail, reason)
    end_with_turn(draft, turn.id)


def _aborted_output(turn: TurnFacts, item: ItemId, reason: AbortReason) -> str:
    """The output of an aborted call; for a turn that was lost with its agent, as far as the journal knows it."""
    if reason is not AbortReason.LOST:
        return ABORTED_OUTPUT[reason]
    if any(item == begun for begun, _ in turn.items):
        return f"{ABORTED_OUTPUT[reason]} after this had begun; how far it came is not known"
    if item in turn.granted:
        return f"{ABORTED_OUTPUT[reason]} when this was approved; there is no record that it began"
    return ABORTED_OUTPUT[reason]


def uncertainty_note(turn: TurnFacts) -> str:
    """The words for people, after the reason, on whether parts of an abandoned turn may have run."""
    if turn.items:
        return "; what had begun may have come to its end or not"
    return "; what was approved has no record of a beginning" if turn.granted else ""


def _keep_partial(draft: Draft, tail: Tail, reason: AbortReason) -> None:
    match tail.sample:
        case ev.AgentMessageDelta():
            draft.emit(ev.AgentMessage(message=tail.text(), item_id=tail.item, partial=True, cut=reason))
        case ev.AgentReasoningDelta():
            draft.emit(ev.AgentReasoning(text=tail.text(), item_id=tail.item, partial=True, cut=reason))
        case ev.AgentReasoningRawContentDelta():
            draft.emit(ev.AgentReasoningRawContent(text=tail.text(), item_id=tail.item, partial=True, cut=reason))
        case ev.WorkOutput():
            pass  # said by the end of its work
        case _:
            assert_never(tail.sample)


def _end_item(draft: Draft, item: ItemId, opened: OpenItem, tails: tuple[Tail, ...], reason: AbortReason) -> None:
    """End work as cancelled, with its output so far."""
    written = {stream: "".join(_texts(tails, item, stream)) for stream in ("stdout", "stderr")}
    ended = ev.WorkEnded(
        call_id=opened.call,
        item_id=item,
        kind=opened.kind,
        subject=opened.subject,
        agent_call=opened.agent_call,
        status="cancelled",
        output=written["stdout"],
        errors=written["stderr"] or ("" if opened.agent_call else ABORTED_WORK.get(opened.kind, "")),
        exit_code=-1 if opened.kind == "command" and opened.agent_call is None else None,
        cut=reason,
    )
    draft.emit(ended)


def _texts(tails: tuple[Tail, ...], item: ItemId, stream: str) -> Iterator[str]:
    outputs = ((tail, tail.sample) for tail in tails if tail.item == item)
    return (tail.text() for tail, sample in outputs if isinstance(sample, ev.WorkOutput) and sample.stream == stream)


def _ending(terminal: ev.TaskComplete | ev.TurnAborted) -> Ending:
    return Ending.COMPLETED if isinstance(terminal, ev.TaskComplete) else Ending(terminal.reason.value)


def _message(terminal: ev.TaskComplete | ev.TurnAborted) -> str | None:
    return terminal.last_agent_message if isinstance(terminal, ev.TaskComplete) else (terminal.message or None)


def _settle_the_queue(draft: Draft, stopping: StopDecision | None, turn: TurnId, ending: Ending) -> None:
    """Pause the queue after a turn that did not end well, and answer the calls that steered it in vain."""
    if stopping is not None and not stopping.pause:
        return
    if ending is Ending.COMPLETED:
        ending = Ending.INTERRUPTED  # the turn was done before the stop reached it, this input was not
    by = stopping.by if stopping is not None else ()
    result = TurnResult(turn, ending, "the turn ended before it took this input", draft.facts.seq, by)
    for waiting in draft.facts.steering:
        claims = tuple(claim for claim in draft.state.claims if claim.input == waiting.id)
        if any(claim.awaiting for claim in claims):
            draft.emit(ev.InputWithdrawn(input_id=waiting.id, reason=f"turn {ending}"))
            settle_claims(draft, claims, result)
            draft.state.claims = tuple(claim for claim in draft.state.claims if claim.input != waiting.id)
    kept = _input_that_stays(draft)
    if kept and (draft.facts.steering or not draft.facts.paused):
        draft.emit(pause_event(kept))


def pause_event(kept: tuple[PendingInput, ...]) -> ev.QueuePaused:
    return ev.QueuePaused(queued=len(kept), waiting=tuple(waiting.preview for waiting in kept[:INPUTS_NAMED]))


def _input_that_stays(draft: Draft) -> tuple[PendingInput, ...]:
    """The input that stays queued after the turn; input said after its stop starts the next turn at once."""
    return tuple(waiting for waiting in draft.facts.line if waiting.policy is not BusyPolicy.INTERRUPT)


def settle_claims(draft: Draft, claims: tuple[InputClaim, ...], answer: Answer) -> None:
    """Answer the waiting callers; settle those that were answered when their input was stored."""
    for claim in claims:
        if claim.awaiting:
            draft.answer_when_stored(claim.caller, answer)
        else:
            draft.when_stored(Settle(claim.caller))


def answer_waiters(draft: Draft, turn: TurnFacts, result: TurnResult) -> None:
    """Answer all callers whose input the turn took, and all that asked it to stop."""
    settle_claims(draft, tuple(claim for claim in draft.state.claims if claim.input in turn.inputs), result)
    for caller in draft.state.interrupts:
        draft.answer_when_stored(caller, interrupted(turn.id, result.ending, _input_that_stays(draft)))
    claims = tuple(claim for claim in draft.state.claims if claim.input not in turn.inputs)
    draft.state.claims = claims
    draft.state.interrupts = ()
