"""The backend of third-party agents: each turn gets a program, a session in it, and an AgentTurn. Loop thread.

`ThirdPartyAgents.run` reads in the order of time: a place, the session that goes on there or a new one, the turn.
Imported when the first turn with such an agent begins.
"""

import asyncio
import itertools
import time
from collections.abc import Callable, Iterable
from secrets import token_hex

from msgspec import Struct

from actors.messages.conversation import Command, FollowAgent, RecordAgentNews
from actors.messages.orders import KnownSession
from actors.messages.ports import Journal
from actors.vocabulary import events as ev
from actors.vocabulary.agent_events import AgentSession
from actors.vocabulary.budget_raises import Raise
from actors.vocabulary.ids import ConversationId, TurnId, approval_in
from actors.vocabulary.settings import Decision, Settings, Task
from supervisor.agents.acp.agent_process import AgentProcess
from supervisor.agents.acp.agent_programs import AgentPlace, AgentPrograms
from supervisor.agents.acp.agent_turn import AgentTurn
from supervisor.agents.acp.catch_up import CatchUp, MissedHistory
from supervisor.agents.acp.client_tools import Tooling, client_capabilities
from supervisor.agents.acp.confinement import is_confined
from supervisor.agents.acp.failures import AgentFailed, GoneBeforePrompt
from supervisor.agents.acp.latest_news import News
from supervisor.agents.acp.launching import LaunchInputs, ProgramLaunch
from supervisor.agents.acp.permissions import Deadline
from supervisor.agents.acp.session import AcpSession, BetweenTurns, MessageReceiver
from supervisor.agents.acp.session_start import (
    EndedMeanwhile,
    SessionNotStarted,
    StartedSession,
    session_params,
    start_session,
    unknown_kind,
)
from supervisor.agents.acp.updates import Updates
from supervisor.agents.client_mcp_servers import ConversationServers, GivenServers
from supervisor.agents.client_server_rules import (
    ProgramPlace,
    QuestionContext,
    left_out_notice,
    may_start,
    place_of_program,
    settle,
    usable_servers,
)
from supervisor.agents.environments import CommandEnvironment, Environments
from supervisor.agents.spending.agent_account import AgentAccount
from supervisor.agents.spending.ledger import Ledger
from supervisor.agents.turn import ApprovalAnswer, Turn
from supervisor.config.agent_definitions import AgentDefinition
from supervisor.config.bounds import Bounds
from supervisor.config.budgets import BudgetsTable
from supervisor.config.budgets_in_force import budgets_for
from supervisor.config.load import LoadedConfig
from supervisor.work.processes.processes import Processes
from supervisor.work.sandbox.sandbox import Sandbox
from transports.supervisor_requests import GivenServer

NOT_CONFINED = "nothing confines the agent, and the approval policy is never"


class ThirdPartyAgentsDeps(Struct, frozen=True):
    """The parts of the engine that agents need. `loaded_config`: that of now; `tell`: sends to a conversation."""

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
    """A Backend. `programs` are those that run, or rest between turns."""

    resumable = True

    def __init__(self, needs: ThirdPartyAgentsDeps) -> None:
        self._needs = needs
        self._history = MissedHistory(needs.journal, lambda: self._bounds().agent_seed_bytes)
        self._tooling = Tooling(needs.processes, needs.sandbox, self._command_environment, self._bounds)
        self._turns: dict[TurnId, AgentTurn] = {}
        self._numbers = itertools.count(1)  # of programs
        self.programs = AgentPrograms(self._bounds)

    async def run(self, turn: Turn) -> str | None:
        order = turn.order
        agent = order.settings.agent
        if order.task is Task.COMPACT:
            raise AgentFailed(f"{agent} keeps its own history, and sums it up by itself; nothing was done")

        account = AgentAccount(turn, self._budgets, self._needs.ledger)
        turn.count = account.take
        try:
            with account.open():
                if order.task is not Task.FOLLOW:
                    account.look()
                return await self._run_in_place(turn, account)
        finally:
            turn.count = None  # breaks the reference cycle with the account, which knows the turn

    async def _run_in_place(self, turn: Turn, account: AgentAccount) -> str | None:
        order = turn.order
        agent = order.settings.agent

        def emit_notice() -> None:
            turn.emit(ev.BackgroundEvent(message=_wait_notice(agent, self._bounds())))

        async with self.programs.place((order.conversation, agent), emit_notice) as place:
            if order.task is Task.FOLLOW and place.live is None:
                return None  # the program is gone, and its unprompted work with it
            lived = place.live is not None
            try:
                return await self._run_with(await self._session(place, turn, account), turn, account)
            except GoneBeforePrompt:
                if not lived:
                    raise
            return await self._run_with(await self._session(place, turn, account), turn, account)

    async def _run_with(self, session: AcpSession, turn: Turn, account: AgentAccount) -> str | None:
        running = AgentTurn(turn, session, self._bounds(), self._deadline(turn), self._tooling, account)
        self._turns[turn.order.turn] = running
        try:
            async with session.launch.watch_projects(self._launch_inputs(turn), turn):
                return await running.run()
        finally:
            del self._turns[turn.order.turn]

    def forget(self, conversation: ConversationId) -> None:
        """Do nothing: the program goes on with its session, or was ended with the turn."""

    def hurry(self, turn: TurnId) -> None:
        """Kill the processes of a stopped turn at once, without their grace."""
        if (running := self._turns.get(turn)) is not None:
            running.hurry()

    # --- the session of a turn --------------------------------------------------------------------------------------

    async def _session(self, place: AgentPlace, turn: Turn, account: AgentAccount) -> AcpSession:
        """Return the session that lives in the place, if its program still fits; else start one."""
        if (live := place.live) is not None and (changed := await live.launch.changes(self._launch_inputs(turn))):
            agent = turn.order.settings.agent
            turn.emit(ev.BackgroundEvent(message=f"{agent} is started anew: {changed} changed"))
            await live.process.end(why=f"{changed} changed")
        if (live := place.live) is not None:
            live.catch_up = await self._history.catch_up_later(turn.order)
            return live
        place.session = None
        place.session = session = await self._start(turn, account)
        return session

    async def _start(self, turn: Turn, account: AgentAccount) -> AcpSession:
        """Start a session. If the program ends while it takes up an old one, start it again, with a new session."""
        try:
            return await self._start_session(turn, account, turn.order.known)
        except EndedMeanwhile as error:
            return await self._start_session(turn, account, None, str(error))

    async def _start_session(
        self, turn: Turn, account: AgentAccount, known: KnownSession | None, lost: str = ""
    ) -> AcpSession:
        """Start a program and a session in it. Raises AgentFailed; then no process is left.

        `lost`: why the session before can't be taken up.
        """
        needs, order, inputs = self._needs, turn.order, self._launch_inputs(turn)
        definition = await asyncio.to_thread(inputs.definition)
        launch = ProgramLaunch(needs.sandbox, needs.processes, definition, inputs, turn.emit)
        given = await self._choose_servers(turn, definition, account)

        receiver = self._receiver(turn, definition.name)
        owner = TurnId(f"agent-{definition.name}-{next(self._numbers)}")
        process = AgentProcess(
            order.conversation, definition, owner, needs.processes, launch.open, self._bounds(), receiver
        )
        await process.start(client_capabilities(self._tooling, turn, definition.name))
        try:
            self._say_unknown(turn, process, given)
            params = session_params(turn.settings, process.capabilities, definition.mcp_servers, inputs.env, given)
            started = await start_session(process, receiver, params, known)
            catch_up = await self._history.catch_up_at_start(order, started, lost or started.lost)
        except SessionNotStarted as error:
            await process.end(kill=True)
            raise AgentFailed(f"{definition.name} began no session: {error}") from None
        except BaseException:
            await process.end()
            raise

        receiver.session = started.session
        process.settle()  # counts the sandbox's own processes and the agent's helpers
        news = receiver.updates.initial_news(started.answer, anew=started.how == "new")
        turn.emit(_session_event(process, started, catch_up), *news)
        if catch_up.note:
            turn.emit(ev.BackgroundEvent(message=catch_up.note))
        return AcpSession(process, launch, receiver, started.session, started.answer, catch_up.texts)

    def _receiver(self, turn: Turn, agent: str) -> MessageReceiver:
        """Return the receiver of a new program's messages."""
        known, conversation, tell = turn.order.known, turn.order.conversation, self._needs.tell

        def record(news: tuple[News, ...]) -> None:
            tell(conversation, RecordAgentNews(news))

        def follow() -> None:
            tell(conversation, FollowAgent())

        updates = Updates(
            turn.new_item,
            self._bounds(),
            time.monotonic,
            agent=agent,
            cwd=turn.settings.cwd,
            sum_usd=known.sum_usd if known else 0.0,
            from_usd=known.from_usd if known else 0.0,
        )
        return MessageReceiver(BetweenTurns(updates, record, follow), updates)

    # --- MCP servers that clients give ------------------------------------------------------------------------------

    async def _choose_servers(
        self, turn: Turn, definition: AgentDefinition, account: AgentAccount
    ) -> tuple[GivenServer, ...]:
        """Choose the servers that the agent gets, after a person has decided where that is needed.

        The agent starts them itself, in the sandbox around it. Without a sandbox a person is asked first.
        """
        given = self._needs.client_servers.servers_of(turn.order.conversation)
        found, notices = usable_servers(given.servers, definition.mcp_servers)
        programs = [server for server in found.values() if server.kind == "stdio"]
        confined = is_confined(turn.settings, definition)
        place = ProgramPlace.INSIDE if confined else place_of_program(turn.settings, confines=False)
        if place is ProgramPlace.ASK and programs:
            await self._ask_about(programs, given, turn, account)
        if place is ProgramPlace.NOWHERE:
            notices += [left_out_notice(server, NOT_CONFINED) for server in programs]
        _say_new(turn, given, notices)
        return tuple(
            server for server in found.values() if server not in programs or may_start(place, given.decision(server))
        )

    async def _ask_about(
        self, programs: list[GivenServer], given: ConversationServers, turn: Turn, account: AgentAccount
    ) -> None:
        order, deadline = turn.order, self._deadline(turn)

        async def put(request: ev.ApprovalRequested) -> ApprovalAnswer:
            known = await self._history.decision(order, request.item_id) if order.resume else None
            if known is not None:
                return ApprovalAnswer(known.decision, known.reason)
            with account.waiting():
                return await turn.ask(request, resumable=False)  # the agent has not been prompted yet

        context = QuestionContext(
            order.turn, lambda: approval_in(order.conversation, token_hex(6)), deadline.after_s, deadline.default
        )
        if refused := await settle(self._needs.client_servers, given, programs, context, put):
            turn.emit(ev.BackgroundEvent(message=refused))

    def _say_unknown(self, turn: Turn, process: AgentProcess, given: Iterable[GivenServer]) -> None:
        """Emit a notice of each server of a kind that the agent does not know."""
        kinds = ((server, unknown_kind(server, process.capabilities)) for server in given)
        notices = [left_out_notice(server, f"the agent does not know {kind}") for server, kind in kinds if kind]
        _say_new(turn, self._needs.client_servers.servers_of(turn.order.conversation), notices)

    # --- the engine's parts, as they are now ------------------------------------------------------------------------

    def _bounds(self) -> Bounds:
        return self._needs.loaded_config().config.greenroom.limits

    def _budgets(self, settings: Settings) -> BudgetsTable:
        return budgets_for(self._needs.loaded_config(), settings, self._needs.raises())

    def _deadline(self, turn: Turn) -> Deadline:
        """Return the longest time that an approval of the turn waits, and the answer that it gets then."""
        ours = self._needs.loaded_config().with_overrides(turn.order.settings.overrides).config.greenroom
        if ours.approval_default == "abort":
            return Deadline(ours.approval_deadline_seconds, Decision.ABORT)
        return Deadline(ours.approval_deadline_seconds)

    def _command_environment(self, turn: Turn) -> CommandEnvironment:
        """Return the environment of commands, in which an agent's tools are served like our own."""
        config = self._needs.loaded_config().with_overrides(turn.order.settings.overrides).config
        return self._needs.environments.for_commands(turn.order.conversation, config)

    def _launch_inputs(self, turn: Turn) -> LaunchInputs:
        """Return the present inputs of a launch. Cheap, and needs no disk."""
        needs, conversation = self._needs, turn.order.conversation
        return LaunchInputs(
            conversation,
            turn.order.settings,
            turn.settings,
            needs.environments.whole_environment(conversation),
            needs.loaded_config(),
            needs.client_servers.servers_of(conversation).servers,
        )


def _wait_notice(agent: str, bounds: Bounds) -> str:
    full = bounds.describe_excess("agents", "as many agents run as may, and all of them are busy")
    return f"{agent} waits until another agent is done; {full}"


def _session_event(process: AgentProcess, started: StartedSession, catch_up: CatchUp) -> AgentSession:
    return AgentSession(
        agent=process.definition.name,
        session=started.session,
        how=catch_up.how,
        program=process.program,
        can=process.capabilities.names,
        note=catch_up.note,
    )


def _say_new(turn: Turn, given: ConversationServers, notices: list[str]) -> None:
    """Emit the notices of servers that were not shown yet."""
    turn.emit(*(ev.BackgroundEvent(message=notice) for notice in given.new_notices(notices)))
