"""A real daemon in a process of its own, with a home of its own: started, asked, ended by its id.

Nothing here imports the daemon's packages but its paths: what is proved is what the process does.
"""

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Self

from supervisor.daemon.launch import READY
from supervisor.paths import locate, socket_path
from tests.support.control_peer import ControlPeer, Judge

ROOT = Path(__file__).resolve().parents[2]
START_S = 30.0  # a busy machine
STOP_S = 30.0
LEFT_OUT = ("OPENAI_", "GREENROOM_", "CODEX_", "XDG_", "BENCH_")
CONFIG = 'model_provider = "demo"\n'


def heard(reader: int, within_s: float) -> bytes:
    """A daemon's report of its start, to the end."""
    said = b""
    while said != READY and select.select([reader], [], [], within_s)[0]:
        piece = os.read(reader, 65536)
        if not piece:
            break
        said += piece
    return said


class DaemonProcess:
    """A daemon and its home, into which `config` is written before every start."""

    def __init__(
        self,
        home: Path,
        config: str = CONFIG,
        environ: Mapping[str, str] | None = None,
        judge: Judge | None = None,
        program: str = "supervisor",
    ) -> None:
        self.home = home
        self.program = program
        self.config = config
        self.judge = judge
        kept = {key: value for key, value in os.environ.items() if not key.startswith(LEFT_OUT)}
        self.environ = {**kept, "HOME": str(home), "GREENROOM_HOME": str(home), **(environ or {})}
        self.paths = locate(self.environ)
        self.socket = Path(socket_path(self.paths))
        self.errors = home / "stderr"
        self._process: subprocess.Popen[bytes] | None = None
        self._peers: list[ControlPeer] = []

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.hang_up()
        if self._process is not None:
            self.end()

    @property
    def runs(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int:
        assert self._process is not None, "the daemon does not run"
        return self._process.pid

    def start(self) -> None:
        """Start, and return when the daemon says that it is ready."""
        self.home.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.write_config(self.config)
        reader, writer = os.pipe()
        try:
            with self.errors.open("ab") as errors:
                self._process = subprocess.Popen(
                    [sys.executable, "-m", self.program, "--ready-fd", str(writer)],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=errors,
                    pass_fds=(writer,),
                    cwd=ROOT,
                    env=self.environ,
                )
            os.close(writer)
            writer = -1
            said = heard(reader, START_S)
        finally:
            os.close(reader)
            if writer >= 0:
                os.close(writer)
        if said != READY:
            self.kill()
            raise AssertionError(f"the daemon did not start: {said!r} {self.errors.read_text()}")

    def write_config(self, text: str) -> None:
        (self.home / "config.toml").write_text(text, encoding="utf-8")

    def connect(self, name: str = "test", environ: Mapping[str, str] | None = None) -> ControlPeer:
        """A client that is closed when the daemon's test ends."""
        peer = ControlPeer(self.socket, name, cwd=self.home, environ=environ or {}, judge=self.judge)
        self._peers.append(peer)
        return peer

    def hang_up(self) -> None:
        for peer in self._peers:
            peer.close()
        self._peers.clear()

    def end(self) -> int:
        """End the daemon in order; its exit code."""
        self.signal(signal.SIGTERM)
        return self.wait()

    def kill(self) -> None:
        self.signal(signal.SIGKILL)
        self.wait()

    def signal(self, number: signal.Signals) -> None:
        process = self._process
        if process is not None and process.poll() is None:
            process.send_signal(number)

    def wait(self) -> int:
        assert self._process is not None, "the daemon does not run"
        process, self._process = self._process, None
        try:
            return process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise AssertionError("the daemon did not end in time") from None

    # --- what it costs --------------------------------------------------------------------------------------------

    def resident_bytes(self) -> int:
        return int(self._status("VmRSS").split()[0]) * 1024

    def forget_peak(self) -> None:
        Path(f"/proc/{self.pid}/clear_refs").write_text("5", encoding="ascii")

    def peak_bytes(self) -> int:
        """The largest resident memory since `forget_peak`."""
        return int(self._status("VmHWM").split()[0]) * 1024

    def threads(self) -> int:
        return int(self._status("Threads"))

    def descriptors(self) -> int:
        return len(os.listdir(f"/proc/{self.pid}/fd"))  # noqa: PTH208  # names are all that is wanted

    def processor_s(self) -> float:
        """Processor time so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def _status(self, name: str) -> str:
        lines = Path(f"/proc/{self.pid}/status").read_text(encoding="ascii").splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith(f"{name}:"))

    def log(self) -> list[dict[str, object]]:
        """The daemon's log so far."""
        found: list[dict[str, object]] = []
        with contextlib.suppress(FileNotFoundError):
            for line in Path(self.paths.log_file).read_text(encoding="utf-8").splitlines():
                with contextlib.suppress(ValueError):
                    found.append(json.loads(line))
        return found
