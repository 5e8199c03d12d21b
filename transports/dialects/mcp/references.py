"""What is meant by an id, a unique prefix or a name. Only the last two have to be looked up."""

from collections.abc import Callable, Iterable
from typing import Any

from actors.errors import GreenroomError
from actors.ids import ConversationId
from actors.registry_messages import Resolve
from transports.dialect import Action
from transports.dialects.mcp.call import Call
from transports.dialects.mcp.identifiers import conversation_id


def with_conversation(
    call: Call,
    reference: str,
    then: Callable[[ConversationId], Iterable[Action]],
    refused: Callable[[GreenroomError], Iterable[Action]],
) -> Iterable[Action]:
    try:
        return then(conversation_id(reference))
    except ValueError:
        pass

    def resolved(answer: Any) -> Iterable[Action]:
        return refused(answer) if isinstance(answer, GreenroomError) else then(answer.conversation)

    return call.tell(lambda caller: Resolve(caller, reference), resolved)
