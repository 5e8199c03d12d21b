"""A model that goes on and on, stopped by each kind of budget; and models that go round in circles."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from actors.messages.conversation import Send
from actors.vocabulary import events as ev
from actors.vocabulary.answers import TurnResult
from actors.vocabulary.conditions import Ending
from actors.vocabulary.settings import ApprovalPolicy, Decision, ReadOnly, Task
from supervisor.agents.own import own_agent
from supervisor.agents.spending import account
from supervisor.agents.spending.repetition import WARNING_MARK
from tests.supervisor.agents.own.turns.test_commands import outputs, shell
from tests.support.engine_harness import EngineHarness, Talk, harness_at
from tests.support.model_server import ModelServer

ROUNDS = 6
PRICED = "[greenroom.prices.mock-model]\ninput = 1_000_000.0\noutput = 1_000_000.0\n"  # a dollar a token
At = Callable[..., EngineHarness]


@pytest.fixture
def at(tmp_path: Path, server: ModelServer) -> Iterator[At]:
    """Begin a harness with these lines in its config, behind the tables of others."""
    begun = []

    def begin(tables: str) -> EngineHarness:
        context = harness_at(tmp_path, server.base_url, tables=tables)
        begun.append(context)
        return context.__enter__()

    yield begin
    for context in begun:
        context.__exit__(None, None, None)


def looping(rounds: int = ROUNDS) -> str:
    """A model that calls a tool in each answer, which takes 15 tokens; the calls differ."""
    return "; then; ".join(f"{shell('echo', str(number))}; usage 10 5" for number in range(rounds))


def ended(conversation: Talk, said: str) -> TurnResult:
    return conversation.result(conversation.start(said))


def reached(conversation: Talk) -> ev.BudgetReached:
    return conversation.all(ev.BudgetReached)[-1]


@pytest.mark.parametrize("scope", ["turn", "conversation", "day", "home"])
@pytest.mark.parametrize(
    ("unit", "limit", "requests", "commands"),
    [
        ("requests", "3", 3, 3),
        ("tool_calls", "2", 3, 2),
        ("tokens", "45", 3, 3),
        ("usd", "45.0", 3, 3),
        ("minutes", "0.25", 3, 3),
    ],
)
def test_a_looping_model_is_stopped_by_each_kind_of_budget(
    at: At,
    server: ModelServer,
    monkeypatch: pytest.MonkeyPatch,
    scope: str,
    unit: str,
    limit: str,
    requests: int,
    commands: int,
) -> None:
    monkeypatch.setattr(account.Account, "worked_s", property(lambda _: 5.0 * len(server.requests)))
    harness = at(f"[greenroom.budget.{scope}]\n{unit} = {limit}\n{PRICED}")
    conversation = harness.talk()
    result = ended(conversation, looping())
    assert result.ending is Ending.BUDGET
    assert (reached(conversation).scope, reached(conversation).unit) == (scope, unit)
    assert f"greenroom.budget.{scope}.{unit}" in (result.message or "")
    assert len(server.requests) == requests
    assert len(conversation.all(ev.WorkEnded)) == commands
    assert conversation.types()[-3:] == ["budget_reached", "error", "turn_aborted"] or commands == 2


def test_without_a_budget_nothing_is_stopped_and_no_request_is_told_of(at: At, server: ModelServer) -> None:
    conversation = at("").talk()
    conversation.ask(looping())
    assert len(server.requests) == ROUNDS + 1
    assert conversation.all(ev.ModelRequested) == []
    assert [one.requests for one in conversation.all(ev.TokenCount)] == [1] * ROUNDS
    assert [one.uncounted and one.uncounted.requests for one in conversation.all(ev.TaskComplete)] == [1]


@pytest.mark.parametrize("count", ["", "; usage 0 0"])
def test_the_requests_of_a_server_that_counts_no_tokens_are_told_with_unknown_tokens_and_cost(
    at: At, count: str
) -> None:
    harness = at("")
    harness.talk().ask(f"{shell('true')}{count}; then; say done{count}")
    spent = harness.engine.journal.total_spent()
    assert (spent.requests, spent.uncounted, spent.unpriced, spent.tokens) == (2, 2, 2, 0)


def test_a_free_server_that_counts_no_tokens_has_a_known_cost(at: At) -> None:
    harness = at("[greenroom.prices.mock-model]\ninput = 0.0\noutput = 0.0\n")
    harness.talk().ask("say one")
    assert (harness.engine.journal.total_spent().uncounted, harness.engine.journal.total_spent().unpriced) == (1, 0)


def test_requests_that_got_no_answer_are_told_of_without_a_budget_too(at: At) -> None:
    harness = at("")
    ended(harness.talk(), "status 400")
    spent = harness.engine.journal.total_spent()
    assert (spent.requests, spent.uncounted) == (1, 0)


def test_an_answer_that_was_interrupted_has_taken_unknown_tokens(at: At) -> None:
    harness = at("")
    conversation = harness.talk()
    begun = conversation.start("say some; stall forever")
    conversation.wait(ev.AgentMessageDelta)
    conversation.interrupt()
    conversation.result(begun)
    spent = harness.engine.journal.total_spent()
    assert (spent.requests, spent.uncounted, spent.unpriced) == (1, 1, 1)


def test_the_next_message_begins_a_turn_with_a_budget_of_its_own(at: At) -> None:
    conversation = at("[greenroom.budget.turn]\nrequests = 1\n").talk()
    assert ended(conversation, looping()).ending is Ending.BUDGET
    assert conversation.ask("say again").message == "again"


def test_a_budget_of_the_conversation_is_not_renewed_by_a_message_nor_by_a_restart(at: At) -> None:
    harness = at("[greenroom.budget.conversation]\nrequests = 2\n")
    conversation = harness.talk()
    assert ended(conversation, looping()).ending is Ending.BUDGET
    harness.restart()
    assert ended(conversation, "say again").ending is Ending.BUDGET


def test_a_budget_of_the_home_counts_other_conversations_and_earlier_lives(at: At) -> None:
    harness = at("[greenroom.budget.home]\nrequests = 2\n")
    harness.talk().ask("say one")
    harness.restart()
    harness.talk().ask("say two")
    other = harness.talk()
    assert ended(other, "say three").ending is Ending.BUDGET
    assert (reached(other).limit, reached(other).used) == (2.0, 2.0)


def test_two_conversations_at_the_same_time_never_send_more_than_the_home_allows(at: At, server: ModelServer) -> None:
    harness = at("[greenroom.budget.home]\nrequests = 5\n")
    talks = [harness.talk(), harness.talk()]
    begun = [one.start(looping()) for one in talks]
    assert {one.result(caller).ending for one, caller in zip(talks, begun, strict=True)} == {Ending.BUDGET}
    assert len(server.requests) == 5


SIDE_BY_SIDE = "; ".join('call list_dir {"path": "."}' for _ in range(4))


def begun_calls(conversation: Talk) -> int:
    return sum(not one.output.startswith("aborted") for one in conversation.all(ev.ToolOutput))


@pytest.mark.parametrize("scope", ["turn", "conversation", "day", "home"])
def test_of_calls_side_by_side_those_begin_that_have_a_place_and_no_limit_is_passed(at: At, scope: str) -> None:
    harness = at(f"[greenroom.budget.{scope}]\ntool_calls = 3\n")
    conversation = harness.talk()
    result = ended(conversation, f"{SIDE_BY_SIDE}; then; say done")
    assert result.ending is Ending.BUDGET
    assert "used 3 of 3 tool calls" in (result.message or "")
    assert begun_calls(conversation) == 3
    assert harness.engine.journal.total_spent().tool_calls == 3


def test_calls_of_two_conversations_at_the_same_time_never_pass_the_limit_of_the_home(at: At) -> None:
    harness = at("[greenroom.budget.home]\ntool_calls = 5\n")
    talks = [harness.talk(), harness.talk()]
    begun = [one.start(f"{SIDE_BY_SIDE}; then; say done") for one in talks]
    endings = [one.result(caller).ending for one, caller in zip(talks, begun, strict=True)]
    assert Ending.BUDGET in endings
    assert sum(map(begun_calls, talks)) == 5
    assert harness.engine.journal.total_spent().tool_calls == 5


def test_calls_that_were_not_begun_when_a_person_interrupted_count_for_nothing(at: At) -> None:
    harness = at("[greenroom.budget.home]\ntool_calls = 9\n")
    conversation = harness.talk()
    begun = conversation.start(f"{shell('sleep', '30')}; {shell('true')}; {shell('true')}")
    conversation.wait(ev.WorkBegan)
    conversation.interrupt()
    assert conversation.result(begun).ending is Ending.INTERRUPTED
    assert harness.engine.journal.total_spent().tool_calls == 1


def test_each_try_is_a_request(at: At, server: ModelServer) -> None:
    conversation = at("[greenroom.budget.turn]\nrequests = 1\n").talk()
    assert ended(conversation, "status 500 times=all").ending is Ending.BUDGET
    assert len(server.requests) == 1


def test_a_request_is_on_disk_before_it_is_sent(at: At, server: ModelServer) -> None:
    harness = at("[greenroom.budget.turn]\nrequests = 9\n")
    conversation = harness.talk()
    begun = conversation.start("hold gate; say done")
    server.wait_held("gate")
    assert harness.engine.journal.total_spent().requests == 1
    server.open("gate")
    assert conversation.result(begun).ending is Ending.COMPLETED
    assert harness.engine.journal.total_spent().requests == 1


def test_the_time_in_which_a_turn_waits_for_a_person_is_not_its_own(at: At, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    clocked = partial(account.Account, now=lambda: now)
    monkeypatch.setattr(own_agent, "Account", clocked)
    harness = at("[greenroom.budget.turn]\nminutes = 1.0\n")
    conversation = harness.talk(approval_policy=ApprovalPolicy.UNTRUSTED, sandbox=ReadOnly())
    begun = conversation.start(f"{shell('touch', 'x')}; then; say done")
    question = conversation.wait(ev.ApprovalRequested)
    now = 3600.0
    conversation.decide(question.approval_id, Decision.DENIED)
    assert conversation.result(begun).ending is Ending.COMPLETED


def test_a_model_of_unknown_price_is_not_asked_under_a_budget_of_money(at: At, server: ModelServer) -> None:
    conversation = at("[greenroom.budget.turn]\nusd = 1.0\n").talk()
    result = ended(conversation, "say hi")
    assert (result.ending, server.requests) == (Ending.BUDGET, [])
    assert "the price of mock-model" in (result.message or "")
    assert '[greenroom.prices."mock-model"]' in (result.message or "")
    assert reached(conversation).used is None


@pytest.mark.parametrize("unit", ["tokens = 100", "usd = 5.0"])
def test_a_server_that_counts_no_tokens_is_not_asked_twice_under_a_budget_of_them(
    at: At, server: ModelServer, unit: str
) -> None:
    conversation = at(f"[greenroom.budget.turn]\n{unit}\n{PRICED}").talk()
    result = ended(conversation, f"{shell('true')}; then; say done")
    assert (result.ending, len(server.requests)) == (Ending.BUDGET, 1)
    assert "did not say how many tokens" in (result.message or "")


@pytest.mark.parametrize("scope", ["turn", "conversation", "day", "home"])
@pytest.mark.parametrize("count", ["", "; usage 0 0"])
def test_nor_is_it_asked_once_in_each_of_many_turns_until_the_config_is_read_anew(
    at: At, server: ModelServer, scope: str, count: str
) -> None:
    harness = at(f"[greenroom.budget.{scope}]\ntokens = 100\n")
    conversation = harness.talk()
    assert ended(conversation, f"say one{count}").ending is Ending.COMPLETED
    for other in (conversation, harness.talk()):
        result = ended(other, "say two")
        assert (result.ending, len(server.requests)) == (Ending.BUDGET, 1)
        assert "greenroom reload" in (result.message or "")
    harness.engine.agent.get().reload()
    assert ended(conversation, "say three; usage 10 5").ending is Ending.COMPLETED
    assert ended(conversation, "say four").ending is Ending.COMPLETED


def test_an_interrupted_answer_is_none_that_was_not_counted(at: At) -> None:
    conversation = at("[greenroom.budget.home]\ntokens = 100\n").talk()
    begun = conversation.start("say some; stall forever")
    conversation.wait(ev.AgentMessageDelta)
    conversation.interrupt()
    assert conversation.result(begun).ending is Ending.INTERRUPTED
    assert ended(conversation, "say two; usage 10 5").ending is Ending.COMPLETED


def test_a_ledger_that_cannot_be_read_stops_what_needs_it(at: At, server: ModelServer) -> None:
    harness = at("[greenroom.budget.day]\nrequests = 5\n")
    conversation = harness.talk()
    conversation.ask("say one")
    harness.engine.agent.get()._needs.ledger.trouble = "disk I/O error"
    result = ended(conversation, "say two")
    assert (result.ending, len(server.requests)) == (Ending.BUDGET, 1)
    assert "disk I/O error" in (result.message or "")


def test_a_response_has_its_model_and_its_price_and_unknown_is_not_nothing(at: At) -> None:
    harness = at("[greenroom.prices.dear]\ninput = 2.0\ncached_input = 1.0\noutput = 10.0\n")
    dear, other = harness.talk(model="dear"), harness.talk()
    dear.ask("say hi; usage 1000 100 400")
    other.ask("say hi; usage 1000 100")
    count = dear.all(ev.TokenCount)[0]
    assert (count.model, count.provider) == ("dear", "mock")
    assert count.cost_usd == pytest.approx(0.0026)
    assert other.all(ev.TokenCount)[0].cost_usd is None
    assert (other.summary().usd, other.summary().unpriced) == (0.0, 1)
    assert dear.summary().usd == pytest.approx(0.0026)


# --- circles --------------------------------------------------------------------------------------------------------


def test_a_model_that_repeats_a_call_is_told_after_the_third_time_and_stopped_after_the_tenth(
    at: At, server: ModelServer
) -> None:
    conversation = at("").talk()
    result = ended(conversation, "; then; ".join([shell("echo", "same")] * 20))
    assert (result.ending, len(server.requests)) == (Ending.BUDGET, 10)
    assert (reached(conversation).unit, reached(conversation).used) == ("repetitions", 10.0)
    told = [WARNING_MARK in text for text in outputs(server)]
    assert told == [False, False, True, *[False] * 6]
    assert len(conversation.all(ev.BackgroundEvent)) == 1


def test_calls_that_alternate_are_a_circle_too(at: At, server: ModelServer) -> None:
    conversation = at("[greenroom.budget]\nrepetitions = 4\n").talk()
    pair = f"{shell('echo', 'a')}; then; {shell('echo', 'b')}"
    assert ended(conversation, "; then; ".join([pair] * 10)).ending is Ending.BUDGET
    assert len(server.requests) == 8
    assert sum(WARNING_MARK in text for text in outputs(server)) == 1


def test_the_same_call_with_another_result_is_no_circle(at: At) -> None:
    conversation = at("[greenroom.budget]\nrepetitions = 2\n").talk()
    counting = shell("sh", "-c", "echo x >> log; wc -l < log")
    conversation.ask("; then; ".join([counting] * 5))


def test_a_circle_goes_on_where_a_turn_was_resumed(at: At) -> None:
    harness = at("[greenroom.budget]\nrepetitions = 3\n")
    conversation = harness.talk(approval_policy=ApprovalPolicy.UNTRUSTED, sandbox=ReadOnly())
    call = shell("touch", "x")
    begun = conversation.start("; then; ".join([call] * 9))
    for number in (1, 2, 3):
        question = conversation.wait(ev.ApprovalRequested, number)
        if number == 3:
            harness.restart()
        conversation.decide(question.approval_id, Decision.DENIED)
    del begun
    conversation.wait(ev.TurnAborted)
    assert reached(conversation).unit == "repetitions"


def test_summing_up_a_history_counts_as_a_request_and_is_stopped_like_one(at: At, server: ModelServer) -> None:
    harness = at("[greenroom.budget.conversation]\nrequests = 2\n")
    conversation = harness.talk()
    conversation.ask("say one")
    conversation.ask("say two")
    caller = harness.caller()
    conversation.tell(Send((), task=Task.COMPACT, await_end=True), caller)
    assert conversation.result(caller).ending is Ending.BUDGET
    assert len(server.requests) == 2
