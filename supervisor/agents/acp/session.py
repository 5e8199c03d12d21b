"""The session of an agent: how it begins in a process that was started for it. Loop thread.

What to ask is decided in `beginning`, what the agent is told of the history in `telling`. Here is the asking.
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

REPLAY_QUIET_S, REPLAY_LOOKS = 0.05, 40  # after a loaded session's answer: late words of its history are no news


class EndedMeanwhile(Exception):
    """The program has ended while it took up a session that it had."""


class About(Struct, frozen=True):
    """The things around a session: the history that it may have to be told, and the client's variables."""

    history: History
    environ: Mapping[str, str]
    offered: Json  # what we serve
    handed: Handed = Handed()  # the servers that clients give


class AcpSession:
    """A child's session. `seed`: what is to be said before the next prompt."""

    def __init__(self, child: Child, listening: Listening, session: str, begun: Any = None) -> None:
        self.child = child
        self.listening = listening
        self.id = session
        self.seed: list[Json] = []
        self.setter = Setter(child, session, listening.updates, begun)
        self.made_of: Confinement | None = None  # what its sandbox was made of
        self.looked_up: LookedUp | None = None  # by what that was found last

    async def catch_up(self, turn: Turn, history: History) -> None:
        """Have it told, with the next prompt, what was said without it."""
        self.seed = list(map(text, await told_after(turn.order, history)))


async def begin(
    child: Child, listening: Listening, turn: Turn, about: About, known: KnownSession | None, lost: str = ""
) -> AcpSession:
    """Start the child and its session. Raises AgentFailed; then nothing of it is left."""
    await child.start(about.offered)
    try:
        turn.emit(*about.handed.notices(child.can))
        begun = await _begun(child, listening, _place(child, turn.settings, about), known)
        told = await told_at_first(turn.order, about.history, begun, lost or begun.lost)
    except NotBegun as error:
        await child.end(kill=True)
        raise AgentFailed(f"{child.definition.name} began no session: {error}") from None
    except BaseException:
        await child.end()
        raise
    listening.session = begun.session
    child.settle()
    turn.emit(_announced(child, begun, told), *listening.updates.begun(begun.answer, anew=begun.how == "new"))
    if told.note:
        turn.emit(ev.BackgroundEvent(message=told.note))
    session = AcpSession(child, listening, begun.session, begun.answer)
    session.seed = list(map(text, told.texts))
    return session


def _announced(child: Child, begun: Begun, told: Told) -> AgentSession:
    return AgentSession(
        agent=child.definition.name,
        session=begun.session,
        how=told.how,
        program=child.program,
        can=child.can.told,
        note=told.note,
    )


def _place(child: Child, settings: Settings, about: About) -> Json:
    given = about.handed.to(child.can)
    return place_of(settings, child.can, child.definition.mcp_servers, about.environ, given)


async def _begun(child: Child, listening: Listening, place: Json, known: KnownSession | None) -> Begun:
    """Put the requests of the beginning, and hand it the answers."""
    requests = beginning.begin(child.can, place, known)
    asked = next(requests)
    while True:
        given = await _answer(child, listening, asked)
        try:
            asked = requests.send(given)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]  # a generator's end is not typed


async def _answer(child: Child, listening: Listening, asked: Asked) -> Given:
    limit_s = child.definition.start_s
    listening.muted, listening.replayed = asked.replays, 0
    try:
        async with asyncio.timeout(limit_s):
            answer = await child.peer.request(asked.method, asked.params)
            if asked.replays:
                await _silence(listening)
    except TimeoutError:
        return Given(failed=f"it did not answer `{asked.method}` within {limit_s:g} s", timed_out=True)
    except ChildEnded as error:
        if asked.method == beginning.NEW:
            raise
        raise EndedMeanwhile(str(error)) from error
    except AgentFailed as error:
        return Given(failed=str(error))
    finally:
        listening.muted = False
    return Given(answer, replayed=listening.replayed)


async def _silence(listening: Listening) -> None:
    """Wait until nothing of the history comes any more, for a bounded while."""
    heard = -1
    for _ in range(REPLAY_LOOKS):
        if heard == listening.replayed:
            return
        heard = listening.replayed
        await asyncio.sleep(REPLAY_QUIET_S)
