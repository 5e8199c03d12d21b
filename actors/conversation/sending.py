"""Input from clients: it starts a turn, joins one or waits; it is found again by its key, and taken back."""

from dataclasses import replace

from actors.conversation.draft import Draft
from actors.conversation.facts import KEYS_KEPT_S, Facts, Key
from actors.conversation.queueing import empty_message_refusal, queue_size_refusal, withdraw
from actors.conversation.starting import start_turn
from actors.conversation.state import InputClaim, StopDecision
from actors.conversation.turns import stop_turn
from actors.messages.conversation import CancelRequest, FindInput, Send
from actors.messages.effects import SetTimer
from actors.messages.orders import OfferInput, PendingInput
from actors.vocabulary import events as ev
from actors.vocabulary.answers import AcceptedInput, InputFound
from actors.vocabulary.errors import (
    Busy,
    InvalidInput,
    Overloaded,
    QueueFull,
    UnknownConversation,
    WrongState,
)
from actors.vocabulary.ids import ConnectionId, InputId
from actors.vocabulary.settings import AbortReason, BusyPolicy, Task

CALLER_GONE = "caller_gone"  # the timer's name
UNKNOWN_INPUT = InvalidInput("no such input is known; it was withdrawn, or accepted more than a day ago")


def send(draft: Draft, command: Send) -> None:
    known = None if command.anew else _known_key(draft.facts, command.key, draft.now)
    refusal = _refusal(draft, command) if known is None else None
    if refusal is not None:
        draft.reply_now(refusal)
        return
    if known is not None:
        _send_again(draft, command, known)
        return
    input_ = command.input or InputId(draft.name())
    waiting = _pending(command, input_)
    _claim(draft, command, waiting.id)
    if draft.facts.turn is None:
        # First, and alone: held input stays held until somebody resumes the queue.
        start_turn(draft, (waiting,), _new_name(draft.facts, command))
    else:
        _send_to_busy(draft, waiting)
    _accept(draft, command, waiting.id)


def _refusal(
    draft: Draft, command: Send
) -> Busy | InvalidInput | Overloaded | QueueFull | UnknownConversation | WrongState | None:
    facts = draft.facts
    if facts.seq == 0:
        return UnknownConversation(f"no conversation {facts.conversation}")
    if draft.state.quiescing:
        return Overloaded("the daemon is stopping; try again in a moment")
    if nothing := _nothing_to_do(facts, command):
        return nothing
    if facts.failed is not None:
        return WrongState(f"the conversation has failed: {facts.failed}; `greenroom restart` restarts it")
    if facts.archived:
        return WrongState("the conversation is archived; `greenroom archive --undo` unarchives it")
    if facts.turn is not None and command.policy is BusyPolicy.REJECT:
        return Busy(f"turn {facts.turn.id} is running", turn=facts.turn.id)
    if facts.turn is not None and len(facts.pending) >= draft.state.limits.queue:  # else one begins now
        count = len(facts.pending)
        told = f"{count} {'input waits' if count == 1 else 'inputs wait'} already"
        return QueueFull(f"{told} (greenroom.limits.queue_length)")
    if facts.turn is not None and facts.pending:
        return queue_size_refusal(draft, command.items, facts.pending)
    return None


def _nothing_to_do(facts: Facts, command: Send) -> InvalidInput | WrongState | None:
    if command.task is Task.COMPACT:
        waits = facts.unsummed or facts.turn is not None
        return None if waits else WrongState("there is nothing to sum up: no model has answered since the last time")
    return empty_message_refusal(command.items)


def _new_name(facts: Facts, command: Send) -> str | None:
    return None if facts.name is not None or facts.nameless else command.name or None


def _pending(command: Send, input_: InputId) -> PendingInput:
    """The command as input. Summing up is no part of a turn that answers, and takes no message with it."""
    policy = BusyPolicy.ENQUEUE if command.task is Task.COMPACT else command.policy
    return PendingInput(
        input_, command.items, policy, command.settings, command.key, command.by, command.task, command.own
    )


def _send_to_busy(draft: Draft, waiting: PendingInput) -> None:
    run = draft.state.run
    stopping = run.stopping if run else None
    match waiting.policy:
        case BusyPolicy.STEER | BusyPolicy.REJECT if stopping is not None or waiting.settings is not None:
            # Said after the stop, or for other settings than the turn has: it gets a turn of its own, next.
            policy = BusyPolicy.INTERRUPT if stopping is not None else BusyPolicy.ENQUEUE
            _queue(draft, replace(waiting, policy=policy))
        case BusyPolicy.STEER | BusyPolicy.REJECT:
            _queue(draft, waiting)
            if run is not None:
                draft.when_stored(OfferInput(run.turn))
        case BusyPolicy.ENQUEUE:
            _queue(draft, waiting)
        case BusyPolicy.INTERRUPT:
            _queue(draft, waiting)
            if stopping is None:
                by = (waiting.by,) if waiting.by else ()
                stop_turn(draft, StopDecision(AbortReason.REPLACED, by, pause=False))


def _queue(draft: Draft, waiting: PendingInput) -> None:
    draft.emit(
        ev.InputQueued(
            input_id=waiting.id,
            policy=waiting.policy,
            items=waiting.items,
            settings=waiting.settings,
            key=waiting.key,
            by=waiting.by,
            task=waiting.task,
            own=waiting.own,
        )
    )


def _claim(draft: Draft, command: Send | FindInput, taken: InputId) -> None:
    if draft.caller is not None:
        draft.state.claims = (*draft.state.claims, InputClaim(draft.caller, taken, command.await_end, command.gone_s))


def _accept(draft: Draft, command: Send, taken: InputId, *, duplicate: bool = False) -> None:
    if command.await_end:
        return
    facts = draft.facts
    turn = facts.turn.id if facts.turn and taken in facts.turn.inputs else None
    accepted = AcceptedInput(taken, turn, facts.seq, len(facts.pending), duplicate)
    draft.reply_when_stored(accepted, settles=False)


def _known_key(facts: Facts, key: str | None, now: float) -> Key | None:
    return (
        next((kept for kept in facts.keys if kept.key == key and kept.ts > now - KEYS_KEPT_S), None) if key else None
    )


def _send_again(draft: Draft, command: Send, known: Key) -> None:
    """Handle a repeated request, which shares the outcome of the first."""
    facts = draft.facts
    open_inputs = {waiting.id for waiting in facts.pending} | set(facts.turn.inputs if facts.turn else ())
    if known.input in open_inputs:
        _claim(draft, command, known.input)
        _accept(draft, command, known.input, duplicate=True)
    else:
        queued = len(facts.pending)
        accepted = AcceptedInput(known.input, known.turn, facts.seq, queued, duplicate=True, ended=known.ended)
        draft.reply_when_stored(accepted)


def find_input(draft: Draft, command: FindInput) -> None:
    facts = draft.facts
    keys = (kept for kept in facts.keys if command.key == kept.key or command.input == kept.input)
    known = next((kept for kept in keys if kept.ts > draft.now - KEYS_KEPT_S), None)
    if known is None:
        refusal = UnknownConversation(f"no conversation {facts.conversation}") if facts.seq == 0 else UNKNOWN_INPUT
        draft.reply_now(refusal)
    elif command.await_end and known.ended is None and draft.caller is not None:
        _claim(draft, command, known.input)
    else:
        draft.reply_when_stored(InputFound(known.input, known.turn, known.ended))


# --- taking back -------------------------------------------------------------------------------------


def cancel_request(draft: Draft, command: CancelRequest) -> None:
    """Withdraw input that no turn has taken, interrupt a turn that took it. A settled request stays settled."""
    claim = next((claim for claim in draft.state.claims if claim.caller == command.caller), None)
    turn = draft.facts.turn
    if claim is None:
        return
    if turn is not None and claim.input in turn.inputs:
        stop_turn(draft, StopDecision(AbortReason.INTERRUPTED, (command.by,) if command.by else ()))
    else:
        withdraw(draft, claim.input, "cancelled by its sender")


def forget_connection(draft: Draft, gone: ConnectionId) -> None:
    """Forget the requests of a closed connection; their work goes on, at least for a while."""
    state = draft.state
    for claim in state.claims:
        if claim.caller.connection == gone and claim.gone_s is not None:
            draft.at_once(SetTimer(f"{CALLER_GONE}:{claim.input}", claim.gone_s))
    state.claims = tuple(claim for claim in state.claims if claim.caller.connection != gone)
    state.interrupts = tuple(caller for caller in state.interrupts if caller.connection != gone)


def stop_abandoned_turn(draft: Draft, said: InputId) -> None:
    """Stop the turn whose caller did not come back, unless somebody reads along or waits for the same turn.

    A turn that only waits for an answer stays: nothing of it runs.
    """
    turn = draft.facts.turn
    if any(claim.input == said for claim in draft.state.claims):  # the same input was said again, with its key
        return
    if turn is None or said not in turn.inputs:
        if any(waiting.id == said for waiting in draft.facts.pending):
            withdraw(draft, said, "its caller is gone")
        return
    waits = any(claim.awaiting and claim.input in turn.inputs for claim in draft.state.claims)
    if not (draft.state.subscribers or waits or turn.only_waits):
        stop_turn(draft, StopDecision(AbortReason.INTERRUPTED, message="its caller is gone, and nobody else is here"))
