"""A new engine after a restart: the history as it was, and turns that wait for an answer."""

import json
from pathlib import Path

import pytest

from actors.vocabulary import events as ev
from actors.vocabulary.conditions import Ending
from actors.vocabulary.settings import ApprovalPolicy, Decision, ReadOnly
from tests.supervisor.agents.own.turns.requests import check_well_formed, talk, unmarked
from tests.support.confinement import confinable
from tests.support.engine_harness import EngineHarness
from tests.support.model_server import ModelServer

RICH = (
    'reason think a little | and more; say let me look; call shell ["printf","a"]; call shell ["sh","-c","exit 3"]; '
    'call update_plan {"plan":[]}; call nothing {}; then; patch *** Begin Patch\\n*** Add File: x.txt\\n+x\\n'
    "*** End Patch; usage 10 5; then; say done"
)


def test_history_read_from_the_journal_is_what_it_was_in_memory(either: EngineHarness, server: ModelServer) -> None:
    conversation = either.talk()
    conversation.ask(RICH)
    assert conversation.conversation in either.engine.agent.get().transcripts._kept
    conversation.ask("say from memory")
    live = unmarked(server.requests[-1].body)
    either.restart()
    conversation.ask("say from the journal")
    read = unmarked(server.requests[-1].body)
    items = "messages" if "messages" in live else "input"
    length = len(live[items])
    assert json.dumps(live) == json.dumps({**read, items: read[items][:length]})
    assert talk(server)[-2:] == [("assistant", "from memory"), ("user", "say from the journal")]
    assert len(read[items]) == length + 2 > 8


def test_a_conversation_goes_on_after_a_restart(either: EngineHarness, server: ModelServer) -> None:
    conversation = either.talk()
    conversation.ask("say one")
    either.restart()
    conversation.ask("say two")
    assert talk(server) == [("user", "say one"), ("assistant", "one"), ("user", "say two")]


def test_a_turn_that_ran_is_lost_with_the_engine_and_its_history_stays_fit(
    either: EngineHarness, server: ModelServer
) -> None:
    conversation = either.talk()
    conversation.start('say first; call shell ["sleep","60"]')
    conversation.wait(ev.WorkBegan)
    either.restart()
    aborted = conversation.wait(ev.TurnAborted)
    assert aborted.reason in {"lost", "failed"}
    conversation.ask("say on")
    check_well_formed(server.requests[-1])
    assert [line[0] for line in talk(server)] == ["user", "assistant", "call", "output", "user"]


@pytest.mark.parametrize("decision", [Decision.APPROVED, Decision.DENIED])
def test_an_answer_after_a_restart_continues_the_turn_and_runs_the_command_once(
    either: EngineHarness, server: ModelServer, decision: Decision
) -> None:
    conversation = either.talk(approval_policy=ApprovalPolicy.UNTRUSTED)
    conversation.start(
        'call shell ["sh","-c","echo 1 >> before"]; call shell ["sh","-c","echo ran >> log"]; then; say done'
    )
    first = conversation.wait(ev.ApprovalRequested)
    conversation.decide(first.approval_id, Decision.APPROVED)
    second = conversation.wait(ev.ApprovalRequested, 2)
    either.restart()
    conversation.decide(second.approval_id, decision)
    assert conversation.wait(ev.TaskComplete).last_agent_message == "done"
    assert (either.workspace / "before").read_text() == "1\n"
    log = either.workspace / "log"
    assert (log.read_text() if log.exists() else "") == ("ran\n" if decision is Decision.APPROVED else "")
    assert len(server.requests) == 2
    check_well_formed(server.requests[1])
    outputs = [line for line in talk(server) if line[0] == "output"]
    assert [call for _, call, _ in outputs] == ["call_2_0_0", "call_2_0_1"]


def test_an_interrupt_after_a_restart_ends_a_turn_that_waits(either: EngineHarness, server: ModelServer) -> None:
    conversation = either.talk(approval_policy=ApprovalPolicy.UNTRUSTED)
    conversation.start('call shell ["touch","x"]')
    conversation.wait(ev.ApprovalRequested)
    either.restart()
    assert conversation.interrupted(conversation.interrupt()).ending is Ending.INTERRUPTED
    conversation.ask("say on")
    check_well_formed(server.requests[-1])


@confinable
@pytest.mark.parametrize("decision", [Decision.APPROVED, Decision.DENIED])
def test_a_retry_that_is_answered_after_a_restart_is_not_run_a_third_time(
    either: EngineHarness, server: ModelServer, decision: Decision
) -> None:
    trace = Path(either.home) / "trace"  # outside the workspace
    conversation = either.talk(approval_policy=ApprovalPolicy.ON_FAILURE, sandbox=ReadOnly())
    conversation.start(f'call shell ["sh","-c","echo run >> {trace}; echo told; exit 7"]; then; say done')
    question = conversation.wait(ev.ApprovalRequested)
    assert (question.retry, question.reason) == (True, "command failed; retry without sandbox?")
    assert not trace.exists()
    either.restart()
    conversation.decide(question.approval_id, decision)
    conversation.wait(ev.TaskComplete)
    assert len(conversation.all(ev.WorkBegan)) == (2 if decision is Decision.APPROVED else 1)
    assert (trace.read_text() if trace.exists() else "") == ("run\n" if decision is Decision.APPROVED else "")
    (output,) = [line[2] for line in talk(server) if line[0] == "output"]
    assert "told" in output
    assert ("exec command rejected by user" in output) == (decision is Decision.DENIED)
    check_well_formed(server.requests[-1])


def test_a_patch_that_is_answered_after_a_restart_is_applied_once(either: EngineHarness) -> None:
    conversation = either.talk(approval_policy=ApprovalPolicy.UNTRUSTED)
    conversation.start("patch *** Begin Patch\\n*** Add File: x.txt\\n+x\\n*** End Patch; then; say done")
    question = conversation.wait(ev.ApprovalRequested)
    either.restart()
    conversation.decide(question.approval_id, Decision.APPROVED)
    conversation.wait(ev.TaskComplete)
    assert (either.workspace / "x.txt").read_text() == "x\n"
    assert len(conversation.all(ev.WorkBegan)) == len(conversation.all(ev.WorkEnded)) == 1
    assert conversation.wait(ev.TurnDiff).unified_diff.startswith("diff --git a/x.txt b/x.txt\nnew file mode")


def test_items_of_a_resumed_turn_have_names_of_their_own(harness: EngineHarness) -> None:
    conversation = harness.talk(approval_policy=ApprovalPolicy.UNTRUSTED)
    conversation.start('say a; call shell ["touch","x"]; then; say b; call shell ["touch","y"]; then; say c')
    for number in (1, 2):
        question = conversation.wait(ev.ApprovalRequested, number)
        harness.restart()
        conversation.decide(question.approval_id, Decision.APPROVED)
    conversation.wait(ev.TaskComplete)
    items = [event.item_id for event in conversation.events if isinstance(event, ev.AgentMessage | ev.ToolCall)]
    assert len(set(items)) == len(items) == 5
