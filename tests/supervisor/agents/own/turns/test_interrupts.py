"""A turn interrupted at every place: it ends once, nothing of it runs, and the next request is fit for the model."""

import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from actors.vocabulary import events as ev
from actors.vocabulary.conditions import Ending
from actors.vocabulary.events import MessageKind
from actors.vocabulary.settings import ApprovalPolicy, BusyPolicy, WorkspaceWrite
from tests.supervisor.agents.own.turns.requests import Line, check_well_formed, talk
from tests.supervisor.work.commands import alive, new_token
from tests.support.confinement import confinable
from tests.support.engine_harness import GRACE_MS, EngineHarness, Talk, harness_at
from tests.support.model_server import ModelServer
from tests.support.stubborn import Kind, kinds

AT_ONCE_S = 2.0  # nothing to wait for but this machine


def half(wire: str, text: str) -> str:
    """Script a message that begins with this and is not finished, on each wire."""
    events = {
        "chat": {"choices": [{"index": 0, "delta": {"content": text}}]},
        "responses": {"type": "response.output_text.delta", "delta": text},
        "messages": {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}},
    }
    return f"raw {json.dumps(events[wire])}"


def interrupt(conversation: Talk, *, within_s: float = AT_ONCE_S) -> ev.TurnAborted:
    """Interrupt, and check what must hold at any moment."""
    number = len(conversation.all(ev.TurnAborted)) + 1
    began = time.monotonic()
    answer = conversation.interrupted(conversation.interrupt())
    took = time.monotonic() - began
    assert answer.ending is Ending.INTERRUPTED
    aborted = conversation.wait(ev.TurnAborted, number)
    assert took < within_s
    assert aborted.reason == "interrupted"
    check_balanced(conversation)
    return aborted


def check_balanced(conversation: Talk) -> None:
    """Check that begin and end, call and output, question and answer are pairs, and that the turn's end is last."""
    pairs: tuple[tuple[type, type, Callable[[object], object]], ...] = (
        (ev.WorkBegan, ev.WorkEnded, lambda one: getattr(one, "item_id", None)),
        (ev.ToolCall, ev.ToolOutput, lambda one: getattr(one, "item_id", None)),
        (ev.ApprovalRequested, ev.ApprovalResolved, lambda one: getattr(one, "approval_id", None)),
    )
    events = conversation.events
    for opening, closing, name in pairs:
        opened = sorted(str(name(one)) for one in events if isinstance(one, opening))
        assert opened == sorted(str(name(one)) for one in events if isinstance(one, closing))
    ended: set[object] = set()
    for one in conversation.seen():
        assert one.turn is None or one.turn not in ended, f"{one} came after its turn's end"
        if isinstance(one.event, ev.TaskComplete | ev.TurnAborted):
            ended.add(one.turn)


def next_request(conversation: Talk, server: ModelServer) -> list[Line]:
    conversation.ask("say on")
    check_well_formed(server.requests[-1])
    lines = talk(server)
    assert lines[-1] == ("user", "say on")
    return lines


def test_while_the_model_streams_what_it_said_is_kept_once(
    either: EngineHarness, server: ModelServer, wire: str
) -> None:
    conversation = either.talk()
    said = f"{half(wire, 'one two ')}; {half(wire, 'three')}; hold here; {half(wire, ' four')}"
    conversation.start(said)
    server.wait_held("here")
    conversation.wait_said("one two three")
    interrupt(conversation)
    server.wait_closed_early()
    (partial,) = conversation.all(ev.AgentMessage)
    assert partial.partial
    assert partial.message == "one two three"
    assert next_request(conversation, server) == [("user", said), ("assistant", partial.message), ("user", "say on")]


def test_while_the_model_is_silent(either: EngineHarness, server: ModelServer) -> None:
    conversation = either.talk()
    conversation.start("hold here; say late")
    server.wait_held("here")
    interrupt(conversation)
    server.wait_closed_early()
    assert next_request(conversation, server) == [("user", "hold here; say late"), ("user", "say on")]


def test_between_text_and_call_the_text_is_kept_and_the_call_never_was(
    either: EngineHarness, server: ModelServer
) -> None:
    conversation = either.talk()
    conversation.start('say let me see; call shell ["touch","x"]; hold here')
    server.wait_held("here")
    conversation.wait_said("let me see")
    interrupt(conversation)
    lines = next_request(conversation, server)
    assert [line for line in lines if line[0] == "assistant"] == [("assistant", "let me see")]
    assert len([line for line in lines if line[0] == "user"]) == 2
    assert not (either.workspace / "x").exists()


def test_in_the_pause_before_a_retry(either: EngineHarness, server: ModelServer) -> None:
    conversation = either.talk()
    said = "status 500 retry-after=30 times=1; say recovered"
    conversation.start(said)
    conversation.wait(ev.StreamError)
    interrupt(conversation)
    assert len(server.requests) == 1
    assert next_request(conversation, server) == [("user", said), ("user", "say on")]


def test_while_a_command_runs_its_call_is_answered_as_aborted(either: EngineHarness, server: ModelServer) -> None:
    conversation = either.talk()
    conversation.start('say wait; call shell ["sh","-c","echo begun; sleep 60"]; call shell ["touch","never"]')
    conversation.wait(ev.WorkOutput)
    interrupt(conversation)
    (end,) = conversation.all(ev.WorkEnded)
    assert (end.status, end.exit_code, end.output) == ("cancelled", -1, "begun\n")
    lines = next_request(conversation, server)
    assert [line[0] for line in lines] == ["user", "assistant", "call", "call", "output", "output", "user"]
    assert [line[2] for line in lines if line[0] == "output"] == ["aborted by user"] * 2
    assert not (either.workspace / "never").exists()


def test_while_an_approval_waits_it_is_withdrawn(either: EngineHarness, server: ModelServer) -> None:
    conversation = either.talk(approval_policy=ApprovalPolicy.UNTRUSTED)
    conversation.start('call shell ["touch","x"]')
    conversation.wait(ev.ApprovalRequested)
    interrupt(conversation)
    (resolved,) = conversation.all(ev.ApprovalResolved)
    assert resolved.decision == "withdrawn"
    assert [line[0] for line in next_request(conversation, server)] == ["user", "call", "output", "user"]
    assert not (either.workspace / "x").exists()


def test_in_the_second_round_what_the_first_did_is_kept(
    either: EngineHarness, server: ModelServer, wire: str
) -> None:
    conversation = either.talk()
    conversation.start(f'call shell ["printf","done"]; then; {half(wire, "so far")}; hold here')
    server.wait_held("here")
    conversation.wait_said("so far")
    interrupt(conversation)
    lines = next_request(conversation, server)
    assert [line[0] for line in lines] == ["user", "call", "output", "assistant", "user"]
    assert '"output": "done"' in lines[2][2]
    assert lines[3][1] == "so far"


def test_at_once_after_the_message_was_sent(either: EngineHarness, server: ModelServer) -> None:
    """The start may be anywhere: held for the disk, not begun, or already asking."""
    conversation = either.talk()
    for _ in range(5):
        begun = conversation.start("hold here; say late")
        interrupted = conversation.interrupt()
        assert conversation.interrupted(interrupted).ending is Ending.INTERRUPTED
        assert conversation.result(begun).ending is Ending.INTERRUPTED
    check_balanced(conversation)
    lines = next_request(conversation, server)
    assert lines == [*[("user", "hold here; say late")] * 5, ("user", "say on")]


def test_at_the_last_moment_either_end_is_a_good_one(either: EngineHarness, server: ModelServer) -> None:
    conversation = either.talk()
    for number in range(10):
        begun = conversation.start(f"say {number}")
        conversation.wait(ev.AgentMessage, number + 1)
        conversation.interrupt()
        assert conversation.result(begun).ending in {Ending.COMPLETED, Ending.INTERRUPTED}
    check_balanced(conversation)
    lines = next_request(conversation, server)
    assert [line for line in lines if line[0] == "assistant"] == [("assistant", str(n)) for n in range(10)]


def test_new_input_that_replaces_the_turn_is_asked_next(
    either: EngineHarness, server: ModelServer, wire: str
) -> None:
    conversation = either.talk()
    said = f"{half(wire, 'never mind')}; hold here"
    conversation.start(said)
    server.wait_held("here")
    conversation.wait_said("never mind")
    result = conversation.result(conversation.start("say instead", policy=BusyPolicy.INTERRUPT))
    assert result.message == "instead"
    assert conversation.wait(ev.TurnAborted).reason == "replaced"
    expected = [("user", said), ("assistant", "never mind"), ("user", "say instead")]
    assert talk(server) == expected


def test_surroundings_that_were_said_before_an_interrupt_are_not_said_again(
    either: EngineHarness, server: ModelServer
) -> None:
    conversation = either.talk()
    conversation.start("hold here")
    server.wait_held("here")
    interrupt(conversation)
    conversation.ask("say on")
    contexts = [one for one in conversation.all(ev.UserMessage) if one.kind is MessageKind.ENVIRONMENT_CONTEXT]
    assert len(contexts) == 1


# --- commands that don't want to end --------------------------------------------------------------------------------

STUBBORN = [kind for kind in kinds() if kind.says_ready]
FEW = {"ignores_everything", "double_fork_session_deaf", "pipe_held_by_grandchild", "stops_itself_deaf"}
MODES = [
    pytest.param("danger", id="bare"),
    pytest.param("write", id="sandboxed", marks=confinable),
]


def policy_of(mode: str) -> dict[str, object]:
    return {} if mode == "danger" else {"sandbox": WorkspaceWrite()}


def interrupt_stubborn(conversation: Talk, kind: Kind) -> float:
    """Return the seconds from the interrupt to its answer."""
    token = new_token()
    argv = [part.format(token=token) for part in kind.argv]
    before = len(conversation.all(ev.WorkOutput))
    conversation.start(f"call shell {json.dumps(argv)}")
    conversation.wait(ev.WorkOutput, before + 1)
    began = time.monotonic()
    interrupt(conversation, within_s=GRACE_MS / 1000 + AT_ONCE_S)
    took = time.monotonic() - began
    assert not alive(token)
    return took


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", [pytest.param(one, id=one.name) for one in STUBBORN if one.name in FEW])
def test_a_stubborn_command_is_gone_when_its_turn_is_aborted(harness: EngineHarness, kind: Kind, mode: str) -> None:
    interrupt_stubborn(harness.talk(**policy_of(mode)), kind)


@pytest.mark.soak
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", [pytest.param(one, id=one.name) for one in STUBBORN])
def test_fifty_times_a_stubborn_command_is_gone_when_its_turn_is_aborted(
    harness: EngineHarness, kind: Kind, mode: str
) -> None:
    conversation = harness.talk(**policy_of(mode))
    for _ in range(50):
        interrupt_stubborn(conversation, kind)


@pytest.mark.soak
@pytest.mark.quiet
@pytest.mark.parametrize("mode", MODES)
def test_a_cooperative_command_is_gone_within_50_ms(harness: EngineHarness, mode: str) -> None:
    conversation = harness.talk(**policy_of(mode))
    (kind,) = [one for one in STUBBORN if one.name == "bash_child"]
    took = sorted(interrupt_stubborn(conversation, kind) for _ in range(100))
    print(f"p50 {statistics.median(took) * 1000:.1f} ms, p99 {took[98] * 1000:.1f} ms")
    assert took[98] < 0.05


def test_a_second_interrupt_takes_the_grace_away(tmp_path: Path, server: ModelServer) -> None:
    """The grace here is far longer than the test may take."""
    with harness_at(tmp_path, server.base_url, grace_ms=60_000) as harness:
        conversation = harness.talk()
        conversation.start("call shell " + json.dumps(["bash", "-c", "trap '' TERM; echo ready; sleep 300 & wait"]))
        conversation.wait(ev.WorkOutput)
        first = conversation.interrupt()
        began = time.monotonic()
        second = conversation.interrupt()
        assert conversation.interrupted(first).ending is Ending.INTERRUPTED
        assert conversation.interrupted(second).ending is Ending.INTERRUPTED
        assert time.monotonic() - began < AT_ONCE_S
        conversation.wait(ev.TurnAborted)  # the answer may come while the last slice is still in this client's hands
        assert len(conversation.all(ev.TurnAborted)) == 1
