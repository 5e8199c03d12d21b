"""The outcome of a turn, read from its events; the exit code follows from it. Pure."""

from supervisor.cli.kit import exits
from supervisor.cli.kit.client import Json

# as `actors.vocabulary.events` has it, which takes too long to import
TERMINAL = frozenset({"task_complete", "turn_aborted"})


class TurnOutcome:
    """The outcome so far. `how` is a word of the API; None while the turn runs, or if no turn was seen."""

    def __init__(self) -> None:
        self.how: str | None = None
        self.denied = False
        self.open = False
        self._error = False

    def take(self, body: Json) -> None:
        kind = body["type"]
        if kind == "task_started":
            self.how, self.denied, self._error, self.open = None, False, False, True
        elif kind == "error":
            self._error = True
        elif kind == "approval_resolved" and body["decision"] in {"denied", "abort"}:
            self.denied = True
        elif kind in TERMINAL:
            self.open = False
            self.how = body.get("reason", "error" if self._error else "completed")
        elif kind == "conversation_failed":
            self.open, self.how = False, "failed"

    @property
    def exit(self) -> int:
        return exits.OK if self.how is None else exits.of_turn(self.how, denied=self.denied)
