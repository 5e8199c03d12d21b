"""An editor with one session over `greenroom acp`, which prompts, is asked and can be begun again.

A thread reads. Every request must have one answer; every question is answered by us, or withdrawn.
"""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.faults.caller import WAIT_S, Message
from tests.faults.shown import View

GREENROOM_ACP = (sys.executable, "-P", "-m", "supervisor.cli.app", "acp")
ROOT = str(Path(__file__).resolve().parents[2])
CANCELLED = -32800
END_S = 5.0  # a bridge leaves within a second, on a machine with nothing else to do
CAPABILITIES = {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False}


@dataclass(slots=True)
class Asked:
    """A request of the editor, with all its answers."""

    method: str
    params: Message
    answers: list[Message] = field(default_factory=list)


@dataclass(slots=True)
class Question:
    """A permission that the editor was asked for. `over`: withdrawn, or our answer."""

    number: object
    call: str
    options: list[Message]
    over: str = ""


class Editor:
    """An editor, which must be closed. Public methods are for one thread; `changed` guards what both use."""

    def __init__(
        self, env: Mapping[str, str], cwd: Path, name: str = "editor", command: Sequence[str] = GREENROOM_ACP
    ) -> None:
        self.name, self.cwd = name, cwd
        self.session = ""
        self.view = View()
        self.offered: list[Message] = []  # options that it may choose, with their values
        self.asked: dict[int, Asked] = {}
        self.questions: dict[object, Question] = {}
        self.faults: list[str] = []
        self.changed = threading.Condition()
        self._leaving = self._over = False
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env={"PYTHONPATH": ROOT, **env}, cwd=cwd, bufsize=0,
        )  # fmt: skip
        self._reader = threading.Thread(target=self._read, name=f"editor-{name}", daemon=True)
        self._reader.start()
        info = {"name": "editor", "version": "1"}  # as two windows of one program have it
        self.call("initialize", protocolVersion=1, clientCapabilities=CAPABILITIES, clientInfo=info)

    # --- what it does ---------------------------------------------------------------------------------------------

    def begin(self) -> str:
        self._opened(self.call("session/new", cwd=str(self.cwd), mcpServers=[]))
        return self.session

    def resume(self, session: str, *, whole: bool) -> None:
        """Open a session; `whole`: with all its history, else from now on."""
        method = "session/load" if whole else "session/resume"
        self.session = session
        self._opened(self.call(method, sessionId=session, cwd=str(self.cwd), mcpServers=[]))

    def prompt(self, text: str) -> int:
        self.view.own.add(text)
        return self.start("session/prompt", **self._said(text))

    def steer(self, text: str) -> int:
        self.view.own.add(text)
        return self.start("_session/steering", **self._said(text))

    def cancel(self) -> None:
        self._say({"method": "session/cancel", "params": {"sessionId": self.session}})

    def choose(self, option: str, value: str) -> int:
        return self.start("session/set_config_option", sessionId=self.session, configId=option, value=value)

    def answer(self, question: Question, kind: str) -> None:
        """Answer with the option of this kind, if the question is still open and has one."""
        chosen = next((one["optionId"] for one in question.options if one["kind"] == kind), None)
        with self.changed:
            if question.over or chosen is None:
                return
            question.over = kind
        outcome = {"outcome": {"outcome": "selected", "optionId": chosen}}
        self._say({"id": question.number, "result": outcome})

    def close(self) -> float:
        """End its input, as an editor does that is closed; the seconds until the bridge had ended."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        began = time.monotonic()
        with self.changed:
            self._leaving = True
            self.process.stdin.close()
        try:
            self.process.wait(END_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(END_S)
            self.faults.append("the bridge did not end by itself")
        took = time.monotonic() - began
        self._reader.join(END_S)
        self.process.stdout.close()
        return took

    # --- requests -------------------------------------------------------------------------------------------------

    def start(self, method: str, **params: object) -> int:
        with self.changed:
            number = len(self.asked) + 1
            self.asked[number] = Asked(method, params)
        self._say({"id": number, "method": method, "params": params})
        return number

    def call(self, method: str, **params: object) -> Message:
        result: Message = self.result(self.start(method, **params)) or {}
        return result

    def result(self, number: int) -> Message:
        answer = self.wait_answer(number)
        assert "result" in answer, f"{self.name}: {self.asked[number].method} was answered {answer}"
        result: Message = answer["result"]
        return result

    def wait_answer(self, number: int) -> Message:
        self.wait(lambda: bool(self.asked[number].answers), f"no answer to {self.asked[number]}")
        return self.asked[number].answers[0]

    def wait(self, condition: Callable[[], bool], otherwise: str) -> None:
        deadline = time.monotonic() + WAIT_S
        with self.changed:
            while not condition():
                left = deadline - time.monotonic()
                assert not self._over, f"{self.name}: the bridge ended; {otherwise}"
                assert left > 0, f"{self.name}: {otherwise}; shown: {list(self.view.items.values())[-6:]}"
                self.changed.wait(left)

    def open_prompts(self) -> list[str]:
        with self.changed:
            return [text_of(one) for one in self.asked.values() if one.method == "session/prompt" and not one.answers]

    def open_questions(self) -> list[Question]:
        with self.changed:
            return [one for one in self.questions.values() if not one.over]

    def _said(self, text: str) -> Message:
        return {"sessionId": self.session, "prompt": [{"type": "text", "text": text}]}

    def _opened(self, answer: Message) -> None:
        self.session = answer.get("sessionId", self.session)
        if answer.get("configOptions"):
            self.offered = answer["configOptions"]
            self.view.choose(self.offered)

    def _say(self, message: Message) -> None:
        assert self.process.stdin is not None
        if self._leaving:
            return  # what is asked at the end has no answer
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    # --- the reading thread ---------------------------------------------------------------------------------------

    def _read(self) -> None:
        assert self.process.stdout is not None
        rest = b""
        while piece := self.process.stdout.read(1 << 16):
            *lines, rest = (rest + piece).split(b"\n")
            with self.changed:
                for line in lines:
                    self._take(json.loads(line))
                self.changed.notify_all()
        with self.changed:
            self._over = True
            self.changed.notify_all()

    def _take(self, message: Message) -> None:
        match message:
            case {"method": "session/update", "params": {"update": update} as params}:
                self.view.take(update, update.get("_meta") or params.get("_meta") or {})
            case {"method": "session/request_permission", "id": number, "params": params}:
                self._asks(Question(number, params["toolCall"]["toolCallId"], params["options"]))
            case {"method": "$/cancel_request", "params": {"requestId": number}}:
                self._withdraw(number)
            case {"method": method, "id": number}:
                self._say({"id": number, "error": {"code": -32601, "message": f"no {method}"}})
            case {"id": int(number), "result": _} | {"id": int(number), "error": _} if number in self.asked:
                self.asked[number].answers.append(message)
            case {"method": _}:
                return  # notifications of others' making
            case _:
                self.faults.append(f"nobody asked for {message}")

    def _asks(self, question: Question) -> None:
        if question.number in self.questions:
            self.faults.append(f"{question.number} was used for two questions")
        if any(one.call == question.call and not one.over for one in self.questions.values()):
            self.faults.append(f"asked twice at once about {question.call}")
        self.questions[question.number] = question

    def _withdraw(self, number: object) -> None:
        question = self.questions.get(number)
        if question is None:
            self.faults.append(f"{number!r} was withdrawn and never asked")
        elif not question.over:  # else our answer was on its way
            question.over = "withdrawn"
            self._say({"id": number, "error": {"code": CANCELLED, "message": "withdrawn"}})


def text_of(one: Asked) -> str:
    return str(one.params["prompt"][0]["text"])
