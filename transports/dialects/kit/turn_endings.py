"""The end of a turn, read from history: for a caller that asks after the other callers were answered. Pure."""

from collections.abc import Sequence

from actors.messages.conversation import Send
from actors.vocabulary import events as ev
from actors.vocabulary.answers import AcceptedInput, InputFound, TurnResult
from actors.vocabulary.conditions import Ending
from actors.vocabulary.ids import ConversationId, TurnId
from actors.vocabulary.records import Record
from transports.dialects.kit.script import Script, ask, command
from transports.supervisor_requests import ReadHistory

LAST_WORDS = 2  # the terminal event, preceded by an error if there was one


def ending_of(turn: TurnId, records: Sequence[Record]) -> TurnResult | None:
    """The end, from the last events of the turn; None if they are not kept any more."""
    last = [record for record in records if record.turn == turn][-LAST_WORDS:]
    events = [ev.durable_adapter.validate_json(record.body) for record in last]
    match events:
        case [ev.ErrorEvent(message=wrong), ev.TaskComplete()]:
            return TurnResult(turn, Ending.ERROR, wrong, last[-1].seq)
        case [*_, ev.TaskComplete(last_agent_message=message)]:
            return TurnResult(turn, Ending.COMPLETED, message, last[-1].seq)
        case [*_, ev.TurnAborted(reason=reason, message=message, by=by)]:
            return TurnResult(turn, Ending(reason.value), message or None, last[-1].seq, by)
        case _:
            return None


def send_input(conversation: ConversationId, message: Send) -> Script[AcceptedInput | TurnResult]:
    """Send a message. If its key is known and its turn is over, the end comes from the history."""
    accepted = yield from command(conversation, message)
    if message.await_end and isinstance(accepted, AcceptedInput):
        return (yield from end_of(conversation, accepted)) or accepted
    return accepted


def end_of(conversation: ConversationId, input_: AcceptedInput | InputFound) -> Script[TurnResult | None]:
    """The end of the turn of an input; None if it has not ended, or its end is not kept any more."""
    if input_.turn is None or input_.ended is None:
        return None
    return (yield from past_end(conversation, input_.turn, input_.ended))


def past_end(conversation: ConversationId, turn: TurnId, ended: int) -> Script[TurnResult | None]:
    """The end of a turn that ended at this seq."""
    past = yield from ask(ReadHistory(conversation, limit=LAST_WORDS, before=ended + 1))
    return ending_of(turn, past.page.records)
