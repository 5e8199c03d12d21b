"""The setting of one promise's trial: a fresh home, a scripted model, and the agents that were started there.

Everything that an agent has started is found by the home; at the end of the trial each is ended by its id.
"""

import os
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Self

from tests.judges.acp_promises import processes
from tests.judges.acp_promises.candidate import Candidate
from tests.judges.acp_promises.client import WAIT_S, Client
from tests.judges.agents.model import AgentModel
from tests.judges.promise import BesideThePoint

KEPT = ("PATH", "LANG", "TMPDIR", "RUN_OF_TESTS")  # of our environment: an agent finds nothing of the person's
# Some agents make no home in the directory for temporary files. Short: a socket may lie in it.
PLACE = Path("/var/tmp") if Path("/var/tmp").is_dir() else None
HAIR_S = 1.0  # what has been killed is gone after that, also on a busy machine


class Trial:
    def __init__(self, candidate: Candidate) -> None:
        self.candidate = candidate
        self.home = Path(tempfile.mkdtemp(prefix="acp-", dir=PLACE))
        self.work = self.home / "work"
        self.model = AgentModel()
        self._clients: list[Client] = []

    def __enter__(self) -> Self:
        self.work.mkdir()
        self.model.__enter__()
        self.candidate.prepare(self.home, self.model.address)
        return self

    def __exit__(self, *_: object) -> None:
        for client in self._clients:
            client.process.kill()
        processes.kill_all(self.home)
        for client in self._clients:
            client.let_go()
        self.model.__exit__()
        shutil.rmtree(self.home, ignore_errors=True)

    def agent(self, *, hello: bool = True) -> Client:
        """Start the agent, and greet it."""
        kept = {name: os.environ[name] for name in KEPT if name in os.environ}
        env = {**kept, "HOME": str(self.home), **self.candidate.variables(self.home, self.model.address)}
        client = Client(self.candidate.argv, env, self.work, self.home / "stderr")
        self._clients.append(client)
        if hello:
            client.initialize()
        return client

    def offering(self, *names: str) -> Client:
        """Start an agent of which one of these is needed."""
        client = self.agent()
        if not any(client.can(name) for name in names):
            raise BesideThePoint(f"it does not offer {' or '.join(names)}")
        return client

    def reopened(self, client: Client, session: str) -> None:
        """Resume or load a session, by what the agent offers."""
        method = next((f"session/{name}" for name in ("resume", "load") if client.can(name)), None)
        if method is None:
            raise BesideThePoint("it offers neither load nor resume")
        client.result(method, {"sessionId": session, "cwd": str(self.work), "mcpServers": []}, limit_s=60.0)

    def careful(self, client: Client) -> str:
        """A session in which the agent asks a person."""
        session = client.new(self.work)
        if self.candidate.mode:
            client.result("session/set_mode", {"sessionId": session, "modeId": self.candidate.mode})
        return session

    def asks(self, command: str) -> str:
        """A prompt at which the agent asks a person whether it may run this."""
        return f"@@{self.candidate.asks} {command}"

    # --- what runs ----------------------------------------------------------------------------------------------

    def running(self, *words: str) -> dict[int, str]:
        return processes.of_home(self.home, *words)

    def services(self) -> list[int]:
        """The processes to which the agent is only a way, if it is a proxy."""
        return list(self.running(self.candidate.service)) if self.candidate.service else []

    def behind(self, client: Client) -> list[int]:
        """The processes behind the agent and its service, without these."""
        services = self.services()
        tops = [client.process.pid, *services]
        return [pid for pid in self.running() if pid not in tops and processes.descends(pid, tops)]

    def wait_for(self, *commands: str) -> None:
        """Wait for the commands themselves, not for a shell that has them among its words."""

        def are_there() -> bool:
            lines = self.running(*commands).values()
            return all(any(line.startswith(command) for line in lines) for command in commands)

        self.until(are_there, f"{commands} was not started", WAIT_S)

    def assert_gone(self, *words: str, within_s: float = HAIR_S) -> None:
        def are_gone() -> bool:
            return not self.running(*words)

        self.until(are_gone, lambda: f"it runs on: {', '.join(self.running(*words).values())}", within_s)

    def until(self, condition: Callable[[], bool], otherwise: str | Callable[[], str], limit_s: float) -> None:
        """Poll for a state that no message tells, like that of other processes."""
        deadline = time.monotonic() + limit_s
        while not condition():
            if time.monotonic() > deadline:
                raise AssertionError(otherwise if isinstance(otherwise, str) else otherwise())
            time.sleep(0.02)

    def stays(self, condition: Callable[[], bool], otherwise: str, for_s: float) -> None:
        """Assert that something is so, now and for a while."""
        deadline = time.monotonic() + for_s
        while time.monotonic() < deadline:
            assert condition(), otherwise
            time.sleep(0.05)
