"""A turn's life in the whole engine: it begins, ends once, leaves nothing; a bug in it harms nobody else."""

import gc
import threading
from pathlib import Path

import pytest

from actors.messages.orders import AbandonAgent
from actors.vocabulary import events as ev
from actors.vocabulary.conditions import Ending
from actors.vocabulary.settings import ApprovalPolicy
from supervisor.agents.own.tools.toolbox import Toolbox
from tests.supervisor.agents.own.turns.requests import check_well_formed, lines
from tests.supervisor.work.commands import alive, new_token, open_files, zombies
from tests.support.engine_harness import EngineHarness, harness_at
from tests.support.model_server import ModelServer


def test_a_stopped_engine_leaves_no_thread_no_child_and_no_file(tmp_path: Path, server: ModelServer) -> None:
    token = new_token()
    with harness_at(tmp_path / "first", server.base_url) as warm_up:  # modules that are loaded once stay
        warm_up.talk().ask("say one")
    gc.collect()
    threads, files, before = set(threading.enumerate()), open_files(), set(zombies())
    harness = EngineHarness(tmp_path / "second", "".join((tmp_path / "first/config/config.toml").read_text()))
    running, waiting, streaming = (
        harness.talk(),
        harness.talk(approval_policy=ApprovalPolicy.UNTRUSTED),
        harness.talk(),
    )
    running.start(f'call shell ["sh","-c","trap : TERM; echo ready; while :; do sleep 300; done; : {token}"]')
    running.wait(ev.WorkOutput)
    waiting.start('call shell ["touch","x"]')
    waiting.wait(ev.ApprovalRequested)
    streaming.start("hold here")
    server.wait_held("here")
    harness.stop()
    server.wait_for(lambda: server.requests[-1].closed_early, "the stream was not closed")
    gc.collect()
    assert not alive(token)
    assert not set(zombies()) - before  # an orphan of another test in this process may come to it as well
    assert {one for one in threading.enumerate() if one.is_alive()} - threads == set()
    assert open_files() <= files


def test_two_engines_after_each_other_share_nothing_but_the_journal(harness: EngineHarness) -> None:
    conversation = harness.talk()
    conversation.ask("say one")
    harness.restart()
    harness.restart()
    assert conversation.summary().seq == len(conversation.types())


def test_a_bug_in_the_agent_ends_its_turn_as_failed_and_nothing_else(
    harness: EngineHarness, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def breaks(*_: object) -> str:
        raise KeyError("a bug")

    broken, other = harness.talk(), harness.talk()
    other.start("hold here; say fine")
    server.wait_held("here")
    with monkeypatch.context() as patched:
        patched.setattr(Toolbox, "carry_out", breaks)
        failed = broken.result(broken.start('call shell ["true"]; then; say done'))
    assert (failed.ending, failed.message) == (Ending.FAILED, "KeyError: 'a bug'")
    assert broken.wait(ev.TurnAborted).reason == "failed"
    server.open("here")
    assert other.wait(ev.TaskComplete).last_agent_message == "fine"
    assert broken.ask("say on").message == "on"
    check_well_formed(server.requests[-1])
    outputs = [line[2] for line in lines(server.requests[-1]) if line[0] == "output"]
    assert outputs == ["aborted: the supervisor failed"]


def test_abandoning_a_conversation_ends_its_processes(harness: EngineHarness) -> None:
    token = new_token()
    conversation = harness.talk()
    conversation.start(f'call shell ["sh","-c","echo ready; sleep 300; : {token}"]')
    conversation.wait(ev.WorkOutput)
    heard = threading.Event()

    class Registry:
        def tell(self, _: object) -> None:
            heard.set()

    assert alive(token)
    harness.engine.runner.abandon(AbandonAgent(conversation.conversation), Registry())
    assert heard.wait(10)
    assert not alive(token)


def test_the_last_message_of_a_turn_is_the_text_of_its_last_response(harness: EngineHarness) -> None:
    conversation = harness.talk()
    assert conversation.ask('say let me look; call shell ["true"]; then').message is None
    assert conversation.ask('say let me look; call shell ["true"]; then; say seen').message == "seen"


def test_a_message_without_words_is_refused(harness: EngineHarness) -> None:
    conversation = harness.talk()
    caller = conversation.start()
    refusal = harness.answer(caller, Exception)
    assert getattr(refusal, "code", None) == "invalid_input"
    assert "task_started" not in conversation.types()


def test_a_long_command_is_heard_while_it_runs_and_its_history_is_bounded(
    harness: EngineHarness, server: ModelServer
) -> None:
    """The output is far larger than anybody wants: the turn ends, history keeps head and tail, the model a little."""
    conversation = harness.talk()
    conversation.ask('call shell ["sh","-c","head -c 30000000 /dev/zero; echo end"]; then; say done')
    end = conversation.wait(ev.WorkEnded)
    assert end.output.endswith("end\n")
    assert len(end.output) < 1_100_000
    (output,) = [line[2] for line in lines(server.requests[-1]) if line[0] == "output"]
    assert len(output) < 11_000
