"""A real daemon in a home of its own, ended by its pid and nothing else, to try faults on.

It is started as `python -m supervisor`, through a wrapper command where a fault needs one. What belongs to it is
found in /proc by the home's path, which stands in the environment of all that it starts.
"""

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from supervisor.paths import locate, socket_path
from tests.faults.caller import Caller

ROOT = Path(__file__).resolve().parents[2]
START_S = 30.0  # a busy machine
END_S = 30.0
LEFT_OUT = ("OPENAI_", "GREENROOM_", "CODEX_", "XDG_")
DEMO = 'model_provider = "demo"\napproval_policy = "never"\nsandbox_mode = "danger-full-access"\n'


class NotReady(Exception):
    """The daemon ended, or said something else than that it is ready."""


def served_by(base_url: str, more: str = "", *, retries: int = 2, policy: str = "never") -> str:
    """A config whose model is the scripted server; commands run without sandbox, so that a start costs little."""
    return f"""
model_provider = "test"
model = "scripted"
approval_policy = "{policy}"
sandbox_mode = "danger-full-access"
[model_providers.test]
base_url = "{base_url}"
request_max_retries = {retries}
stream_max_retries = {retries}
[greenroom]
interrupt_grace_ms = 200
drain_seconds = 0
{more}
"""


def until(condition: Callable[[], object], otherwise: str, limit_s: float = 20.0) -> None:
    """Poll for a state that no event tells, like that of other processes."""
    deadline = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < deadline, otherwise
        time.sleep(0.005)


class DaemonHarness:
    """A daemon with its home. `config` is written before each start, so it may change between two of them."""

    def __init__(self, home: Path, config: str = DEMO, environ: Mapping[str, str] | None = None) -> None:
        self.home = home
        self.config = config
        kept = {key: value for key, value in os.environ.items() if not key.startswith(LEFT_OUT)}
        self.environ = {**kept, "HOME": str(home), "GREENROOM_HOME": str(home), **(environ or {})}
        self.paths = locate(self.environ)
        self.socket = Path(socket_path(self.paths))
        self.ready_s: list[float] = []  # of each life, from exec to `ready`
        self._process: subprocess.Popen[bytes] | None = None
        self._callers: list[Caller] = []

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.leave()
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            try:
                self.ended()
            except AssertionError:
                self.kill()
                raise
        until(lambda: not self.processes(), f"left behind: {self.processes()}")

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    # --- its life -------------------------------------------------------------------------------------------------

    def start(self, wrapper: Sequence[str] = (), *, dies_at: str = "", **environ: str) -> None:
        """Return when the daemon is ready; the process of `wrapper` becomes the daemon itself (it execs).

        `dies_at` is a POINT or POINT:VISIT of tests/support/mortal.py.
        """
        self.home.mkdir(mode=0o700, parents=True, exist_ok=True)
        with contextlib.suppress(OSError):  # a full or read-only disk keeps the config it has
            (self.home / "config.toml").write_text(self.config, encoding="utf-8")
        began = time.monotonic()
        self._process, said = self.begin(wrapper, environ, dies_at)
        if said != b"ready\n":
            self._process.kill()
            self._process.wait()
            raise NotReady(said.decode(errors="replace").strip())
        self.ready_s.append(time.monotonic() - began)

    def begin(
        self, wrapper: Sequence[str], environ: Mapping[str, str], dies_at: str = ""
    ) -> tuple[subprocess.Popen[bytes], bytes]:
        program = ["tests.support.mortal", dies_at] if dies_at else ["supervisor"]
        reader, writer = os.pipe()
        try:
            process = subprocess.Popen(
                [*wrapper, sys.executable, "-m", *program, "--ready-fd", str(writer)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(writer,),
                cwd=ROOT,
                env={**self.environ, **environ},
            )
            os.close(writer)
            writer = -1
            readable, _, _ = select.select([reader], [], [], START_S)
            return process, os.read(reader, 65536) if readable else b"(nothing in time)"
        finally:
            os.close(reader)
            if writer >= 0:
                os.close(writer)

    def kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        self.ended()
        self.leave()

    def ended(self) -> int:
        """Wait for an end that was asked for; the exit code."""
        assert self._process is not None
        try:
            code = self._process.wait(END_S)
        except subprocess.TimeoutExpired:
            raise AssertionError("the daemon did not end") from None
        return code

    def signal(self, number: signal.Signals) -> None:
        os.kill(self.pid, number)

    # --- its clients ----------------------------------------------------------------------------------------------

    def caller(self, name: str = "test") -> Caller:
        caller = Caller(self.socket, name, self.home)
        self._callers.append(caller)
        return caller

    def leave(self) -> None:
        for caller in self._callers:
            caller.close()
        self._callers.clear()

    # --- what it costs and leaves ---------------------------------------------------------------------------------

    def processes(self, *marks: str) -> dict[int, str]:
        """Everything alive that belongs to this home, apart from the daemon itself and ourselves.

        With marks, only what has one of them in its environment or words.
        """
        wanted = [os.fsencode(mark) for mark in marks or (f"{self.home}/",)]
        me = {os.getpid(), self.pid if self.alive else 0}
        return {pid: text for pid, text in everything(wanted) if pid not in me}

    def rss(self) -> int:
        return int(self._status("VmRSS").split()[0]) * 1024

    def peak_rss(self) -> int:
        return int(self._status("VmHWM").split()[0]) * 1024

    def threads(self) -> int:
        return int(self._status("Threads"))

    def fds(self) -> int:
        return len(os.listdir(f"/proc/{self.pid}/fd"))  # noqa: PTH208  # only their number is wanted

    def cpu_s(self) -> float:
        fields = Path(f"/proc/{self.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def _status(self, name: str) -> str:
        lines = Path(f"/proc/{self.pid}/status").read_text(encoding="ascii").splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith(f"{name}:"))

    def log(self) -> Iterator[dict[str, Any]]:
        with contextlib.suppress(FileNotFoundError):
            for line in Path(self.paths.log_file).read_text(encoding="utf-8", errors="replace").splitlines():
                with contextlib.suppress(ValueError):
                    yield json.loads(line)

    def complaints(self) -> list[dict[str, Any]]:
        """Errors that the daemon logged."""
        return [one for one in self.log() if one.get("level") in {"error", "critical"}]


def everything(marks: Sequence[bytes]) -> Iterator[tuple[int, str]]:
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            state = (entry / "stat").read_bytes().rpartition(b")")[2].split()[0]
            words = (entry / "cmdline").read_bytes()
            said = (entry / "environ").read_bytes() + words + b"/"
            if state in b"ZX" or not any(mark in said for mark in marks):
                continue
        except OSError:
            continue  # gone meanwhile, or another user's
        yield int(entry.name), words.replace(b"\0", b" ").decode(errors="replace")
