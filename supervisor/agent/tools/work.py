"""What the tools of one turn work with and on. Loop thread; lives as long as the turn's task."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from secrets import token_hex
from typing import Literal

from actors import events as ev
from actors.ids import ApprovalId, approval_in
from actors.settings import Decision, Settings
from supervisor.agent.bounds import DEFAULTS, Bounds
from supervisor.agent.environments import Around
from supervisor.agent.patch.turn_diff import TurnChanges
from supervisor.agent.transcript import Transcript
from supervisor.agent.turn import Turn, Verdict


@dataclass(slots=True)
class Work:
    turn: Turn
    transcript: Transcript
    around: Around
    deadline_s: float | None = None
    default: Literal[Decision.DENIED, Decision.ABORT] = Decision.DENIED  # when nobody answers until then
    bounds: Bounds = DEFAULTS
    _changes: TurnChanges | None = field(default=None, init=False)

    @property
    def changes(self) -> TurnChanges:
        """Made when the first patch needs it: it looks for the repository on the disk."""
        if self._changes is None:
            self._changes = TurnChanges(self.settings.cwd, self.bounds)
        return self._changes

    @property
    def env(self) -> Mapping[str, str]:
        return self.around.env

    @property
    def settings(self) -> Settings:
        return self.turn.order.settings

    def say(self, event: ev.DurableEvent) -> None:
        self.transcript.take(event)
        self.turn.emit(event)

    def new_approval(self) -> ApprovalId:
        return approval_in(self.turn.order.conversation, token_hex(6))

    async def ask(self, request: ev.ApprovalRequest) -> Verdict:
        """The answer, which may have been given in an earlier life of the turn."""
        known = self.transcript.decided(request.item_id, retry=getattr(request, "retry", False))
        if known is not None:
            return Verdict(known.decision, known.reason)
        return await self.turn.ask(request)
