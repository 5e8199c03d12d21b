"""A command-line agent whose model does as the steps say: `python agent_client.py SERVER SECONDS PID_FILE NAME`.

Its request to the model waits until the next step is known, is answered by that call, and the next request has what
its model reads of the answer.
"""

import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path

from tests.judges.agents.model import AgentModel, Step
from tests.judges.agents.wires import Asked
from tests.judges.clients.command_lines import COMMAND_LINES, CommandLine, ours
from tests.judges.clients.steps import told, walk

GONE_S = 5.0  # after Ctrl-C
LOG = "agent.log"

Request = tuple[Asked, "Future[Step]"]


class LedModel(AgentModel):
    """A model whose answers to requests that name our tools are given from the event loop."""

    def __init__(self) -> None:
        super().__init__()
        self.requests: asyncio.Queue[Request] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()

    def answer(self, asked: Asked) -> Step:
        if not ours(asked):
            return super().answer(asked)
        answer: Future[Step] = Future()
        self._loop.call_soon_threadsafe(self.requests.put_nowait, (asked, answer))
        return answer.result()


class Agent:
    """The agent's process, one after the other, and the request that its model has not answered."""

    def __init__(self, program: CommandLine, model: LedModel, home: Path, server: str) -> None:
        self._program, self._model, self._home = program, model, home
        self._process: asyncio.subprocess.Process | None = None
        self._request: Request | None = None
        self._words: Sequence[str] = ()
        self.answers: list[str] = []
        program.prepare(home, model.address, server)

    async def tools(self) -> list[str]:
        asked, _ = await self._asks()
        return list(ours(asked))

    async def say(self, name: str, arguments: dict[str, object]) -> str:
        if self.answers:
            await self._restart_with(self._program.answers[self.answers.pop(0)])
        asked, answer = await self._asks()
        self._request = None
        answer.set_result(Step(tool=ours(asked)[name], arguments=arguments))
        try:
            asked, _ = await self._asks()
        except asyncio.CancelledError:
            await self.interrupt()
            raise
        return [said.text for said in asked.said if not said.by_user][-1]

    async def interrupt(self) -> None:
        """Do what Ctrl-C in a terminal does, and kill what stays."""
        process, self._process, self._request = self._process, None, None
        if process is None:
            return
        os.killpg(process.pid, signal.SIGINT)
        try:
            await asyncio.wait_for(process.wait(), GONE_S)
        except TimeoutError:
            os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
        self._model.requests = asyncio.Queue()  # what it asked for last is nobody's

    async def _restart_with(self, words: Sequence[str]) -> None:
        await self.interrupt()
        self._words = words

    async def _asks(self) -> Request:
        """The request to the model that waits, or the next one."""
        if self._request is None:
            process = self._process = self._process or await self._start()
            request, end = asyncio.ensure_future(self._model.requests.get()), asyncio.ensure_future(process.wait())
            try:
                await asyncio.wait((request, end), return_when=asyncio.FIRST_COMPLETED)
                assert request.done(), f"it has ended: {(self._home / LOG).read_text()[-3000:]}"
                self._request = request.result()
            finally:
                request.cancel()
                end.cancel()
        return self._request

    async def _start(self) -> asyncio.subprocess.Process:
        env = self._program.variables(self._home, self._model.address)
        with (self._home / LOG).open("ab") as log:
            return await asyncio.create_subprocess_exec(
                *map(str, (*self._program.argv, *self._words)),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self._home,
                env={**os.environ, **env},
                process_group=0,
            )


async def main() -> None:
    with LedModel() as model:
        program = COMMAND_LINES[sys.argv[4]]
        agent = Agent(program, model, Path.cwd(), sys.argv[1])
        try:
            told(await walk(agent.tools, agent.say, agent.answers, can=program.answers, patient=True))
        finally:
            await agent.interrupt()


asyncio.run(main())
