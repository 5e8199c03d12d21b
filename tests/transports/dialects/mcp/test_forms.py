"""Questions that MCP clients answer in a form: a server's fields, and which yes of an agent is meant."""

from typing import Any

import pytest

from actors.conversation.fitting import fitted
from actors.vocabulary import events as ev
from actors.vocabulary.errors import InvalidInput
from actors.vocabulary.ids import ConversationId
from actors.vocabulary.settings import Decision
from tests.actors.conversation import words as w
from transports.dialects.mcp.elicitation import elicitation, reply_of

FORM = w.ask_form(
    ev.FormField(name="name", required=True, least=2),
    ev.FormField(name="colour", choices=("r", "b"), names=("Red", "Blue"), default="b"),
    ev.FormField(name="tags", type="array", choices=("x", "y"), most=1),
)
USE = w.ask_use(w.option("once", "allow_once"), w.option("ever", "allow_always"), w.option("no", "reject_once"))


def schema(request: ev.ApprovalRequest) -> Any:
    return elicitation(request, ConversationId("c"), "1", "2", more_text=True)["requestedSchema"]


def test_a_client_gets_the_server_s_form() -> None:
    assert schema(FORM) == {
        "type": "object",
        "properties": {
            "name": {"type": "string", "minLength": 2},
            "colour": {"type": "string", "enum": ("r", "b"), "enumNames": ("Red", "Blue"), "default": "b"},
            "tags": {"type": "array", "items": {"type": "string", "enum": ("x", "y")}, "maxItems": 1},
        },
        "required": ["name"],
    }


def test_a_client_may_say_which_yes_it_means() -> None:
    assert schema(USE)["properties"]["option"]["enum"] == ["once", "ever"]
    reply = reply_of({"action": "accept", "content": {"option": "ever"}})
    answer = fitted(USE, Decision.APPROVED, "", reply.content)
    assert not isinstance(answer, InvalidInput)
    assert (answer.decision, answer.option) == (Decision.APPROVED_FOR_SESSION, "ever")


@pytest.mark.parametrize(
    ("result", "decision", "content"),
    [
        ({"action": "accept", "content": {"name": "Ann"}}, Decision.APPROVED, {"name": "Ann"}),
        ({"action": "accept", "content": [3]}, Decision.APPROVED, {}),
        ({"action": "decline", "content": {"name": "Ann"}}, Decision.DENIED, {}),
        ({"action": "cancel"}, None, {}),
        ({"decision": "approved"}, Decision.APPROVED, {}),
        (None, Decision.DENIED, {}),
    ],
)
def test_a_reply_has_what_was_filled_in(result: object, decision: Decision | None, content: dict[str, str]) -> None:
    reply = reply_of(result)
    assert (reply.decision, reply.content) == (decision, content)
