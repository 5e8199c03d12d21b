"""An editor over `greenroom acp` whose daemon is killed: it sees a pause, and everything once."""

import random
import re
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.scenarios.stage import Stage
from tests.support.acp_client import AcpClient
from tests.support.bridge import wait_until
from tests.support.line_client import Json, ProgramLine
from transports.dialects.acp.event_translator import LOST_TEXT

BRIDGE = (sys.executable, "-m", "supervisor.cli.acp")
ASK = ("--approval", "untrusted", "--sandbox", "workspace-write")
FREE = ("--approval", "never", "--sandbox", "danger-full-access")
ASKED = 'call shell ["sh","-c","echo x >> {}"]; then; say {}'


def editor(stage: Stage, *arguments: str) -> AcpClient:
    return AcpClient(ProgramLine([*BRIDGE, *arguments], stage.home.env))


@pytest.fixture
def here(own_stage: Stage, work: Path) -> Iterator["Here"]:
    with editor(own_stage, *ASK) as client:
        yield Here(own_stage, client, work)


class Here:
    """An editor with one session, and what is done to its daemon."""

    def __init__(self, stage: Stage, client: AcpClient, work: Path) -> None:
        self.stage, self.client, self.work = stage, client, work
        self.session = client.new(work)

    def killed(self) -> None:
        self.stage.kill_daemon()

    def on_again(self) -> None:
        """Prompt once more: then there is a daemon, and it has told all."""
        assert self.client.turn(self.session, "say and on") == "and on"

    def asked(self, words: str, mark: int) -> Json:
        """Prompt for a command that is asked about; returns the prompt's id and the question."""
        self.client.prompt(self.session, ASKED.format("ran", words), request=words)
        return self.client.asked(after=mark)

    def whole_history(self) -> dict[str, str]:
        """The agent's messages as an editor reads them that opens the session anew."""
        with editor(self.stage, *ASK) as reader:
            reader.result("session/load", sessionId=self.session, cwd=str(self.work), mcpServers=[])
            return messages(reader)


def messages(client: AcpClient) -> dict[str, str]:
    """The agent's messages by their ids, in order of their beginnings."""
    found: dict[str, str] = {}
    for chunk in client.updates("agent_message_chunk"):
        found[chunk["messageId"]] = found.get(chunk["messageId"], "") + chunk["content"]["text"]
    return found


def test_the_first_prompt_of_a_cold_editor_is_answered(own_stage: Stage, work: Path) -> None:
    assert not Path(own_stage.home.paths.pid_file).exists()
    with editor(own_stage, *ASK) as client:
        assert client.turn(client.new(work), "say hello") == "hello"


def test_a_kill_while_nothing_runs_is_not_seen(here: Here) -> None:
    assert here.client.turn(here.session, "say before") == "before"
    mark = here.client.mark()
    here.killed()
    assert here.client.turn(here.session, "say after") == "after"
    assert here.client.text(after=mark) == "after"
    assert here.client.text().endswith("beforeafter")


def test_a_prompt_whose_turn_was_killed_is_cancelled_behind_a_message_and_the_next_one_works(
    own_stage: Stage, work: Path
) -> None:
    with editor(own_stage, *FREE) as client:
        session = client.new(work)
        request = client.prompt(session, 'call shell ["sleep","300"]')
        client.update("tool_call", status="in_progress")
        own_stage.kill_daemon()
        assert client.answer(request)["result"] == {"stopReason": "cancelled"}
        assert LOST_TEXT in client.text()
        assert [one["status"] for one in client.updates("tool_call_update")] == ["failed"]
        assert client.turn(session, "say better") == "better"
        assert len(own_stage.asked("sleep")) == 2  # the second time as history


def test_a_question_is_withdrawn_asked_again_under_another_id_and_answered(here: Here) -> None:
    first = here.asked("thanks", 0)
    mark = here.client.mark()
    here.killed()
    here.client.withdrawn(first["id"])
    here.client.choose(first["id"], "approved")  # too late: nobody hears it
    again = here.client.asked(after=mark)
    assert again["id"] != first["id"]
    assert not (here.work / "ran").exists()
    here.client.choose(again["id"], "approved")
    assert here.client.answer("thanks")["result"] == {"stopReason": "end_turn"}
    assert (here.work / "ran").read_text() == "x\n"
    assert here.client.text(after=mark) == "thanks"


def test_a_question_outlives_one_daemon_after_the_other(here: Here) -> None:
    question = here.asked("at last", 0)
    for _ in range(3):
        mark = here.client.mark()
        here.killed()
        question = here.client.asked(after=mark)
    here.client.choose(question["id"], "approved")
    assert here.client.answer("at last")["result"] == {"stopReason": "end_turn"}
    assert (here.work / "ran").read_text() == "x\n"
    assert here.client.text().endswith("at last")


def test_a_prompt_that_waits_is_cancelled_by_its_client_while_there_is_no_daemon(here: Here) -> None:
    here.asked("never said", 0)
    here.killed()
    here.client.notify("session/cancel", sessionId=here.session)
    assert here.client.answer("never said")["result"] == {"stopReason": "cancelled"}
    assert not (here.work / "ran").exists()


def test_a_daemon_that_is_stopped_with_a_question_open_goes_on_with_it_when_it_is_started_again(here: Here) -> None:
    first = here.asked("thanks", 0)
    mark = here.client.mark()
    with here.stage.control() as control:
        control.ask("daemon/down")
    here.client.withdrawn(first["id"])
    wait_until(lambda: not Path(here.stage.home.paths.pid_file).exists(), "the daemon did not stop")
    here.stage.home.launch()
    here.client.choose(here.client.asked(after=mark)["id"], "approved")
    assert here.client.answer("thanks")["result"] == {"stopReason": "end_turn"}


def test_the_end_of_the_editor_ends_the_bridge_within_a_second_and_no_turn(own_stage: Stage, work: Path) -> None:
    with editor(own_stage, *FREE) as client:
        session = client.new(work)
        client.prompt(
            session, f'call shell ["sh","-c","until test -e {work}/go; do sleep 0.05; done"]; then; say done'
        )
        client.update("tool_call", status="in_progress")
        assert client.leave() < 1.0
    (work / "go").touch()
    with editor(own_stage, *FREE) as reader:
        reader.result("session/load", sessionId=session, cwd=str(work), mcpServers=[])
        reader.wait(lambda _: reader.text().endswith("done"), "the end of the turn")


def test_a_daemon_that_can_not_start_is_told_in_its_own_words_to_an_editor_that_was_greeted(
    own_stage: Stage, work: Path
) -> None:
    (own_stage.home.directory / "config.toml").write_text("model = [")
    with editor(own_stage) as client:
        assert client.introduced["protocolVersion"] == 1
        assert "config.toml" in client.error("session/new", cwd=str(work), mcpServers=[])["message"]


def nothing(here: Here, number: int) -> None:
    here.killed()
    assert here.client.turn(here.session, f"say {number}.") == f"{number}."


def a_question(here: Here, number: int) -> None:
    here.asked(f"{number}.", here.client.mark())
    mark = here.client.mark()
    here.killed()
    here.client.choose(here.client.asked(after=mark)["id"], "approved")
    assert here.client.answer(f"{number}.")["result"] == {"stopReason": "end_turn"}


def an_answer(here: Here, number: int) -> None:
    """Kill the daemon somewhere in the middle of a turn, which ends well or as lost."""
    mark, wanted = here.client.mark(), number % 7
    words = " ".join(f"{number}:{word}" for word in range(20))
    request = here.client.prompt(here.session, f"slow 5; words {words}")
    said = partial(here.client.updates, "agent_message_chunk", after=mark)
    here.client.wait(lambda _: len(said()) > wanted, "words", after=mark)
    here.killed()
    assert here.client.answer(request)["result"]["stopReason"] in {"end_turn", "cancelled"}


STEPS: list[Callable[[Here, int], None]] = [nothing, a_question, an_answer]
MANY = pytest.param(100, marks=[pytest.mark.soak(takes_s=240), pytest.mark.timeout(900)])


@pytest.mark.parametrize("kills", [6, MANY])
def test_however_often_the_daemon_is_killed_nothing_is_lost_or_doubled(here: Here, kills: int) -> None:
    chosen = random.Random(kills)
    steps = [STEPS[number] if number < len(STEPS) else chosen.choice(STEPS) for number in range(kills)]
    for number, step in enumerate(steps):
        step(here, number)
    here.on_again()
    seen, whole = messages(here.client), here.whole_history()
    assert {name: seen[name] for name in seen if name in whole} == whole
    assert [name for name in seen if name in whole] == [*whole]
    unfinished = [text for name, text in seen.items() if name not in whole]
    assert all(re.fullmatch(r"(\d+:\d+ ?)*", text) for text in unfinished), "what was said once was stored"
    assert len(unfinished) <= steps.count(an_answer)
    answers = [one["id"] for one in here.client.lines if "method" not in one]
    assert len(answers) == len(set(answers))
    assert (here.work / "ran").read_text() == "x\n" * steps.count(a_question)
