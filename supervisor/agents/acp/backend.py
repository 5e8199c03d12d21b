"""The backend of third-party agents: each turn gets a program, a session and an AgentTurn. Loop thread."""

from collections.abc import Callable

from actors.vocabulary import events as ev
from actors.vocabulary.ids import ConversationId, TurnId
from actors.vocabulary.settings import Task
from supervisor.agents.acp.agent_programs import Children, ProgramPlace
from supervisor.agents.acp.agent_turn import AgentTurn
from supervisor.agents.acp.client_tools import Tooling
from supervisor.agents.acp.failures import AgentFailed, GoneBeforePrompt
from supervisor.agents.acp.permissions import Deadline
from supervisor.agents.acp.session import AcpSession
from supervisor.agents.acp.session_starter import SessionStarter
from supervisor.agents.spending.agent_account import AgentAccount
from supervisor.agents.turn import Turn
from supervisor.config.bounds import Bounds


class AcpBackend:
    resumable = True

    def __init__(
        self,
        children: Children,
        starter: SessionStarter,
        bounds: Callable[[], Bounds],
        deadline: Callable[[Turn], Deadline],
        tooling: Tooling,
        account: Callable[[Turn], AgentAccount] = AgentAccount,
    ) -> None:
        """`deadline`: how long the questions of a turn wait."""
        self._account = account
        self._children = children
        self._starter = starter
        self._bounds = bounds
        self._deadline = deadline
        self._tooling = tooling
        self._turns: dict[TurnId, AgentTurn] = {}

    async def run(self, turn: Turn) -> str | None:
        order = turn.order
        agent = order.settings.agent
        if order.task is Task.COMPACT:
            raise AgentFailed(f"{agent} keeps its own history, and sums it up by itself; nothing was done")

        account = self._account(turn)
        turn.count = account.take
        try:
            with account.open():
                if order.task is not Task.FOLLOW:
                    account.look()
                return await self._carry_out(turn, account)
        finally:
            turn.count = None  # breaks the reference cycle with the account, which knows the turn

    async def _carry_out(self, turn: Turn, account: AgentAccount) -> str | None:
        order = turn.order
        agent = order.settings.agent

        def emit_notice() -> None:
            turn.emit(ev.BackgroundEvent(message=_wait_notice(agent, self._bounds())))

        async with self._children.place((order.conversation, agent), emit_notice) as place:
            if order.task is Task.FOLLOW and place.live is None:
                return None  # the program is gone, and its unprompted work with it
            lived = place.live is not None
            try:
                return await self._run_with(await self._session(place, turn, account), turn, account)
            except GoneBeforePrompt:
                if not lived:
                    raise
            return await self._run_with(await self._session(place, turn, account), turn, account)

    async def _session(self, place: ProgramPlace, turn: Turn, account: AgentAccount) -> AcpSession:
        if place.live is not None and (changed := await self._starter.changes(place.live, turn)):
            agent = turn.order.settings.agent
            turn.emit(ev.BackgroundEvent(message=f"{agent} is started anew: {changed} changed"))
            await place.live.child.end(why=f"{changed} changed")
        if (live := place.live) is not None:
            await self._starter.catch_up(live, turn)
            return live
        place.session = None
        place.session = session = await self._starter.begin(turn, account.waiting)
        return session

    async def _run_with(self, session: AcpSession, turn: Turn, account: AgentAccount) -> str | None:
        running = AgentTurn(turn, session, self._bounds(), self._deadline(turn), self._tooling, account)
        self._turns[turn.order.turn] = running
        try:
            async with self._starter.watch_projects(session, turn):
                return await running.run()
        finally:
            del self._turns[turn.order.turn]

    def forget(self, conversation: ConversationId) -> None:
        """Do nothing: the program goes on with its session, or was ended with the turn."""

    def hurry(self, turn: TurnId) -> None:
        """Kill the processes of a stopped turn at once, without their grace."""
        if (running := self._turns.get(turn)) is not None:
            running.hurry()


def _wait_notice(agent: str, bounds: Bounds) -> str:
    full = bounds.describe_excess("agents", "as many agents run as may, and all of them are busy")
    return f"{agent} waits until another agent is done; {full}"
