"""State that comes back from the journal, and the debts of a failed life to others."""

import pytest

from actors.conversation import condition, head_of, restore, survivors_of
from actors.conversation.applying import apply
from actors.conversation.facts import empty_facts
from actors.conversation.state import Limits
from actors.messages.conversation import Archive, ChangeSettings, Rename, Restart, Revived
from actors.messages.orders import AgentNews, Completed, InputWanted, ModelFailed
from actors.vocabulary import events as ev
from actors.vocabulary.answers import Done
from actors.vocabulary.conditions import Condition
from actors.vocabulary.errors import StorageFull, TurnFailed, UnknownConversation, WrongState
from actors.vocabulary.records import Record
from actors.vocabulary.settings import AbortReason, BusyPolicy, Decision, Settings
from tests.actors.conversation import words as w
from tests.support.core_driver import CONVERSATION, SETTINGS, Core, caller, with_limits

ANN, BEN, CEM = caller("ann"), caller("ben"), caller("cem")


def rich() -> Core:
    """A conversation in which nearly everything is set."""
    core = Core()
    core.say(Rename("garden"))
    core.say(ChangeSettings(SETTINGS.model_copy(update={"model": "model-b"})))
    core.send("first", key="k1")
    core.output(w.call(), w.ask(), w.tokens(7))
    core.answer_with(Decision.APPROVED_FOR_SESSION, ANN)
    core.output(w.begin(), w.call("patch"), w.ask_patch("q2"), w.call("remote"), w.mcp_begin())
    core.send("steer", key="k2")
    core.send("queue", policy=BusyPolicy.ENQUEUE, settings=SETTINGS)
    return core


def test_the_checkpoint_and_the_events_say_the_same() -> None:
    core = rich()
    assert core.disk.restored(Limits()).facts == core.state.facts
    assert restore(CONVERSATION, None, tuple(core.disk.records)).facts == core.state.facts


def test_a_checkpoint_at_any_moment_with_the_events_after_it_gives_the_same_facts() -> None:
    core = rich()
    records = tuple(core.disk.records)
    facts = empty_facts(CONVERSATION)
    for place, record in enumerate(records):
        facts = apply(facts, ev.durable_adapter.validate_json(record.body), record.ts, record.turn)
        head = head_of(restore(CONVERSATION, None, records[: place + 1]))
        assert restore(CONVERSATION, head, records[place + 1 :]).facts == core.state.facts
        assert restore(CONVERSATION, head, ()).facts == facts


def test_each_checkpoint_has_the_settings_of_its_moment() -> None:
    core = Core()
    core.send("one")
    core.end()
    for model in ("model-b", "model-c"):
        changed = SETTINGS.model_copy(update={"model": model})
        core.say(ChangeSettings(changed))
        head = core.disk.head
        assert head is not None
        assert Settings.model_validate_json(head.settings) == changed
        assert restore(CONVERSATION, head, ()).facts.settings == changed


def behind_the_checkpoint(core: Core) -> list[Record]:
    """The events that a conversation has to replay when it wakes now."""
    return core.disk.records[core.disk.head.checkpoint_seq if core.disk.head else 0 :]


def test_a_long_turn_writes_checkpoints_so_that_little_is_replayed_whenever_it_is_lost() -> None:
    core = Core()
    core.send("work")
    for number in range(2_000):
        core.output(w.message(f"step {number}"))
        assert len(behind_the_checkpoint(core)) < core.limits.checkpoint_records
    before = core.state.facts
    assert core.disk.restored(core.limits).facts == before
    assert len([append for append in core.appends if append.head]) < 2_000 / core.limits.checkpoint_records + 10


def test_checkpoints_are_written_by_bytes_too_and_across_restarts() -> None:
    core = Core()
    core.send("work")
    for number in range(100):
        core.output(w.message("x" * 20_000))
        if number % 7 == 0:
            core.state = core.disk.restored(core.limits)
            core.say(Revived(AbortReason.LOST, "it went away"))
            core.send("go on")
        assert sum(len(record.body) for record in behind_the_checkpoint(core)) < core.limits.checkpoint_bytes
    assert core.disk.restored(core.limits).facts == core.state.facts


def test_after_a_refusal_the_next_append_brings_a_checkpoint() -> None:
    """The last one may be among what was refused. What runs is stopped, and its end is such an event."""
    core = Core()
    core.send("work")
    core.disk.refuses = StorageFull("full")
    core.output(w.message("lost"))
    core.disk.refuses = None
    core.output(w.message("said while the agent stops"))
    core.end()
    assert [append.head is None for append in core.appends[-2:]] == [True, False]
    assert core.disk.restored(core.limits).facts == core.state.facts


def test_records_that_the_checkpoint_knows_already_are_not_applied_twice() -> None:
    core = rich()
    assert restore(CONVERSATION, core.disk.head, tuple(core.disk.records)).facts == core.state.facts


def test_the_head_says_what_a_list_shows() -> None:
    head = rich().disk.head
    assert head is not None
    assert (head.name, head.model, head.cwd, head.preview, head.tokens) == ("garden", "model-b", "/work", "first", 7)
    assert (head.state, head.archived) == ("running", False)


@pytest.mark.parametrize(
    "news", [(), (w.delta("half"),), (w.call(), w.begin(), w.chunk(b"x")), (InputWanted(),), (w.tokens(),)]
)
def test_a_turn_that_ran_when_the_daemon_died_is_lost_and_balanced(news: tuple[AgentNews, ...]) -> None:
    core = Core()
    core.send()
    core.output(*news)
    core.crash()
    assert core.said_of(ev.TurnAborted)[0].reason is AbortReason.LOST
    assert core.types.count("work_began") == core.types.count("work_ended")
    assert core.types.count("tool_call") == core.types.count("tool_output")
    assert condition(core.state) is Condition.LOST
    core.send("again")
    assert core.runs[-1].resume is False


LOST = "aborted: the supervisor was stopped"
KNOWN: dict[str, tuple[bool, tuple[AgentNews, ...], str, str]] = {
    "called": (False, (), LOST, ""),
    "begun": (
        False,
        (w.begin(),),
        f"{LOST} after this had begun; how far it came is not known",
        "; what had begun may have come to its end or not",
    ),
    "approved": (
        True,
        (),
        f"{LOST} when this was approved; there is no record that it began",
        "; what was approved has no record of a beginning",
    ),
    "approved and begun": (
        True,
        (w.begin(),),
        f"{LOST} after this had begun; how far it came is not known",
        "; what had begun may have come to its end or not",
    ),
    "approved and ended": (True, (w.begin(), w.end()), LOST, ""),
}


@pytest.mark.parametrize("known", KNOWN)
def test_a_lost_turn_says_of_its_call_what_the_journal_knows(known: str) -> None:
    approved, news, output, message = KNOWN[known]
    core = Core()
    core.send()
    core.output(w.call())
    if approved:
        core.output(w.ask())
        core.answer_with(Decision.APPROVED, ANN)
    core.output(*news)
    core.crash()
    assert core.said_of(ev.ToolOutput)[-1].output == output
    assert core.said_of(ev.TurnAborted)[0].message == f"it went away{message}"


def test_a_turn_that_the_disk_had_and_the_agent_had_not_is_lost_too() -> None:
    core = Core(commits=False)
    core.send()
    core.commits = True
    core.crash()
    assert core.types == ["task_started", "user_message", "error", "turn_aborted"]
    assert core.runs == []


def test_a_conversation_in_which_nothing_was_open_comes_back_without_a_word() -> None:
    core = Core()
    core.send()
    core.end()
    before = len(core.disk.records)
    core.crash()
    assert len(core.disk.records) == before


def test_steering_input_of_a_lost_turn_is_held() -> None:
    core = Core()
    core.send("one")
    core.send("two")
    core.crash()
    assert core.state.facts.paused
    core.send("three")
    assert w.words_of(core.runs[-1].inputs) == ["three"]


# --- survivors --------------------------------------------------------------------------------------------------


def test_a_caller_of_a_failed_actor_is_still_answered() -> None:
    core = Core()
    core.send("one", ANN, await_end=True)
    core.send("two", BEN)
    core.interrupt(CEM)
    core.crash(AbortReason.FAILED)
    assert isinstance(core.answer(ANN), TurnFailed)
    assert isinstance(core.answer(CEM), TurnFailed)
    assert len(core.answers(BEN)) == 1
    assert core.said_of(ev.TurnAborted)[0].reason is AbortReason.FAILED


def test_an_answer_that_waited_for_the_disk_when_the_actor_failed_is_given_once() -> None:
    core = Core()
    core.commits = False
    core.send("one", ANN)
    core.say(Rename("x"), BEN)
    core.commits = True
    core.crash(AbortReason.FAILED)
    assert isinstance(core.answer(ANN), TurnFailed)
    assert isinstance(core.answer(BEN), TurnFailed)


def test_readers_of_a_failed_actor_stay_attached_and_miss_nothing() -> None:
    core = Core()
    reader = core.attach("r")
    core.send()
    core.output(w.delta("half"))
    core.crash(AbortReason.FAILED)
    core.send("again")
    assert reader.seqs == [record.seq for record in core.disk.records]
    assert reader.ended == []


def test_a_reader_with_a_slice_in_its_hands_when_the_actor_failed_gets_the_next_when_it_is_ready() -> None:
    core = Core(ready=False)
    reader = core.attach("r")
    core.crash(AbortReason.FAILED)
    core.send()
    assert len(reader.slices) == 1
    core.free("r")
    assert reader.seqs == [1, 2, 3]


def test_survivors_name_each_caller_once() -> None:
    core = Core()
    core.commits = False
    core.send("one", ANN, await_end=True)
    core.interrupt(ANN)
    assert survivors_of(core.state).callers == (ANN,)


def test_appends_in_flight_of_a_failed_life_are_kept_as_far_as_the_disk_has_them() -> None:
    core = Core()
    reader = core.attach("r")
    core.commits = False
    core.say(Rename("kept"))
    core.commits = True
    core.crash(AbortReason.FAILED)
    assert core.state.facts.name == "kept"
    assert reader.seqs == [1, 2]


# --- given up ---------------------------------------------------------------------------------------------------


def test_a_conversation_that_was_given_up_takes_nothing_until_it_is_restarted() -> None:
    core = Core()
    core.send()
    core.crash(AbortReason.FAILED, gave_up="Traceback: …")
    assert condition(core.state) is Condition.FAILED
    assert [one.traceback for one in core.said_of(ev.ConversationFailed)] == ["Traceback: …"]
    core.send("hi", ANN)
    assert isinstance(core.answer(ANN), WrongState)
    core.say(Restart("ben"), BEN)
    core.send("hi", CEM)
    assert w.words_of(core.runs[-1].inputs) == ["hi"]


def test_a_conversation_that_was_given_up_stays_so_over_a_restart_of_the_daemon() -> None:
    core = Core()
    core.crash(AbortReason.FAILED, gave_up="Traceback: …")
    core.crash()
    assert condition(core.state) is Condition.FAILED
    assert core.attach("r").seqs == [1, 2]


def test_a_conversation_that_has_not_failed_is_not_restarted() -> None:
    core = Core()
    core.say(Restart(), ANN)
    assert isinstance(core.answer(ANN), WrongState)
    core.send()
    core.say(Restart(), BEN)
    assert isinstance(core.answer(BEN), WrongState)


def test_after_a_turn_that_ended_in_an_error_a_restart_leaves_the_pictures_out_but_not_after_a_good_one() -> None:
    core = Core()
    core.send()
    core.end(ModelFailed("400"))
    core.say(Restart(), ANN)
    assert isinstance(core.answer(ANN), Done)
    assert [one.without_pictures for one in core.said_of(ev.ConversationRestarted)] == [True]
    core.say(Restart(), BEN)
    assert isinstance(core.answer(BEN), WrongState)
    core.send()
    core.end(ModelFailed("400"))
    core.send()
    core.end(Completed("well"))
    core.say(Restart(), CEM)
    assert isinstance(core.answer(CEM), WrongState)


def test_an_open_turn_keeps_its_conversation_out_of_the_archive() -> None:
    core = Core()
    core.send()
    core.say(Archive(), ANN)
    assert isinstance(core.answer(ANN), WrongState)


def test_a_reader_that_waited_for_a_page_when_the_actor_failed_gets_its_history() -> None:
    core = Core(limits=with_limits(window_records=2, page_records=3), ready=False)
    for _ in range(5):
        core.send()
        core.end()
    reader = core.attach("r")
    assert len(core.pages) == 1
    core.ready = True
    core.crash(AbortReason.FAILED)
    assert reader.seqs == [record.seq for record in core.disk.records]


def test_nothing_runs_and_nothing_waits_in_a_conversation_that_was_given_up() -> None:
    core = Core()
    core.send("one")
    core.output(w.call(), w.begin())
    core.send("two", policy=BusyPolicy.INTERRUPT)
    core.crash(AbortReason.FAILED, gave_up="Traceback: …")
    assert len(core.runs) == 1
    assert core.state.facts.turn is None
    core.say(Restart())
    assert w.words_of(core.runs[-1].inputs) == ["two"]


def test_a_question_of_a_conversation_that_was_given_up_is_withdrawn() -> None:
    core = Core()
    core.send()
    core.output(w.call(), w.ask())
    core.crash(AbortReason.FAILED, gave_up="Traceback: …")
    assert [one.decision for one in core.said_of(ev.ApprovalResolved)] == [Decision.WITHDRAWN]
    core.answer_with(Decision.APPROVED, ANN)
    assert len(core.runs) == 1


def test_a_conversation_that_never_began_can_be_neither_renamed_nor_archived_nor_changed() -> None:
    core = Core(begin=False)
    core.say(Rename("x"), ANN)
    core.say(Archive(), BEN)
    core.say(ChangeSettings(SETTINGS), CEM)
    assert core.disk.records == []
    assert all(isinstance(core.answer(who), UnknownConversation) for who in (ANN, BEN, CEM))


@pytest.mark.parametrize("total", [2**63 - 1, 2**62, 10**30, -(10**30)])
def test_a_count_of_tokens_beyond_all_numbers_ends_no_conversation(total: int) -> None:
    """It may stand in a journal that was written before counts were bounded."""
    core = Core()
    for _ in range(3):
        core.send()
        core.output(w.tokens(total))
        core.end()
    core.crash()
    core.send()
    core.end()
    head = core.appends[-1].head
    assert head is not None
    assert 0 <= head.tokens < 2**63
