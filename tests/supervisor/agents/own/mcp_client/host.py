"""A connection's host for tests: real processes, the scripted server, and a caller that writes down what it hears."""

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from supervisor.agents.environments import CommandEnvironment
from supervisor.agents.own.mcp_client.connection import ServerConnection
from supervisor.agents.own.mcp_client.connections import ServerConnections
from supervisor.config.mcp_servers import McpServer
from supervisor.work.processes.processes import Processes

SCRIPTED = Path(__file__).parents[4] / "support" / "scripted_mcp_server.py"
LONGEST = 4 << 20
WHOLE_S = 20.0  # of a test


class Listening:
    def __init__(self, conversation: str = "one") -> None:
        self.conversation = conversation
        self.notices: list[str] = []
        self.steps: list[tuple[float, float | None, str | None]] = []
        self.questions: list[dict[str, Any]] = []
        self.answer: dict[str, Any] = {"action": "accept", "content": {"colour": "red"}}
        self.asked = asyncio.Event()
        self.gate = asyncio.Event()
        self.gate.set()

    async def report_progress(self, progress: float, total: float | None, message: str | None) -> None:
        self.steps.append((progress, total, message))

    async def elicit(self, params: dict[str, Any]) -> dict[str, Any]:
        self.questions.append(params)
        self.asked.set()
        await self.gate.wait()
        return self.answer

    def show_notice(self, notice: str) -> None:
        self.notices.append(notice)


class Host:
    def __init__(self, processes: Processes, connections: ServerConnections) -> None:
        self.processes = processes
        self.connections = connections

    def scripted(
        self, *modes: str, env: dict[str, str] | None = None, name: str = "s", **more: Any
    ) -> ServerConnection:
        server = McpServer(command=sys.executable, args=(str(SCRIPTED), *modes), **more)
        return self.connections.connection_to(name, server, CommandEnvironment(env or {"PATH": "/usr/bin:/bin"}))


@asynccontextmanager
async def host(tmp_path: Path, idle_s: float = 300.0) -> AsyncIterator[Host]:
    async with Processes(tmp_path / "ledger", "instance", 0.2) as processes:
        connections = ServerConnections(processes, LONGEST, idle_s)
        try:
            yield Host(processes, connections)
        finally:
            await connections.close()
            assert processes.statistics()["running"] == 0


def within(work: Callable[[], Awaitable[None]]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(WHOLE_S):
            await work()

    asyncio.run(bounded())


def text_of(result: dict[str, Any]) -> str:
    return str(result["content"][0]["text"])
