"""Third-party agents, put together from the config.

Imported when the first turn with such an agent begins, see late_others.py. Belongs to the loop.
"""

from collections.abc import Callable
from functools import partial

from msgspec import Struct

from actors.messages.conversation import Command, FollowAgent, RecordAgentNews
from actors.messages.orders import RunAgent
from actors.messages.ports import Journal
from actors.vocabulary.budget_raises import Raise
from actors.vocabulary.ids import ConversationId
from actors.vocabulary.settings import Decision, Settings
from supervisor.agents.acp.agent_programs import Children
from supervisor.agents.acp.backend import AcpBackend
from supervisor.agents.acp.catch_up import MissedHistory
from supervisor.agents.acp.client_tools import Tooling, client_capabilities
from supervisor.agents.acp.launching import Launching
from supervisor.agents.acp.message_receiver import News
from supervisor.agents.acp.permissions import Deadline
from supervisor.agents.acp.servers_for_agent import AgentClientServers
from supervisor.agents.acp.session_starter import SessionStarter
from supervisor.agents.client_mcp_servers import GivenServers
from supervisor.agents.environments import CommandEnvironment, Environments
from supervisor.agents.spending.agent_account import AgentAccount
from supervisor.agents.spending.ledger import Ledger
from supervisor.agents.turn import Turn
from supervisor.config.agent_definitions import AgentDefinition, definition_of
from supervisor.config.bounds import Bounds
from supervisor.config.budgets import BudgetsTable
from supervisor.config.budgets_in_force import budgets_for
from supervisor.config.load import LoadedConfig
from supervisor.disk.search_paths import writable_folders
from supervisor.work.processes.processes import Processes
from supervisor.work.sandbox.sandbox import Sandbox


class ThirdPartyAgentsDeps(Struct, frozen=True):
    """The parts of the engine that agents need. `loaded`: the present config; `tell`: sends to a conversation."""

    loaded_config: Callable[[], LoadedConfig]
    journal: Journal
    processes: Processes
    environments: Environments
    sandbox: Sandbox
    ledger: Ledger
    raises: Callable[[], tuple[Raise, ...]]
    tell: Callable[[ConversationId, Command], None]
    client_servers: GivenServers


class ThirdPartyAgents:
    def __init__(self, needs: ThirdPartyAgentsDeps) -> None:
        self._needs = needs
        history = MissedHistory(needs.journal, lambda: self._bounds().agent_seed_bytes)
        given = AgentClientServers(needs.client_servers, history, self._deadline)
        launching = Launching(
            needs.sandbox,
            needs.processes,
            self._client_surroundings,
            self._definition,
            needs.loaded_config,
            given.all_of,
        )
        tooling = self._tooling()
        offers = partial(client_capabilities, tooling)
        starter = SessionStarter(
            needs.processes, launching, self._bounds, self._record, self._follow, history, offers, given
        )
        self.children = Children(self._bounds)
        self.backend = AcpBackend(self.children, starter, self._bounds, self._deadline, tooling, self._account)

    async def aclose(self) -> None:
        await self.children.aclose()

    def _bounds(self) -> Bounds:
        return self._needs.loaded_config().config.greenroom.limits

    def _account(self, turn: Turn) -> AgentAccount:
        return AgentAccount(turn, self._budgets, self._needs.ledger)

    def _budgets(self, settings: Settings) -> BudgetsTable:
        return budgets_for(self._needs.loaded_config(), settings, self._needs.raises())

    def _deadline(self, turn: Turn) -> Deadline:
        """Return the longest time that an approval of the turn waits, and the answer that it gets then."""
        ours = self._needs.loaded_config().with_overrides(turn.order.settings.overrides).config.greenroom
        if ours.approval_default == "abort":
            return Deadline(ours.approval_deadline_seconds, Decision.ABORT)
        return Deadline(ours.approval_deadline_seconds)

    def _tooling(self) -> Tooling:
        """Return the means to serve an agent's tools like our own: the environment of commands, in their sandbox."""
        needs = self._needs

        def surroundings(turn: Turn) -> CommandEnvironment:
            config = needs.loaded_config().with_overrides(turn.order.settings.overrides).config
            return needs.environments.for_commands(turn.order.conversation, config)

        return Tooling(needs.processes, needs.sandbox, surroundings, self._bounds)

    def _client_surroundings(self, order: RunAgent) -> CommandEnvironment:
        """Return the client's whole environment; an agent's program gets a part of it, see acp/variables.py."""
        return self._needs.environments.whole_environment(order.conversation)

    def _definition(self, order: RunAgent, around: CommandEnvironment) -> AgentDefinition:
        config = self._needs.loaded_config().with_overrides(order.settings.overrides).config
        settings = order.settings
        writable = writable_folders(settings.sandbox, settings.cwd, around.env)
        return definition_of(settings.agent, config, around.env, writable)

    def _record(self, conversation: ConversationId, news: tuple[News, ...]) -> None:
        self._needs.tell(conversation, RecordAgentNews(news))

    def _follow(self, conversation: ConversationId) -> None:
        self._needs.tell(conversation, FollowAgent())
