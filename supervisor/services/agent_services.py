"""The agents that a client can choose, and the trial of an agent. Loop thread.

Agents are looked for with the client's variables, on its PATH. The modules that start programs are imported by the
first trial.
"""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import asdict

from actors.vocabulary.errors import InvalidInput
from actors.vocabulary.setting_changes import OWN_AGENT
from actors.vocabulary.settings import ReadOnly
from supervisor.agents.environments import CommandEnvironment
from supervisor.config.agent_definitions import definition_of
from supervisor.config.agents_here import agents_here, next_step
from supervisor.config.inherited_things import find_inherited
from supervisor.disk.search_paths import writable_folders
from supervisor.engine.engine import Engine
from supervisor.services.client_settings import ClientSettings
from transports import supervisor_requests as ask
from transports.dialect import Client

if TYPE_CHECKING:
    from supervisor.work.sandbox.sandbox import Sandbox

AgentRequest = ask.ListAgents | ask.CheckAgent


class AgentServices:
    def __init__(self, engine: Engine, settings: ClientSettings) -> None:
        self._engine = engine
        self._settings = settings
        self._one_trial = asyncio.Lock()  # each may take hundreds of megabytes

    async def carry_out(self, request: AgentRequest, client: Client) -> ask.PlainAnswer:
        match request:
            case ask.ListAgents():
                return ask.PlainAnswer({"agents": await asyncio.to_thread(self._rows, client)})
            case ask.CheckAgent():
                async with self._one_trial:
                    return ask.PlainAnswer(await self._try(request, client))

    def _rows(self, client: Client) -> list[dict[str, Any]]:
        env = self._settings.environ(client)
        return [
            {
                **asdict(agent),
                "next": next_step(agent),
                "brings": [thing._asdict() for thing in find_inherited(agent.name, env, Path(client.cwd or "/"))],
            }
            for agent in agents_here(self._engine.config, env, Path(client.cwd or "/"))
        ]

    async def _try(self, request: ask.CheckAgent, client: Client) -> dict[str, Any]:
        if request.agent == OWN_AGENT:
            raise InvalidInput("agent: Greenroom's own runs in the daemon; there is nothing to start")
        config = self._engine.config
        around = CommandEnvironment.of_client(self._settings.environ(client), client.umask)
        writable = writable_folders(ReadOnly(), Path(client.cwd or "/"), around.env)
        definition = await asyncio.to_thread(definition_of, request.agent, config, around.env, writable)
        sandbox = await asyncio.to_thread(self._engine.sandbox.get)
        await asyncio.to_thread(_load_trials, sandbox)
        from supervisor.agents.acp.trial import TrialMeans, try_agent

        means = TrialMeans(self._engine.processes, sandbox, config, around)
        result = await try_agent(means, definition, request.limit_s)
        return {"agent": request.agent, "state": result.state, **asdict(result)}


def _load_trials(sandbox: "Sandbox") -> None:
    """Import the module that starts agents, and find out whether the sandbox works. Blocking."""
    _ = sandbox.availability
