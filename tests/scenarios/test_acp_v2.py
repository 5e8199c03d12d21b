"""An editor that speaks version 2 of ACP to `greenroom acp --v2`: turns are states, also when a daemon is killed."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.scenarios.stage import Stage
from tests.scenarios.test_acp_restarts import ASK, BRIDGE, FREE, Here
from tests.support.acp_client import SECOND, AcpClient, Json, ProgramLine
from tests.support.bridge import wait_until
from transports.dialects.acp.event_translator import LOST_TEXT

SLEEPS = 'call shell ["sh","-c","echo $$ > pid; exec sleep 300"]'


def newer(stage: Stage, *arguments: str) -> AcpClient:
    return AcpClient(ProgramLine([*BRIDGE, "--v2", *arguments], stage.home.env), version=SECOND)


@pytest.fixture
def here(own_stage: Stage, work: Path) -> Iterator[Here]:
    with newer(own_stage, *ASK) as client:
        yield Here(own_stage, client, work)


@pytest.fixture
def free(own_stage: Stage, work: Path) -> Iterator[Here]:
    with newer(own_stage, *FREE) as client:
        yield Here(own_stage, client, work)


def told(here: Here, text: str) -> int:
    """Prompt; returns the place in what came, when the message has its place."""
    mark = here.client.mark()
    answer = here.client.answer(here.client.prompt(here.session, text))
    assert answer["result"]["messageId"] in [one["messageId"] for one in here.client.updates("user_message")]
    return mark


def idle(client: AcpClient, mark: int) -> Json:
    """The end of a turn."""
    return client.update("state_update", after=mark, state="idle")


def pid_of(here: Here) -> str:
    written = here.work / "pid"
    wait_until(lambda: written.exists() and written.read_text().endswith("\n"), "the command did not begin")
    return written.read_text().strip()


def test_a_turn_begins_asks_and_ends_as_states(here: Here) -> None:
    mark = told(here, 'call shell ["touch","made"]; then; say thanks')
    here.client.choose(here.client.asked(after=mark)["id"], "approved")
    assert idle(here.client, mark)["stopReason"] == "end_turn"
    states = [one["state"] for one in here.client.updates("state_update", after=mark)]
    assert states == ["running", "requires_action", "running", "idle"]
    assert here.client.text(after=mark) == "thanks"
    assert (here.work / "made").exists()


def test_a_cancelled_command_is_gone_when_the_session_is_idle(free: Here) -> None:
    mark = told(free, SLEEPS)
    pid = pid_of(free)
    free.client.notify("session/cancel", sessionId=free.session)
    assert idle(free.client, mark)["stopReason"] == "cancelled"
    assert not Path(f"/proc/{pid}").exists()


def test_a_prompt_while_a_turn_runs_joins_it(free: Here) -> None:
    mark = told(free, f'call shell ["sh","-c","until test -e {free.work}/go; do sleep 0.05; done"]; then; say done')
    free.client.update("tool_call_update", after=mark, status="in_progress")
    second = free.client.prompt(free.session, "say hurried")
    as_it_is = {"sessionId": free.session, "configId": "approval", "value": "never"}
    free.client.result("session/set_config_option", **as_it_is)  # whose answer proves that the prompt was heard
    (free.work / "go").touch()
    assert "messageId" in free.client.answer(second)["result"]
    assert idle(free.client, mark)["stopReason"] == "end_turn"
    assert free.client.text(after=mark) == "hurried"
    assert [one["state"] for one in free.client.updates("state_update", after=mark)] == ["running", "idle"]


def test_a_turn_whose_daemon_was_killed_ends_without_a_word_of_the_client(free: Here) -> None:
    mark = told(free, SLEEPS)
    pid_of(free)
    free.killed()
    assert idle(free.client, mark)["stopReason"] == "cancelled"
    assert LOST_TEXT in free.client.text(after=mark)
    mark = told(free, "say better")
    assert idle(free.client, mark)["stopReason"] == "end_turn"


def test_a_question_outlives_its_daemon(here: Here) -> None:
    mark = told(here, 'call shell ["touch","made"]; then; say thanks')
    first = here.client.asked(after=mark)
    later = here.client.mark()
    here.killed()
    here.client.withdrawn(first["id"])
    here.client.choose(here.client.asked(after=later)["id"], "approved")
    assert idle(here.client, mark)["stopReason"] == "end_turn"
    assert here.client.text(after=mark) == "thanks"


def test_an_editor_that_watches_sees_the_end_of_a_lost_turn_when_the_one_that_began_it_is_gone(free: Here) -> None:
    with newer(free.stage, *FREE) as watcher:
        watcher.result("session/resume", sessionId=free.session, cwd=str(free.work))
        mark = watcher.mark()
        told(free, SLEEPS)
        watcher.update("state_update", after=mark, state="running")
        pid_of(free)
        free.client.leave()
        free.killed()
        assert idle(watcher, mark)["stopReason"] == "cancelled"
        assert watcher.updates("user_message", after=mark)


def test_a_session_is_resumed_with_its_history_and_its_state_before_the_answer(free: Here) -> None:
    mark = told(free, "say hello")
    idle(free.client, mark)
    with newer(free.stage, *FREE) as reader:
        given: Json = {"sessionId": free.session, "cwd": str(free.work), "replayFrom": {"type": "start"}}
        request = reader.begin("session/resume", **given)
        reader.answer(request)
        assert (reader.text("user_message"), reader.text()) == ("say hello", "hello")
        states = [one for one in reader.lines if "state" in one.get("params", {}).get("update", {})]
        assert [one["params"]["update"]["state"] for one in states] == ["idle"]
        assert reader.lines.index(states[0]) < next(
            place for place, one in enumerate(reader.lines) if one.get("id") == request
        )
