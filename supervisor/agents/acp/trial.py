"""Tries a third-party agent: starts its program as for a conversation, asks for its capabilities, and ends its tree.

It gets no prompt, and nothing of it is kept: it works in an empty directory, in the sandbox that a conversation there
would have. Loop thread.
"""

import asyncio
import itertools
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractContextManager, asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import Struct
from msgspec.structs import replace

from actors.vocabulary.agent_description import MODE, MODEL
from actors.vocabulary.ids import ConversationId, TurnId
from actors.vocabulary.settings import SandboxMode, Settings
from supervisor.agents.acp.agent_process import AgentProcess, Launch
from supervisor.agents.acp.confinement import confine_agent, variables_of
from supervisor.agents.acp.failures import AgentFailed, LoginWanted
from supervisor.agents.acp.json_readers import shape, shapes, short
from supervisor.agents.acp.latest_news import LatestNews
from supervisor.agents.acp.peer import RequestHandler
from supervisor.agents.acp.session_start import NEW
from supervisor.agents.acp.wire import Json
from supervisor.agents.environments import CommandEnvironment
from supervisor.config.agent_definitions import AgentDefinition
from supervisor.config.new_settings import sandbox_policy
from supervisor.config.whole_config import Config
from supervisor.disk.pins import pins_of
from supervisor.disk.workspace import client_tmpdir
from supervisor.loop.threaded_contexts import in_a_thread
from supervisor.work.processes.command import Command
from supervisor.work.processes.processes import Processes
from supervisor.work.sandbox.order import ConfinedCommand
from supervisor.work.sandbox.sandbox import Sandbox
from transports.supervisor_answers import AgentTrial

TRIAL = ConversationId("trial")
LOGINS = 20  # ways to log in that are listed
NAME = 200  # characters of such a way

_numbers = itertools.count(1)


class TrialMeans(Struct, frozen=True):
    """The means to start a program: parts of the engine, and the variables of the client that asks."""

    processes: Processes
    sandbox: Sandbox
    config: Config
    around: CommandEnvironment


async def try_agent(place: TrialMeans, definition: AgentDefinition, limit_s: float) -> AgentTrial:
    """Try an agent, for `limit_s` at most. Its whole tree is gone when this returns."""
    folder = await asyncio.to_thread(TemporaryDirectory, prefix="greenroom-", ignore_cleanup_errors=True)
    try:
        return await _try_in(place, definition, Path(folder.name), limit_s)
    finally:
        await asyncio.shield(asyncio.to_thread(folder.cleanup))


async def _try_in(place: TrialMeans, definition: AgentDefinition, folder: Path, limit_s: float) -> AgentTrial:
    owner = TurnId(f"trial-{definition.name}-{next(_numbers)}")
    limits = place.config.greenroom.limits
    process = AgentProcess(
        TRIAL, definition, owner, place.processes, _launch(place, definition, folder), limits, _Nobody()
    )
    began, trial = time.monotonic(), AgentTrial(definition.name)
    try:
        async with asyncio.timeout(limit_s):
            await process.start({})  # a trial serves nothing
            trial = _of_greeting(process, time.monotonic() - began)
            return _with_session(trial, await process.peer.request(NEW, {"cwd": str(folder), "mcpServers": []}))
    except TimeoutError:
        return replace(trial, state="failed", wrong=f"it did not answer within {limit_s:g} s")
    except LoginWanted as error:
        return replace(trial, state="no login", wrong=error.agent_message, needs_login=True)
    except AgentFailed as error:
        return replace(trial, state="failed", wrong=str(error))
    finally:
        await asyncio.shield(process.end())


def _launch(place: TrialMeans, definition: AgentDefinition, folder: Path) -> Launch:
    """Return the launch of the agent in the sandbox of a conversation in this folder."""
    config, env = place.config, place.around.env
    policy = sandbox_policy(config.sandbox_mode or SandboxMode.WORKSPACE_WRITE, config)
    settings = Settings(
        model="", cwd=folder, sandbox=policy, approval_policy=config.approval_policy, agent=definition.name
    )

    given = variables_of(definition, settings, config, env)

    def confine() -> AbstractContextManager[ConfinedCommand]:
        pins = pins_of(policy, folder, client_tmpdir(env))
        return confine_agent(place.sandbox, settings, definition, given, pins)

    @asynccontextmanager
    async def launch(owner: TurnId) -> AsyncIterator[Command]:
        async with in_a_thread(confine, leave_there=True) as inside:
            yield inside.command(TRIAL, owner, None, place.around.umask)

    return launch


class _Nobody:
    """A receiver that ignores all messages and serves no request."""

    async def take_notification(self, method: str, params: Json) -> bool:  # noqa: ARG002  # as the protocol has it
        return True

    def handler_for(self, method: str) -> RequestHandler | None:  # noqa: ARG002  # as the protocol has it
        return None


def _of_greeting(process: AgentProcess, took_s: float) -> AgentTrial:
    ways = shapes(process.initialize_answer.get("authMethods"), LOGINS)
    return AgentTrial(
        process.definition.name,
        program=process.program,
        took_s=round(took_s, 3),
        can=process.capabilities.names,
        logins=tuple(filter(None, (short(way.get("name"), NAME) for way in ways))),
    )


def _with_session(trial: AgentTrial, answer: object) -> AgentTrial:
    news = LatestNews("")
    for _ in news.initial_news(shape(answer)):
        """Its options are read below."""
    offered: Mapping[str, tuple[str, ...]] = {
        option.category: tuple(choice.value for choice in option.choices) for option in reversed(news.options)
    }
    return replace(
        trial,
        modes=offered.get(MODE, ()),
        models=offered.get(MODEL, ()),
        options=tuple(option.id for option in news.options),
    )
