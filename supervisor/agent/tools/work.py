"""The state that the tools of one turn share. Loop thread; lives as long as the turn's task."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from secrets import token_hex
from typing import Literal

from actors.vocabulary import events as ev
from actors.vocabulary.ids import ApprovalId, approval_in
from actors.vocabulary.settings import Decision, Settings
from supervisor.agent.bounds import DEFAULTS, Bounds
from supervisor.agent.environments import Around
from supervisor.agent.patch.turn_diff import TurnChanges
from supervisor.agent.spending.account import Account
from supervisor.agent.transcript import ModelTranscript
from supervisor.agent.turn import ApprovalAnswer, Turn


@dataclass(slots=True)
class Work:
    turn: Turn
    transcript: ModelTranscript
    around: Around
    account: Account
    deadline_s: float | None = None
    default: Literal[Decision.DENIED, Decision.ABORT] = Decision.DENIED  # if nobody answers before the deadline
    bounds: Bounds = DEFAULTS
    noticed: set[str] = field(default_factory=set)  # what a person has been told once in this turn
    _changes: TurnChanges | None = field(default=None, init=False)

    @property
    def changes(self) -> TurnChanges:
        """The turn's file changes; made at the first patch, because it looks for the repository on the disk."""
        if self._changes is None:
            self._changes = TurnChanges(self.settings.cwd, self.bounds)
        return self._changes

    @property
    def env(self) -> Mapping[str, str]:
        return self.around.env

    @property
    def settings(self) -> Settings:
        """The settings as they are now; somebody may change them while the turn runs."""
        return self.turn.settings

    def say(self, event: ev.AgentEvent) -> None:
        self.transcript.take(event)
        self.turn.emit(event)

    def new_approval(self) -> ApprovalId:
        """Return a random id that names its conversation, so that an answer finds its way by the id alone."""
        return approval_in(self.turn.order.conversation, token_hex(6))

    async def ask(self, request: ev.ApprovalRequest) -> ApprovalAnswer:
        """Return the answer, which may have been given in an earlier life of the turn."""
        known = self.transcript.calls.decided(request.item_id, retry=getattr(request, "retry", False))
        if known is not None and _same_scope(known.request, request):
            return ApprovalAnswer(known.decision, known.reason)
        with self.account.waiting():
            return await self.turn.ask(request)


def _same_scope(asked: ev.ApprovalRequest, request: ev.ApprovalRequest) -> bool:
    """Tell whether an answer holds: one about a repository's history, in the sandbox, lets nothing run outside."""
    return getattr(asked, "history_of", None) == getattr(request, "history_of", None)
