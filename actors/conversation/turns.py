"""An open turn: the news of its agent, and the decision that it stops."""

from msgspec.structs import replace

from actors.conversation.applying import outdated_yeses
from actors.conversation.closing import close_turn, pause_event
from actors.conversation.draft import Draft
from actors.conversation.starting import emit_user_message, resume_turn, start_next
from actors.conversation.state import Stage, StopDecision
from actors.conversation.storing_tails import watch_tails
from actors.conversation.tail import add_delta
from actors.messages.effects import SetTimer
from actors.messages.orders import (
    AgentNews,
    AgentOutput,
    AgentStopped,
    AllStored,
    AnswerAgent,
    GiveInput,
    InputWanted,
    RunAgent,
    StopAgent,
    StorageAwaited,
    Suspended,
    TakeMore,
    TurnEnded,
)
from actors.vocabulary import events as ev
from actors.vocabulary.ids import TurnId
from actors.vocabulary.settings import BusyPolicy, Decision

UNSTORED_RECORDS = 512  # events of one conversation under way to the journal
UNSTORED_BYTES = 1 << 20


def take_output(draft: Draft, output: AgentOutput) -> None:
    """Take news of the agent; late news of another turn, or of one that the disk refused, is dropped."""
    run = draft.state.run
    if run is None or not run.is_source_of(output.turn) or draft.facts.turn is None:
        return
    _hear(draft, output.batch)
    more = TakeMore(output.turn)
    if is_ahead_of_the_disk(draft):
        draft.when_stored(more)
    else:
        draft.at_once(more)


def _hear(draft: Draft, batch: tuple[AgentNews, ...]) -> None:
    if draft.state.storage_error is None:
        for news in batch:
            _take(draft, news)


def is_ahead_of_the_disk(draft: Draft) -> bool:
    """True if too much waits to be stored: an agent that is faster than the disk waits for it."""
    state = draft.state
    waiting = state.facts.seq - state.committed
    if waiting == 0:
        return False
    return waiting > UNSTORED_RECORDS or sum(len(record.body) for record in state.window[-waiting:]) > UNSTORED_BYTES


def _take(draft: Draft, news: AgentNews) -> None:
    turn = draft.facts.turn
    assert turn is not None, "news is taken only while its turn is open"  # noqa: S101  # take_output has checked
    match news:
        case ev.AgentMessageDelta() | ev.AgentReasoningDelta() | ev.AgentReasoningRawContentDelta() | ev.WorkOutput():
            draft.state.tails = add_delta(draft.state.tails, news, draft.facts.seq)
            if not draft.state.keep_timer:
                watch_tails(draft)
        case InputWanted():
            _give_input(draft, turn.id)
        case StorageAwaited():
            draft.when_stored(AllStored(turn.id, draft.facts.seq))
        case ev.ApprovalRequested():
            _ask(draft, turn.id, news)
        case ev.WorkEnded() if news.kind not in ev.ONE_EVENT:
            if any(item == news.item_id for item, _ in turn.items):
                draft.emit(news)
        case ev.ToolOutput():
            if any(item == news.item_id for _, item in turn.calls):
                draft.emit(news)
        case ev.StreamError():  # unfinished text is said again, as another item
            draft.state.tails = tuple(tail for tail in draft.state.tails if tail.is_output)
            draft.emit(news)
        case _:
            draft.emit(news)


def _give_input(draft: Draft, turn: TurnId) -> None:
    """Give the agent the waiting input; a turn that is being stopped gets none, as it would never answer it."""
    run = draft.state.run
    inputs = draft.facts.steering if run is not None and run.stopping is None else ()
    for waiting in inputs:
        emit_user_message(draft, waiting)
    if inputs:
        draft.when_stored(GiveInput(turn, inputs))
    else:
        draft.at_once(GiveInput(turn, ()))


def _ask(draft: Draft, turn: TurnId, request: ev.ApprovalRequested) -> None:
    """Ask people, unless a kept yes for the whole session answers the question; an event records that."""
    if (kept := draft.facts.kept_yes(request)) is not None:
        used = ev.KeptYesUsed(
            approval_id=kept.approval,
            by=kept.by,
            call_id=request.call_id,
            item_id=request.item_id,
            outside=kept.outside,
        )
        draft.emit(used)
        answer = AnswerAgent(turn, request.approval_id, Decision.APPROVED_FOR_SESSION, outside=kept.outside)
        draft.when_stored(answer)
        return
    if outdated_yeses(draft.facts, request):
        request = request.model_copy(update={"changed": True})
    draft.emit(request)
    set_deadline(draft, request)


def set_deadline(draft: Draft, request: ev.ApprovalRequested) -> None:
    if request.deadline_s is not None:
        draft.at_once(SetTimer(f"approval:{request.approval_id}", request.deadline_s))


def stop_turn(draft: Draft, stopping: StopDecision, *, kill: bool = False) -> None:
    """Decide that the open turn ends. A second stop kills; the first reason stands."""
    run, turn = draft.state.run, draft.facts.turn
    if turn is None:
        return
    if run is None:
        close_turn(draft, AgentStopped(), stopping)
    elif run.stage is Stage.HELD:
        forget_held_run(draft)
        close_turn(draft, AgentStopped(), stopping)
    elif run.stopping is None:
        draft.state.run = replace(run, stage=Stage.STOPPING, stopping=stopping)
        draft.at_once(StopAgent(turn.id, kill))
    else:
        by = tuple(dict.fromkeys((*run.stopping.by, *stopping.by)))
        merged = replace(run.stopping, by=by, pause=run.stopping.pause or stopping.pause)
        if merged.pause and not run.stopping.pause:
            _hold_the_replacement(draft)
        draft.state.run = replace(run, stopping=merged)
        draft.at_once(StopAgent(turn.id, kill=True))


def _hold_the_replacement(draft: Draft) -> None:
    """Let the replacing input wait like all the others, because the turn was interrupted before it was replaced."""
    if any(waiting.policy is BusyPolicy.INTERRUPT for waiting in draft.facts.pending):
        draft.emit(pause_event(draft.facts.line))


def forget_held_run(draft: Draft) -> None:
    """Drop a run whose agent was never started, so there is nothing to stop."""
    held = tuple(waiting for waiting in draft.state.held if not isinstance(waiting.effect, RunAgent))
    draft.state.held = held
    draft.state.run = None


def end_turn(draft: Draft, news: TurnEnded) -> None:
    """Close the turn with the agent's outcome, unless it was stopped before it was done."""
    run, turn = draft.state.run, draft.facts.turn
    if run is None or not run.is_source_of(news.turn):
        return
    batch, uncounted = _without_uncounted(news)
    if turn is not None:
        _hear(draft, batch)
        turn = draft.facts.turn
    draft.state.run = None
    if turn is None:  # the disk refused even its beginning
        start_next(draft)
    elif isinstance(news.outcome, Suspended) and run.suspending and run.stopping is None:
        if not turn.approvals:
            resume_turn(draft, turn)
    else:
        close_turn(draft, news.outcome, run.stopping, uncounted)


def _without_uncounted(news: TurnEnded) -> tuple[tuple[AgentNews, ...], ev.UncountedAnswer | None]:
    """Take a last count without numbers out of the batch: the event of the turn's end has it."""
    match news:
        case TurnEnded(outcome=Suspended()):
            return news.batch, None
        case TurnEnded(batch=(*batch, ev.TokenCount(counted=False) as count)):
            told = ev.UncountedAnswer(
                model=count.model, provider=count.provider, cost_usd=count.cost_usd, requests=count.requests
            )
            return tuple(batch), told
        case _:
            return news.batch, None
