"""Our own agent, put together from the config: models, tools, histories.

Imported when the first conversation comes alive, see engine/late.py, in a worker thread. Belongs to the loop.
"""

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from actors.messages.orders import RunAgent
from actors.messages.ports import Journal
from actors.vocabulary.budget_raises import Raise
from actors.vocabulary.events import JobEnded
from actors.vocabulary.ids import ConversationId, TurnId
from actors.vocabulary.settings import Decision, Settings
from supervisor.agents.client_mcp_servers import GivenServers
from supervisor.agents.environments import CommandEnvironment, Environments
from supervisor.agents.own.backends.model import ModelBackend, ModelOptions
from supervisor.agents.own.context.keeper import CompactAt
from supervisor.agents.own.mcp_client.client_servers import ServersForTurns
from supervisor.agents.own.mcp_client.connections import ServerConnections
from supervisor.agents.own.mcp_client.tools import ServerTools
from supervisor.agents.own.model.client import ModelClient
from supervisor.agents.own.model_choice import Models
from supervisor.agents.own.tools.job_tool import ends_to_tell
from supervisor.agents.own.tools.own_tools import own_tools
from supervisor.agents.own.tools.toolbox import Toolbox
from supervisor.agents.own.transcript.transcripts import TranscriptCache
from supervisor.agents.spending.account import Account
from supervisor.agents.spending.ledger import Ledger
from supervisor.agents.turn import Turn
from supervisor.config.budgets import BudgetsTable
from supervisor.config.budgets_in_force import budgets_for
from supervisor.config.load import LoadedConfig
from supervisor.config.mcp_servers import McpServer
from supervisor.disk.search_paths import drop_writable_entries, writable_folders
from supervisor.work.jobs.jobs import BackgroundJobs, end_event
from supervisor.work.processes.processes import Processes
from supervisor.work.sandbox.sandbox import Sandbox

if TYPE_CHECKING:
    import httpx

DEFAULTS: dict[str, Literal[Decision.DENIED, Decision.ABORT]] = {"denied": Decision.DENIED, "abort": Decision.ABORT}


class OwnAgentDeps(Struct, frozen=True):
    """The parts of the engine that the agent needs. `loaded`: the present config; `environ`: the daemon's own."""

    loaded_config: Callable[[], LoadedConfig]
    home: Path
    environ: Mapping[str, str]
    journal: Journal
    processes: Processes
    sandbox: Sandbox
    environments: Environments
    client_servers: GivenServers
    job_ended: Callable[[ConversationId, JobEnded], None]
    ledger: Ledger
    raises: Callable[[], tuple[Raise, ...]]


class OwnAgent:
    """A Backend: that of the present config."""

    resumable = True

    def __init__(self, needs: OwnAgentDeps) -> None:
        self._needs = needs
        bounds = needs.loaded_config().config.greenroom.limits
        self._client = ModelClient(bounds=bounds)
        self._models = Models(self._client, needs.loaded_config, needs.environments.variables_of, needs.environ)
        self.transcripts = TranscriptCache(needs.journal, bounds)
        self._server_tools = ServerTools(
            ServerConnections(needs.processes, bounds.frame_bytes),
            self._servers,
            self._server_surroundings,
            ServersForTurns(needs.client_servers, needs.sandbox),
        )
        self.jobs = BackgroundJobs(
            needs.processes, lambda job: needs.job_ended(job.spec.conversation, end_event(job)), bounds
        )
        self.backend = self._make_backend()

    def prepare(self) -> "asyncio.Task[httpx.AsyncClient] | None":
        """Begin the work that the first turn would otherwise wait for. On the loop."""
        return self._models.prepare()

    def reload(self) -> None:
        """Use the present config from the next turn on."""
        self.jobs.bounds = self._needs.loaded_config().config.greenroom.limits
        self._needs.ledger.forget_uncounted()
        self.backend = self._make_backend()

    async def run(self, turn: Turn) -> str | None:
        return await self.backend.run(turn)

    def forget(self, conversation: ConversationId) -> None:
        self.backend.forget(conversation)

    def hurry(self, turn: TurnId) -> None:
        """Do nothing: only commands have a grace here, and they are the runner's."""

    def rest(self, conversation: ConversationId) -> None:
        """Give back memory and MCP servers of this conversation alone, which its next turn can make again."""
        self.forget(conversation)
        self._server_tools.end_of(conversation)

    async def end_jobs(self, conversation: ConversationId) -> None:
        """End the background commands and the MCP servers of a conversation."""
        self._server_tools.end_of(conversation)
        await self.jobs.end_of(conversation)

    def erase(self, conversation: ConversationId) -> None:
        """Forget a deleted conversation, with the output of its background commands."""
        self.rest(conversation)
        self.jobs.forget(conversation)

    async def aclose(self) -> None:
        await self._models.aclose()
        await asyncio.gather(self._server_tools.close(), self.jobs.aclose())
        await self._client.aclose()

    def _make_backend(self) -> ModelBackend:
        needs, config = self._needs, self._needs.loaded_config().config
        options = ModelOptions(
            home=needs.home,
            hidden=needs.sandbox.protection.hidden,
            guide_bytes=config.project_doc_max_bytes,
            skills_bytes=config.greenroom.limits.skills_bytes if config.greenroom.skills else 0,
            show_raw_reasoning=config.show_raw_agent_reasoning,
            hide_reasoning=config.hide_agent_reasoning,
            store_responses=not config.disable_response_storage,
            approval_deadline_s=config.greenroom.approval_deadline_seconds,
            compact_at=CompactAt(config.greenroom.compact_at_percent / 100, config.model_auto_compact_token_limit),
            approval_default=DEFAULTS[config.greenroom.approval_default],
        )
        disabled = (*config.greenroom.disabled_tools, *(() if config.tools.view_image else ("view_image",)))
        tools = own_tools(needs.processes, needs.sandbox, self.jobs, config.greenroom.limits)
        news = lambda work: ends_to_tell(self.jobs, work)  # noqa: E731  # short, and used once
        toolbox = Toolbox(tools, news, self._server_tools).without_tools(disabled)
        return ModelBackend(
            self._models,
            self.transcripts,
            toolbox,
            options,
            self._command_surroundings,
            config.greenroom.limits,
            self._account,
        )

    def _account(self, turn: Turn) -> Account:
        return Account(turn, self._budgets, self._needs.ledger)

    def _budgets(self, settings: Settings) -> BudgetsTable:
        return budgets_for(self._needs.loaded_config(), settings, self._needs.raises())

    def _command_surroundings(self, order: RunAgent) -> CommandEnvironment:
        """Surroundings of commands by the present config, with the conversation's own overrides."""
        config = self._needs.loaded_config().with_overrides(order.settings.overrides).config
        return self._needs.environments.for_commands(order.conversation, config)

    def _servers(self, settings: Settings) -> Mapping[str, McpServer]:
        return self._needs.loaded_config().with_overrides(settings.overrides).config.mcp_servers

    def _server_surroundings(self, conversation: ConversationId, settings: Settings) -> CommandEnvironment:
        """The client's whole environment, of which a server gets a part. Search paths leave out writable roots."""
        client = self._needs.environments.whole_environment(conversation)
        return CommandEnvironment(
            drop_writable_entries(client.env, writable_folders(settings.sandbox, settings.cwd, client.env)),
            client.umask,
        )
