"""The state that the tools of one turn share. Loop thread; lives as long as the turn's task."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex
from typing import Literal

from actors.vocabulary import events as ev
from actors.vocabulary.ids import ApprovalId, approval_in
from actors.vocabulary.settings import Decision, Settings
from supervisor.agents.environments import CommandEnvironment
from supervisor.agents.own.transcript.transcript import ModelTranscript
from supervisor.agents.spending.account import Account
from supervisor.agents.turn import ApprovalAnswer, Turn
from supervisor.config.bounds import DEFAULTS, Bounds
from supervisor.work.patch.turn_diff import TurnChanges
from supervisor.work.reach.readable import Reach


@dataclass(slots=True)
class Work:
    turn: Turn
    transcript: ModelTranscript
    environment: CommandEnvironment
    account: Account
    deadline_s: float | None = None
    default: Literal[Decision.DENIED, Decision.ABORT] = Decision.DENIED  # if nobody answers before the deadline
    bounds: Bounds = DEFAULTS
    hidden: tuple[Path, ...] = ()  # folders that nothing is read from
    shown_notices: set[str] = field(default_factory=set)  # the notices that were shown once in this turn
    _changes: TurnChanges | None = field(default=None, init=False)

    @property
    def changes(self) -> TurnChanges:
        """The turn's file changes; made at the first patch, because it looks for the repository on the disk."""
        if self._changes is None:
            self._changes = TurnChanges(self.settings.cwd, self.bounds)
        return self._changes

    @property
    def env(self) -> Mapping[str, str]:
        return self.environment.env

    @property
    def settings(self) -> Settings:
        """The settings as they are now; a person may change them while the turn runs."""
        return self.turn.settings

    @property
    def reach(self) -> Reach:
        """The files that are read for the model."""
        return Reach.for_commands(self.settings.cwd, self.env, self.hidden)

    def tell_left_out(self, message: str) -> None:
        """Tell a person, once, of something that the model does not get."""
        if message not in self.transcript.left_out:
            self.transcript.left_out.add(message)
            self.say(ev.BackgroundEvent(message=message))

    def say(self, event: ev.AgentEvent) -> None:
        self.transcript.take(event)
        self.turn.emit(event)

    def new_approval(self) -> ApprovalId:
        """Return a random id that names its conversation, so that an answer finds its way by the id alone."""
        return approval_in(self.turn.order.conversation, token_hex(6))

    async def ask(self, request: ev.ApprovalRequested) -> ApprovalAnswer:
        """Return the answer, which may have been given in an earlier life of the turn."""
        known = self.transcript.calls.past_decision(request)
        if known is not None:
            return ApprovalAnswer(known.decision, known.reason, outside=known.outside)
        with self.account.waiting():
            return await self.turn.ask(request)
