"""The agent's own cost above a model: CPU per streamed delta, time per turn, memory of an idle engine.

Next to each figure is its floor from the same run: the HTTP library reading the same bytes from the same server, and
the bare model client with the same request. The server is a process of its own. Run: python bench/agent.py [DELTAS]
"""

import asyncio
import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # for `python bench/agent.py`

from actors.messages.orders import (  # noqa: E402
    AgentOutput,
    AllStored,
    GiveInput,
    InputWanted,
    PendingInput,
    RunAgent,
    StorageAwaited,
    TakeMore,
    TurnEnded,
)
from actors.vocabulary.answers import TurnResult  # noqa: E402  # behind the line that finds them
from actors.vocabulary.ids import ConversationId, InputId, TurnId  # noqa: E402
from actors.vocabulary.items import TextItem  # noqa: E402
from actors.vocabulary.settings import BusyPolicy, Settings  # noqa: E402
from bench.model import SHAPES, cpu, floor, server  # noqa: E402
from supervisor.agents.environments import CommandEnvironment  # noqa: E402
from supervisor.agents.own.backends.model import ModelBackend, ModelOptions  # noqa: E402
from supervisor.agents.own.backends.openai import OpenAiModel  # noqa: E402
from supervisor.agents.own.backends.ports import Model  # noqa: E402
from supervisor.agents.own.model.client import ModelClient, build_http  # noqa: E402
from supervisor.agents.own.model.endpoint import Endpoint  # noqa: E402
from supervisor.agents.own.model.request import ModelRequest, text_message  # noqa: E402
from supervisor.agents.own.model.stream_events import StreamEvent  # noqa: E402
from supervisor.agents.own.tools.own_tools import own_tools  # noqa: E402
from supervisor.agents.own.tools.toolbox import Toolbox  # noqa: E402
from supervisor.agents.own.transcript.transcripts import TranscriptCache  # noqa: E402
from supervisor.config.shared_keys import WireApi  # noqa: E402
from supervisor.engine.runner import Runner  # noqa: E402
from supervisor.work.jobs.jobs import BackgroundJobs  # noqa: E402
from supervisor.work.processes.processes import Processes  # noqa: E402
from supervisor.work.sandbox.sandbox import Sandbox  # noqa: E402
from tests.fakes.journal import FakeJournal  # noqa: E402
from tests.support.engine_harness import EngineHarness, provider  # noqa: E402

TARGET_US = 15.0  # CPU per delta, from HTTP chunk to AgentOutput
TARGET_MS = 3.0  # added by the engine to a one-word turn, at the median
TURNS = 300
CONVERSATION = ConversationId("bench")
IDLE = """
import sys, tempfile
from pathlib import Path
def rss():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024
bare = rss()
from tests.support.engine_harness import EngineHarness
with tempfile.TemporaryDirectory() as home, EngineHarness(Path(home), 'model_provider = "demo"') as harness:
    started = rss()
    harness.talk(provider="demo").ask("say hello")
    print(f"{bare:.1f} {started:.1f} {rss():.1f}")
"""


class Taker:
    """A session that takes every batch as soon as it can, but never inside the call that tells it."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self._loop = asyncio.get_running_loop()
        self.batches = 0
        self.ended = asyncio.get_running_loop().create_future()

    def tell(self, message: object) -> None:
        match message:
            case AgentOutput(turn, batch):
                self.batches += 1
                self._loop.call_soon(self._runner.order, TakeMore(turn), self)
                if any(isinstance(news, InputWanted) for news in batch):
                    self._runner.order(GiveInput(turn, ()), self)
                if any(isinstance(news, StorageAwaited) for news in batch):
                    self._runner.order(AllStored(turn, 1), self)
            case TurnEnded():
                self.ended.set_result(message.outcome)
            case _:
                pass


class OneModel:
    def __init__(self, model: Model) -> None:
        self._model = model

    def model_for(self, _: ConversationId, __: Settings) -> Model:
        return self._model

    def forget(self, _: ConversationId) -> None:
        return None

    def notice(self, _: ConversationId, __: Settings) -> None:
        return None


@contextlib.asynccontextmanager
async def agent(home: Path, model: Model) -> AsyncIterator[Runner]:
    """The whole agent without the actors."""
    async with Processes(home / "ledger", "bench") as processes:
        sandbox = Sandbox()
        toolbox = Toolbox(own_tools(processes, sandbox, BackgroundJobs(processes, lambda _: None)))
        transcripts = TranscriptCache(FakeJournal())
        backend = ModelBackend(
            OneModel(model), transcripts, toolbox, ModelOptions(home), lambda _: CommandEnvironment({})
        )
        yield Runner(asyncio.get_running_loop(), processes, lambda _: backend)


async def turn(runner: Runner, prompt: str) -> None:
    taker = Taker(runner)
    asked = PendingInput(InputId("i"), (TextItem(text=prompt),), BusyPolicy.STEER)
    settings = Settings(model="mock-model", cwd=Path("/"))
    runner.order(RunAgent(CONVERSATION, TurnId("t"), settings, 1, inputs=(asked,), first=True), taker)
    await taker.ended


async def deltas(base_url: str, count: int, home: Path) -> None:
    print(f"{'us CPU per delta, best of 3':42} {'floor':>7} {'whole':>7} {'ours':>7}")
    async with ModelClient() as client, await asyncio.to_thread(build_http) as http:
        for wire in WireApi:
            endpoint = Endpoint(base_url, wire)
            async with agent(home, OpenAiModel(client, endpoint)) as runner:
                for name, shape in SHAPES.items():
                    prompt = f"{shape} stream {count}"
                    request = ModelRequest("mock-model", "bench", (text_message("user", prompt),))
                    await floor(http, endpoint, request)  # has the server build its answer
                    bottom = await cpu(partial(floor, http, endpoint, request), count)
                    whole = await cpu(partial(turn, runner, prompt), count)
                    verdict = "" if whole - bottom <= TARGET_US else f"  OVER {TARGET_US}"
                    print(f"{f'{wire.value}, {name}':42} {bottom:7.1f} {whole:7.1f} {whole - bottom:7.1f}{verdict}")


async def bare_model(base_url: str) -> list[float]:
    """Milliseconds of one-word answers, asked by the model client alone."""

    async def ignore(_: Sequence[StreamEvent]) -> None:
        pass

    took = []
    async with ModelClient() as client:
        endpoint, request = (
            Endpoint(base_url),
            ModelRequest("mock-model", "bench", (text_message("user", "say hello"),)),
        )
        for _ in range(TURNS):
            began = time.perf_counter()
            await client.attempt(endpoint, request, ignore)
            took.append((time.perf_counter() - began) * 1000)
    return took


def whole_turns(base_url: str, home: Path) -> list[float]:
    """Milliseconds of the same as turns of an engine with a journal on this disk, from send to answer."""
    took = []
    with EngineHarness(home, provider(base_url)) as harness:
        for number in range(TURNS):
            if number % 20 == 0:  # or the request, which holds the whole history, becomes the measure
                conversation = harness.talk()
            began = time.perf_counter()
            harness.answer(conversation.start("say hello"), TurnResult)
            took.append((time.perf_counter() - began) * 1000)
    return took


def commits(home: Path) -> list[float]:
    """Times of durable commits on this disk, in ms."""
    took = []
    with (home / "probe").open("wb", buffering=0) as file:
        for _ in range(TURNS):
            began = time.perf_counter()
            file.write(b"x" * 4096)
            os.fdatasync(file.fileno())
            took.append((time.perf_counter() - began) * 1000)
    return took


def row(name: str, took: list[float]) -> tuple[float, float]:
    ordered = sorted(took)
    p50, p99 = ordered[len(ordered) // 2], ordered[len(ordered) * 99 // 100]
    print(f"{name:42} {p50:7.2f} {p99:7.2f}")
    return p50, p99


def turns(base_url: str, home: Path) -> None:
    print(f"\n{'ms per one-word turn':42} {'p50':>7} {'p99':>7}")
    bottom, _ = row("the model client alone", asyncio.run(bare_model(base_url)))
    row("a synced write to this disk", commits(home))
    whole, _ = row("a turn of the engine", whole_turns(base_url, home))
    verdict = "" if whole - bottom <= TARGET_MS else f"  OVER {TARGET_MS}"
    print(f"{'what the engine adds, p50':42} {whole - bottom:7.2f}{verdict}")


def memory() -> None:
    command = [sys.executable, "-c", IDLE]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    print(f"\n{'MiB resident':42} {'bare':>7} {'started':>7} {'1 turn':>7}")
    print(f"{'an idle engine':42} {told[0]:>7} {told[1]:>7} {told[2]:>7}")


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    with server() as base_url, tempfile.TemporaryDirectory() as home:
        asyncio.run(deltas(base_url, count, Path(home)))
        turns(base_url, Path(home))
    if Path("/proc/self/status").exists():
        memory()


if __name__ == "__main__":
    main()
