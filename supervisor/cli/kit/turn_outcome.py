"""The outcome of a turn, read from its events; the exit code follows from it. Pure."""

from greenroom.scripts import TERMINAL
from supervisor.cli.kit import exits
from supervisor.cli.kit.client import Json


class TurnOutcome:
    """The outcome so far. `how` is a word of the API; None while the turn runs, or if no turn was seen."""

    def __init__(self) -> None:
        self.ending: str | None = None
        self.was_denied = False
        self.is_open = False
        self._error = False

    def take(self, body: Json) -> None:
        kind = body["type"]
        if kind == "task_started":
            self.ending, self.was_denied, self._error, self.is_open = None, False, False, True
        elif kind == "error":
            self._error = True
        elif kind == "approval_resolved" and body["decision"] in {"denied", "abort"}:
            self.was_denied = True
        elif kind in TERMINAL:
            self.is_open = False
            self.ending = body.get("reason", "error" if self._error else "completed")
        elif kind == "conversation_failed":
            self.is_open, self.ending = False, "failed"

    @property
    def exit(self) -> int:
        return exits.OK if self.ending is None else exits.exit_code_of_turn(self.ending, denied=self.was_denied)
