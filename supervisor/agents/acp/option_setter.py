"""Sets an agent's options as our settings want them, and reports those that it did not take. Loop thread.

Agents differ in how they are set. A value that was announced as an option is set as an option, a value from a list of
modes or models in that older way; if the agent does not know the request, the other way is tried.
"""

import asyncio
from collections.abc import Iterator
from typing import Any

from actors.vocabulary import events as ev
from actors.vocabulary.agent_events import AgentOption
from actors.vocabulary.settings import Settings
from supervisor.agents.acp import wire
from supervisor.agents.acp.child import AgentProcess
from supervisor.agents.acp.failures import AgentFailed, AgentRefused
from supervisor.agents.acp.json_readers import shape, shapes, text
from supervisor.agents.acp.mode_policy import MODE, MODEL, ModeRefused, Wish, is_confined, unrestricted_mode, wishes
from supervisor.agents.acp.updates import Updates
from supervisor.agents.acp.wire import Json
from supervisor.agents.turn import Turn

SET_S = 20.0  # for an agent to take one value; it may have to load another model
LEAVE_IT = "`greenroom set CONVERSATION model=` leaves the choice to it"
UNKNOWN = {wire.METHOD_UNKNOWN, wire.PARAMS_INVALID}


class OptionSetter:
    """Sets the options of a session. `begun`: the answer that started it."""

    def __init__(self, child: AgentProcess, session: str, updates: Updates, begun: Any) -> None:
        self._child = child
        self._session = session
        self._updates = updates
        self._as_options = {text(entry.get("id")) for entry in shapes(shape(begun).get("configOptions"))}
        self._set_for: tuple[object, ...] | None = None
        self._own = {option.id: option.value for option in updates.options}

    async def follow(self, turn: Turn) -> None:
        """Set the options again if the settings have changed. Raises AgentFailed: the agent must not be prompted."""
        definition, settings = self._child.definition, turn.settings
        free = unrestricted_mode(definition, settings, self._updates.options)
        if self._set_for == _relevant(settings) and not free:
            return
        try:
            for wish in list(wishes(definition, settings, self._updates.options, self._own)):
                await self._grant(turn, wish)
        except ModeRefused as error:
            raise AgentFailed(str(error)) from None
        self._set_for = _relevant(settings)
        if free := unrestricted_mode(definition, settings, self._updates.options):
            self._say_free(turn, free)

    def _say_free(self, turn: Turn, mode: str) -> None:
        """Report that the agent stays in a mode without questions. Raises AgentFailed if no sandbox confines it."""
        stays = f"{self._child.definition.name} stays in the mode {mode!a}, in which nobody is asked"
        if not is_confined(self._child.definition, turn.settings):
            raise AgentFailed(f"{stays}, and nothing confines it; choose another mode in its own settings")
        turn.emit(ev.BackgroundEvent(message=f"{stays}; its sandbox is what confines it"))

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
        """Set a value, and return why that failed; empty if it did not."""
        trouble = "it offers no way to"
        for method, params in self._ways(wish.option, wish.value):
            try:
                async with asyncio.timeout(SET_S):
                    answer = await self._child.peer.request(method, {"sessionId": self._session, **params})
            except TimeoutError:
                return f"{wish.option.id}: no answer to `{method}` within {SET_S:g} s"
            except AgentRefused as error:
                trouble = str(error)
                if error.error_code in UNKNOWN:
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
        """Yield the options as the agent's answer has them, or else with the value that was set."""
        members = shape(answer)
        if "configOptions" in members:
            yield from self._updates.news_outside({**members, "sessionUpdate": "config_option_update"})
        else:
            yield from self._updates.news_of_choice(wish.option.id, wish.value)


def _relevant(settings: Settings) -> tuple[object, ...]:
    named = settings.agent_model, settings.agent_effort, settings.effort
    return settings.sandbox.mode, settings.approval_policy, *named


def _value(option: AgentOption, value: str) -> Json:
    """Return the members of a request that carry the value. An option with the choices true and false is a switch."""
    if {choice.value for choice in option.choices} == {"true", "false"}:
        return {"type": "boolean", "value": value == "true"}
    return {"value": value}
