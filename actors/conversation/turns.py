"""The life of a turn: start, news, and the one end that balances everything it began."""

from dataclasses import replace
from typing import assert_never

from actors import events as ev
from actors.conversation.draft import Draft
from actors.conversation.facts import OpenItem, TurnFacts
from actors.conversation.state import Run, Stage, Stopping
from actors.conversation.tail import Tail, grown
from actors.errors import GreenroomError
from actors.ids import ItemId, TurnId
from actors.items import text_of
from actors.messages import (
    AgentNews,
    AgentOutput,
    AnswerAgent,
    Completed,
    Crashed,
    Ending,
    GiveInput,
    InputWanted,
    Interrupted,
    ModelFailed,
    Outcome,
    PendingInput,
    RunAgent,
    SetTimer,
    Settle,
    StopAgent,
    Stopped,
    Suspended,
    TakeMore,
    TurnEnded,
    TurnResult,
)
from actors.settings import AbortReason, BusyPolicy, Decision, Settings

ABORTED_OUTPUT = {
    AbortReason.INTERRUPTED: "aborted by user",
    AbortReason.REPLACED: "aborted by user",
    AbortReason.FAILED: "aborted: the supervisor failed",
    AbortReason.LOST: "aborted: the supervisor was stopped",
}


# --- start -------------------------------------------------------------------------------------------------


def start_turn(draft: Draft, inputs: tuple[PendingInput, ...]) -> None:
    """A turn begins with what was said. The agent is told when that is on disk."""
    own = next((waiting.settings for waiting in inputs if waiting.settings), None)
    turn = TurnId(draft.name())
    draft.emit(ev.TaskStarted(settings=own), turn)
    for waiting in inputs:
        emit_user_message(draft, waiting)
    run_agent(draft, turn, own or draft.facts.settings, inputs)


def resume_turn(draft: Draft, turn: TurnFacts) -> None:
    """Go on in the middle: everything that is needed is in the journal."""
    run_agent(draft, turn.id, turn.settings or draft.facts.settings, (), resume=True)


def run_agent(
    draft: Draft, turn: TurnId, settings: Settings, inputs: tuple[PendingInput, ...], *, resume: bool = False
) -> None:
    facts = draft.facts
    draft.state.run = Run(turn)
    draft.when_stored(RunAgent(facts.conversation, turn, settings, facts.seq, resume, inputs))


def emit_user_message(draft: Draft, waiting: PendingInput) -> None:
    draft.emit(
        ev.UserMessage(
            message=text_of(waiting.items),
            item_id=ItemId(waiting.id),
            items=waiting.items,
            input_id=waiting.id,
            key=waiting.key,
            by=waiting.by,
        )
    )


def start_next(draft: Draft) -> None:
    """After a turn: what interrupted it, else what came too late for it, else the queue unless it is paused."""
    facts = draft.facts
    if facts.turn is not None or facts.failed is not None:
        return
    urgent = next((waiting for waiting in facts.pending if waiting.policy is BusyPolicy.INTERRUPT), None)
    if urgent is not None:
        start_turn(draft, (urgent,))
    elif facts.steering and not facts.paused:
        start_turn(draft, facts.steering)
    elif facts.queue and not facts.paused:
        start_turn(draft, facts.queue[:1])


# --- news from the agent -----------------------------------------------------------------------------------


def take_output(draft: Draft, output: AgentOutput) -> None:
    """Late news of another turn, or of one that the disk refused, is dropped."""
    run = draft.state.run
    if run is None or run.turn != output.turn or draft.facts.turn is None:
        return
    if draft.state.storage_error is None:
        for news in output.batch:
            _take(draft, news)
    draft.at_once(TakeMore(output.turn))


def _take(draft: Draft, news: AgentNews) -> None:
    turn = draft.facts.turn
    assert turn is not None, "news is taken only while its turn is open"  # noqa: S101  # take_output has looked
    match news:
        case (
            ev.AgentMessageDelta()
            | ev.AgentReasoningDelta()
            | ev.AgentReasoningRawContentDelta()
            | ev.ExecCommandOutputDelta()
        ):
            draft.state.tails = grown(draft.state.tails, news, draft.facts.seq)
        case InputWanted():
            _give_input(draft, turn.id)
        case ev.ExecApprovalRequest() | ev.ApplyPatchApprovalRequest():
            _ask(draft, turn.id, news)
        case ev.ExecCommandEnd() | ev.PatchApplyEnd() | ev.McpToolCallEnd():
            if any(item == news.item_id for item, _ in turn.items):
                draft.emit(news)
        case ev.ToolOutput():
            if any(item == news.item_id for _, item in turn.calls):
                draft.emit(news)
        case _ if isinstance(news, AGENT_EVENTS):
            draft.emit(news)
        case _:
            raise ValueError(f"an agent may not say {news.type}")


AGENT_EVENTS = (
    ev.UserMessage,
    ev.ErrorEvent,
    ev.StreamError,
    ev.BackgroundEvent,
    ev.TokenCount,
    ev.AgentMessage,
    ev.AgentReasoning,
    ev.AgentReasoningSectionBreak,
    ev.AgentReasoningRawContent,
    ev.ModelReasoning,
    ev.ToolCall,
    ev.ExecCommandBegin,
    ev.PatchApplyBegin,
    ev.McpToolCallBegin,
    ev.TurnDiff,
    ev.PlanUpdate,
)


def _give_input(draft: Draft, turn: TurnId) -> None:
    inputs = draft.facts.steering
    for waiting in inputs:
        emit_user_message(draft, waiting)
    draft.when_stored(GiveInput(turn, inputs))


def _ask(draft: Draft, turn: TurnId, request: ev.ApprovalRequest) -> None:
    """A question for people, unless one of them has answered it for the whole session."""
    if draft.facts.is_standing(request):
        draft.when_stored(AnswerAgent(turn, request.approval_id, Decision.APPROVED_FOR_SESSION))
        return
    draft.emit(request)
    set_deadline(draft, request)


def set_deadline(draft: Draft, request: ev.ApprovalRequest) -> None:
    if request.deadline_s is not None:
        draft.at_once(SetTimer(f"approval:{request.approval_id}", request.deadline_s))


# --- stopping ----------------------------------------------------------------------------------------------


def stop_turn(draft: Draft, stopping: Stopping, *, kill: bool = False) -> None:
    """Decide that the open turn ends. A second stop kills; the first reason stands."""
    run, turn = draft.state.run, draft.facts.turn
    if turn is None:
        return
    if run is None:
        close_turn(draft, Stopped(), stopping)
    elif run.stage is Stage.HELD:
        forget_held_run(draft)
        close_turn(draft, Stopped(), stopping)
    elif run.stopping is None:
        draft.state.run = replace(run, stage=Stage.STOPPING, stopping=stopping)
        draft.at_once(StopAgent(turn.id, kill))
    else:
        merged = replace(run.stopping, by=tuple(dict.fromkeys((*run.stopping.by, *stopping.by))))
        draft.state.run = replace(run, stopping=merged)
        draft.at_once(StopAgent(turn.id, kill=True))


def forget_held_run(draft: Draft) -> None:
    """The agent was never told, so there is nothing to stop."""
    held = tuple(one for one in draft.state.held if not isinstance(one.effect, RunAgent))
    draft.state.held = held
    draft.state.run = None


def end_turn(draft: Draft, news: TurnEnded) -> None:
    """The agent's last word. What it did decides, unless it was stopped before it was done."""
    run, turn = draft.state.run, draft.facts.turn
    if run is None or run.turn != news.turn:
        return
    draft.state.run = None
    if turn is None:  # the disk refused even its beginning
        start_next(draft)
    elif isinstance(news.outcome, Suspended) and run.stopping is None:
        if not turn.approvals:
            resume_turn(draft, turn)
    else:
        close_turn(draft, news.outcome, run.stopping)


def close_turn(draft: Draft, outcome: Outcome, stopping: Stopping | None) -> None:
    """Balance what is open, say the one terminal event, answer everybody who waited for it, go on."""
    turn = draft.facts.turn
    assert turn is not None, "only an open turn can be closed"  # noqa: S101  # callers have looked
    draft.state.run = None
    terminal, error = _terminal(outcome, stopping)
    reason = terminal.reason if isinstance(terminal, ev.TurnAborted) else AbortReason.FAILED
    _balance(draft, turn, reason)
    if error is not None:
        draft.emit(ev.ErrorEvent(message=error))
    draft.emit(terminal, turn.id)
    draft.state.tails = ()
    ending = Ending.ERROR if error is not None else _ending(terminal)
    message = error if error is not None else _message(terminal)
    if ending is not Ending.COMPLETED or stopping is not None:
        _settle_the_queue(draft, stopping, turn.id, ending)
    answer_waiters(draft, turn, TurnResult(turn.id, ending, message, draft.facts.seq))
    start_next(draft)


def _terminal(outcome: Outcome, stopping: Stopping | None) -> tuple[ev.TaskComplete | ev.TurnAborted, str | None]:
    match outcome:
        case Completed(last_message):
            return ev.TaskComplete(last_agent_message=last_message), None
        case ModelFailed(message) if stopping is None:
            return ev.TaskComplete(), message
        case Crashed(message) if stopping is None:
            return ev.TurnAborted(reason=AbortReason.FAILED, message=message), None
        case Stopped() | Suspended() | ModelFailed() | Crashed():
            why = stopping or Stopping(AbortReason.FAILED, message="the agent stopped without being asked to")
            return ev.TurnAborted(reason=why.reason, message=why.message, by=why.by), None
        case _:
            assert_never(outcome)


def _balance(draft: Draft, turn: TurnFacts, reason: AbortReason) -> None:
    """Every begin gets its end, every call its output, every question its withdrawal, partial text is kept once."""
    tails = draft.state.tails
    for tail in tails:
        _keep_partial(draft, tail)
    for asked in turn.approvals:
        resolved = ev.ApprovalResolved(approval_id=asked.approval_id, decision=Decision.WITHDRAWN, reason=reason)
        draft.emit(resolved)
    for item, opened in turn.items:
        _end_item(draft, item, opened, tails)
    for call, item in turn.calls:
        draft.emit(ev.ToolOutput(call_id=call, item_id=item, output=ABORTED_OUTPUT[reason]))


def _keep_partial(draft: Draft, tail: Tail) -> None:
    match tail.sample:
        case ev.AgentMessageDelta():
            draft.emit(ev.AgentMessage(message=tail.whole(), item_id=tail.item, partial=True))
        case ev.AgentReasoningDelta():
            draft.emit(ev.AgentReasoning(text=tail.whole(), item_id=tail.item, partial=True))
        case ev.AgentReasoningRawContentDelta():
            draft.emit(ev.AgentReasoningRawContent(text=tail.whole(), item_id=tail.item, partial=True))
        case ev.ExecCommandOutputDelta():
            pass  # said by the end of its command
        case _:
            assert_never(tail.sample)


def _end_item(draft: Draft, item: ItemId, opened: OpenItem, tails: tuple[Tail, ...]) -> None:
    match opened.kind:
        case "exec":
            written = {tail.key.rpartition("/")[2]: tail.whole() for tail in tails if tail.item == item}
            draft.emit(
                ev.ExecCommandEnd(
                    call_id=opened.call,
                    item_id=item,
                    exit_code=-1,
                    stdout=written.get("stdout", ""),
                    stderr=written.get("stderr", ""),
                )
            )
        case "patch":
            draft.emit(ev.PatchApplyEnd(call_id=opened.call, item_id=item, success=False, stderr="aborted"))
        case "mcp":
            invocation = opened.invocation or ev.McpInvocation(server="", tool="", arguments=None)
            aborted = ev.McpToolCallEnd(
                call_id=opened.call, item_id=item, invocation=invocation, result={"Err": "aborted"}
            )
            draft.emit(aborted)
        case _:
            assert_never(opened.kind)


def _ending(terminal: ev.TaskComplete | ev.TurnAborted) -> Ending:
    return Ending.COMPLETED if isinstance(terminal, ev.TaskComplete) else Ending(terminal.reason.value)


def _message(terminal: ev.TaskComplete | ev.TurnAborted) -> str | None:
    return terminal.last_agent_message if isinstance(terminal, ev.TaskComplete) else (terminal.message or None)


def _settle_the_queue(draft: Draft, stopping: Stopping | None, turn: TurnId, ending: Ending) -> None:
    """A turn that did not end well pauses what waits behind it. Calls that steered it in vain are told so."""
    if stopping is not None and not stopping.pause:
        return
    result = TurnResult(turn, ending, "the turn ended before it took this input", draft.facts.seq)
    for waiting in draft.facts.steering:
        claims = tuple(claim for claim in draft.state.claims if claim.input == waiting.id)
        if any(claim.awaiting for claim in claims):
            draft.emit(ev.InputWithdrawn(input_id=waiting.id, reason=f"turn {ending}"))
            for claim in claims:
                draft.reply(claim.caller, result)
            draft.state.claims = tuple(claim for claim in draft.state.claims if claim.input != waiting.id)
    kept = tuple(one for one in draft.facts.pending if one.policy is not BusyPolicy.INTERRUPT)
    if kept and not draft.facts.paused:
        draft.emit(ev.QueuePaused(queued=len(kept)))


def answer_waiters(draft: Draft, turn: TurnFacts, result: TurnResult) -> None:
    """Everybody whose input the turn took, and everybody who asked it to stop."""
    for claim in draft.state.claims:
        if claim.input in turn.inputs:
            if claim.awaiting:
                draft.reply(claim.caller, result)
            else:
                draft.when_stored(Settle(claim.caller))
    for caller in draft.state.interrupts:
        draft.reply(caller, Interrupted(turn.id, result.ending, len(draft.facts.pending)))
    claims = tuple(claim for claim in draft.state.claims if claim.input not in turn.inputs)
    draft.state.claims = claims
    draft.state.interrupts = ()


def fail_claims(draft: Draft, gone: tuple[str, ...], error: GreenroomError) -> None:
    """Inputs that the disk refused: whoever sent them is told."""
    for claim in draft.state.claims:
        if claim.input in gone:
            draft.refuse(claim.caller, error)
    draft.state.claims = tuple(claim for claim in draft.state.claims if claim.input not in gone)
