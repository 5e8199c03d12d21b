"""The program that `notify` names: run after each completed turn, told what was said, waited for by nobody."""

import asyncio
import json
import os
import select
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from actors.vocabulary import events as ev
from actors.vocabulary.conditions import Ending
from actors.vocabulary.settings import ApprovalPolicy, Decision, WorkspaceWrite
from tests.supervisor.agents.acp.scripted import NAME as AGENT
from tests.supervisor.agents.acp.scripted import agent_table
from tests.supervisor.agents.own.turns.test_server_tools import table
from tests.supervisor.work.commands import alive
from tests.support.engine_harness import EngineHarness, harness_at
from tests.support.model_server import ModelServer

LIMIT_MS = 10_000  # a notification takes milliseconds
TELL = "import os, sys; fd = os.open(sys.argv[1], os.O_WRONLY); os.write(fd, sys.argv[2].encode() + b'\\n')"


class Pipe:
    """A named pipe that the notified program writes a line to. Open for writing too, so that it has no end."""

    def __init__(self, path: Path) -> None:
        os.mkfifo(path)
        self.path = path
        self._fd = os.open(path, os.O_RDWR)
        self._told = b""

    def line(self) -> dict[str, Any]:
        poll = select.poll()
        poll.register(self._fd, select.POLLIN)
        while b"\n" not in self._told:
            assert poll.poll(LIMIT_MS), "nobody was notified"
            self._told += os.read(self._fd, 65536)
        line, self._told = self._told.split(b"\n", 1)
        return dict(json.loads(line))

    def close(self) -> None:
        os.close(self._fd)


@pytest.fixture
def pipe(tmp_path: Path) -> Iterator[Pipe]:
    pipe = Pipe(tmp_path / "pipe")
    yield pipe
    pipe.close()


def notified(*argv: object) -> str:
    return f"notify = {json.dumps([str(part) for part in argv])}"


def test_a_completed_turn_is_told_with_the_words_of_the_user(tmp_path: Path, server: ModelServer, pipe: Pipe) -> None:
    top = notified(sys.executable, "-SE", "-c", TELL, pipe.path)
    with harness_at(tmp_path / "home", server.base_url, top=top) as harness:
        conversation = harness.talk()
        first = conversation.start('hold here; call shell ["true"]; then; say one')
        server.wait_held("here")
        conversation.start("say ünd two")
        conversation.wait(ev.InputQueued)
        server.open("here")
        turn = conversation.result(first).turn
        assert pipe.line() == {
            "type": "agent-turn-complete",
            "conversation-id": conversation.conversation,
            "turn-id": turn,
            "cwd": str(harness.workspace),
            "input-messages": ['hold here; call shell ["true"]; then; say one', "say ünd two"],
            "last-assistant-message": "ünd two",
        }
        conversation.ask("say three")
        assert pipe.line()["input-messages"] == ["say three"]


def test_turns_that_did_not_complete_are_not_told(tmp_path: Path, server: ModelServer, pipe: Pipe) -> None:
    top = notified(sys.executable, "-SE", "-c", TELL, pipe.path)
    with harness_at(tmp_path / "home", server.base_url, top=top) as harness:
        conversation = harness.talk()
        assert conversation.result(conversation.start("status 400 no")).ending is Ending.ERROR
        conversation.start("hold here")
        server.wait_held("here")
        conversation.interrupted(conversation.interrupt())
        conversation.ask("say good")
        assert pipe.line()["input-messages"] == ["say good"]


def test_a_program_that_never_ends_holds_nothing_up(tmp_path: Path, server: ModelServer, pipe: Pipe) -> None:
    """It lives on after its turn, after the next, and after the engine."""
    top = notified(sys.executable, "-SE", "-c", f"{TELL}; import signal; signal.pause()", pipe.path)
    with harness_at(tmp_path / "home", server.base_url, top=top) as harness:
        conversation = harness.talk()
        conversation.ask("say one")
        assert pipe.line()["last-assistant-message"] == "one"
        conversation.ask('call shell ["true"]; then; say two')
        assert pipe.line()["last-assistant-message"] == "two"
    left = [int(one.split(":")[0]) for one in alive(str(pipe.path))]
    assert len(left) == 2
    for pid in left:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


@pytest.mark.parametrize(
    ("argv", "logged"),
    [
        (("/no/such/program",), {"event": "notify.not_started", "log_level": "warning"}),
        (("false",), {"event": "notify.failed", "log_level": "warning", "exit_code": 1}),
    ],
)
def test_a_program_that_fails_is_logged_and_the_turn_is_well(
    tmp_path: Path, server: ModelServer, argv: tuple[str, ...], logged: dict[str, object]
) -> None:
    with capture_logs() as logs, harness_at(tmp_path, server.base_url, top=notified(*argv)) as harness:
        assert harness.talk().ask("say one").message == "one"
        harness.engine.loop.call(everybody_ended(harness), LIMIT_MS / 1000)
    assert any(logged.items() <= entry.items() and entry["program"] == argv[0] for entry in logs), logs


PATCH = "*** Begin Patch\n*** Add File: new.txt\n+milk\n*** End Patch\n"
UNTRUSTED = {"approval_policy": ApprovalPolicy.UNTRUSTED}
ASKS = {"approval_policy": ApprovalPolicy.ON_REQUEST, "sandbox": WorkspaceWrite()}
# What is said, to whom, and what is told of the question.
QUESTIONS = [
    ('call shell ["touch", "made"]', UNTRUSTED, "command", "may it run this command?", "touch made"),
    (f"call apply_patch {json.dumps({'input': PATCH})}", UNTRUSTED, "patch", "may it change 1 file?", "add"),
    ('call toys__write {"text": "x"}', ASKS, "tool", "may it use this tool of an MCP server?", "toys write"),
    ("call toys__ask {}", {}, "server", "the MCP server toys asks; may it have a yes?", "toys: Which colour?"),
    ("ask touch made", {**ASKS, "agent": AGENT}, "command", "may it run this command?", "bash -c 'touch made'"),
]


@pytest.mark.parametrize(("said", "settings", "kind", "title", "what"), QUESTIONS)
def test_a_question_of_every_kind_is_told_once_when_it_can_be_answered(
    tmp_path: Path,
    server: ModelServer,
    pipe: Pipe,
    said: str,
    settings: dict[str, Any],
    kind: str,
    title: str,
    what: str,
) -> None:
    top = notified(sys.executable, "-SE", "-c", TELL, pipe.path)
    tables = table() + agent_table()
    with harness_at(tmp_path / "home", server.base_url, top=top, tables=tables) as harness:
        talk = harness.talk(**settings)
        begun = talk.start(said if "agent" in settings else f"{said}; then; say done")
        told = pipe.line()
        question = talk.wait(ev.ApprovalRequested)
        assert told.pop("what").startswith(what)
        assert told == {
            "type": "approval-requested",
            "conversation-id": talk.conversation,
            "turn-id": told["turn-id"],
            "cwd": str(harness.workspace),
            "approval-id": question.approval_id,
            "kind": kind,
            "question": title,
        }
        talk.decide(told["approval-id"], Decision.DENIED)
        assert talk.result(begun).turn == told["turn-id"]
        assert pipe.line()["type"] == "agent-turn-complete"  # and nothing between


def test_a_question_is_told_however_long_it_is(tmp_path: Path, server: ModelServer, pipe: Pipe) -> None:
    top = notified(sys.executable, "-SE", "-c", TELL, pipe.path)
    with harness_at(tmp_path / "home", server.base_url, top=top) as harness:
        talk = harness.talk(**UNTRUSTED)
        talk.start(f"call shell {json.dumps(['touch', 'x' * 300_000])}; then; say done")
        assert pipe.line()["what"].endswith(" more characters)")


def test_a_question_that_waits_is_not_told_again_by_the_next_daemon(
    tmp_path: Path, server: ModelServer, pipe: Pipe
) -> None:
    top = notified(sys.executable, "-SE", "-c", TELL, pipe.path)
    with harness_at(tmp_path / "home", server.base_url, top=top) as harness:
        talk = harness.talk(**UNTRUSTED)
        talk.start('call shell ["touch", "made"]; then; say done')
        asked = pipe.line()["approval-id"]
        harness.restart()
        talk.decide(asked, Decision.APPROVED)
        talk.wait(ev.TaskComplete)
        assert pipe.line()["type"] == "agent-turn-complete"


async def everybody_ended(harness: EngineHarness) -> None:
    await asyncio.gather(*harness.engine._turn_hook._watching)
