"""Input that waits: people edit it, move it, withdraw it, and let it go on. `sending` puts it there."""

from actors.conversation.closing import settle_claims
from actors.conversation.draft import Draft
from actors.conversation.starting import start_next
from actors.messages.conversation import EditInput, MoveInput, QueueEnd, ResumeQueue, WithdrawAll, WithdrawInput
from actors.messages.orders import PendingInput
from actors.vocabulary import events as ev
from actors.vocabulary.answers import Done
from actors.vocabulary.errors import Cancelled, InvalidInput, QueueFull, WrongState
from actors.vocabulary.ids import InputId
from actors.vocabulary.items import InputItem, says_nothing, size_of
from actors.vocabulary.settings import Task


def empty_message_refusal(items: tuple[InputItem, ...]) -> InvalidInput | None:
    """The refusal of a message without content, or None."""
    if not items:
        return InvalidInput("a message needs at least one item")
    if says_nothing(items):
        return InvalidInput(
            "the message is empty; write some words, because many models refuse every request with it"
        )
    return None


def queue_size_refusal(
    draft: Draft, items: tuple[InputItem, ...], others: tuple[PendingInput, ...]
) -> QueueFull | None:
    """The refusal of input for which there is no room beside the others, or None."""
    size = sum(map(size_of, (items, *(other.items for other in others))))
    if size <= draft.state.limits.queue_bytes:
        return None
    told = f"with this one, {size} bytes of input would wait"
    return QueueFull(f"{told}; {draft.state.limits.queue_bytes} are possible (greenroom.limits.queue_bytes)")


def edit_input(draft: Draft, command: EditInput) -> None:
    waiting = _find_waiting(draft, command.input)
    if isinstance(waiting, InvalidInput):
        draft.reply_now(waiting)
        return
    if waiting.task is Task.COMPACT:
        draft.reply_now(InvalidInput(f"input {waiting.id} is no message: it sums up the history; withdraw it"))
        return
    others = tuple(other for other in draft.facts.pending if other.id != waiting.id)
    refusal = empty_message_refusal(command.items) or (
        queue_size_refusal(draft, command.items, others) if others else None
    )
    if refusal is not None:
        draft.reply_now(refusal)
        return
    if command.items != waiting.items:
        draft.emit(ev.InputEdited(input_id=waiting.id, items=command.items, by=command.by))
    draft.reply_when_stored(Done())


def move_input(draft: Draft, command: MoveInput) -> None:
    """Move an input among its kind: input that joins a turn and input for turns of its own are two lines."""
    moved = _find_waiting(draft, command.input)
    if isinstance(moved, InvalidInput):
        draft.reply_now(moved)
        return
    rest = tuple(other for other in draft.facts.pending if other.id != moved.id and other.policy is moved.policy)
    before = _place(draft, command.to, rest)
    if isinstance(before, InvalidInput):
        draft.reply_now(before)
    elif before is not None and before.policy is not moved.policy:
        told = "one joins the running turn and the other gets a turn of its own, so they have no order"
        draft.reply_now(InvalidInput(f"{moved.id} can't go before {before.id}: {told}"))
    else:
        _move(draft, command, moved, before)
        draft.reply_when_stored(Done())


def _place(
    draft: Draft, to: InputId | QueueEnd, rest: tuple[PendingInput, ...]
) -> PendingInput | InvalidInput | None:
    """The input before which the moved one goes; None if it goes last."""
    match to:
        case QueueEnd.FIRST:
            return rest[0] if rest else None
        case QueueEnd.LAST:
            return None
        case _:
            return _find_waiting(draft, to)


def _move(draft: Draft, command: MoveInput, moved: PendingInput, before: PendingInput | None) -> None:
    alike = [waiting.id for waiting in draft.facts.pending if waiting.policy is moved.policy]
    after = alike[alike.index(moved.id) + 1 :]
    next_ = after[0] if after else None
    wanted = before.id if before else None
    if wanted not in {moved.id, next_}:
        draft.emit(ev.InputMoved(input_id=moved.id, before=wanted, by=command.by))


def _find_waiting(draft: Draft, wanted: InputId) -> PendingInput | InvalidInput:
    waiting = draft.facts.waiting_input(wanted)
    if waiting is not None:
        return waiting
    turn = draft.facts.turn
    if turn is not None and wanted in turn.inputs:
        return InvalidInput(f"input {wanted} does not wait any more: turn {turn.id} has taken it")
    return InvalidInput(f"no input {wanted} waits")


def withdraw_input(draft: Draft, command: WithdrawInput) -> None:
    waiting = _find_waiting(draft, command.input)
    if isinstance(waiting, InvalidInput):
        draft.reply_now(waiting)
        return
    withdraw(draft, waiting.id, command.reason, command.by)
    draft.reply_when_stored(Done())


def withdraw_everything(draft: Draft, command: WithdrawAll) -> None:
    withdraw_all(draft, command.reason, command.by)
    draft.reply_when_stored(Done())


def withdraw_all(draft: Draft, reason: str, by: str = "") -> None:
    """Withdraw all input that no turn has taken yet. Its senders get an answer, if they wait."""
    for waiting in draft.facts.pending:
        withdraw(draft, waiting.id, reason, by)


def withdraw_awaited_input(draft: Draft, reason: str) -> None:
    """Withdraw the input whose callers wait for an end that will not come for long; keep all other input."""
    awaited = {claim.input for claim in draft.state.claims if claim.awaiting}
    for waiting in draft.facts.pending:
        if waiting.id in awaited:
            withdraw(draft, waiting.id, reason)


def withdraw(draft: Draft, taken: InputId, reason: str, by: str = "") -> None:
    draft.emit(ev.InputWithdrawn(input_id=taken, reason=reason, by=by))
    claims = tuple(claim for claim in draft.state.claims if claim.input == taken)
    why = "".join((f" by {by}" if by else "", f": {reason}" if reason else ""))
    settle_claims(draft, claims, Cancelled(f"the input was withdrawn{why}"))
    draft.state.claims = tuple(claim for claim in draft.state.claims if claim.input != taken)
    if not draft.facts.queue:  # nothing is held any more, so later input waits for its turn alone
        resume_if_paused(draft)


def resume_queue(draft: Draft, command: ResumeQueue) -> None:
    if draft.facts.archived:
        draft.reply_now(WrongState("the conversation is archived; `greenroom archive --undo` unarchives it"))
        return
    resume_if_paused(draft, command.by)
    start_next(draft)
    draft.reply_when_stored(Done())


def resume_if_paused(draft: Draft, by: str = "") -> None:
    if draft.facts.paused:
        draft.emit(ev.QueueResumed(queued=len(draft.facts.pending), by=by))
