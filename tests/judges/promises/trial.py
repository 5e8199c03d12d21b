"""The setting of one promise's trial: a fresh home, a scripted model, and the servers that were started there.

Their processes are found in /proc by the home's path, which is in the environment of all that they start; at the end
of the trial each is ended by its id.
"""

import contextlib
import json
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, Self

from tests.faults.daemon_harness import LEFT_OUT, everything, until
from tests.judges.promises.client import WAIT_S, Client
from tests.support.line_client import Json
from tests.support.model_server import ModelServer

END_S = 5.0  # until what was killed is gone
WIRE = os.environ.get("TEST_WIRE", "chat")  # of trials to which the wire makes no difference
Policy = Literal["never", "untrusted"]


class Trial:
    def __init__(self, command: Sequence[str]) -> None:
        self._command = command
        self._clients: list[Client] = []
        self.home = Path(tempfile.mkdtemp(prefix="trial-"))  # short: a socket may lie in it
        self.work = self.home / "work"
        self.model = ModelServer()

    def __enter__(self) -> Self:
        self.work.mkdir()
        (self.home / "codex").mkdir()
        self.model.__enter__()
        (self.home / "codex" / "config.toml").write_text(self._config())
        return self

    def __exit__(self, *_: object) -> None:
        for client in self._clients:
            client.process.kill()
        self.kill_all()
        for client in self._clients:
            client.let_go()
        self.model.__exit__(Exception, None, None)  # what it complains of is the server's affair
        shutil.rmtree(self.home, ignore_errors=True)

    def server(self, **more: Any) -> Client:
        """A server that has been greeted."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(LEFT_OUT)}
        environ = {
            **kept,
            "HOME": str(self.home),
            "GREENROOM_HOME": str(self.home),
            "CODEX_HOME": str(self.home / "codex"),
            "OPENAI_API_KEY": "none",
            "OPENAI_BASE_URL": self.model.base_url,
        }
        client = Client(environ, command=self._command, cwd=self.work, **more)
        self._clients.append(client)
        if more.get("hello", True):
            client.initialize()
        return client

    def _config(self) -> str:
        """The person's config: no sandbox, and the scripted model in each of the ways that trials use it."""
        tables = (
            f'[model_providers.scripted-{wire}-{retries}]\nname = "scripted"\nbase_url = "{self.model.base_url}"\n'
            f'wire_api = "{wire}"\nrequest_max_retries = {retries}\nstream_max_retries = {retries}\n'
            for wire in dict.fromkeys(("chat", "responses", WIRE))
            for retries in (0, 2, 4)
        )
        return 'sandbox_mode = "danger-full-access"\n' + "".join(tables)

    def settings(self, policy: Policy = "never", *, wire: str = WIRE, retries: int = 0, **more: Any) -> Json:
        """Arguments of `codex` that name the scripted model."""
        return {
            "cwd": str(self.work),
            "model": "scripted",
            "approval-policy": policy,
            "sandbox": "danger-full-access",
            "config": {"model_provider": f"scripted-{wire}-{retries}"},
            **more,
        }

    # --- what runs ------------------------------------------------------------------------------------------------

    def processes(self, *words: str) -> dict[int, str]:
        """Live processes of this trial, servers included; with words, those with one in their command line."""
        found = dict(everything([os.fsencode(self.home)]))
        return {pid: line for pid, line in found.items() if not words or any(word in line for word in words)}

    def wait_for(self, word: str) -> None:
        """Wait for the command itself, not for a shell that has its name among its words."""

        def is_there() -> bool:
            return any(line.startswith(word) for line in self.processes(word).values())

        until(is_there, f"no {word} was started", WAIT_S)

    def wait_without(self, word: str, limit_s: float) -> None:
        until(lambda: not self.processes(word), f"{word} runs on for {limit_s:g} s", limit_s)

    def stays_without(self, *words: str, for_s: float) -> None:
        """Assert that no process with these words runs, now and for a while."""
        deadline = time.monotonic() + for_s
        while time.monotonic() < deadline:
            found = self.processes(*words)
            assert not found, f"it runs: {', '.join(found.values())}"
            time.sleep(0.05)

    def kill_all(self) -> None:
        """Kill servers and commands until no process of this trial is left."""
        deadline = time.monotonic() + END_S
        while (found := self.processes()) and time.monotonic() < deadline:
            for pid in found:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.005)


def runs(*command: str, timeout_ms: int = 600_000) -> str:
    """A directive for the model: a call of the shell tool."""
    return f"call shell {json.dumps({'command': command, 'timeout': timeout_ms})}"


def shell(script: str, **more: int) -> str:
    return runs("sh", "-c", script, **more)


def asleep(seconds: int = 4711) -> str:
    """A command that ends only when it is ended."""
    return runs("sleep", str(seconds))
