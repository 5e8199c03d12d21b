"""The setting of a scenario: a home whose config names a scripted model, and bridges to the daemon they start."""

import os
import signal
import time
from pathlib import Path
from typing import Any

from tests.support.control_client import ControlClient
from tests.support.home import Home
from tests.support.mcp_client import McpClient
from tests.support.model_server import ModelServer, Received

GONE_S = 10.0  # until a daemon that was told to stop, or was killed, is no more
POLICY_A = ("--approval", "never", "--sandbox", "danger-full-access")
# Without a sandbox there is no inside, so a yes is all that a command needs; see test_asking_again for the others.
POLICY_B = ("--approval", "untrusted", "--sandbox", "danger-full-access")

WIRE = os.environ.get("TEST_WIRE", "chat")  # of the scripted model; `make wires` tries them all
CONFIG = """
model = "mock-model"
model_provider = "mock_provider"

[model_providers.mock_provider]
name = "Mock provider for test"
base_url = "{base_url}"
wire_api = "{wire}"
request_max_retries = 0
stream_max_retries = 0

[greenroom.mcp]
"""


class Stage:
    def __init__(self, base: Path, model: ModelServer, *mcp: str) -> None:
        """`mcp`: lines of the table [greenroom.mcp]."""
        config = CONFIG.format(base_url=model.base_url, wire=WIRE) + "\n".join(mcp)
        self.home = Home(base / "home", config, env={"HOME": str(base)})
        self.model = model
        self.bridges = 0

    def bridge(self, *arguments: str, **more: Any) -> McpClient:
        """A bridge, started as an editor does it."""
        self.bridges += 1
        return McpClient(self.home.env, *arguments, **more)

    def daemon_pid(self) -> int:
        return int(Path(self.home.paths.pid_file).read_text())

    def kill_daemon(self) -> int:
        """Kill the daemon without warning, as a kernel short of memory does."""
        return _end(self.daemon_pid(), signal.SIGKILL)

    def close(self) -> None:
        if Path(self.home.paths.pid_file).exists():
            try:
                _end(self.daemon_pid(), signal.SIGTERM)
            except ProcessLookupError:
                return  # killed by its test
        faults = [line for line in self.home.log if line["level"] in {"error", "critical"}]
        assert not faults, faults

    def control(self) -> ControlClient:
        return self.home.client()

    def asked(self, *words: str) -> list[Received]:
        """The requests to the model that have these words in them, in order."""
        return [one for one in self.model.requests if all(word in str(one.body) for word in words)]


def _end(pid: int, signum: signal.Signals) -> int:
    os.kill(pid, signum)
    deadline = time.monotonic() + GONE_S
    while is_running(pid):
        assert time.monotonic() < deadline, f"daemon {pid} did not go"
        time.sleep(0.005)
    return pid


def is_running(pid: int) -> bool:
    """Whether the process runs; a zombie does not, whoever its parent is."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
