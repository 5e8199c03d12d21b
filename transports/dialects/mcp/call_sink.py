"""What `codex` and `codex-reply` show of their conversation: each event once, under the call that it belongs to."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from actors.effects import Slice
from actors.events import ApprovalRequest
from actors.ids import ConversationId, TurnId
from transports.dialect import Action, Write
from transports.dialects.mcp import progress
from transports.dialects.mcp.elicitation import Origin, described, elicitation
from transports.dialects.mcp.events import Told, told
from transports.dialects.mcp.lines import event_notification
from transports.dialects.mcp.running import TurnCall
from transports.ordering import TERMINAL

if TYPE_CHECKING:
    from transports.dialects.mcp.desk import Desk


@dataclass(slots=True, eq=False)
class CallSink:
    desk: "Desk"
    conversation: ConversationId

    @property
    def answers(self) -> bool:
        return self.desk.peer.elicits

    def take(self, slice_: Slice) -> Iterable[Action]:
        running, questions = self.desk.running, self.desk.questions
        running.claim_turns(slice_)
        for one in told(slice_):
            turn = running.owner(self.conversation, one.turn)
            if turn is not None:
                yield from self._write(turn, one)
                progress.follow(turn, one)
                dismissed = questions.denied_since_dismissed(one)
                turn.remarks += (dismissed,) if dismissed else ()
            yield from questions.heed(slice_, one, partial(self._ask, of=one.turn))
            if one.type in TERMINAL:
                running.turn_ended(one.turn)
        yield from questions.heed_pending(slice_, partial(self._ask, of=slice_.turn))

    def lost(self, reason: str) -> Iterable[Action]:
        """The calls hear of it from the conversation, or from whoever refuses them."""
        return self.desk.nobody_reads(self.conversation, reason)

    def _write(self, turn: TurnCall, one: Told) -> Iterable[Action]:
        if one.msg is None:
            return
        event_id = "" if one.type == "session_configured" else turn.event_id(one.turn)
        meta = {"requestId": turn.request, "threadId": self.conversation}
        params = {"_meta": meta, "id": event_id}
        yield Write(event_notification("codex/event", params, one.msg))
        if self.desk.has_twin(one.type):
            yield Write(event_notification(one.type, params, one.msg))

    def _ask(self, request: ApprovalRequest, of: TurnId | None) -> Iterable[Action]:
        turn = self.desk.running.owner(self.conversation, of)
        if turn is None:
            return ()
        if not self.answers:
            return self.desk.questions.cannot_ask(request, self.conversation, self._say)
        origin = Origin(str(turn.request), turn.event_id(of), self.desk.peer.wants_more_text, self.conversation)
        return self.desk.questions.ask(
            request, self.conversation, lambda asked: ("elicitation/create", elicitation(asked, origin))
        )

    def _say(self, request: ApprovalRequest) -> Iterable[Action]:
        """Every call that waits on it is told, at once and on each beat."""
        text = waiting_text(request)
        calls = self.desk.running.of(self.conversation)
        for turn in calls:
            turn.activity = text
            yield from progress.said(turn, text)
        if all(turn.call.progress is None for turn in calls):
            yield from self.desk.loudness.say("warning", text)


def waiting_text(request: ApprovalRequest) -> str:
    known = request.approval_id
    return (
        f"waiting for an approval of {described(request)}; `greenroom approvals {known}` shows all of it; "
        f"answer with `greenroom approve {known}` or the tool answer_approval"
    )
