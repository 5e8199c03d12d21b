"""The end of a turn, as it is found in a history."""

from greenroom.answers import TurnResult
from greenroom.scripts import AFTER_LAST_SEQ, TERMINAL, ApiCall, Script, retry_when_lost
from greenroom.wire import Json

LOOK_BACK = 200  # events, in which the end of the last turn is looked for


class Turn(TurnResult):
    """A turn that has ended."""

    conversation: str  # Whose turn it was.


def last_turn(conversation: str) -> Script[Turn | None]:
    params = {"conversation": conversation, "before": AFTER_LAST_SEQ, "limit": LOOK_BACK}
    events = (yield from retry_when_lost(ApiCall("conversation/history", params)))["events"]
    for place, envelope in reversed(list(enumerate(events))):
        if envelope["event"]["type"] in TERMINAL:
            before = events[place - 1]["event"] if place else {}
            return Turn.from_json({**ending_of(envelope["event"], before), **envelope})
    return None


def ending_of(body: Json, before: Json) -> Json:
    """The end of a turn, from its terminal event and the event before."""
    if body["type"] == "turn_aborted":
        return {"ending": body["reason"], "message": body.get("message") or None, "by": body.get("by", [])}
    if before.get("type") == "error":
        return {"ending": "error", "message": before["message"], "by": []}
    return {"ending": "completed", "message": body.get("last_agent_message"), "by": []}
