"""The amounts that a conversation has spent: counted from its events, and noted for the ledger with them."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from actors.conversation.restore import restore
from actors.messages.conversation import TimerFired
from actors.messages.orders import (
    AgentNews,
    AgentStopped,
    Completed,
    Crashed,
    ModelFailed,
    Outcome,
    OutOfBudget,
    Suspended,
    TurnEnded,
)
from actors.vocabulary import events as ev
from actors.vocabulary.settings import Decision
from actors.vocabulary.spent_amounts import NOTHING, Spent
from tests.actors.conversation import words as w
from tests.support.core_driver import Core, caller

ANN = caller("ann")


def counted(total: int, usd: float | None = None, model: str = "") -> ev.TokenCount:
    return ev.TokenCount(input_tokens=total, output_tokens=0, total_tokens=total, cost_usd=usd, model=model)


UNCOUNTED = ev.TokenCount(
    input_tokens=0, output_tokens=0, total_tokens=0, model="mute", provider="near", requests=2, counted=False
)


def at(core: Core, seconds: float) -> Core:
    core.now = seconds
    return core


NEWS = st.one_of(
    st.builds(counted, st.integers(0, 10**6), st.none() | st.floats(0, 10), st.sampled_from(["", "b"])),
    st.just(ev.ModelRequested()),
    st.just(w.call()),
    st.just(w.output()),
)


def spent_in(core: Core) -> Spent:
    found = NOTHING
    for entry in (entry for append in core.appends for entry in append.spent):
        found = found.plus(entry.spent)
    return found


def about(one: Spent, other: Spent) -> bool:
    near = abs(one.usd - other.usd) < 1e-6 and abs(one.seconds - other.seconds) < 1e-6
    return near and one.requests == other.requests and one.tokens == other.tokens and one.unpriced == other.unpriced


@given(st.lists(st.lists(NEWS, max_size=4), max_size=6))
def test_the_entries_of_the_ledger_add_up_to_what_the_events_tell(turns: list[list[AgentNews]]) -> None:
    core = Core()
    for news in turns:
        core.send()
        for one in news:
            core.now += 7
            core.output(one)
        core.end()
    replayed = core.disk.restored(core.state.limits).facts.spent
    assert replayed == core.state.facts.spent
    assert about(spent_in(core), replayed)
    assert replayed.turns == len(turns)


def test_a_turn_works_from_its_start_to_its_end_but_not_while_it_waits_for_a_person() -> None:
    core = at(Core(), 100.0)
    core.send()
    at(core, 130.0).output(w.call(), w.ask())
    at(core, 1000.0).answer_with(Decision.APPROVED, ANN)
    at(core, 1005.0).output(w.begin(), w.end(), w.output())
    at(core, 1010.0).end()
    assert core.state.facts.spent.seconds == 40.0


def test_a_turn_that_was_lost_has_worked_until_its_last_event() -> None:
    core = at(Core(), 100.0)
    core.send()
    at(core, 130.0).output(w.call())
    at(core, 5000.0).crash()
    assert core.state.facts.spent.seconds == 30.0


def test_a_clock_that_is_set_back_takes_nothing_away() -> None:
    core = at(Core(), 100.0)
    core.send()
    at(core, 50.0).end()
    assert core.state.facts.spent.seconds == 0.0


def test_a_response_without_a_price_is_counted_as_one_of_unknown_cost() -> None:
    core = Core()
    core.send()
    core.output(counted(5, 0.25), counted(7, None))
    core.end()
    spent = core.state.facts.spent
    assert (spent.usd, spent.unpriced, spent.tokens) == (0.25, 1, 12)


def test_the_ledger_has_what_each_model_cost() -> None:
    core = Core()
    core.send()
    core.output(counted(5, 0.25, "large"), counted(7, 0.5, "small"))
    models = {entry.model: entry.spent.usd for append in core.appends for entry in append.spent}
    assert models == {"large": 0.25, "small": 0.5}


def test_an_agent_is_told_what_its_conversation_has_spent() -> None:
    core = Core()
    core.send()
    core.output(counted(5, 0.25))
    core.end(OutOfBudget("enough"))
    core.send("on")
    assert core.runs[-1].spent.tokens == 5
    assert core.runs[-1].turn_spent == NOTHING


def test_a_turn_that_is_resumed_knows_what_it_has_spent_before() -> None:
    core = Core()
    core.send()
    core.output(counted(5), w.call(), w.ask())
    core.crash()
    core.answer_with(Decision.APPROVED, ANN)
    assert (core.runs[-1].turn_spent.tokens, core.runs[-1].turn_spent.tool_calls) == (5, 1)


def test_tokens_of_a_checkpoint_from_before_the_ledger_have_an_unknown_cost() -> None:
    core = Core()
    core.send()
    core.output(counted(5, 0.25))
    core.end()
    head = core.disk.head
    assert head is not None
    known = json.loads(head.checkpoint)
    del known["spent"]
    facts = restore(head.conversation, replace(head, checkpoint=json.dumps(known).encode()), ()).facts
    assert (facts.spent.tokens, facts.spent.usd, facts.spent.unpriced) == (5, 0.0, 1)


@pytest.mark.parametrize(
    "outcome", [Completed("done"), ModelFailed("no"), Crashed("no"), OutOfBudget("enough"), AgentStopped()]
)
def test_a_last_answer_that_nobody_counted_is_told_by_the_end_of_its_turn(outcome: Outcome) -> None:
    core = Core()
    core.send()
    core.say(TurnEnded(core.turn, outcome, (w.message("hi"), UNCOUNTED)))
    end = core.events[-1]
    assert isinstance(end, ev.TurnEnd)
    assert end.uncounted == ev.UncountedAnswer(model="mute", provider="near", requests=2)
    assert "token_count" not in core.types
    spent = core.disk.restored(core.state.limits).facts.spent
    assert spent == core.state.facts.spent
    assert (spent.turns, spent.requests, spent.uncounted, spent.unpriced) == (1, 2, 1, 1)
    assert {entry.model: entry.spent.requests for append in core.appends for entry in append.spent} == {"mute": 2}


def test_an_answer_that_nobody_counted_is_told_by_itself_where_its_turn_goes_on() -> None:
    core = Core()
    core.send()
    core.output(w.call(), w.ask())
    core.now += core.limits.idle_park_s
    core.say(TimerFired("idle"))
    core.say(TurnEnded(core.turn, Suspended(), (UNCOUNTED,)))
    assert core.said_of(ev.TokenCount) == [UNCOUNTED]
    assert core.state.facts.turn is not None
    assert core.state.facts.spent.uncounted == 1
