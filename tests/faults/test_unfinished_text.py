"""K: the daemon is killed while words and output are on a screen; they are in the history afterwards, once."""

import base64
import time
from pathlib import Path

from tests.faults.caller import Caller, Message
from tests.faults.conftest import Measure
from tests.faults.daemon_harness import DaemonHarness, served_by
from tests.faults.follower import Follower, judge
from tests.faults.town import settled
from tests.support.model_server import ModelServer

KEPT_S = 1.7  # the second between two writes, and a busy machine
WATCHED_S = 2.8
TALKS = "slow 20; stream 3000 word"
RUNS = 'call shell ["bash","-c","for i in $(seq 1 3000); do echo line $i; sleep 0.02; done"]; then; say done'


class Screen(Follower):
    """A reader that notes which unfinished text it was shown, and when."""

    def __init__(self, caller: Caller, prompt: str) -> None:
        super().__init__(caller.create())
        self._shown: list[tuple[float, str]] = []
        self.attach(caller)
        caller.send(self.conversation, prompt)
        self.wait_delta()

    def _keep(self, event: Message) -> None:
        super()._keep(event)
        body = event["event"]
        if event["seq"] is None:
            text = body["delta"] if "delta" in body else base64.b64decode(body["chunk"]).decode()
            self._shown.append((time.monotonic(), text))

    def text(self, until: float) -> str:
        return "".join(text for moment, text in self._shown if moment <= until)


def of_type(history: list[Message], kind: str) -> list[Message]:
    return [one["event"] for one in history if one["event"]["type"] == kind]


def test_words_and_output_on_a_screen_survive_a_kill_but_for_the_last_second(
    home: Path, model: ModelServer, measure: Measure
) -> None:
    harness = DaemonHarness(home, served_by(model.base_url))
    with measure("K", "kill -9 while text is on a screen") as row:
        try:
            harness.start()
            caller = harness.caller()
            talks, runs = Screen(caller, TALKS), Screen(caller, RUNS)
            time.sleep(WATCHED_S)  # not for luck: text that grows for seconds is the case
            harness.kill()
            killed = time.monotonic()
            for _ in range(2):  # once more, after the text has become history
                harness.start()
                caller = harness.caller()
                words, written = settled(caller, talks.conversation), settled(caller, runs.conversation)
                row.times += 1
                harness.kill()
        finally:
            harness.__exit__()
        for history in (words, written):
            judge(history)
            assert [one["reason"] for one in of_type(history, "turn_aborted")] == ["lost"]
        (said,), (ended,) = of_type(words, "agent_message"), of_type(written, "work_ended")
        assert (said["partial"], said["cut"], ended["cut"]) == (True, "lost", "lost")
        for kept, screen in ((said["message"], talks), (ended["output"], runs)):
            shown, before = screen.text(killed), screen.text(killed - KEPT_S)
            assert len(before) > 50, "nothing was on the screen early enough"
            assert kept.startswith(before), "what was on the screen is not in the history"
            assert shown.startswith(kept) or kept.startswith(shown), "something else is in the history"
            row.notes.append(f"{len(shown) - len(kept)} of {len(shown)} characters lost")


def test_an_item_that_had_finished_before_the_kill_is_there_once_and_whole(home: Path, model: ModelServer) -> None:
    harness = DaemonHarness(home, served_by(model.base_url))
    try:
        harness.start()
        caller = harness.caller()
        screen = Screen(caller, 'slow 20; stream 70 word; call shell ["sleep","30"]')
        screen.wait_type("work_began")
        harness.kill()
        harness.start()
        history = settled(harness.caller(), screen.conversation)
        judge(history)
        assert [(one["partial"], one["message"].count("word")) for one in of_type(history, "agent_message")] == [
            (False, 70)
        ]
    finally:
        harness.__exit__()
