"""Questions that MCP clients answer in a form: a server's fields, and which yes of an agent is meant."""

from typing import Any

import pytest

from actors.conversation.fitting_answers import fit_answer
from actors.vocabulary import events as ev
from actors.vocabulary.errors import InvalidInput
from actors.vocabulary.ids import ConversationId
from actors.vocabulary.settings import Decision
from tests.actors.conversation import words as w
from transports.dialects.mcp.protocol.elicitation import elicitation, reply_of

FORM = w.ask_form(
    ev.FormField(name="name", required=True, least=2),
    ev.FormField(name="colour", choices=("r", "b"), names=("Red", "Blue"), default="b"),
    ev.FormField(name="tags", type="array", choices=("x", "y"), most=1),
)
USE = w.ask_use(w.option("once", "allow_once"), w.option("ever", "allow_always"), w.option("no", "reject_once"))


def schema(request: ev.ApprovalRequested) -> Any:
    return elicitation(request, ConversationId("c"), "1", "2", more_text=True).schema


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
    answer = fit_answer(USE, Decision.APPROVED, "", reply.content)
    assert not isinstance(answer, InvalidInput)
    assert (answer.decision, answer.option) == (Decision.APPROVED, "ever"), "the agent keeps it, we don't"


def test_our_own_always_stands_before_the_rules_of_an_agent_which_say_whose_they_are() -> None:
    rule = ev.ApprovalOption(id="ever", name="Yes, always", kind="allow_always", rule="their own rule")
    asked = USE.model_copy(update={"fingerprint": "f", "options": (*USE.options[:1], rule, *USE.options[2:])})
    choice = schema(asked)["properties"]["option"]
    assert choice["enum"] == ["once", "approved_for_session", "ever"]
    assert choice["enumNames"] == ["once", "Yes, always in this conversation", "their own rule"]
    reply = reply_of({"action": "accept", "content": {"option": "approved_for_session"}})
    answer = fit_answer(asked, Decision.APPROVED, "", reply.content)
    assert not isinstance(answer, InvalidInput)
    assert (answer.decision, answer.option) == (Decision.APPROVED_FOR_SESSION, "")


INSIDE = w.ask().model_copy(update={"outside_sandbox": False, "inside_or_outside": True})


def test_a_client_may_say_that_it_means_outside_and_a_plain_yes_means_inside() -> None:
    assert schema(INSIDE)["properties"]["option"]["enum"] == ["approved", "approved_for_session", "approved_outside"]
    for content, outside in (({}, False), ({"option": "approved"}, False), ({"option": "approved_outside"}, True)):
        reply = reply_of({"action": "accept", "content": content})
        answer = fit_answer(INSIDE, Decision.APPROVED, "", reply.content)
        assert not isinstance(answer, InvalidInput)
        assert (answer.decision, answer.outside) == (Decision.APPROVED, outside)


def test_codex_clients_get_the_form_that_they_match_and_their_yes_means_inside() -> None:
    params = elicitation(INSIDE, ConversationId("c"), "1", "2", more_text=False)
    assert params.schema == {"type": "object", "properties": {}}
    answer = fit_answer(INSIDE, Decision.APPROVED, "", reply_of({"decision": "approved"}).content)
    assert not isinstance(answer, InvalidInput)
    assert not answer.outside


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
