"""Answers with content: an option that an agent offers, and what a server's form is told."""

import pytest

from actors.messages.orders import AnswerAgent
from actors.vocabulary import events as ev
from actors.vocabulary.answers import AnsweredApproval
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


def asked(request: ev.ApprovalRequested) -> Core:
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
    assert isinstance(core.answer(BEN), AnsweredApproval)
    return answer.message


# --- options --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("named", ["plan", "Yes, and plan first", "yes, AND plan first"])
def test_an_option_is_chosen_by_its_id_or_its_name(named: str) -> None:
    core = asked(w.ask_use(ONCE, PLAN, EVER, REJECT))
    core.answer_with(YES, ANN, option=named)
    assert core.answer(ANN) == AnsweredApproval(resolved(core).approval_id, YES, "plan")
    assert [one.option for one in core.orders_of(AnswerAgent)] == ["plan"]


@pytest.mark.parametrize("decision", [YES, ALWAYS])
@pytest.mark.parametrize("named", ["allow-with-updates", "Yes, and don't ask again", "allow_always"])
def test_an_agents_own_always_is_a_yes_that_the_agent_keeps_and_we_do_not(decision: Decision, named: str) -> None:
    core = asked(w.ask_use(ONCE, EVER, REJECT, fingerprint="f"))
    core.answer_with(decision, ANN, option=named)
    assert (resolved(core).decision, resolved(core).option) == (YES, "allow-with-updates")
    core.output(w.ask_use(ONCE, EVER, REJECT, fingerprint="f", approval="again"))
    assert core.said_of(ev.KeptYesUsed) == []


def test_always_is_ours_and_the_agent_is_told_nothing_of_it() -> None:
    core = asked(w.ask_use(ONCE, EVER, REJECT, fingerprint="f"))
    core.answer_with(ALWAYS, ANN)
    assert (resolved(core).decision, resolved(core).option) == (ALWAYS, "")
    for option in (ONCE, PLAN):  # what it offers is not what it asks
        core.output(w.ask_use(option, EVER, REJECT, fingerprint="f", approval=f"again-{option.id}"))
    core.output(w.ask_use(ONCE, EVER, REJECT, fingerprint="g", approval="other"))
    assert [one.approval for one in core.orders_of(AnswerAgent)] == ["question", "again-allow-once", "again-plan"]
    assert [one.approval_id for one in core.said_of(ev.KeptYesUsed)] == ["question"] * 2


@pytest.mark.parametrize(
    "request_", [w.ask_use(ONCE, EVER, REJECT), w.ask_patch(), w.ask_form()], ids=lambda asked: asked.subject.kind
)
def test_always_is_a_yes_once_where_nothing_would_know_the_same_again(request_: ev.ApprovalRequested) -> None:
    """An answer that says more than is kept would be believed."""
    core = asked(request_)
    core.answer_with(ALWAYS, ANN)
    assert resolved(core).decision is YES


@pytest.mark.parametrize("decision", [YES, ALWAYS])
def test_a_plain_yes_is_never_sent_as_a_rule_where_the_agent_offers_nothing_else(decision: Decision) -> None:
    core = asked(w.ask_use(EVER, REJECT, fingerprint="f"))
    core.answer_with(decision, ANN)
    assert "name one of its own rules" in refusal(core)


# --- outside of the sandbox -----------------------------------------------------------------------------------------


def inside_first(approval: str = "question", command: tuple[str, ...] = ("make",)) -> ev.ApprovalRequested:
    changes = {"outside_sandbox": False, "inside_or_outside": True}
    return w.ask(approval, words=command).model_copy(update=changes)


def leaving(approval: str = "question", command: tuple[str, ...] = ("make",)) -> ev.ApprovalRequested:
    return w.ask(approval, words=command).model_copy(update={"outside_sandbox": True})


@pytest.mark.parametrize("how", ["outside", "option", "form"])
def test_outside_is_an_answer_of_its_own(how: str) -> None:
    core = asked(inside_first())
    if how == "outside":
        core.answer_with(YES, ANN, outside=True)
    elif how == "option":
        core.answer_with(YES, ANN, option="approved_outside")
    else:
        core.answer_with(YES, ANN, content={"option": "approved_outside"})
    assert (resolved(core).decision, resolved(core).outside, resolved(core).option) == (YES, True, "")
    assert [one.outside for one in core.orders_of(AnswerAgent)] == [True]
    assert core.answer(ANN) == AnsweredApproval(resolved(core).approval_id, YES, "", outside=True)


def test_outside_says_nothing_new_where_a_yes_means_outside() -> None:
    core = asked(leaving())
    core.answer_with(YES, ANN, outside=True)
    assert not resolved(core).outside


@pytest.mark.parametrize("decision", [NO, Decision.ABORT])
def test_a_no_to_outside_leaves_the_question_open(decision: Decision) -> None:
    core = asked(inside_first())
    core.answer_with(decision, ANN, outside=True)
    assert "a no runs nothing" in refusal(core)


@pytest.mark.parametrize(
    "request_", [w.ask_use(ONCE, REJECT), w.ask_patch(), w.ask_form()], ids=lambda asked: asked.subject.kind
)
def test_outside_for_a_question_about_something_else_leaves_it_open(request_: ev.ApprovalRequested) -> None:
    core = asked(request_)
    core.answer_with(YES, ANN, outside=True)
    assert "not about leaving the sandbox" in refusal(core)


@pytest.mark.parametrize("outside", [False, True])
def test_a_kept_yes_remembers_whether_it_was_inside_or_outside_and_never_answers_more(outside: bool) -> None:
    core = asked(inside_first())
    core.answer_with(ALWAYS, ANN, outside=outside)
    core.end()
    core.crash()
    core.send()
    core.output(inside_first("again"), leaving("leaves"), inside_first("other", ("make", "x")))
    assert [(one.approval, one.outside) for one in core.orders_of(AnswerAgent)][1:] == [("again", outside)]
    assert [one.approval_id for one in core.state.facts.open_questions] == ["leaves", "other"]


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


def test_an_answer_typed_at_a_shell_is_read_as_the_type_of_its_field() -> None:
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
def test_an_answer_that_does_not_fit_the_form_leaves_the_question_open(content: dict[str, object], why: str) -> None:
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
