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
from supervisor.agents.acp import beginning
from supervisor.agents.acp.beginning import Asked, Begun, Given, NotBegun, place_of
from supervisor.agents.acp.child import Child
from supervisor.agents.acp.confinement import Confinement
from supervisor.agents.acp.failures import AgentFailed, ChildEnded
from supervisor.agents.acp.given import Handed
from supervisor.agents.acp.launching import LookedUp
from supervisor.agents.acp.listening import Listening
from supervisor.agents.acp.prompt import text
from supervisor.agents.acp.setting import Setter
from supervisor.agents.acp.telling import History, Told, told_after, told_at_first
from supervisor.agents.acp.wire import Json
from supervisor.agents.turn import Turn

REPLAY_QUIET_S, REPLAY_LOOKS = 0.05, 40  # waits for late updates of a loaded session's history, which are no news


class EndedMeanwhile(Exception):
    """The program has ended while it took up a known session."""


class About(Struct, frozen=True):
    """The surroundings of a session: the history that the agent may have missed, and the client's variables."""

    history: History
    environ: Mapping[str, str]
    offered: Json  # our capabilities
    handed: Handed = Handed()  # the clients' servers


class AcpSession:
    """A child's session. `seed`: blocks that go before the next prompt's own."""

    def __init__(self, child: Child, listening: Listening, session: str, answer: Any = None) -> None:
        self.child = child
        self.listening = listening
        self.id = session
        self.seed: list[Json] = []
        self.setter = Setter(child, session, listening.updates, answer)
        self.made_of: Confinement | None = None  # the inputs of its sandbox
        self.looked_up: LookedUp | None = None  # the inputs of the last lookup that found them unchanged

    async def catch_up(self, turn: Turn, history: History) -> None:
        """Tell the agent, with the next prompt, the part of the conversation that it has missed."""
        self.seed = list(map(text, await told_after(turn.order, history)))


async def begin(
    child: Child, listening: Listening, turn: Turn, about: About, known: KnownSession | None, lost: str = ""
) -> AcpSession:
    """Start the child and its session. Raises AgentFailed; then no process is left."""
    await child.start(about.offered)
    try:
        turn.emit(*about.handed.notices(child.can))
        started = await _send_requests(child, listening, _place(child, turn.settings, about), known)
        catch_up = await told_at_first(turn.order, about.history, started, lost or started.lost)
    except NotBegun as error:
        await child.end(kill=True)
        raise AgentFailed(f"{child.definition.name} began no session: {error}") from None
    except BaseException:
        await child.end()
        raise
    listening.session = started.session
    child.settle()
    news = listening.updates.begun(started.answer, anew=started.how == "new")
    turn.emit(_session_event(child, started, catch_up), *news)
    if catch_up.note:
        turn.emit(ev.BackgroundEvent(message=catch_up.note))
    session = AcpSession(child, listening, started.session, started.answer)
    session.seed = list(map(text, catch_up.texts))
    return session


def _session_event(child: Child, started: Begun, catch_up: Told) -> AgentSession:
    return AgentSession(
        agent=child.definition.name,
        session=started.session,
        how=catch_up.how,
        program=child.program,
        can=child.can.told,
        note=catch_up.note,
    )


def _place(child: Child, settings: Settings, about: About) -> Json:
    servers = about.handed.to(child.can)
    return place_of(settings, child.can, child.definition.mcp_servers, about.environ, servers)


async def _send_requests(child: Child, listening: Listening, place: Json, known: KnownSession | None) -> Begun:
    """Send the requests of the start, and hand back the replies."""
    requests = beginning.begin(child.can, place, known)
    request = next(requests)
    while True:
        reply = await _reply(child, listening, request)
        try:
            request = requests.send(reply)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]  # a generator's end is not typed


async def _reply(child: Child, listening: Listening, request: Asked) -> Given:
    limit_s = child.definition.start_s
    listening.muted, listening.replayed = request.replays, 0
    try:
        async with asyncio.timeout(limit_s):
            answer = await child.peer.request(request.method, request.params)
            if request.replays:
                await _silence(listening)
    except TimeoutError:
        return Given(failed=f"it did not answer `{request.method}` within {limit_s:g} s", timed_out=True)
    except ChildEnded as error:
        if request.method == beginning.NEW:
            raise
        raise EndedMeanwhile(str(error)) from error
    except AgentFailed as error:
        return Given(failed=str(error))
    finally:
        listening.muted = False
    return Given(answer, replayed=listening.replayed)


async def _silence(listening: Listening) -> None:
    """Wait, for a bounded time, until no more history comes."""
    heard = -1
    for _ in range(REPLAY_LOOKS):
        if heard == listening.replayed:
            return
        heard = listening.replayed
        await asyncio.sleep(REPLAY_QUIET_S)
