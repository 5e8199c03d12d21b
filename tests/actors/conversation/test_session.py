"""One session between the registry, the journal and its agent, step by step."""

from typing import Any

from actors.messages.conversation import Rename
from actors.messages.orders import AgentOutput, Completed, RunAgent, StopAgent
from actors.messages.routing import ListConversations
from actors.vocabulary import events as ev
from actors.vocabulary.answers import Done, TurnResult
from actors.vocabulary.errors import StorageFull
from actors.vocabulary.ids import ConversationId, ItemId
from actors.vocabulary.records import HeadPage, ListQuery
from tests.fakes.daemon import StagedDaemon

A = ConversationId("aaaa-0001")


def begun(daemon: StagedDaemon) -> StagedDaemon:
    daemon.create(A)
    daemon.run()
    return daemon


def names(daemon: StagedDaemon) -> list[str | None]:
    answer = daemon.ask(ListConversations(ListQuery()))
    assert isinstance(answer, HeadPage)
    return [head.name for head in answer.heads]


def test_nobody_sees_an_event_and_no_agent_starts_before_the_journal_has_it(daemon: StagedDaemon) -> None:
    begun(daemon)
    _, reader = daemon.attach(A)
    daemon.run()
    with daemon.stage.holding(daemon.journalist):
        sent = daemon.send(A, await_end=False)
        daemon.run()
        assert reader.types == ["session_configured"]
        assert daemon.agents.orders == []
        assert sent not in daemon.outbox.replies
    daemon.run()
    assert reader.types == ["session_configured", "task_started", "user_message"]
    assert len(daemon.agents.ordered(RunAgent)) == 1


def test_a_commit_after_the_end_of_the_registry_is_answered_without_a_failure(
    daemon: StagedDaemon, log: list[Any]
) -> None:
    """As a daemon stops: the session's news waits before its own end."""
    begun(daemon)
    session = daemon.session(A).address
    with daemon.stage.holding(session):
        sent = daemon.send(A, await_end=False)
        daemon.run()
        daemon.stage.deliver(session)
        daemon.run()
        daemon.registry.stop_soon()
        daemon.run()
    daemon.run()
    assert not session.alive
    assert sent in daemon.outbox.replies
    assert [line for line in log if line["log_level"] == "error"] == []


def test_an_interrupt_that_comes_before_the_agent_was_told_starts_none(daemon: StagedDaemon) -> None:
    begun(daemon)
    with daemon.stage.holding(daemon.journalist):
        sent, interrupted = daemon.send(A), daemon.interrupt(A)
        daemon.run()
    daemon.run()
    assert daemon.agents.orders == []
    assert isinstance(daemon.answer(sent), TurnResult)
    assert interrupted in daemon.outbox.replies


def test_an_interrupt_overtakes_output_that_waits(daemon: StagedDaemon) -> None:
    begun(daemon)
    daemon.send(A)
    daemon.run()
    session, turn = daemon.session(A), daemon.agents.last().turn
    for number in range(10):
        daemon.agents.say(turn, ev.AgentMessageDelta(delta="word", item_id=ItemId(f"{number}")))
    daemon.interrupt(A)
    daemon.stage.deliver(daemon.registry)
    daemon.stage.deliver(session.address)
    assert daemon.agents.ordered(StopAgent) == [StopAgent(turn)]


def test_readers_that_are_behind_and_become_ready_together_share_a_slice(daemon: StagedDaemon) -> None:
    begun(daemon)
    attached = [daemon.attach(A, connection=f"editor-{number}") for number in range(3)]
    daemon.run()
    daemon.outbox.prompt = False
    daemon.send(A)
    daemon.run()
    turn, session = daemon.agents.last().turn, daemon.session(A).address
    session.tell(AgentOutput(turn, (ev.AgentMessage(message="said meanwhile"),)))
    daemon.run()
    with daemon.stage.holding(session):
        for subscription, _ in attached:
            assert daemon.outbox.ready(subscription)
        daemon.run()
    daemon.run()
    assert [reader.types[-1] for _, reader in attached] == ["agent_message"] * 3
    assert len({id(reader.slices[-1]) for _, reader in attached}) == 1


def test_late_output_of_a_turn_that_has_ended_is_dropped(daemon: StagedDaemon) -> None:
    begun(daemon)
    _, reader = daemon.attach(A)
    daemon.send(A)
    daemon.run()
    turn = daemon.agents.last().turn
    session = daemon.session(A).address
    daemon.agents.end(turn, Completed())
    daemon.run()
    session.tell(AgentOutput(turn, (ev.AgentMessage(message="late"),)))
    daemon.run()
    assert reader.types[-1] == "task_complete"
    assert [record.type for record in daemon.journal.history(A)][-1] == "task_complete"


def test_a_late_refusal_of_the_last_epoch_does_not_hide_what_came_after_it(daemon: StagedDaemon) -> None:
    begun(daemon)
    session = daemon.session(A).address
    daemon.journal.refusing = StorageFull("no room")
    callers = [daemon.caller() for _ in range(2)]
    for caller, name in zip(callers, ("x", "y"), strict=True):
        daemon.tell(A, Rename(name), caller)
    for one in (daemon.registry, daemon.directory, daemon.registry, session):
        daemon.stage.deliver(one, 2)
    daemon.stage.deliver(daemon.journalist)
    daemon.journal.refusing = None
    daemon.stage.deliver(session)  # the first refusal; the second still waits
    renamed = daemon.caller()
    daemon.tell(A, Rename("z"), renamed)
    daemon.stage.deliver(daemon.registry, len(daemon.routing.mailbox))
    for one in (daemon.directory, daemon.registry, session):
        daemon.stage.deliver(one)
    daemon.run()
    assert [daemon.answer(caller) for caller in callers] == [StorageFull("no room")] * 2
    assert daemon.answer(renamed) == Done()
    assert names(daemon) == ["z"]


def test_a_turn_ends_when_the_disk_is_full_and_its_caller_is_told_why(daemon: StagedDaemon) -> None:
    begun(daemon)
    sent = daemon.send(A)
    daemon.run()
    daemon.journal.refusing = StorageFull("no room")
    daemon.agents.say(daemon.agents.last().turn, ev.AgentMessage(message="lost"))
    daemon.run()
    assert len(daemon.agents.ordered(StopAgent)) == 1
    daemon.journal.refusing = None
    daemon.time.advance(10)
    daemon.run()
    assert daemon.answer(sent) == StorageFull("no room")
    assert "no room" in daemon.journal.history(A)[-1].body.decode()
