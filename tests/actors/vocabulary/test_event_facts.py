"""The facts about an event type stand on its class: a new type needs nothing else."""

from dataclasses import replace
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from actors.conversation import restore
from actors.conversation.applying import apply
from actors.conversation.draft import Draft
from actors.conversation.facts import Facts, TurnFacts, empty_facts
from actors.conversation.state import Stamp, State
from actors.vocabulary import events as ev
from actors.vocabulary.ids import ApprovalId, ConversationId, TurnId
from actors.vocabulary.settings import Decision
from tests.support.any_event import event_of
from tests.support.work import command_asked

TURN = TurnId("turn")
NEW_EVENT = """
class LampLit(AgentEvent):
    headline = terminal = read_by_models = True
    activity = "in good light"
    type: Literal["lamp_lit"] = "lamp_lit"
    watts: Whole = Field(description="How bright.")

"""


def in_a_turn() -> Facts:
    return replace(empty_facts(ConversationId("c")), turn=TurnFacts(TURN, None))


@pytest.fixture(scope="module")
def with_a_new_event(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    """The vocabulary with one more class, and nothing else changed in it."""
    source = Path(ev.__file__).read_text(encoding="utf-8")
    changed = tmp_path_factory.mktemp("vocabulary") / "events.py"
    place = "\nclass PlanUpdate("
    assert source.count(place) == 1
    changed.write_text(source.replace(place, NEW_EVENT + place), encoding="utf-8")
    spec = spec_from_file_location("events_and_one_more", changed)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_class_is_all_that_a_new_event_needs_to_be_read_and_known(with_a_new_event: ModuleType) -> None:
    more = with_a_new_event
    body = '{"type": "lamp_lit", "watts": 60}'
    assert more.durable_adapter.validate_json(body) == more.LampLit(watts=60)
    assert [more.type_of(kind) for kind in more.EVENTS if kind.__name__ not in vars(ev)] == ["lamp_lit"]
    for types, before in ((more.TERMINAL, ev.TERMINAL), (more.READ_BY_MODELS, ev.READ_BY_MODELS)):
        assert types == before | {"lamp_lit"}
    assert more.ACTIVITIES == {**ev.ACTIVITIES, "lamp_lit": "in good light"}
    assert "LampLit" in more.Envelope.model_json_schema()["$defs"]
    with pytest.raises(ValidationError):
        ev.durable_adapter.validate_json(body)


class Dimmed(ev.AgentEvent):
    type: Literal["dimmed"] = "dimmed"


class Sealed(ev.DurableEvent):
    synced = headline = True
    type: Literal["sealed"] = "sealed"


@pytest.mark.parametrize("event", [Dimmed(), Sealed()], ids=lambda one: str(one.type))
def test_a_new_event_is_stored_as_its_class_says(event: ev.DurableEvent) -> None:
    draft = Draft(State(in_a_turn()), Stamp(1.0, "nonce"))
    draft.emit(event)
    append = draft.step().append
    assert append is not None
    assert [record.type for record in append.records] == [event.type]
    assert (append.durable, append.head is not None) == (event.synced, event.headline)


def test_every_event_is_durable_or_a_delta() -> None:
    kinds = [kind for kind in ev.kinds_of(ev.BaseEvent) if not issubclass(kind, ev.DurableEvent)]
    assert tuple(kinds) == ev.DELTAS
    assert set(ev.EVENTS) == set(ev.kinds_of(ev.BaseEvent))


def test_events_of_agents_neither_end_a_turn_nor_answer_a_question() -> None:
    silent = {ev.type_of(kind) for kind in ev.DURABLE_EVENTS if not issubclass(kind, ev.AgentEvent)}
    assert silent == {
        *("session_configured", "settings_changed"),
        *("conversation_renamed", "conversation_archived", "conversation_failed", "conversation_restarted"),
        *("input_queued", "input_edited", "input_moved", "input_withdrawn", "queue_paused", "queue_resumed"),
        *("task_started", "task_complete", "turn_aborted", "approval_resolved", "job_ended"),
        "kept_yes_used",
    }


@pytest.mark.parametrize("kind", ev.DURABLE_EVENTS, ids=ev.type_of)
@given(st.data())
def test_a_turn_is_over_after_an_event_that_is_terminal_and_no_other(
    kind: type[ev.DurableEvent], data: st.DataObject
) -> None:
    facts = apply(in_a_turn(), data.draw(event_of(kind)), 1.0, TURN)
    assert (facts.turn is None) == kind.terminal


@pytest.mark.parametrize("kind", [one for one in ev.DURABLE_EVENTS if not one.headline], ids=ev.type_of)
@given(st.data())
def test_an_event_that_is_no_headline_leaves_true_what_lists_show(
    kind: type[ev.DurableEvent], data: st.DataObject
) -> None:
    before = in_a_turn()
    after = apply(before, data.draw(event_of(kind)), 0.0, TURN)
    assert after.open_questions == before.open_questions
    counted = replace(
        before,
        seq=1,
        earlier=after.earlier,
        turn=after.turn,
        tokens=after.tokens,
        spent=after.spent,
        stumbled=after.stumbled,
    )
    counted = replace(counted, context_tokens=after.context_tokens, context_window=after.context_window)
    counted = replace(counted, unsummed=after.unsummed)
    assert after == counted


def test_every_synced_event_is_a_headline() -> None:
    assert all(kind.headline for kind in ev.DURABLE_EVENTS if kind.synced)


# --- questions ----------------------------------------------------------------------------------------------------


def resolved(decision: Decision) -> ev.ApprovalResolved:
    return ev.ApprovalResolved(approval_id=ApprovalId("question"), decision=decision, by="ann")


def test_a_question_waits_is_answered_and_its_yes_is_kept_for_the_same_command() -> None:
    request = command_asked("make", approval="question")
    asked = apply(in_a_turn(), request, 1.0, TURN)
    assert asked.open_questions == (request,)
    assert asked.turn is not None
    assert asked.turn.only_waits
    answered = apply(asked, resolved(Decision.APPROVED_FOR_SESSION), 2.0, TURN)
    assert answered.open_questions == ()
    kept = answered.kept_yes(command_asked("make"))
    assert kept is not None
    assert (kept.approval, kept.by) == ("question", "ann")
    assert answered.kept_yes(command_asked("make", cwd="/elsewhere")) is None
    assert answered.kept_yes(command_asked("make", "install")) is None


@given(event_of(ev.ApprovalRequested))
def test_every_question_survives_a_checkpoint(request: ev.ApprovalRequested) -> None:
    draft = Draft(State(in_a_turn()), Stamp(1.0, "nonce"))
    draft.emit(request)
    append = draft.step().append
    assert append is not None
    assert restore(ConversationId("c"), append.head, ()).facts.open_questions == (request,)


@given(event_of(ev.WorkBegan))
def test_open_work_survives_a_checkpoint(began: ev.WorkBegan) -> None:
    draft = Draft(State(in_a_turn()), Stamp(1.0, "nonce"))
    draft.emit(ev.QueueResumed(queued=0))  # a headline, so that there is a checkpoint
    draft.emit(began)
    append = draft.step().append
    assert append is not None
    turn = restore(ConversationId("c"), append.head, ()).facts.turn
    assert turn is not None
    ((item, opened),) = turn.items
    assert (item, opened.call, opened.kind) == (began.item_id, began.call_id, began.subject.kind)
