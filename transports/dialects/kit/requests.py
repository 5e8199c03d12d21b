"""The requests of one client: bounded, run as scripts, cancellable, answered once each. Pure."""

from collections.abc import Callable
from functools import partial
from types import GeneratorType

from actors.vocabulary.errors import GreenroomError, InvalidInput, Overloaded
from actors.vocabulary.ids import RequestId
from transports.dialects.kit.script import RunningScript, Script, Scripts

REQUESTS_LIMIT = 64  # per connection; an editor has a handful

Finish = Callable[[RequestId, object], None]  # gets the script's result, or its refusal


class Requests:
    """The open requests. Urgent ones, which end others, have their own quota: a full client can still cancel."""

    def __init__(self, scripts: Scripts, limit: int = REQUESTS_LIMIT) -> None:
        self._scripts = scripts
        self._limit = limit
        self._open: dict[RequestId, RunningScript | None] = {}
        self._urgent: set[RequestId] = set()

    def __len__(self) -> int:
        return len(self._open)

    def refusal(self, request: RequestId, *, urgent: bool) -> GreenroomError | None:
        """Admit a request: None, or a refusal; a refused request is not kept."""
        if request in self._open:
            return InvalidInput(f"request {request!r} is not answered yet")
        if (len(self._urgent) if urgent else len(self._open) - len(self._urgent)) >= self._limit:
            return Overloaded(f"{self._limit} requests are in flight; try again when one is answered")
        self._open[request] = None
        if urgent:
            self._urgent.add(request)
        return None

    def run(self, request: RequestId, work: Script[object] | object, finish: Finish) -> None:
        """Run a script to its end, sooner or later. Any other value is the outcome itself."""
        if not isinstance(work, GeneratorType):
            return self._finish(request, finish, work)
        running = self._scripts.run(work, partial(self._finish, request, finish))
        if request in self._open:
            self._open[request] = running
        return None

    def cancel(self, request: RequestId, by: str) -> None:
        """Take a request back. Nothing happens if it is over, or never was."""
        running = self._open.get(request)
        if running is not None:
            self._scripts.cancel(running, by)

    def stop(self, request: RequestId) -> None:
        """Stop a request at once."""
        running = self._open.get(request)
        if running is not None:
            self._scripts.stop(running)

    def _finish(self, request: RequestId, finish: Finish, outcome: object) -> None:
        del self._open[request]
        self._urgent.discard(request)
        finish(request, outcome)
