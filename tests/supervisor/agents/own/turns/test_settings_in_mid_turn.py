"""Settings that another client changes while a turn runs: they count from the next request and the next call on."""

import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from actors.messages.conversation import ChangeSettings
from actors.vocabulary import events as ev
from actors.vocabulary.answers import ChangedSettings
from actors.vocabulary.conditions import Ending
from actors.vocabulary.events import MessageKind
from actors.vocabulary.settings import ApprovalPolicy, Decision, ReadOnly, ReasoningEffort, WorkspaceWrite
from tests.supervisor.agents.own.turns.requests import check_well_formed, lines
from tests.support.engine_harness import EngineHarness, Talk, harness_at, provider
from tests.support.model_server import ModelServer


def change(harness: EngineHarness, conversation: Talk, **values: object) -> ChangedSettings:
    caller = harness.caller()
    settings = conversation.settings.model_copy(update=values)
    conversation.tell(ChangeSettings(settings, tuple(values), by="ann"), caller)
    changed = harness.answer(caller, ChangedSettings)
    conversation.settings = changed.settings
    return changed


def shell(*argv: str) -> str:
    return f"call shell {json.dumps({'command': argv})}"


class Gate:
    """A command that runs until it is let go: it writes to one pipe and reads from another."""

    def __init__(self, folder: Path) -> None:
        self._begun, self._go = folder / "begun", folder / "go"
        for path in (self._begun, self._go):
            os.mkfifo(path)

    @property
    def command(self) -> str:
        return shell("sh", "-c", f"echo x > {self._begun}; cat {self._go}")

    def wait_begun(self) -> None:
        thread = threading.Thread(target=self._begun.read_text, daemon=True)
        thread.start()
        thread.join(15)
        assert not thread.is_alive(), "the command did not begin"

    def open(self) -> None:
        self._go.write_text("on\n")


@pytest.fixture
def gate(tmp_path: Path) -> Gate:
    return Gate(tmp_path)


@pytest.fixture
def wires(tmp_path: Path, server: ModelServer) -> Iterator[EngineHarness]:
    """Three providers, a wire each, at the same server."""
    others = "".join(
        provider(server.base_url, wire).replace(".mock]", f".{wire}]") for wire in ("responses", "messages")
    )
    with harness_at(tmp_path, server.base_url, "chat", tables=others) as harness:
        yield harness


def test_another_model_is_asked_from_the_next_request_on(
    either: EngineHarness, server: ModelServer, gate: Gate
) -> None:
    conversation = either.talk()
    asked = conversation.start(f"{gate.command}\nthen\nsay done")
    gate.wait_begun()
    changed = change(either, conversation, model="other-model", effort=ReasoningEffort.HIGH)
    gate.open()
    assert conversation.result(asked).message == "done"
    assert [request.body["model"] for request in server.requests] == ["mock-model", "other-model"]
    assert changed.turn is not None
    (event,) = conversation.all(ev.SettingsChanged)
    assert (event.by, [(one.name, one.before, one.after) for one in event.changed]) == (
        "ann",
        [("model", "mock-model", "other-model"), ("effort", "medium", "high")],
    )


def test_a_sandbox_that_is_closed_confines_the_next_command_and_the_model_is_told(
    either: EngineHarness, server: ModelServer, gate: Gate
) -> None:
    conversation, target = either.talk(), either.workspace / "made"
    after = shell("sh", "-c", f"echo x > {target}")
    asked = conversation.start(f"{gate.command}\nthen\n{after}\nthen\nsay done")
    gate.wait_begun()
    change(either, conversation, sandbox=ReadOnly())
    gate.open()
    assert conversation.result(asked).ending is Ending.COMPLETED
    first, second = conversation.all(ev.WorkEnded)
    assert first.exit_code == 0
    assert second.exit_code != 0
    assert not target.exists()
    texts = [one.message for one in conversation.all(ev.UserMessage) if one.kind is MessageKind.ENVIRONMENT_CONTEXT]
    assert ["danger-full-access" in texts[0], "read-only" in texts[1]] == [True, True]
    request = server.requests[1]
    check_well_formed(request)
    assert lines(request)[-1] == ("user", texts[1]), "what the model has read before stays as it was"
    assert lines(request)[: len(lines(server.requests[0]))] == lines(server.requests[0])


def test_a_turn_goes_on_over_another_wire_with_everything_that_was_said(
    wires: EngineHarness, server: ModelServer, gate: Gate
) -> None:
    conversation = wires.talk()
    asked = conversation.start(f"reason I wonder; {gate.command}\nthen\nsay done")
    gate.wait_begun()
    change(wires, conversation, provider="responses")
    gate.open()
    assert conversation.result(asked).message == "done"
    assert [request.path.rsplit("/", 1)[-1] for request in server.requests] == ["completions", "responses"]
    kinds = [line[0] for line in lines(server.requests[1])]
    assert kinds[-2:] == ["call", "output"]
    check_well_formed(server.requests[1])
    conversation.ask("say again")
    check_well_formed(server.requests[2])
    assert lines(server.requests[2])[: len(kinds)] == lines(server.requests[1])


def test_open_reasoning_of_one_wire_is_not_shown_to_another(
    wires: EngineHarness, server: ModelServer, gate: Gate
) -> None:
    conversation = wires.talk(provider="responses")
    asked = conversation.start(f"reason I wonder; {gate.command}\nthen\n{shell('true')}\nthen\nsay done")
    gate.wait_begun()
    change(wires, conversation, provider="mock")
    gate.open()
    assert conversation.result(asked).message == "done"
    check_well_formed(server.requests[1])
    assert {line[0] for line in lines(server.requests[1])} <= {"user", "assistant", "call", "output", "system"}


def test_a_provider_without_its_key_is_an_error_and_the_settings_can_be_changed_back(
    tmp_path: Path, server: ModelServer, gate: Gate
) -> None:
    locked = provider(server.base_url).replace(".mock]", ".locked]") + 'env_key = "NO_SUCH_KEY"\n'
    with harness_at(tmp_path, server.base_url, tables=locked) as harness:
        conversation = harness.talk()
        asked = conversation.start(f"{gate.command}\nthen\nsay done")
        gate.wait_begun()
        change(harness, conversation, provider="locked")
        gate.open()
        failed = conversation.result(asked)
        assert (failed.ending, failed.message) == (Ending.ERROR, "Missing environment variable: `NO_SUCH_KEY`.")
        change(harness, conversation, provider="mock")
        assert conversation.ask("say back").message == "back"
        check_well_formed(server.requests[-1])


def test_a_provider_that_does_not_answer_is_changed_during_the_pause_before_the_next_try(
    wires: EngineHarness, server: ModelServer
) -> None:
    conversation = wires.talk()
    asked = conversation.start("status 503 retry-after=1 times=all")
    conversation.wait(ev.StreamError)
    change(wires, conversation, provider="demo", model="demo")
    assert conversation.result(asked).ending is Ending.COMPLETED
    assert len(server.requests) == 1


def test_an_approval_that_was_asked_before_allows_nothing_that_the_new_policy_forbids(
    harness: EngineHarness,
) -> None:
    conversation = harness.talk(approval_policy=ApprovalPolicy.ON_REQUEST, sandbox=WorkspaceWrite())
    outside = harness.home / "outside"
    arguments = {"command": ["sh", "-c", f"echo x > {outside}"], "with_escalated_permissions": True}
    asked = conversation.start(f"call shell {json.dumps(arguments)}\nthen\nsay done")
    question = conversation.wait(ev.ApprovalRequested)
    change(harness, conversation, approval_policy=ApprovalPolicy.NEVER, sandbox=ReadOnly())
    conversation.decide(question.approval_id, Decision.APPROVED)
    assert conversation.result(asked).ending is Ending.COMPLETED
    assert not outside.exists()


def test_an_approval_stands_when_the_new_policy_would_ask_the_same(harness: EngineHarness) -> None:
    conversation = harness.talk(approval_policy=ApprovalPolicy.ON_REQUEST, sandbox=WorkspaceWrite())
    outside = harness.home / "outside"
    arguments = {"command": ["sh", "-c", f"echo x > {outside}"], "with_escalated_permissions": True}
    asked = conversation.start(f"call shell {json.dumps(arguments)}\nthen\nsay done")
    question = conversation.wait(ev.ApprovalRequested)
    change(harness, conversation, sandbox=ReadOnly())
    conversation.decide(question.approval_id, Decision.APPROVED)
    assert conversation.result(asked).ending is Ending.COMPLETED
    assert outside.exists()


def test_a_patch_that_was_asked_before_is_not_written_under_a_policy_that_forbids_it(harness: EngineHarness) -> None:
    conversation = harness.talk(approval_policy=ApprovalPolicy.ON_REQUEST, sandbox=ReadOnly())
    asked = conversation.start("patch *** Begin Patch\\n*** Add File: made\\n+x\\n*** End Patch\nthen\nsay done")
    question = conversation.wait(ev.ApprovalRequested)
    change(harness, conversation, approval_policy=ApprovalPolicy.NEVER)
    conversation.decide(question.approval_id, Decision.APPROVED)
    assert conversation.result(asked).ending is Ending.COMPLETED
    assert not (harness.workspace / "made").exists()
