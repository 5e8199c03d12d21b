"""The session of a third-party agent, with the receiver of its messages, in a turn and between turns.

The hand-over loses nothing: updates that are work and arrive while no turn runs wait here for the next turn. Loop
thread.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any, Protocol

from supervisor.agents.acp.agent_options import OptionSetter
from supervisor.agents.acp.agent_process import AgentProcess
from supervisor.agents.acp.latest_news import News
from supervisor.agents.acp.launching import ProgramLaunch
from supervisor.agents.acp.peer import RequestHandler
from supervisor.agents.acp.permissions import CANCELLED
from supervisor.agents.acp.updates import Updates
from supervisor.agents.acp.wire import Json

ASK_AGAIN_S, ASKED_MOST = 0.5, 60  # a turn's end takes milliseconds
NEWS_MOST = 100  # between two turns: each is stored
WAITING = 1_000  # updates that wait for a turn; with more, the agent waits too

Record = Callable[[tuple[News, ...]], None]
Follow = Callable[[], None]


class TurnReceiver(Protocol):
    """A turn as the receiver of its agent's messages."""

    async def take_update(self, update: Json) -> None: ...

    def handler_for(self, method: str) -> RequestHandler | None: ...


class BetweenTurns:
    """Handles updates between turns: records news, and asks for a turn when there is work."""

    def __init__(self, updates: Updates, record: Record, follow: Follow) -> None:
        self._record = record
        self._follow = follow
        self._updates = updates
        self._recorded = 0
        self._asking: asyncio.TimerHandle | None = None  # the next request for a turn

    def request_turn(self) -> None:
        if self._asking is None:
            self._ask(ASKED_MOST)

    def _ask(self, left: int) -> None:
        """Ask for a turn repeatedly: a turn that is just ending neither takes the work nor lets another begin."""
        self._follow()
        self._asking = asyncio.get_running_loop().call_later(ASK_AGAIN_S, self._ask, left - 1) if left else None

    def take_news(self, update: Json) -> None:
        news = tuple(self._updates.news_outside(update))
        if news and self._recorded < NEWS_MOST:
            self._recorded += len(news)
            self._record(news)

    def turn_began(self) -> None:
        self._recorded = 0
        if self._asking is not None:
            self._asking.cancel()
            self._asking = None


class MessageReceiver:
    """The receiver of a peer's messages, for the life of a session."""

    def __init__(self, between: BetweenTurns, updates: Updates) -> None:
        self.updates = updates
        self._between = between
        self._turn: TurnReceiver | None = None
        self._waiting: deque[Json] = deque()
        self._heard = asyncio.Event()  # set while a turn listens
        self.session = ""
        self.muted = False  # the agent replays history that is known already
        self.replayed = 0  # updates of that replay

    async def take_notification(self, method: str, params: Json) -> bool:
        update = params.get("update")
        if method != "session/update" or not isinstance(update, dict):
            return False
        if not self._is_of_another(params):
            await self._take_update(update)
        return True

    def _is_of_another(self, params: Json) -> bool:
        return bool(self.session) and params.get("sessionId", self.session) != self.session

    async def _take_update(self, update: Json) -> None:
        if self.muted and self.updates.is_work(update):
            self.replayed += 1
        elif self._turn is not None:
            await self._turn.take_update(update)
        elif self.updates.is_work(update):
            await self._keep(update)
        else:
            self._between.take_news(update)

    async def _keep(self, update: Json) -> None:
        self._waiting.append(update)
        self._between.request_turn()
        if len(self._waiting) >= WAITING:
            await self._heard.wait()

    def handler_for(self, method: str) -> RequestHandler | None:
        if method == "session/request_permission":
            return self._permission
        return self._turn.handler_for(method) if self._turn is not None else None

    async def _permission(self, params: Json) -> Json:
        """Serve a question; if no turn runs, ask for one and wait for it."""
        if self._turn is None:
            self._between.request_turn()
            await self._heard.wait()
        serve = self._turn.handler_for("session/request_permission") if self._turn is not None else None
        return await serve(params) if serve is not None else CANCELLED

    # --- turns ------------------------------------------------------------------------------------------------------

    async def listen(self, turn: TurnReceiver) -> None:
        """Pass messages to a turn from now on, those that have waited first."""
        self._between.turn_began()
        while self._waiting:
            await turn.take_update(self._waiting.popleft())
        self._turn = turn
        self._heard.set()

    def leave(self) -> None:
        self._turn = None
        self._heard.clear()


class AcpSession:
    """A session in a running program. `catch_up`: texts that go before the next prompt."""

    def __init__(
        self,
        process: AgentProcess,
        launch: ProgramLaunch,
        receiver: MessageReceiver,
        session: str,
        answer: Any,
        catch_up: tuple[str, ...] = (),
    ) -> None:
        """`answer`: that which started it."""
        self.process = process
        self.launch = launch
        self.receiver = receiver
        self.id = session
        self.setter = OptionSetter(process, session, receiver.updates, answer)
        self.catch_up = catch_up
