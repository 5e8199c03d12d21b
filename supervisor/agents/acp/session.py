"""The session of a third-party agent, and its start in a new process. Loop thread.

Sends the requests that another module decides, and passes on the history that the agent has missed.
"""

import asyncio
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from actors.messages.orders import KnownSession
from actors.vocabulary import events as ev
from actors.vocabulary.agent_events import AgentSession
from actors.vocabulary.settings import Settings
from supervisor.agents.acp import session_requests
from supervisor.agents.acp.agent_options import OptionSetter
from supervisor.agents.acp.catch_up import CatchUp, MissedHistory
from supervisor.agents.acp.child import AgentProcess
from supervisor.agents.acp.confinement import ConfinementInputs
from supervisor.agents.acp.failures import AgentFailed, ChildEnded
from supervisor.agents.acp.launching import LookupInputs
from supervisor.agents.acp.message_receiver import MessageReceiver
from supervisor.agents.acp.prompt import text
from supervisor.agents.acp.servers_for_agent import ServersForAgent
from supervisor.agents.acp.session_requests import (
    SessionNotStarted,
    StartedSession,
    StepReply,
    StepRequest,
    session_params,
)
from supervisor.agents.acp.wire import Json
from supervisor.agents.turn import Turn

REPLAY_QUIET_S, REPLAY_LOOKS = 0.05, 40  # waits for late updates of a loaded session's history, which are no news


class EndedMeanwhile(Exception):
    """The program has ended while it took up a known session."""


class SessionContext(Struct, frozen=True):
    """The surroundings of a session: the history that the agent may have missed, and the client's variables."""

    history: MissedHistory
    environ: Mapping[str, str]
    offered: Json  # our capabilities
    handed: ServersForAgent = ServersForAgent()  # the clients' servers


class AcpSession:
    """A child's session. `seed`: blocks that go before the next prompt's own."""

    def __init__(self, child: AgentProcess, listening: MessageReceiver, session: str, answer: Any = None) -> None:
        self.child = child
        self.listening = listening
        self.id = session
        self.seed: list[Json] = []
        self.setter = OptionSetter(child, session, listening.updates, answer)
        self.confinement_inputs: ConfinementInputs | None = None  # the inputs of its sandbox
        self.lookup_inputs: LookupInputs | None = None  # the inputs of the last lookup that found them unchanged

    async def catch_up(self, turn: Turn, history: MissedHistory) -> None:
        """Tell the agent, with the next prompt, the part of the conversation that it has missed."""
        self.seed = list(map(text, await history.catch_up_later(turn.order)))


async def start_session(
    child: AgentProcess,
    listening: MessageReceiver,
    turn: Turn,
    about: SessionContext,
    known: KnownSession | None,
    lost: str = "",
) -> AcpSession:
    """Start the child and its session. Raises AgentFailed; then no process is left."""
    await child.start(about.offered)
    try:
        turn.emit(*about.handed.notices(child.capabilities))
        started = await _send_requests(child, listening, _place(child, turn.settings, about), known)
        catch_up = await about.history.catch_up_at_start(turn.order, started, lost or started.lost)
    except SessionNotStarted as error:
        await child.end(kill=True)
        raise AgentFailed(f"{child.definition.name} began no session: {error}") from None
    except BaseException:
        await child.end()
        raise
    listening.session = started.session
    child.settle()
    news = listening.updates.initial_news(started.answer, anew=started.how == "new")
    turn.emit(_session_event(child, started, catch_up), *news)
    if catch_up.note:
        turn.emit(ev.BackgroundEvent(message=catch_up.note))
    session = AcpSession(child, listening, started.session, started.answer)
    session.seed = list(map(text, catch_up.texts))
    return session


def _session_event(child: AgentProcess, started: StartedSession, catch_up: CatchUp) -> AgentSession:
    return AgentSession(
        agent=child.definition.name,
        session=started.session,
        how=catch_up.how,
        program=child.program,
        can=child.capabilities.names,
        note=catch_up.note,
    )


def _place(child: AgentProcess, settings: Settings, about: SessionContext) -> Json:
    servers = about.handed.usable_by(child.capabilities)
    return session_params(settings, child.capabilities, child.definition.mcp_servers, about.environ, servers)


async def _send_requests(
    child: AgentProcess, listening: MessageReceiver, place: Json, known: KnownSession | None
) -> StartedSession:
    """Send the requests of the start, and hand back the replies."""
    requests = session_requests.start_requests(child.capabilities, place, known)
    request = next(requests)
    while True:
        reply = await _reply(child, listening, request)
        try:
            request = requests.send(reply)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]  # a generator's end is not typed


async def _reply(child: AgentProcess, listening: MessageReceiver, request: StepRequest) -> StepReply:
    limit_s = child.definition.start_s
    listening.muted, listening.replayed = request.replays, 0
    try:
        async with asyncio.timeout(limit_s):
            answer = await child.peer.request(request.method, request.params)
            if request.replays:
                await _silence(listening)
    except TimeoutError:
        return StepReply(failed=f"it did not answer `{request.method}` within {limit_s:g} s", timed_out=True)
    except ChildEnded as error:
        if request.method == session_requests.NEW:
            raise
        raise EndedMeanwhile(str(error)) from error
    except AgentFailed as error:
        return StepReply(failed=str(error))
    finally:
        listening.muted = False
    return StepReply(answer, replayed=listening.replayed)


async def _silence(listening: MessageReceiver) -> None:
    """Wait, for a bounded time, until no more history comes."""
    heard = -1
    for _ in range(REPLAY_LOOKS):
        if heard == listening.replayed:
            return
        heard = listening.replayed
        await asyncio.sleep(REPLAY_QUIET_S)
