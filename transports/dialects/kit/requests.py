"""The requests of one client: let in, run as scripts, taken back, answered once each. Pure."""

from collections.abc import Callable

from actors.vocabulary.errors import GreenroomError
from actors.vocabulary.ids import RequestId
from transports.dialects.kit.in_flight import InFlight
from transports.dialects.kit.script import Running, Script, Scripts

Finish = Callable[[object], None]  # what a script returned, or the refusal that it raised


class Requests:
    def __init__(self, scripts: Scripts, limit: int) -> None:
        self._scripts = scripts
        self._open = InFlight(limit)
        self._running: dict[RequestId, Running] = {}

    def __len__(self) -> int:
        return len(self._open)

    def refusal(self, request: RequestId, *, urgent: bool) -> GreenroomError | None:
        """Admit a request: its refusal, or None if it is to be run."""
        return self._open.admit(request, urgent=urgent)

    def run(self, request: RequestId, script: Script[object], finish: Finish) -> None:
        def ended(outcome: object) -> None:
            self._open.done(request)
            self._running.pop(request, None)
            finish(outcome)

        running = self._scripts.run(script, ended)
        if request in self._open:
            self._running[request] = running

    def cancel(self, request: RequestId, by: str) -> None:
        """Take a request back. Nothing happens if it is over, or never was."""
        running = self._running.get(request)
        if running is not None:
            self._scripts.cancel(running, by)

    def stop(self, request: RequestId) -> None:
        """Stop a request at once, so that it does nothing more."""
        running = self._running.get(request)
        if running is not None:
            self._scripts.stop(running)
