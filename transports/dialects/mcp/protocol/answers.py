"""The answers and the sealed state that a client sends when it repeats a call. Pure."""

from collections.abc import Mapping

from msgspec import Struct

from transports import jsonrpc
from transports.dialects.kit.questions import Reply
from transports.dialects.kit.refusals import MethodError
from transports.dialects.mcp.protocol.elicitation import ACTIONS, DECISIONS, reply_of


class Answers(Struct, frozen=True):
    """`responses`: by the names of the questions."""

    responses: Mapping[str, Mapping[str, object]] = {}
    state: str | None = None

    def reply(self, name: str) -> Reply | None:
        """The reply to a question; None if there is none. Raises MethodError for an unreadable one."""
        response = self.responses.get(name)
        if response is None:
            return None
        if response.get("action") not in ACTIONS and response.get("decision") not in DECISIONS:
            raise bad_answers(f"the response to {name!r} has no `action` that is {', '.join(ACTIONS)}")
        return reply_of(response)


def answers_in(params: Mapping[str, object]) -> Answers | None:
    """The answers in the params of a call; None if the call is new. Raises MethodError."""
    if "inputResponses" not in params and "requestState" not in params:
        return None
    responses, state = params.get("inputResponses", {}), params.get("requestState")
    if not isinstance(responses, dict) or not all(isinstance(response, dict) for response in responses.values()):
        raise bad_answers("`inputResponses` must be an object of objects")
    if not isinstance(state, str | None) or ("requestState" in params and state is None):
        raise bad_answers("`requestState` must be the string that came with the questions")
    return Answers(responses, state)


def bad_answers(why: str, data: object = None) -> MethodError:
    return MethodError(jsonrpc.INVALID_PARAMS, f"Invalid params: {why}", data)
