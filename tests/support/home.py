"""A home of its own for a real daemon, and the daemon as a child that a test can stop, kill and look at."""

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from supervisor.paths import Paths, locate, socket_path
from tests.support.control_client import ControlClient

MORTAL = Path(__file__).with_name("mortal.py")
START_S = 20.0  # an ordinary start takes one second, on a machine that has nothing else to do
END_S = 20.0


class Home:
    def __init__(self, directory: Path, config: str = "", env: Mapping[str, str] | None = None) -> None:
        self.directory = directory
        self.env = {
            **os.environ,
            "GREENROOM_HOME": str(directory),
            "CODEX_HOME": str(directory / "codex"),
            "HOME": str(directory),  # a login shell runs nobody's profile, and leaves none of its locks
            **(env or {}),
        }
        directory.mkdir(mode=0o700, exist_ok=True)
        if config:
            (directory / "config.toml").write_text(config)

    @property
    def paths(self) -> Paths:
        return locate(self.env)

    @property
    def socket(self) -> str:
        return socket_path(self.paths)

    @property
    def log(self) -> list[dict[str, Any]]:
        path = Path(self.paths.log_file)
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def logged(self, event: str) -> list[dict[str, Any]]:
        return [line for line in self.log if line["event"] == event]

    def client(self, **more: Any) -> ControlClient:
        return ControlClient(self.socket, **more)

    @contextlib.contextmanager
    def daemon(self, *arguments: str, **more: Any) -> Iterator["AttachedDaemon"]:
        """A daemon that is ready inside the block and ended after it."""
        process = self.start(*arguments, **more)
        try:
            said = process.said()
            assert said == "ready", said
            yield process
        finally:
            process.end()

    def launch(self) -> None:
        """Start a detached daemon, as the bridge and `up` do. Raises with its message if it fails."""
        code = "from supervisor.daemon.launch import launch; launch()"
        subprocess.run([sys.executable, "-P", "-c", code], env=self.env, check=True, timeout=START_S)

    def start(
        self,
        *arguments: str,
        descriptors: int | None = None,
        soft_descriptors: int | None = None,
        dies_at: str = "",
    ) -> "AttachedDaemon":
        """Start a daemon. `descriptors`: its hard limit of open files, `soft_descriptors`: its soft limit.

        `dies_at` is a POINT:VISIT of mortal.py.
        """
        limit = f"ulimit -n {descriptors}; " if descriptors else ""
        limit += f"ulimit -S -n {soft_descriptors}; " if soft_descriptors else ""
        return AttachedDaemon(self, arguments, limit, (str(MORTAL), dies_at) if dies_at else ("-m", "supervisor"))


class AttachedDaemon:
    """A daemon that is our child, so that its exit code can be read."""

    def __init__(self, home: Home, arguments: tuple[str, ...], limits: str, program: tuple[str, ...]) -> None:
        self.home = home
        self.began = time.monotonic()
        self._reader, writer = os.pipe()
        limit = ("/bin/sh", "-c", f'{limits}exec "$@"', "sh") if limits else ()
        self.process = subprocess.Popen(
            [*limit, sys.executable, "-P", *program, "--ready-fd", str(writer), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=(writer,),
            env=home.env,
            cwd="/",
        )
        os.close(writer)

    @property
    def pid(self) -> int:
        return self.process.pid

    def said(self, limit_s: float = START_S) -> str:
        """The daemon's report of its start."""
        heard, deadline = b"", time.monotonic() + limit_s
        while not heard.endswith(b"\n"):
            left = max(0.0, deadline - time.monotonic())
            assert select.select([self._reader], [], [], left)[0], "the daemon said nothing in time"
            piece = os.read(self._reader, 65_536)
            if not piece:
                break
            heard += piece
        return heard.decode().strip()

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(END_S)

    def stop(self, signum: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(signum)
        return self.process.wait(END_S)

    def end(self) -> None:
        if self.process.poll() is None:
            self.kill()
        os.close(self._reader)
        assert self.process.stdout is not None
        self.process.stdout.close()
