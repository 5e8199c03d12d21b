"""An agent is set to what our policy wants, and what it did not take is said. Loop thread.

Agents drift in how they are set: what they told as an option is set as one, what they told as modes or models in the
older way; the other way is tried where that is unknown to them.
"""

import asyncio
from collections.abc import Iterator
from typing import Any

from actors.vocabulary import events as ev
from actors.vocabulary.agent_events import AgentOption
from actors.vocabulary.settings import Settings
from supervisor.agents.acp import wire
from supervisor.agents.acp.child import Child
from supervisor.agents.acp.failures import AgentFailed, Refused
from supervisor.agents.acp.policy import MODE, MODEL, ModeRefused, Wish, is_confined, is_free, wishes
from supervisor.agents.acp.shapes import shape, shapes, text
from supervisor.agents.acp.updates import Updates
from supervisor.agents.acp.wire import Json
from supervisor.agents.turn import Turn

SET_S = 20.0  # for an agent to take one value; it may have to load another model
LEAVE_IT = "`greenroom set CONVERSATION model=` leaves the choice to it"
UNKNOWN = {wire.METHOD_UNKNOWN, wire.PARAMS_INVALID}


class Setter:
    """The options of one session. `begun`: the answer with which it began."""

    def __init__(self, child: Child, session: str, updates: Updates, begun: Any) -> None:
        self._child = child
        self._session = session
        self._updates = updates
        self._as_options = {text(one.get("id")) for one in shapes(shape(begun).get("configOptions"))}
        self._set_for: tuple[object, ...] | None = None
        self._own = {one.id: one.value for one in updates.options}

    async def follow(self, turn: Turn) -> None:
        """Set it anew if the settings say something else now. Raises AgentFailed if it must not be prompted."""
        definition, settings = self._child.definition, turn.settings
        free = is_free(definition, settings, self._updates.options)
        if self._set_for == _of(settings) and not free:
            return
        try:
            for wish in list(wishes(definition, settings, self._updates.options, self._own)):
                await self._grant(turn, wish)
        except ModeRefused as error:
            raise AgentFailed(str(error)) from None
        self._set_for = _of(settings)
        if free := is_free(definition, settings, self._updates.options):
            self._say_free(turn, free)

    def _say_free(self, turn: Turn, mode: str) -> None:
        """It stays in a mode that asks nobody: only a sandbox makes that bearable."""
        told = f"{self._child.definition.name} stays in the mode {mode!a}, in which nobody is asked"
        if not is_confined(self._child.definition, turn.settings):
            raise AgentFailed(f"{told}, and nothing confines it; choose another mode in its own settings")
        turn.emit(ev.BackgroundEvent(message=f"{told}; its sandbox is what confines it"))

    async def _grant(self, turn: Turn, wish: Wish) -> None:
        trouble = wish.trouble
        if not trouble and wish.value != wish.option.value:
            trouble = await self._set(turn, wish)
        if trouble:
            name = self._child.definition.name
            if wish.must:
                raise AgentFailed(f"{name}: {trouble}; {LEAVE_IT}")
            turn.emit(ev.BackgroundEvent(message=f"{name} could not be set as wanted: {trouble}"))

    async def _set(self, turn: Turn, wish: Wish) -> str:
        """Set it, and return why that failed."""
        trouble = "it offers no way to"
        for method, params in self._ways(wish.option, wish.value):
            try:
                async with asyncio.timeout(SET_S):
                    answer = await self._child.peer.request(method, {"sessionId": self._session, **params})
            except TimeoutError:
                return f"{wish.option.id}: no answer to `{method}` within {SET_S:g} s"
            except Refused as error:
                trouble = str(error)
                if error.given in UNKNOWN:
                    continue
                break
            turn.emit(*self._news(wish, answer))
            return ""
        return f"{wish.option.id} = {wish.value!a}: {trouble}"

    def _ways(self, option: AgentOption, value: str) -> Iterator[tuple[str, Json]]:
        older = {MODE: ("session/set_mode", {"modeId": value}), MODEL: ("session/set_model", {"modelId": value})}
        newer = ("session/set_config_option", {"configId": option.id, **_value(option, value)})
        ways = [newer, *([older[option.category]] if option.category in older else [])]
        yield from ways if option.id in self._as_options else reversed(ways)

    def _news(self, wish: Wish, answer: Any) -> Iterator[ev.AgentEvent]:
        """Its options now: as it says, or else as it was told."""
        told = shape(answer)
        if "configOptions" in told:
            yield from self._updates.news_outside({**told, "sessionUpdate": "config_option_update"})
        else:
            yield from self._updates.chosen(wish.option.id, wish.value)


def _of(settings: Settings) -> tuple[object, ...]:
    named = settings.agent_model, settings.agent_effort, settings.effort
    return settings.sandbox.mode, settings.approval_policy, *named


def _value(option: AgentOption, value: str) -> Json:
    """A switch has two choices that nobody calls so."""
    if {one.value for one in option.choices} == {"true", "false"}:
        return {"type": "boolean", "value": value == "true"}
    return {"value": value}
