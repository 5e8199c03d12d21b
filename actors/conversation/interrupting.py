"""Interrupts: the open turn is stopped, because a person asked or the last reader has left."""

from actors.conversation.draft import Draft
from actors.conversation.queueing import withdraw_all
from actors.conversation.state import StopDecision
from actors.conversation.summary import interrupted
from actors.conversation.turns import stop_turn
from actors.messages.conversation import Interrupt
from actors.vocabulary.settings import AbortReason


def interrupt(draft: Draft, command: Interrupt) -> None:
    """Stop the open turn. The answer comes when the turn has ended, or at once if nothing runs."""
    if command.clear:
        withdraw_all(draft, "cleared by an interrupt", command.by)
    turn = draft.facts.turn
    if turn is None or command.turn not in {None, turn.id}:
        draft.reply_when_stored(interrupted(None, None, draft.facts.line))
        return
    if draft.caller is not None:
        draft.state.interrupts = (*draft.state.interrupts, draft.caller)
    by = (command.by,) if command.by else ()
    stop_turn(draft, StopDecision(AbortReason.INTERRUPTED, by, command.message), kill=command.kill)


def stop_if_alone(draft: Draft) -> None:
    """Stop the turn when the last reader has left, where the config asks for that."""
    if draft.state.limits.interrupt_when_alone and not draft.state.subscribers:
        stop_turn(draft, StopDecision(AbortReason.INTERRUPTED, message="its last client left"))
