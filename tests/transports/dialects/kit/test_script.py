"""Scripts: one answer each, refusals raised where they are asked for, and what taking a request back does to them."""

from collections.abc import Callable

import pytest

from actors.messages.conversation import CancelRequest, Rename, ToConversation
from actors.messages.routing import Resolve, ToRegistry
from actors.vocabulary.answers import Done, ResolvedReference
from actors.vocabulary.errors import Cancelled, GreenroomError, InvalidInput, Overloaded, UnknownConversation
from actors.vocabulary.ids import Caller, ConnectionId, ConversationId, RequestId
from transports.dialect import Action, Ask, Tell
from transports.dialects.kit.refusals import MethodError, prefix_refusals
from transports.dialects.kit.requests import Requests
from transports.dialects.kit.script import Script, Scripts, ask, command, look_up, look_up_each
from transports.supervisor_answers import DaemonStatus, StoppingDaemon
from transports.supervisor_requests import AskStatus

ONE = ConversationId("11111111-1111-4111-8111-111111111111")


class Others:
    """The partners of a script: their messages, in order, and a way to answer them."""

    def __init__(self) -> None:
        self.told: list[Action] = []
        self.scripts = Scripts(ConnectionId("c"), self.told.append)
        self.requests = Requests(self.scripts, limit=2)
        self.outcomes: list[object] = []

    def begin(self, work: Script[object] | object, request: int = 1) -> None:
        assert self.requests.refusal(request, urgent=False) is None
        self.requests.run(request, work, self._finish)

    def _finish(self, _: RequestId, outcome: object) -> None:
        self.outcomes.append(outcome)

    def caller(self, at: int = -1) -> Caller:
        match self.told[at]:
            case Tell(ToConversation(caller=Caller() as caller) | ToRegistry(_, caller)) | Ask(_, Caller() as caller):
                return caller
            case other:
                raise AssertionError(f"{other} has no caller")

    def answer(self, value: object, at: int = -1) -> None:
        self.scripts.take_answer(self.caller(at), value)


def two_steps(seen: list[object]) -> Script[str]:
    found = yield from look_up(Resolve("notes"))
    seen.append(found)
    seen.append((yield from command(found.conversation, Rename("x"))))
    return "renamed"


def test_steps_follow_each_other_and_the_last_line_is_the_answer() -> None:
    others, seen = Others(), list[object]()
    others.begin(two_steps(seen))
    others.answer(ResolvedReference(ONE))
    assert others.outcomes == []
    others.answer(Done())
    assert seen == [ResolvedReference(ONE), Done()]
    assert others.outcomes == ["renamed"]
    assert (len(others.requests), len(others.scripts)) == (0, 0)


def test_a_refusal_is_raised_where_it_was_asked_for_and_ends_what_does_not_catch_it() -> None:
    others = Others()
    others.begin(two_steps([]))
    others.answer(UnknownConversation("no notes"))
    assert others.outcomes == [UnknownConversation("no notes")]
    assert len(others.told) == 1


def test_a_request_that_needs_nobody_is_over_at_once() -> None:
    others = Others()
    others.begin("pong")
    assert others.outcomes == ["pong"]
    assert len(others.requests) == 0


def test_several_are_asked_at_once_and_answered_in_any_order() -> None:
    others = Others()
    others.begin(look_up_each(Resolve(name) for name in "ab"))
    others.answer(InvalidInput("b"), 1)
    assert others.outcomes == []
    others.answer(ResolvedReference(ONE), 0)
    assert others.outcomes == [[ResolvedReference(ONE), InvalidInput("b")]]


def test_an_answer_that_comes_twice_is_dropped() -> None:
    others = Others()
    others.begin(two_steps([]))
    others.answer(ResolvedReference(ONE), 0)
    others.answer(ResolvedReference(ONE), 0)
    assert len(others.told) == 2


def test_a_name_that_is_noted_is_the_one_that_is_answered() -> None:
    others, names = Others(), list[Caller]()
    others.begin(command(ONE, Rename("x"), noted=names.append))
    assert names == [others.caller()]


# --- taken back -----------------------------------------------------------------------------------------------------


def cancelled(others: Others) -> None:
    others.requests.cancel(1, "me")


def stopped(others: Others) -> None:
    others.requests.stop(1)


def test_a_cancel_reaches_what_was_asked_and_its_answer_is_the_last() -> None:
    others, seen = Others(), list[object]()
    others.begin(two_steps(seen))
    cancelled(others)
    assert others.told[1:] == [Tell(CancelRequest(others.caller(0), "me"))]
    others.answer(ResolvedReference(ONE), 0)
    assert seen == [ResolvedReference(ONE)]
    assert [type(one) for one in others.outcomes] == [Cancelled]


def test_a_cancel_cannot_reach_the_supervisor_but_nothing_more_is_asked() -> None:
    def asks_twice() -> Script[DaemonStatus]:
        yield from ask(AskStatus())
        return (yield from ask(AskStatus()))

    others = Others()
    others.begin(asks_twice())
    cancelled(others)
    assert len(others.told) == 1
    others.answer(StoppingDaemon(1.0))
    assert len(others.told) == 1
    assert [type(one) for one in others.outcomes] == [Cancelled]


def test_a_stop_is_raised_at_once_where_the_script_waits_and_the_answer_is_dropped() -> None:
    others, seen = Others(), list[object]()
    others.begin(two_steps(seen))
    stopped(others)
    assert [type(one) for one in others.outcomes] == [Cancelled]
    others.answer(ResolvedReference(ONE), 0)
    assert seen == []
    assert len(others.outcomes) == 1
    assert (len(others.requests), len(others.scripts)) == (0, 0)


def test_a_script_that_catches_its_stop_may_answer_and_ask_nobody() -> None:
    def tidies_up() -> Script[str]:
        try:
            yield from ask(AskStatus())
        except Cancelled:
            with pytest.raises(Cancelled):
                yield from ask(AskStatus())
        return "tidy"

    others = Others()
    others.begin(tidies_up())
    stopped(others)
    assert others.outcomes == ["tidy"]
    assert len(others.told) == 1


@pytest.mark.parametrize("take_back", [cancelled, stopped])
def test_a_request_that_is_over_cannot_be_taken_back(take_back: Callable[[Others], None]) -> None:
    others = Others()
    others.begin(two_steps([]))
    others.answer(UnknownConversation("no notes"))
    take_back(others)
    assert others.outcomes == [UnknownConversation("no notes")]
    assert len(others.told) == 1


def test_an_id_is_in_use_until_its_script_has_ended() -> None:
    others = Others()
    others.begin(two_steps([]))
    assert isinstance(others.requests.refusal(1, urgent=False), InvalidInput)
    others.begin(two_steps([]), 2)
    assert isinstance(others.requests.refusal(3, urgent=False), Overloaded)
    assert others.requests.refusal(3, urgent=True) is None


# --- words ----------------------------------------------------------------------------------------------------------


def in_words(why: GreenroomError) -> GreenroomError:
    with pytest.raises(GreenroomError) as raised, prefix_refusals(lambda text: MethodError(-7, text), "cannot"):
        raise why
    return raised.value


def test_a_method_says_what_was_refused_in_its_own_words() -> None:
    said = in_words(UnknownConversation("no notes"))
    assert isinstance(said, MethodError)
    assert (said.number, said.message) == (-7, "cannot: no notes")


def test_a_request_that_was_taken_back_has_no_words_of_a_method() -> None:
    assert in_words(Cancelled("by you")) == Cancelled("by you")
