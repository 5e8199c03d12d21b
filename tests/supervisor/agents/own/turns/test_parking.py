"""A conversation that nobody looks at gives its actor back, also in the middle of a question, and loses nothing."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from actors.vocabulary import events as ev
from actors.vocabulary.settings import ApprovalPolicy, Decision
from tests.faults.daemon_harness import until
from tests.supervisor.agents.own.turns.requests import check_well_formed, talk
from tests.support.engine_harness import EngineHarness, harness_at
from tests.support.model_server import ModelServer


@pytest.fixture
def hasty(tmp_path: Path, server: ModelServer) -> Iterator[EngineHarness]:
    """A harness that parks idle conversations at once."""
    with harness_at(tmp_path, server.base_url, greenroom="idle_park_seconds = 0.05") as harness:
        yield harness


def test_a_parked_conversation_goes_on_where_it_was(hasty: EngineHarness, server: ModelServer) -> None:
    conversation = hasty.talk()
    conversation.ask('call shell ["printf","a"]; then; say one')
    before = talk(server)
    hasty.leave()
    conversation.wait_parked()
    conversation.attach()
    conversation.ask("say two")
    assert talk(server) == [*before, ("assistant", "one"), ("user", "say two")]


def test_a_parked_question_is_answered_and_its_command_runs_once(hasty: EngineHarness, server: ModelServer) -> None:
    conversation = hasty.talk(approval_policy=ApprovalPolicy.UNTRUSTED)
    conversation.start('say wait; call shell ["sh","-c","echo x >> log"]; then; say done', await_end=False)
    question = conversation.wait(ev.ApprovalRequested)
    hasty.leave()
    conversation.wait_parked()
    assert hasty.engine.runner.statistics() == {"turns": 0}
    conversation.attach()
    conversation.decide(question.approval_id, Decision.APPROVED)
    assert conversation.wait(ev.TaskComplete).last_agent_message == "done"
    assert (hasty.workspace / "log").read_text() == "x\n"
    check_well_formed(server.requests[-1])
    assert [line[0] for line in talk(server)] == ["user", "assistant", "call", "output"]
    assert len(server.requests) == 2


def test_a_parked_conversation_keeps_no_history_in_memory(hasty: EngineHarness) -> None:
    conversation = hasty.talk()
    conversation.ask("say one")
    assert hasty.engine.agent.get().transcripts.statistics()["transcripts"] == 1
    hasty.leave()
    conversation.wait_parked()
    until(lambda: not hasty.engine.agent.get().transcripts.statistics()["transcripts"], "a transcript is kept")
