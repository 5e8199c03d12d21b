"""The end of a turn, as history has it: for a caller that asks when all others were told long ago. Pure."""

from collections.abc import Sequence

from actors.messages.conversation import Send
from actors.vocabulary import events as ev
from actors.vocabulary.answers import Accepted, Ending, InputFound, TurnResult
from actors.vocabulary.ids import ConversationId, TurnId
from actors.vocabulary.records import Record
from transports.dialects.kit.script import Script, ask, command
from transports.requests import ReadHistory

LAST_WORDS = 2  # the terminal event, and before it the error if there was one


def ending_of(turn: TurnId, records: Sequence[Record]) -> TurnResult | None:
    """The end, from the last events of the turn. None if they are not there any more."""
    last = [record for record in records if record.turn == turn][-LAST_WORDS:]
    said = [ev.durable_adapter.validate_json(record.body) for record in last]
    match said:
        case [ev.ErrorEvent(message=wrong), ev.TaskComplete()]:
            return TurnResult(turn, Ending.ERROR, wrong, last[-1].seq)
        case [*_, ev.TaskComplete(last_agent_message=message)]:
            return TurnResult(turn, Ending.COMPLETED, message, last[-1].seq)
        case [*_, ev.TurnAborted(reason=reason, message=message, by=by)]:
            return TurnResult(turn, Ending(reason.value), message or None, last[-1].seq, by)
        case _:
            return None


def said(conversation: ConversationId, words: Send) -> Script[Accepted | TurnResult]:
    """Say it. Of what was said before, with the same key, and whose turn is over, the end is in the history."""
    taken = yield from command(conversation, words)
    if words.await_end and isinstance(taken, Accepted):
        return (yield from end_of(conversation, taken)) or taken
    return taken


def end_of(conversation: ConversationId, found: Accepted | InputFound) -> Script[TurnResult | None]:
    """The end of the turn of an input; None if it has not ended, or its end is not kept any more."""
    if found.turn is None or found.ended is None:
        return None
    return (yield from past_end(conversation, found.turn, found.ended))


def past_end(conversation: ConversationId, turn: TurnId, ended: int) -> Script[TurnResult | None]:
    """The end of a turn that ended at this seq."""
    past = yield from ask(ReadHistory(conversation, limit=LAST_WORDS, before=ended + 1))
    return ending_of(turn, past.page.records)
