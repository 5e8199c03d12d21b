"""The part of a dialect that is the same wherever clients follow conversations and are asked. Part of its connection.

Lines from the client, timers and announcements are each dialect's own.
"""

from collections.abc import Iterable

from actors.messages.effects import Deliver, EndSubscription
from actors.vocabulary.ids import Caller
from transports import jsonrpc
from transports.dialect import Action, Dialect, Write
from transports.dialects.kit.reading_state import ReadingState


class ReadingDialect(Dialect):
    _state: ReadingState

    def refuse_line(self, reason: str) -> Iterable[Action]:
        return (Write(jsonrpc.error(None, jsonrpc.INVALID_REQUEST, reason)),)

    def take_answer(self, caller: Caller, answer: object) -> Iterable[Action]:
        self._state.scripts.take_answer(caller, answer)
        return self._state.take_actions()

    def take_slice(self, deliver: Deliver) -> Iterable[Action]:
        """Write all lines for a slice in one piece, after which the reader is ready for the next."""
        self._state.readers.deliver(deliver)
        actions = self._state.take_actions()
        lines = [action.data for action in actions if isinstance(action, Write)]
        others = [action for action in actions if not isinstance(action, Write)]
        return (Write(b"".join(lines), deliver.subscription), *others) if lines else others

    def end_subscription(self, end: EndSubscription) -> Iterable[Action]:
        self._state.readers.resume_subscription(end)
        return self._state.take_actions()

    def _write(self, line: bytes) -> None:
        self._state.do(Write(line))
