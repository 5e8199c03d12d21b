"""The agents that a client can choose, and the trial of an agent. Loop thread.

Agents are looked for with the client's variables, on its PATH. The modules that start programs are imported by the
first trial.
"""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from actors.vocabulary.errors import InvalidInput
from actors.vocabulary.setting_changes import OWN_AGENT
from actors.vocabulary.settings import ReadOnly
from supervisor.agents.environments import CommandEnvironment
from supervisor.config.agent_definitions import definition_of
from supervisor.config.agents_here import agents_here
from supervisor.config.inherited_things import find_inherited
from supervisor.disk.search_paths import writable_folders
from supervisor.engine.engine import Engine
from supervisor.services.client_settings import ClientSettings
from transports import supervisor_requests as ask
from transports.dialect import Client
from transports.supervisor_answers import Agents, AgentTrial

if TYPE_CHECKING:
    from supervisor.work.sandbox.sandbox import Sandbox

AgentRequest = ask.ListAgents | ask.CheckAgent


class AgentServices:
    def __init__(self, engine: Engine, settings: ClientSettings) -> None:
        self._engine = engine
        self._settings = settings
        self._one_trial = asyncio.Lock()  # each may take hundreds of megabytes

    async def carry_out(self, request: AgentRequest, client: Client) -> Agents | AgentTrial:
        match request:
            case ask.ListAgents():
                return await asyncio.to_thread(self._list_agents, client)
            case ask.CheckAgent():
                async with self._one_trial:
                    return await self._try(request, client)

    def _list_agents(self, client: Client) -> Agents:
        env, cwd = self._settings.environ(client), Path(client.cwd or "/")
        return Agents(
            tuple(
                replace(agent, brings=find_inherited(agent.name, env, cwd))
                for agent in agents_here(self._engine.config, env, cwd)
            )
        )

    async def _try(self, request: ask.CheckAgent, client: Client) -> AgentTrial:
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
        return await try_agent(means, definition, request.limit_s)


def _load_trials(sandbox: "Sandbox") -> None:
    """Import the module that starts agents, and find out whether the sandbox works. Blocking."""
    _ = sandbox.availability
