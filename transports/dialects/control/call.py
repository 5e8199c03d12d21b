"""One request under way: who asked, and what is to happen with the answers of others. Part of its connection."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from actors.errors import Cancelled, GreenroomError
from actors.ids import Caller, ConversationId, RequestId
from actors.messages import Command
from actors.registry_messages import RegistryInput, Resolve, ToConversation
from transports.dialect import Action, Ask, Client, Tell
from transports.requests import Request, Token

if TYPE_CHECKING:
    from transports.dialects.control.dialect import ControlDialect

Then = Callable[[Any], Iterable[Action]]


@dataclass(frozen=True, slots=True)
class Call:
    dialect: "ControlDialect"
    request: RequestId
    client: Client

    def finish(self, answer: object) -> Iterable[Action]:
        """The one answer of this request."""
        return self.dialect.finish(self.request, answer)

    def tell(self, message: Callable[[Caller], RegistryInput], then: Then | None = None) -> Iterable[Action]:
        """A message for the registry; its answer is the request's, or goes to `then`."""
        caller = self.dialect.expect(self.request, then or self.finish)
        yield Tell(message(caller))

    def command(
        self, conversation: ConversationId, command: Callable[[Caller], Command], then: Then | None = None
    ) -> Iterable[Action]:
        return self.tell(lambda caller: ToConversation(conversation, command(caller)), then)

    def ask(self, request: Callable[[Token], Request], then: Then | None = None) -> Iterable[Action]:
        """Something that only the supervisor can do."""
        token = self.dialect.expect_served(then or self.finish)
        yield Ask(request(token))

    def with_conversation(
        self, reference: str, then: Callable[[ConversationId], Iterable[Action]]
    ) -> Iterable[Action]:
        """What is meant by an id, a prefix or a name; only the last two have to be looked up."""
        try:
            exact = str(UUID(reference))
        except ValueError:
            exact = ""
        if exact == reference:
            return then(ConversationId(exact))

        def resolved(answer: Any) -> Iterable[Action]:
            return self.finish(answer) if isinstance(answer, GreenroomError) else then(answer.conversation)

        return self.tell(lambda caller: Resolve(caller, reference), self.unless_cancelled(resolved))

    def unless_cancelled(self, then: Then) -> Then:
        """Between two steps of a request nobody has it who could be told that it was taken back."""

        def go_on(answer: Any) -> Iterable[Action]:
            if self.dialect.is_cancelled(self.request):
                return self.finish(Cancelled("cancelled before it began"))
            return then(answer)

        return go_on
