"""A home of its own, and the command line used as a person would: with words, pipes and terminals."""

import codecs
import contextlib
import fcntl
import io
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

from supervisor.cli.app import main
from tests.supervisor.cli.emulator import Emulator
from tests.support.warden import MARK

PATIENCE_S = 30.0  # for anything; a busy machine takes a second or two
PROGRAM = (sys.executable, "-m", "supervisor.cli.app")
ROOT = Path(__file__).resolve().parents[3]


class Place:
    def __init__(self, base: Path) -> None:
        self.base = base
        self.home = base / "home"
        self.work = base / "work"
        self.home.mkdir(mode=0o700)
        self.work.mkdir()
        (self.home / "config.toml").write_text('model_provider = "demo"\n', encoding="utf-8")
        kept = {name: os.environ[name] for name in ("PATH", "LANG", MARK) if name in os.environ}
        self.env = {
            **kept,
            "HOME": str(base),
            "GREENROOM_HOME": str(self.home),
            "PYTHONPATH": str(ROOT),
            "TERM": "xterm",
            "LC_ALL": "C.UTF-8",
            "TZ": "UTC",
        }

    def run(
        self, *words: str, code: int | None = 0, text: str = "", cwd: Path | None = None
    ) -> "subprocess.CompletedProcess[str]":
        """Run a verb in this process, into pipes. `code` is the expected exit code, `text` the standard input."""
        out, err = io.StringIO(), io.StringIO()
        with (
            patch.dict(os.environ, self.env, clear=True),
            patch.object(sys, "stdin", io.StringIO(text)),
            contextlib.chdir(cwd or self.work),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            try:
                returned = main(words)
            except SystemExit as ended:
                returned = int(ended.code or 0)
        done = subprocess.CompletedProcess(words, returned, out.getvalue(), err.getvalue())
        assert code is None or done.returncode == code, (words, done.returncode, done.stdout, done.stderr)
        return done

    def said(self, *words: str, **more: Any) -> str:
        return self.run(*words, **more).stdout.strip()

    def json(self, *words: str) -> Any:
        return json.loads(self.run(*words).stdout)

    def begin(self, *words: str, program: Sequence[str] = PROGRAM, **more: Any) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [*program, *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=self.env,
            cwd=self.work,
            **more,
        )

    def terminal(
        self, *words: str, columns: int = 80, rows: int = 24, program: Sequence[str] = PROGRAM
    ) -> "Terminal":
        return Terminal([*program, *words], self.env, self.work, columns, rows)

    def new(self, prompt: str, *words: str) -> str:
        """A conversation whose turn has begun."""
        return self.said("run", "-d", *words, prompt)

    def at_rest(self, conversation: str) -> None:
        self.run("wait", conversation, "-t", "15", code=None)

    def asking(self, *words: str) -> str:
        """A conversation that waits for an answer."""
        conversation = self.new("ask touch asked; then say thanks", *words)
        self.run("wait", conversation, "--for", "approval", "-t", "15")
        return conversation

    def failed(self, name: str) -> str:
        """A failed conversation, imported from a file whose history says so."""
        conversation = self.new("say x", "--name", name)
        self.at_rest(conversation)
        head, *events = [json.loads(line) for line in self.said("export", conversation).splitlines()]
        self.run("rm", "-f", conversation)
        last = events[-1]["seq"] + 1
        body = {"type": "conversation_failed", "message": "it fell over", "traceback": "somewhere"}
        events.append({**events[-1], "seq": last, "turn": None, "type": body["type"], "body": body})
        head["head"].update(state="failed", last_seq=last)
        file = self.work / f"{name}.jsonl"
        file.write_text("".join(json.dumps(line) + "\n" for line in (head, *events)), encoding="utf-8")
        return self.said("import", file.name)

    def pid(self) -> int:
        return int(self.said("pid"))

    def kill(self) -> None:
        pid = self.pid()
        os.kill(pid, signal.SIGKILL)
        until(lambda: self.run("pid", code=None).returncode == 7)

    def close(self) -> None:
        self.run("down", "--now", code=None)


class Terminal:
    """A program in a terminal of a certain size. Its output is kept."""

    def __init__(self, command: list[str], env: dict[str, str], cwd: Path, columns: int, rows: int) -> None:
        self._ours, theirs = pty.openpty()
        self._emulator = Emulator(columns)
        self._size(columns, rows)
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self.written = ""
        self._seen = 0
        self.process = subprocess.Popen(
            command,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env=env,
            cwd=cwd,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509  # one thread, one call
        )
        os.close(theirs)

    def expect(self, text: str) -> str:
        """Wait for a text after the last that was expected; return the output up to its end."""
        deadline = time.monotonic() + PATIENCE_S
        while (at := self.written.find(text, self._seen)) < 0:
            assert time.monotonic() < deadline, f"no {text!r} in {self.written[self._seen :]!r}"
            if not self._read(0.1) and self.process.poll() is not None and not self._read(0.0):
                raise AssertionError(f"it ended without {text!r}: {self.written[self._seen :]!r}")
        start, self._seen = self._seen, at + len(text)
        return self.written[start : self._seen]

    def send(self, keys: str) -> None:
        os.write(self._ours, keys.encode())

    def resize(self, columns: int, rows: int) -> None:
        self._size(columns, rows)
        os.killpg(self.process.pid, signal.SIGWINCH)

    def end(self) -> int:
        """The exit code, once the program has ended by itself."""
        deadline = time.monotonic() + PATIENCE_S
        while self._read(0.05) or self.process.poll() is None:
            assert time.monotonic() < deadline, f"it did not end: {self.written[-500:]!r}"
        os.close(self._ours)
        return self.process.wait()

    @property
    def screen(self) -> str:
        return self._emulator.text

    def local_echo(self) -> bool:
        return bool(self.settings()[3] & termios.ECHO)

    def settings(self) -> list[Any]:
        """The modes in which the terminal treats keys and output."""
        return termios.tcgetattr(self._ours)

    @property
    def bells(self) -> int:
        return self._emulator.bells

    @property
    def title(self) -> str:
        return self._emulator.title

    def read(self) -> None:
        """Take what is there."""
        while self._read(0.0):
            pass

    def _size(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self._ours, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def _read(self, wait_s: float) -> bool:
        if not select.select([self._ours], [], [], wait_s)[0]:
            return False
        try:
            data = os.read(self._ours, 65536)
        except OSError:
            return False  # the other end is closed
        text = self._decoder.decode(data)  # a read may end inside a character
        self.written += text
        self._emulator.feed(text)
        return bool(data)


def until(wanted: Callable[[], bool]) -> None:
    """Wait for a condition, and fail if it does not come in time."""
    deadline = time.monotonic() + PATIENCE_S
    while not wanted():
        assert time.monotonic() < deadline, "it did not come about"
        time.sleep(0.02)


_NORMAL = (
    (re.compile(r"\x1b\[[0-9;]*m"), ""),
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "UUID"),
    (re.compile(r"\b[0-9a-f]{16}(-\d+)?(\.\d+)*\b"), "TURN"),
    (re.compile(r"\b[0-9a-f]{8}\b"), "ID______"),
    (re.compile(r"\d{10}\.\d+"), "TIME"),
    (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"), "DATE TIME"),
    (re.compile(r"pid \d+"), "pid PID"),
    (re.compile(r'"pid": \d+'), '"pid": PID'),
    (re.compile(r'(duration_seconds\\?": |"nanos": )[0-9.]+'), r"\1TIME"),
    (re.compile(r"\[\d+\]"), "[PID]"),
    (re.compile(r"\d+\.\d s\b"), "T s"),
    (re.compile(r"[0-9a-f]{12}@"), "ASKED@"),
    (re.compile(r" *(?<=[ \t])\d+[smhd](?=[ \t,\n])"), "T"),
    (re.compile(r"\d+(\.\d)? (KiB|MiB|GiB|B)\b"), "SIZE"),
)


def normal(text: str, place: Place) -> str:
    """The text without what differs from run to run."""
    text = text.replace("\r\n", "\n").replace(str(place.base), "BASE")
    for pattern, instead in _NORMAL:
        text = pattern.sub(instead, text)
    return text


@contextlib.contextmanager
def a_place() -> Iterator[Place]:
    with tempfile.TemporaryDirectory(prefix="gr-cli-", dir="/tmp") as base:  # pytest's own are too long for a socket
        made = Place(Path(base))
        try:
            yield made
        finally:
            made.close()
