"""Starts a program and a session in it, and tells whether a running one must be started anew. Loop thread."""

import itertools
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from actors.messages.orders import KnownSession
from actors.vocabulary.ids import TurnId
from supervisor.agents.acp.catch_up import MissedHistory
from supervisor.agents.acp.child import AgentProcess
from supervisor.agents.acp.launching import Launching
from supervisor.agents.acp.message_receiver import BetweenTurns, Follow, MessageReceiver, Record
from supervisor.agents.acp.servers_for_agent import AgentClientServers, Waiting
from supervisor.agents.acp.session import AcpSession, EndedMeanwhile, SessionContext, start_session
from supervisor.agents.acp.updates import Updates
from supervisor.agents.acp.wire import Json
from supervisor.agents.turn import Turn
from supervisor.config.bounds import Bounds
from supervisor.work.processes.processes import Processes

CLOSED = "what other programs obey in its directories"


class SessionStarter:
    def __init__(
        self,
        processes: Processes,
        launching: Launching,
        bounds: Callable[[], Bounds],
        record: Record,
        follow: Follow,
        history: MissedHistory,
        offered: Callable[[Turn, str], Json],
        given: AgentClientServers,
    ) -> None:
        self._given = given
        self._history = history
        self._offered = offered
        self._processes = processes
        self._launching = launching
        self._bounds = bounds
        self._record = record
        self._follow = follow
        self._lives = itertools.count(1)

    async def begin(self, turn: Turn, waiting: Waiting) -> AcpSession:
        """Begin a session in a new program. A program that ends while it takes up an old session is started again."""
        known = turn.order.known
        try:
            return await self._begin(turn, waiting, known)
        except EndedMeanwhile as error:
            return await self._begin(turn, waiting, None, str(error))

    async def _begin(self, turn: Turn, waiting: Waiting, known: KnownSession | None, lost: str = "") -> AcpSession:
        order = turn.order
        looked_up = self._launching.lookup_inputs(turn)
        definition = await self._launching.definition(turn)
        launch, made_of = self._launching.prepare(turn, definition)
        handed = await self._given.choose(turn, definition, waiting)
        owner = TurnId(f"agent-{definition.name}-{next(self._lives)}")
        updates = Updates(
            turn.new_item,
            self._bounds(),
            time.monotonic,
            agent=definition.name,
            cwd=turn.settings.cwd,
            sum_usd=order.known.sum_usd if order.known else 0.0,
            from_usd=order.known.from_usd if order.known else 0.0,
        )
        listening = MessageReceiver(BetweenTurns(order.conversation, updates, self._record, self._follow), updates)
        child = AgentProcess(
            order.conversation, definition, owner, self._processes, launch, self._bounds(), listening
        )
        about = SessionContext(
            self._history, self._launching.environ(order), self._offered(turn, definition.name), handed
        )
        session = await start_session(child, listening, turn, about, known, lost)
        session.confinement_inputs, session.lookup_inputs = made_of, looked_up
        child.settle()  # counts the sandbox's own processes and the agent's helpers
        return session

    async def catch_up(self, session: AcpSession, turn: Turn) -> None:
        """Tell a live session the part of the conversation that it has missed."""
        await session.catch_up(turn, self._history)

    async def changes(self, session: AcpSession, turn: Turn) -> str:
        """Name the changes for which the agent must be started anew; empty: there are none."""
        looked_up = self._launching.lookup_inputs(turn)
        if session.confinement_inputs is not None and not (
            looked_up.is_same_as(session.lookup_inputs)
            and self._launching.has_login(session.confinement_inputs, turn, session.child.definition)
        ):
            if changed := await self._launching.changes(session.confinement_inputs, turn):
                session.lookup_inputs = None
                return changed
            session.lookup_inputs = looked_up
        return CLOSED if await self._launching.are_more_closed(session.child.owner, turn) else ""

    def watch_projects(self, session: AcpSession, turn: Turn) -> AbstractAsyncContextManager[None]:
        """Watch the projects while the agent carries out a turn."""
        return self._launching.watch_projects(turn, session.child.definition)
