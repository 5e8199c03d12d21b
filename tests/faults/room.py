"""One conversation with editors and a terminal in it, and what must be true of all of them when it is quiet."""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Self

from supervisor.paths import locate, socket_path
from tests.faults.caller import WAIT_S, Caller, Gone, Message, Refused
from tests.faults.daemon_harness import ROOT, everything, served_by, until
from tests.faults.editor import Editor, text_of
from tests.faults.follower import TERMINAL, Follower, judge
from tests.faults.shown import MARK, complaints

LEFT_OUT = ("OPENAI_", "GREENROOM_", "CODEX_", "XDG_", "PYTHONPATH")
LAUNCH = "from supervisor.daemon.launch import launch; launch()"
STOPS = {"completed": "end_turn", "interrupted": "cancelled", "replaced": "cancelled", "lost": "cancelled"}


class Room:
    """A home whose daemon is started by bridges and by itself; `editors` and a terminal watch `conversation`."""

    def __init__(self, base: Path, base_url: str, editors: int) -> None:
        self.home, self.work = base / "home", base / "work"
        self.home.mkdir(mode=0o700)
        self.work.mkdir()
        (self.home / "config.toml").write_text(served_by(base_url, policy="untrusted"), encoding="utf-8")
        kept = {key: value for key, value in os.environ.items() if not key.startswith(LEFT_OUT)}
        self.env = {**kept, "HOME": str(self.home), "GREENROOM_HOME": str(self.home), "PYTHONPATH": str(ROOT)}
        self.paths = locate(self.env)
        self.kills = 0
        self.said = 0
        self.keys: dict[str, str] = {}  # of the terminal's messages, with their texts
        self._unheard: set[str] = set()  # of those: not acknowledged yet
        self._refused: list[str] = []
        self.launch()
        first = Editor(self.env, self.work, "editor-0")
        self.conversation = first.begin()
        self.editors = [first, *(self._enter(f"editor-{number}", whole=True) for number in range(1, editors))]
        self.follower = Follower(self.conversation)
        self.terminal = self._terminal()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        for editor in self.editors:
            editor.close()
        self.terminal.close()
        os.kill(self.pid, signal.SIGTERM)
        until(lambda: not self._processes(), f"left behind: {self._processes()}", WAIT_S)
        assert kind or not self._complaints(), self._complaints()
        faults = [fault for editor in self.editors for fault in editor.faults]
        assert kind or not faults, faults

    def _processes(self) -> dict[int, str]:
        return {pid: words for pid, words in everything([os.fsencode(f"{self.home}/")]) if pid != os.getpid()}

    def _complaints(self) -> list[Message]:
        lines = Path(self.paths.log_file).read_text(encoding="utf-8").splitlines()
        return [one for one in map(json.loads, lines) if one.get("level") in {"error", "critical"}]

    @property
    def pid(self) -> int:
        return int(Path(self.paths.pid_file).read_text(encoding="ascii"))

    def text(self, what: str = "") -> str:
        """Words that nobody has said before: with them a prompt, its echo and its turn are told apart."""
        self.said += 1
        return f"{MARK}{self.said}{what}"

    # --- who comes and goes ---------------------------------------------------------------------------------------

    def launch(self) -> None:
        """Start a daemon, or wait for one that a bridge has started."""
        subprocess.run([sys.executable, "-P", "-c", LAUNCH], env=self.env, check=True, timeout=WAIT_S)

    def kill(self) -> None:
        """Kill the daemon without warning and start the next, to which the terminal repeats what was not heard."""
        pid = self.pid
        os.kill(pid, signal.SIGKILL)
        self.kills += 1
        until(lambda: not Path(f"/proc/{pid}").exists() or _is_zombie(pid), "the daemon did not die")
        self.terminal.close()
        self.launch()
        self.terminal = self._terminal()
        for key in sorted(self._unheard):
            self.send(self.keys[key], key)

    def restart(self, number: int, *, whole: bool) -> None:
        """Close an editor, whatever it waits for, and open the conversation in a new one."""
        old = self.editors[number]
        old.close()
        assert not old.faults, old.faults
        self.editors[number] = self._enter(old.name, whole=whole)

    def _enter(self, name: str, *, whole: bool) -> Editor:
        editor = Editor(self.env, self.work, name)
        editor.resume(self.conversation, whole=whole)
        if not whole:
            editor.view.since = self._stored()  # what was stored meanwhile may have been shown, or not
        return editor

    def _stored(self) -> int:
        return int(self.terminal.call("conversation/get", conversation=self.conversation)["seq"])

    def _terminal(self) -> Caller:
        caller = Caller(Path(socket_path(self.paths)), "terminal", self.work)
        self.follower.attach(caller)
        return caller

    # --- what the terminal does -----------------------------------------------------------------------------------

    def send(self, text: str, key: str = "", if_busy: str = "steer") -> None:
        key = key or f"terminal-{len(self.keys)}"
        self.keys[key] = text
        self._unheard.add(key)
        answer = self.terminal.start(
            "conversation/send", conversation=self.conversation, prompt=text, key=key, if_busy=if_busy
        )
        answer.add_done_callback(lambda done: self._answered(key, done.exception()))

    def _answered(self, key: str, error: BaseException | None) -> None:
        """Note what became of a message; one that was on its way when the daemon died is said again."""
        if error is None:
            self._unheard.discard(key)
        elif not isinstance(error, Gone):
            self._refused.append(f"{key}: {error}")

    def interrupt(self, **how: bool) -> None:
        self.terminal.start("conversation/interrupt", conversation=self.conversation, **how)

    def answer(self, decision: str) -> None:
        """Answer all that is asked; another may be faster."""
        for one in self.terminal.call("approvals/list", conversation=self.conversation)["approvals"]:
            self.terminal.start("approvals/answer", approval=one["approval_id"], decision=decision)

    def set(self, **settings: str) -> None:
        self.terminal.call("conversation/set", conversation=self.conversation, settings=settings)

    # --- what must be true ----------------------------------------------------------------------------------------

    def settle(self) -> list[Message]:
        """Stop what runs, and assert that everybody was told all of it, once, in order. The history so far."""
        until(self._is_quiet, "it never became quiet", WAIT_S)
        last = self.text()
        ended = self.terminal.call(
            "conversation/send", conversation=self.conversation, prompt=f"say {last}", wait=True
        )
        self.follower.wait_seq(ended["seq"])
        for editor in self.editors:
            editor.wait(partial(editor.view.says, last), f"{last} was never shown")
        history = self.terminal.history(self.conversation)
        judge(history)
        self.follower.check(history)
        wrong = [
            *self._broken_promises(history),
            *(one for each in self.editors for one in self._told(each, history)),
        ]
        assert not wrong, wrong
        return history

    def _is_quiet(self) -> bool:
        """Whether nothing runs, waits, or has to be answered; what runs is stopped."""
        with suppress(Refused):
            self.terminal.call("conversation/interrupt", conversation=self.conversation, kill=True, clear=True)
        state = self.terminal.call("conversation/get", conversation=self.conversation)
        waits = [one for editor in self.editors for one in (*editor.open_prompts(), *editor.open_questions())]
        return state["turn"] is None and not waits

    def _broken_promises(self, history: list[Message]) -> Iterator[str]:
        """Promises to the terminal that were broken: each message is taken once, each question answered once."""
        yield from self._refused
        yield from (f"{key} was never acknowledged" for key in self._unheard)
        taken = Counter(one["event"].get("key") for one in history if one["event"]["type"] == "user_message")
        gone = {one["event"].get("input_id") for one in history if one["event"]["type"] == "input_withdrawn"}
        queued = {
            one["event"]["key"]: one["event"]["input_id"] for one in history if one["event"]["type"] == "input_queued"
        }
        for key, text in self.keys.items():
            if taken[key] != 1 and queued.get(key) not in gone:
                yield f"the terminal's {text} was taken {taken[key]} times"
        yield from (f"{key} was taken {count} times" for key, count in taken.items() if key and count > 1)
        asked = [one["event"]["approval_id"] for one in history if one["event"]["type"].endswith("approval_request")]
        answered = Counter(
            one["event"]["approval_id"] for one in history if one["event"]["type"] == "approval_resolved"
        )
        yield from (f"{one} was answered {answered[one]} times" for one in asked if answered[one] != 1)

    def _told(self, editor: Editor, history: list[Message]) -> Iterator[str]:
        """Everything that this editor was told wrong, or not at all."""
        with editor.changed:
            found = [*editor.faults, *complaints(editor.view, history, self.kills)]
            ends = endings(history)
            for one in editor.asked.values():
                if len(one.answers) != 1:
                    found.append(f"{one.method} {one.params} was answered {one.answers}")
                elif one.method == "session/prompt":
                    found += _wrong_end(text_of(one), one.answers[0], ends)
        yield from (f"{editor.name}: {one}" for one in found)


def endings(history: list[Message]) -> dict[str, str]:
    """The ending of the turn that took each message."""
    turns: dict[str, str] = {}
    for one in history:
        if one["event"]["type"] in TERMINAL:
            turns[one["turn"]] = one["event"].get("reason", "completed")
    return {one["event"]["message"]: turns[one["turn"]] for one in history if one["event"]["type"] == "user_message"}


def _wrong_end(text: str, answer: dict[str, Any], ends: dict[str, str]) -> Iterator[str]:
    """A prompt that no turn took was cancelled; one of a turn ends as that did."""
    expected = STOPS.get(ends.get(text, "interrupted"))
    if answer.get("result", {}).get("stopReason") != expected:
        yield f"{text} ended {ends.get(text)}, answered {answer}"


def _is_zombie(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True
