"""Answers with content: an option that an agent offers, and what a server's form is told."""

import pytest

from actors.conversation.orders import AnswerAgent
from actors.vocabulary import events as ev
from actors.vocabulary.answers import Answered
from actors.vocabulary.errors import InvalidInput
from actors.vocabulary.settings import Decision
from tests.actors.conversation import words as w
from tests.support.core_driver import Core, caller

ANN, BEN = caller("ann"), caller("ben")
YES, NO, ALWAYS = Decision.APPROVED, Decision.DENIED, Decision.APPROVED_FOR_SESSION
ONCE = w.option("allow-once", "allow_once", "Yes")
EVER = w.option("allow-with-updates", "allow_always", "Yes, and don't ask again")
PLAN = w.option("plan", "allow_once", "Yes, and plan first")
REJECT = w.option("reject", "reject_once", "No")
NAME = ev.FormField(name="name", required=True)
COUNT = ev.FormField(name="count", type="integer", least=1, most=9, default=3)
LOUD = ev.FormField(name="loud", type="boolean", default=False)
COLOUR = ev.FormField(name="colour", choices=("r", "b"), names=("Red", "Blue"))
TAGS = ev.FormField(name="tags", type="array", choices=("x", "y", "z"), most=2)
FORM = (NAME, COUNT, LOUD, COLOUR, TAGS)


def asked(request: ev.ApprovalRequest) -> Core:
    core = Core()
    core.send()
    core.output(request)
    return core


def resolved(core: Core) -> ev.ApprovalResolved:
    return core.said_of(ev.ApprovalResolved)[-1]


def refusal(core: Core) -> str:
    """The refusal, after which the question is still open."""
    answer = core.answer(ANN)
    assert isinstance(answer, InvalidInput)
    assert core.said_of(ev.ApprovalResolved) == []
    core.answer_with(NO, BEN)
    assert isinstance(core.answer(BEN), Answered)
    return answer.message


# --- options --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("named", ["plan", "Yes, and plan first", "yes, AND plan first"])
def test_an_option_is_chosen_by_its_id_or_its_name(named: str) -> None:
    core = asked(w.ask_use(ONCE, PLAN, EVER, REJECT))
    core.answer_with(YES, ANN, option=named)
    assert core.answer(ANN) == Answered(resolved(core).approval_id, YES, "plan")
    assert [one.option for one in core.orders_of(AnswerAgent)] == ["plan"]


def test_an_option_of_always_is_an_answer_for_the_session() -> None:
    core = asked(w.ask_use(ONCE, EVER, REJECT))
    core.answer_with(YES, ANN, option="allow-with-updates")
    assert resolved(core).decision is ALWAYS


def test_always_is_a_yes_once_where_the_agent_has_no_always() -> None:
    """It is the agent that would remember it; an answer that says more than is meant would be believed."""
    core = asked(w.ask_use(ONCE, REJECT))
    core.answer_with(ALWAYS, ANN)
    assert resolved(core).decision is YES


def test_an_option_that_is_none_of_them_leaves_the_question_open() -> None:
    core = asked(w.ask_use(ONCE, REJECT))
    core.answer_with(YES, ANN, option="maybe")
    assert refusal(core) == "'maybe' is not an option of this question; it offers allow-once (Yes), reject (No)"


def test_a_name_that_two_options_have_leaves_the_question_open() -> None:
    core = asked(w.ask_use(ONCE, w.option("other", "allow_always", "Yes")))
    core.answer_with(YES, ANN, option="yes")
    assert "stands for several options" in refusal(core)


@pytest.mark.parametrize(("decision", "option"), [(YES, "reject"), (NO, "allow-once")])
def test_a_yes_can_not_be_said_by_an_option_that_is_a_no(decision: Decision, option: str) -> None:
    core = asked(w.ask_use(ONCE, REJECT))
    core.answer_with(decision, ANN, option=option)
    assert "and the answer is a" in refusal(core)


def test_an_option_for_a_question_without_options_leaves_it_open() -> None:
    core = asked(w.ask())
    core.answer_with(YES, ANN, option="once")
    assert "offers no options" in refusal(core)


def test_an_abort_may_name_the_no_that_the_agent_gets() -> None:
    core = asked(w.ask_use(ONCE, REJECT))
    core.answer_with(Decision.ABORT, ANN, option="reject")
    assert (resolved(core).decision, resolved(core).option) == (Decision.ABORT, "reject")


# --- forms ----------------------------------------------------------------------------------------------------------


def test_a_form_is_told_what_was_said_and_the_defaults_of_the_rest() -> None:
    core = asked(w.ask_form(*FORM))
    core.answer_with(YES, ANN, content={"name": "Ann", "tags": ["x", "y"]})
    told = {"name": "Ann", "count": 3, "loud": False, "tags": ("x", "y")}
    assert resolved(core).content == told
    assert [one.content for one in core.orders_of(AnswerAgent)] == [told]


def test_what_is_typed_at_a_shell_is_read_as_what_the_field_is() -> None:
    core = asked(w.ask_form(*FORM))
    typed = {"name": "5", "count": "7", "loud": "yes", "colour": "Blue", "tags": "x, z"}
    core.answer_with(YES, ANN, content=typed)
    assert resolved(core).content == {"name": "5", "count": 7, "loud": True, "colour": "b", "tags": ("x", "z")}


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ({}, "the server needs name (string); say it as name=VALUE, or deny the question"),
        ({"name": "a", "size": 1}, "size: this question has no such field; its fields are name, count"),
        ({"name": 5}, "name is a text"),
        ({"name": "a", "count": "many"}, "count is a number, and 'many' is none"),
        ({"name": "a", "count": 1.5}, "count is a whole number"),
        ({"name": "a", "count": 10}, "count: at most 9, and it is 10"),
        ({"name": "a", "count": True}, "count is a number"),
        ({"name": "a", "count": float("nan")}, "count is a number"),
        ({"name": "a", "loud": "perhaps"}, "loud is yes or no"),
        ({"name": "a", "colour": "green"}, "colour: 'green' is none of r, b"),
        ({"name": "a", "tags": ["x", "w"]}, "tags: 'w' is none of x, y, z"),
        ({"name": "a", "tags": ["x", "y", "z"]}, "tags: at most 2 long, and it is 3"),
        ({"name": "a", "tags": {"x": 1}}, "tags is a text"),
        ({"name": "x" * 70_000}, "name: 70,000 characters, 65,536 are possible"),
    ],
)
def test_what_does_not_fit_the_form_leaves_the_question_open(content: dict[str, object], why: str) -> None:
    core = asked(w.ask_form(*FORM))
    core.answer_with(YES, ANN, content=content)
    assert refusal(core).startswith(why)


def test_a_no_tells_the_server_nothing() -> None:
    core = asked(w.ask_form(*FORM))
    core.answer_with(NO, ANN, content={"name": "Ann"})
    assert "a no tells the server nothing" in refusal(core)


def test_words_for_a_question_without_a_form_leave_it_open() -> None:
    core = asked(w.ask())
    core.answer_with(YES, ANN, content={"name": "Ann"})
    assert "it has none" in refusal(core)
