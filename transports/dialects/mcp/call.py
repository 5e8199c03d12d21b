"""One request under way: its one answer, and what happens with the answers of others. Part of its connection."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from actors.errors import GreenroomError
from actors.ids import Caller, ConversationId, RequestId
from actors.messages import Command
from actors.registry_messages import RegistryInput, ToConversation
from transports import jsonrpc
from transports.dialect import Action, Ask, Tell, Write
from transports.dialects.mcp.expected import Then
from transports.requests import Request, Token

if TYPE_CHECKING:
    from transports.dialects.mcp.desk import Desk

ProgressToken = int | str


@dataclass(slots=True, eq=False)
class Call:
    """Answered once: whatever comes later is about a request that is over, even if its id is in use again."""

    desk: "Desk"
    request: RequestId
    progress: ProgressToken | None = None
    over: bool = False

    # --- answers --------------------------------------------------------------------------------------------------

    def finish(self, result: Any) -> Iterable[Action]:
        return self._end(lambda: jsonrpc.result(self.request, result))

    def fail(self, code: int, message: str, data: Any = None) -> Iterable[Action]:
        return self._end(lambda: jsonrpc.error(self.request, code, message, data))

    def refuse(self, why: GreenroomError) -> Iterable[Action]:
        return self._end(lambda: jsonrpc.refused(self.request, why))

    def drop(self) -> Iterable[Action]:
        """Over without an answer: its client took it back."""
        return self._end(None)

    def _end(self, line: Callable[[], bytes] | None) -> Iterable[Action]:
        if not self.over:
            self.over = True
            self.desk.open.done(self.request)
            if line is not None:
                yield Write(line())

    # --- tools ----------------------------------------------------------------------------------------------------

    def tool_error(self, text: str) -> Iterable[Action]:
        """How Codex reports everything that goes wrong with a tool: a result like any other."""
        return self.finish({"content": [{"text": text, "type": "text"}], "isError": True})

    def tool_payload(self, payload: Mapping[str, Any], *, error: bool = False) -> Iterable[Action]:
        """The same object twice: as JSON text for models, as structure for programs."""
        text = json.dumps(payload, ensure_ascii=False, separators=(",", ":"))
        return self.finish(
            {"content": [{"text": text, "type": "text"}], "isError": error, "structuredContent": payload}
        )

    # --- questions to others --------------------------------------------------------------------------------------

    def tell(self, message: Callable[[Caller], RegistryInput], then: Then) -> Iterable[Action]:
        yield Tell(message(self.desk.expected.reply(then)))

    def command(
        self, conversation: ConversationId, command: Callable[[Caller], Command], then: Then
    ) -> Iterable[Action]:
        return self.tell(lambda caller: ToConversation(conversation, command(caller)), then)

    def ask(self, request: Callable[[Token], Request], then: Then) -> Iterable[Action]:
        yield Ask(request(self.desk.expected.serving(then)))
