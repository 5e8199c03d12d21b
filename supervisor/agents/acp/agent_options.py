"""The mode and the options that an agent is set to: decided from our settings, set, and reported where that failed.

An agent may begin in a mode without questions, because its own config says so, or because the session had it last.
Such a mode is never adopted: it is chosen in `[agents.NAME]`, for a confined agent, or not at all. Agents differ in
how they are set. A value that was announced as an option is set as an option, a value from a list of modes or models
in that older way; if the agent does not know the request, the other way is tried. Loop thread; the choice is pure.
"""

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from actors.vocabulary import events as ev
from actors.vocabulary.agent_events import AgentOption, OptionChoice
from actors.vocabulary.settings import ApprovalPolicy, ReasoningEffort, Settings
from supervisor.agents.acp import wire
from supervisor.agents.acp.agent_process import AgentProcess
from supervisor.agents.acp.confinement import is_confined, keeps_its_mode, kind_of
from supervisor.agents.acp.failures import AgentFailed, AgentRefused
from supervisor.agents.acp.json_readers import shape, shapes, text
from supervisor.agents.acp.updates import Updates
from supervisor.agents.acp.wire import Json
from supervisor.agents.turn import Turn
from supervisor.config.agent_definitions import AgentDefinition

MODE, MODEL, EFFORT = "mode", "model", "thought_level"

# By the agent's name: the modes in which it asks before it changes anything, the best first.
ASKS: Mapping[str, tuple[str, ...]] = {
    "claude": ("default",),
    "codex": ("workspace-write", "auto"),
    "gemini": ("default",),
    "opencode": ("build",),
    "goose": ("approve", "smart_approve"),
    "cursor": ("agent",),
    "qwen": ("default",),
    "vibe": ("default",),
    "cline": ("act",),
}
# The modes in which the agent only reads.
READS: Mapping[str, tuple[str, ...]] = {
    "claude": ("plan",),
    "codex": ("read-only",),
    "gemini": ("plan",),
    "opencode": ("plan",),
    "goose": ("chat",),
    "cursor": ("ask", "plan"),
    "qwen": ("plan",),
    "vibe": ("plan",),
    "cline": ("plan",),
}
BYPASSES: Mapping[str, frozenset[str]] = {
    "claude": frozenset({"bypassPermissions"}),
    "codex": frozenset({"full-access", "agent-full-access"}),
    "gemini": frozenset({"yolo"}),
    "goose": frozenset({"auto"}),
    "qwen": frozenset({"yolo"}),
    "vibe": frozenset({"auto-approve"}),
}
BYPASS_WORDS = re.compile(
    r"bypass|yolo|full[ _-]?access|danger|unrestricted|autopilot|(skip|no|without)[ _-]?(permission|approval|confirm)"
    r"|never[ _-]?ask|don.?t ask|(auto|always)[ _-]?(approve|allow)|allow[ _-]?all|accept[ _-]?all",
    re.IGNORECASE,
)
READ_WORDS = re.compile(r"read[ _-]?only|^plan", re.IGNORECASE)
ASK_WORDS = re.compile(r"^(default|ask|manual|normal)|approv", re.IGNORECASE)
SET_S = 20.0  # for an agent to take one value; it may have to load another model
LEAVE_IT = "`greenroom set CONVERSATION model=` leaves the choice to it"
UNKNOWN = {wire.METHOD_UNKNOWN, wire.PARAMS_INVALID}
SHOWN = 10  # values that are listed if a value is not offered


class Wish(Struct, frozen=True):
    """A wanted value of an agent's option. `trouble`: why there is none; then nothing is set.

    `must`: if it can't be set, the agent is not prompted.
    """

    option: AgentOption
    value: str = ""
    trouble: str = ""
    must: bool = False


class ModeRefused(Exception):
    """The configured mode would let the agent do everything without questions, and nothing confines it."""


def wishes(
    definition: AgentDefinition,
    settings: Settings,
    options: Sequence[AgentOption],
    own: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[Wish]:
    """Yield the wanted values, the mode first. Raises ModeRefused.

    `own`: the agent's first values by the options' ids; it returns to them when the settings name none any more.
    """
    for option in options:
        if option.category == MODE and not _keeps_its_mode(definition, settings):
            yield _mode_wish(definition, settings, option)
    if settings.agent_model:
        yield replace(
            _wish_by_category(options, MODEL, settings.agent_model), must=True
        )  # another one may cost far more
    else:
        yield from _return_to_own(options, MODEL, own)
    effort = settings.agent_effort or settings.effort.value
    if settings.agent_effort or settings.effort is not ReasoningEffort.MEDIUM:
        yield from (_wish_for(option, effort) for option in options if option.category == EFFORT)
    else:
        yield from _return_to_own(options, EFFORT, own)
    for name, value in definition.config_options.items():
        found = next((option for option in options if option.id == name), None)
        if found is not None and found.category == MODE and is_bypass(definition.name, found, value):
            _insist(definition, settings, value)
        absent = Wish(_absent(name), trouble=f"it has no option {name!a}")
        yield absent if found is None else _wish_for(found, value)


def _return_to_own(options: Sequence[AgentOption], category: str, own: Mapping[str, str]) -> Iterator[Wish]:
    for option in options:
        if option.category == category and option.id in own:
            yield Wish(option, own[option.id])


def unrestricted_mode(definition: AgentDefinition, settings: Settings, options: Sequence[AgentOption]) -> str:
    """Return the mode without questions that the agent is in though no person chose it; empty: it is in none."""
    for option in () if _keeps_its_mode(definition, settings) else options:
        chosen = {definition.mode, definition.config_options.get(option.id)}
        if (
            option.category == MODE
            and option.value not in chosen
            and is_bypass(definition.name, option, option.value)
        ):
            return option.value
    return ""


def _keeps_its_mode(definition: AgentDefinition, settings: Settings) -> bool:
    """Tell whether our sandbox fits only the mode that the agent was started in."""
    return definition.mode is None and keeps_its_mode(kind_of(definition)) and is_confined(settings, definition)


def is_bypass(agent: str, option: AgentOption, value: str) -> bool:
    """Tell whether an agent asks no questions in a mode: by the table, or by the mode's name."""
    name = next((choice.name for choice in option.choices if choice.value == value), "")
    return value in BYPASSES.get(agent, ()) or bool(BYPASS_WORDS.search(value) or BYPASS_WORDS.search(name))


def _mode_wish(definition: AgentDefinition, settings: Settings, option: AgentOption) -> Wish:
    if definition.mode is not None:
        if is_bypass(definition.name, option, definition.mode):
            _insist(definition, settings, definition.mode)
        return _wish_for(option, definition.mode)
    reads = settings.sandbox.mode == "read-only"
    known, words = (READS, READ_WORDS) if reads else (ASKS, ASK_WORDS)
    wanted = _first_offered(option, known.get(definition.name, ())) or _by_name(definition.name, option, words)
    if wanted:
        return Wish(option, wanted)
    if not is_bypass(definition.name, option, option.value):
        return Wish(option, option.value)
    others = (choice.value for choice in option.choices if not is_bypass(definition.name, option, choice.value))
    other = next(others, "")
    return Wish(option, other, "" if other else "none of its modes asks first")


def _insist(definition: AgentDefinition, settings: Settings, mode: str) -> None:
    """Refuse a mode without questions unless a sandbox or the approval policy `never` allows it."""
    if not is_confined(settings, definition) and settings.approval_policy is not ApprovalPolicy.NEVER:
        raise ModeRefused(
            f"agents.{definition.name}: in the mode {mode!a} nobody is asked, and nothing confines it; set "
            'confine = "workspace" and a sandbox, or another mode'
        )


def _first_offered(option: AgentOption, wanted: Sequence[str]) -> str:
    offered = {choice.value for choice in option.choices}
    return next((value for value in wanted if value in offered), "")


def _by_name(agent: str, option: AgentOption, words: re.Pattern[str]) -> str:
    """Return the present mode if its name fits, else the first mode whose name does."""
    fitting = [choice.value for choice in option.choices if words.search(choice.value) or words.search(choice.name)]
    asking = [value for value in fitting if not is_bypass(agent, option, value)]
    return option.value if option.value in asking else next(iter(asking), "")


def _wish_by_category(options: Sequence[AgentOption], category: str, value: str) -> Wish:
    found = next((option for option in options if option.category == category), None)
    return (
        _wish_for(found, value) if found else Wish(_absent(category), trouble=f"it offers no choice of a {category}")
    )


def _wish_for(option: AgentOption, value: str) -> Wish:
    """Return the value as the agent writes it. A list of choices is taken as complete, unless it is empty."""
    for choice in option.choices:
        if value.casefold() in {choice.value.casefold(), choice.name.casefold()}:
            return Wish(option, choice.value)
    if option.choices:
        return Wish(
            option, trouble=f"{option.id} = {value!a} is not offered; there is {_list_choices(option.choices)}"
        )
    return Wish(option, value)


def _list_choices(choices: Sequence[OptionChoice]) -> str:
    more = f" and {len(choices) - SHOWN} more" if len(choices) > SHOWN else ""
    return ", ".join(choice.value for choice in choices[:SHOWN]) + more


def _absent(name: str) -> AgentOption:
    return AgentOption(id=name, name=name)


# --- how they are set -----------------------------------------------------------------------------------------------


class OptionSetter:
    """Sets the options of a session. `answer`: that which started it."""

    def __init__(self, process: AgentProcess, session: str, updates: Updates, answer: Any) -> None:
        self._process = process
        self._session = session
        self._updates = updates
        self._as_options = {text(entry.get("id")) for entry in shapes(shape(answer).get("configOptions"))}
        self._set_for: tuple[object, ...] | None = None
        self._own = {option.id: option.value for option in updates.options}

    async def follow(self, turn: Turn) -> None:
        """Set the options again if the settings have changed. Raises AgentFailed: the agent must not be prompted."""
        definition, settings = self._process.definition, turn.settings
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
        stays = f"{self._process.definition.name} stays in the mode {mode!a}, in which nobody is asked"
        if not is_confined(turn.settings, self._process.definition):
            raise AgentFailed(f"{stays}, and nothing confines it; choose another mode in its own settings")
        turn.emit(ev.BackgroundEvent(message=f"{stays}; its sandbox is what confines it"))

    async def _grant(self, turn: Turn, wish: Wish) -> None:
        trouble = wish.trouble
        if not trouble and wish.value != wish.option.value:
            trouble = await self._set(turn, wish)
        if trouble:
            name = self._process.definition.name
            if wish.must:
                raise AgentFailed(f"{name}: {trouble}; {LEAVE_IT}")
            turn.emit(ev.BackgroundEvent(message=f"{name} could not be set as wanted: {trouble}"))

    async def _set(self, turn: Turn, wish: Wish) -> str:
        """Set a value, and return why that failed; empty if it did not."""
        trouble = "it offers no way to"
        for method, params in self._ways(wish.option, wish.value):
            try:
                async with asyncio.timeout(SET_S):
                    answer = await self._process.peer.request(method, {"sessionId": self._session, **params})
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
