"""The mode and the options that an agent is set to, decided from our settings. Pure.

An agent may begin in a mode that asks nobody, because its own config says so, or because the session was in it last.
Such a mode is never taken over: it is chosen in `[agents.NAME]`, where something confines the agent, or not at all.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from msgspec import Struct
from msgspec.structs import replace

from actors.vocabulary.agent_events import AgentOption, OptionChoice
from actors.vocabulary.settings import ApprovalPolicy, ReasoningEffort, Settings
from supervisor.agents.acp.confined_agents import keeps_its_mode, kind_of
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
# The modes in which it only reads.
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
SHOWN = 10  # values that are named where another was asked for


class Wish(Struct, frozen=True):
    """A value for one of the agent's options. `trouble`: why there is none; then nothing is set.

    `must`: without it the agent is not prompted.
    """

    option: AgentOption
    value: str = ""
    trouble: str = ""
    must: bool = False


class ModeRefused(Exception):
    """The mode of the config would let the agent do everything unasked, and nothing confines it."""


def wishes(
    definition: AgentDefinition,
    settings: Settings,
    options: Sequence[AgentOption],
    own: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[Wish]:
    """Yield what is to be set, the mode first. Raises ModeRefused.

    `own`: the values that it began with, by the options' ids, to which it returns when nothing is named any more.
    """
    for option in options:
        if option.category == MODE and not _keeps_its_mode(definition, settings):
            yield _mode(definition, settings, option)
    if settings.agent_model:
        yield replace(_named(options, MODEL, settings.agent_model), must=True)  # another one may cost far more
    else:
        yield from _returning(options, MODEL, own)
    effort = settings.agent_effort or settings.effort.value
    if settings.agent_effort or settings.effort is not ReasoningEffort.MEDIUM:
        yield from (_chosen(one, effort) for one in options if one.category == EFFORT)
    else:
        yield from _returning(options, EFFORT, own)
    for name, value in definition.config_options.items():
        found = next((one for one in options if one.id == name), None)
        if found is not None and found.category == MODE and is_bypass(definition.name, found, value):
            _insist(definition, settings, value)
        absent = Wish(_absent(name), trouble=f"it has no option {name!a}")
        yield absent if found is None else _chosen(found, value)


def _returning(options: Sequence[AgentOption], category: str, own: Mapping[str, str]) -> Iterator[Wish]:
    for one in options:
        if one.category == category and one.id in own:
            yield Wish(one, own[one.id])


def is_free(definition: AgentDefinition, settings: Settings, options: Sequence[AgentOption]) -> str:
    """Name the mode in which the agent asks nobody, though no person has chosen that; nothing: it is in none."""
    for one in () if _keeps_its_mode(definition, settings) else options:
        chosen = {definition.mode, definition.config_options.get(one.id)}
        if one.category == MODE and one.value not in chosen and is_bypass(definition.name, one, one.value):
            return one.value
    return ""


def is_confined(definition: AgentDefinition, settings: Settings) -> bool:
    return definition.confine != "none" and settings.sandbox.mode != "danger-full-access"


def _keeps_its_mode(definition: AgentDefinition, settings: Settings) -> bool:
    """Tell whether our sandbox is made for the mode in which it was started, which is then ours."""
    return definition.mode is None and keeps_its_mode(kind_of(definition)) and is_confined(definition, settings)


def is_bypass(agent: str, option: AgentOption, value: str) -> bool:
    """Tell whether an agent asks nobody in a mode: by the table, or by what the mode is called."""
    name = next((one.name for one in option.choices if one.value == value), "")
    return value in BYPASSES.get(agent, ()) or bool(BYPASS_WORDS.search(value) or BYPASS_WORDS.search(name))


def _mode(definition: AgentDefinition, settings: Settings, option: AgentOption) -> Wish:
    if definition.mode is not None:
        if is_bypass(definition.name, option, definition.mode):
            _insist(definition, settings, definition.mode)
        return _chosen(option, definition.mode)
    reads = settings.sandbox.mode == "read-only"
    known, words = (READS, READ_WORDS) if reads else (ASKS, ASK_WORDS)
    wanted = _first(option, known.get(definition.name, ())) or _by_name(definition.name, option, words)
    if wanted:
        return Wish(option, wanted)
    if not is_bypass(definition.name, option, option.value):
        return Wish(option, option.value)
    others = (one.value for one in option.choices if not is_bypass(definition.name, option, one.value))
    other = next(others, "")
    return Wish(option, other, "" if other else "none of its modes asks first")


def _insist(definition: AgentDefinition, settings: Settings, mode: str) -> None:
    """Refuse such a mode where neither a sandbox nor a person's policy of asking nobody stands for it."""
    if not is_confined(definition, settings) and settings.approval_policy is not ApprovalPolicy.NEVER:
        raise ModeRefused(
            f"agents.{definition.name}: in the mode {mode!a} nobody is asked, and nothing confines it; set "
            'confine = "workspace" and a sandbox, or another mode'
        )


def _first(option: AgentOption, wanted: Sequence[str]) -> str:
    offered = {one.value for one in option.choices}
    return next((one for one in wanted if one in offered), "")


def _by_name(agent: str, option: AgentOption, words: re.Pattern[str]) -> str:
    """The mode that is set if its name fits, else the first whose name does."""
    fitting = [one.value for one in option.choices if words.search(one.value) or words.search(one.name)]
    asking = [one for one in fitting if not is_bypass(agent, option, one)]
    return option.value if option.value in asking else next(iter(asking), "")


def _named(options: Sequence[AgentOption], category: str, value: str) -> Wish:
    found = next((one for one in options if one.category == category), None)
    return _chosen(found, value) if found else Wish(_absent(category), trouble=f"it offers no choice of a {category}")


def _chosen(option: AgentOption, value: str) -> Wish:
    """The value as the agent writes it. A list of choices may be incomplete only where there is none at all."""
    for one in option.choices:
        if value.casefold() in {one.value.casefold(), one.name.casefold()}:
            return Wish(option, one.value)
    if option.choices:
        return Wish(option, trouble=f"{option.id} = {value!a} is not offered; there is {_shown(option.choices)}")
    return Wish(option, value)


def _shown(choices: Sequence[OptionChoice]) -> str:
    more = f" and {len(choices) - SHOWN} more" if len(choices) > SHOWN else ""
    return ", ".join(one.value for one in choices[:SHOWN]) + more


def _absent(name: str) -> AgentOption:
    return AgentOption(id=name, name=name)
