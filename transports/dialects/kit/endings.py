"""The end of a turn, as history has it: for a caller that asks when all others were told long ago. Pure."""

from collections.abc import Sequence

from actors.vocabulary import events as ev
from actors.vocabulary.answers import Ending, TurnResult
from actors.vocabulary.ids import TurnId
from actors.vocabulary.records import Record

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
