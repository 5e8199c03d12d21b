"""E: editors on one conversation, which do anything at all while the daemon is killed and they are begun anew."""

import random
import threading
from collections import Counter
from pathlib import Path

import pytest

from tests.faults.conftest import Measure
from tests.faults.editor import Editor
from tests.faults.report import Row
from tests.faults.room import Room
from tests.support.model_server import ModelServer

EDITORS = 2
STEPS_UNTIL_QUIET = 25
SAYS = (
    "say {}",
    "say {}",
    "slow 2; stream 40 {}w",
    "say {}; stall forever",
    'call shell ["touch","{}"]; then; say {}',
)
STEPS = {
    "prompt": 30, "steer": 8, "send": 12, "answer": 26, "cancel": 8, "interrupt": 4, "choose": 6, "set": 2,
    "restart": 3, "kill": 2,
}  # fmt: skip
LEFT_ALONE = frozenset({"agent", "model"})  # options whose other values need programs and servers that are not here


class Walk:
    """Random steps in a room; each is a method."""

    def __init__(self, room: Room, chance: random.Random) -> None:
        self.room, self.chance = room, chance
        self.taken: Counter[str] = Counter()

    def step(self) -> None:
        name = self.chance.choices(list(STEPS), list(STEPS.values()))[0]
        self.taken[name] += 1
        getattr(self, f"_{name}")()
        threading.Event().wait(self.chance.random() * 0.03)  # anywhere in what it began: chance is what is wanted

    def _editor(self) -> Editor:
        return self.chance.choice(self.room.editors)

    def _script(self) -> str:
        return self.chance.choice(SAYS).replace("{}", self.room.text())

    def _prompt(self) -> None:
        self._editor().prompt(self._script())

    def _steer(self) -> None:
        self._editor().steer(f"say {self.room.text()}")

    def _send(self) -> None:
        self.room.send(self._script(), if_busy=self.chance.choice(("steer", "enqueue")))

    def _answer(self) -> None:
        if self.chance.random() < 0.3:
            self.room.answer(self.chance.choice(("approved", "denied")))
            return
        editor = self._editor()
        for question in editor.open_questions():
            editor.answer(question, self.chance.choice(("allow_once", "allow_once", "reject_once")))

    def _cancel(self) -> None:
        self._editor().cancel()

    def _interrupt(self) -> None:
        self.room.interrupt(clear=self.chance.random() < 0.5)

    def _choose(self) -> None:
        editor = self._editor()
        option = self.chance.choice([one for one in editor.offered if one["id"] not in LEFT_ALONE])
        editor.choose(option["id"], self.chance.choice(option["options"])["value"])

    def _set(self) -> None:
        self.room.set(effort=self.chance.choice(("low", "high")))

    def _restart(self) -> None:
        self.room.restart(self.chance.randrange(EDITORS), whole=self.chance.random() < 0.5)

    def _kill(self) -> None:
        self.room.kill()


def walk(base: Path, model: ModelServer, row: Row, steps: int, seed: int) -> None:
    with Room(base, model.base_url, EDITORS) as room:
        steps_of = Walk(room, random.Random(seed))
        history = []
        for number in range(1, steps + 1):
            steps_of.step()
            if number % STEPS_UNTIL_QUIET == 0:
                history = room.settle()
                values = [editor.view.options for editor in room.editors]
                assert all(one == values[0] for one in values), f"editors differ in what is set: {values}"
        row.times += steps
        row.notes.append(f"{steps_of.taken['kill']} kills, {steps_of.taken['restart']} editors begun anew")
        row.notes.append(f"{len(history):,} events")


def restarts(base: Path, model: ModelServer, row: Row, times: int) -> None:
    """Kill under an open question and in the middle of a message, in turn: the editor only sees a pause."""
    with Room(base, model.base_url, 1) as room:
        (editor,) = room.editors
        for number in range(times):
            if number % 2:
                lose_a_message(room, editor)
            else:
                keep_a_question(room, editor)
            row.times += 1
        room.settle()
        ended = Counter(editor.result(one)["stopReason"] for one, asked in editor.asked.items() if is_prompt(asked))
        assert ended == {"end_turn": (times + 1) // 2, **({"cancelled": times // 2} if times > 1 else {})}
        row.notes.append(f"{len(editor.questions)} times asked")


def keep_a_question(room: Room, editor: Editor) -> None:
    path = room.work / room.text("-file")
    prompt = editor.prompt(f'call shell ["touch","{path}"]; then; say {room.text()}')
    editor.wait(lambda: len(editor.open_questions()) == 1, "nobody asked")
    (before,) = editor.open_questions()
    room.kill()
    editor.wait(lambda: bool(before.over), "the question of a daemon that is gone was not withdrawn")
    editor.wait(lambda: len(editor.open_questions()) == 1, "it was not asked again")
    assert before.over == "withdrawn"
    (again,) = editor.open_questions()
    editor.answer(again, "allow_once")
    assert editor.result(prompt)["stopReason"] == "end_turn"
    assert path.exists()


def lose_a_message(room: Room, editor: Editor) -> None:
    """Kill in the middle of a message. The prompt ends as cancelled, after words that say why."""
    text = room.text("w")
    prompt = editor.prompt(f"slow 5; stream 1000 {text}")
    editor.wait(lambda: any(text in item.text for item in editor.view.items.values()), "no word came")
    before = len(editor.view.items)
    room.kill()
    assert editor.result(prompt)["stopReason"] == "cancelled"
    assert len(editor.view.items) > before, "nothing says that the turn was lost"


def is_prompt(asked: object) -> bool:
    return getattr(asked, "method", "") == "session/prompt"


@pytest.mark.long(takes_s=20)
def test_two_editors_and_a_terminal_see_the_same_whatever_they_do(
    tmp_path: Path, model: ModelServer, measure: Measure
) -> None:
    with measure("E", "two editors and a terminal on one conversation, random steps and kill -9") as row:
        walk(tmp_path, model, row, 100, seed=1)


def test_an_editor_sees_a_daemon_that_is_killed_as_a_pause(
    tmp_path: Path, model: ModelServer, measure: Measure
) -> None:
    with measure("E", "kill -9 under an open editor: a question, a message") as row:
        restarts(tmp_path, model, row, 5)


@pytest.mark.soak(takes_s=120)
def test_a_thousand_random_steps_leave_all_with_the_same_history(
    tmp_path: Path, model: ModelServer, measure: Measure
) -> None:
    with measure("E", "two editors and a terminal on one conversation, random steps and kill -9") as row:
        walk(tmp_path, model, row, 1_000, seed=2)


@pytest.mark.soak(takes_s=360)
def test_a_hundred_restarts_under_an_open_editor_lose_nothing(
    tmp_path: Path, model: ModelServer, measure: Measure
) -> None:
    with measure("E", "kill -9 under an open editor: a question, a message") as row:
        restarts(tmp_path, model, row, 100)
