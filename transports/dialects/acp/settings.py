"""The settings of a session as a client's options, and the settings for a chosen value. Pure."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from actors.vocabulary.agent_description import EFFORT, MODEL
from actors.vocabulary.agent_events import AgentOptions
from actors.vocabulary.errors import InvalidInput
from actors.vocabulary.setting_changes import OWN_AGENT, model_of
from actors.vocabulary.settings import ApprovalPolicy, ReasoningEffort, SandboxMode, Settings
from transports.dialects.acp.updates import Option, OptionValue
from transports.supervisor_requests import NewValues

MODE = "mode"
OTHER = "custom"  # policies that match no preset
WIDTH = {SandboxMode.READ_ONLY: 0, SandboxMode.WORKSPACE_WRITE: 1, SandboxMode.DANGER_FULL_ACCESS: 2}


class Preset(Struct, frozen=True):
    approval: ApprovalPolicy
    sandbox: SandboxMode
    name: str
    description: str


PRESETS = {
    "read-only": Preset(
        ApprovalPolicy.ON_REQUEST, SandboxMode.READ_ONLY, "Read only", "Reads anything, and asks before it writes."
    ),
    "ask": Preset(
        ApprovalPolicy.UNTRUSTED,
        SandboxMode.WORKSPACE_WRITE,
        "Ask",
        "Asks before every command that is not known to be harmless.",
    ),
    "auto": Preset(
        ApprovalPolicy.ON_REQUEST,
        SandboxMode.WORKSPACE_WRITE,
        "Auto",
        "Works within the directory, and asks before it goes beyond.",
    ),
    "full-access": Preset(
        ApprovalPolicy.NEVER, SandboxMode.DANGER_FULL_ACCESS, "Full access", "No sandbox and no questions."
    ),
}
APPROVALS = {
    ApprovalPolicy.UNTRUSTED: "Ask before all that is not known to be harmless",
    ApprovalPolicy.ON_FAILURE: "Ask when the sandbox stops a command",
    ApprovalPolicy.ON_REQUEST: "Ask when the agent wants more",
    ApprovalPolicy.NEVER: "Never ask",
}
SANDBOXES = {
    SandboxMode.READ_ONLY: "Read only",
    SandboxMode.WORKSPACE_WRITE: "Write in the directory",
    SandboxMode.DANGER_FULL_ACCESS: "No sandbox",
}
EFFORTS = tuple(ReasoningEffort)


class Offers(Struct, frozen=True):
    """The choices of a client besides those in the code: models, agents with their titles, sandboxes."""

    models: tuple[str, ...] = ()
    agents: tuple[tuple[str, str], ...] = ()
    widest: SandboxMode = SandboxMode.WORKSPACE_WRITE


def options_of(settings: Settings, offers: Offers, offered: AgentOptions | None) -> tuple[Option, ...]:
    """The present options. `offered`: the options that a third-party agent has offered itself."""
    theirs = offered if offered is not None and settings.agent and offered.agent == settings.agent else None
    return tuple(_options(settings, offers, theirs))


def mode_of(settings: Settings) -> str:
    now = (settings.approval_policy, settings.sandbox.mode)
    return next((name for name, preset in PRESETS.items() if (preset.approval, preset.sandbox) == now), OTHER)


def values_for(option: str, value: object, options: Sequence[Option]) -> NewValues:
    """The settings for a chosen value. Raises InvalidInput, worded for people."""
    by_id = {known.id: known for known in options}
    if option not in by_id:
        raise InvalidInput(f"configId: there is no option {option[:60]!a}; there are {', '.join(by_id)}")
    if not isinstance(value, str):
        raise InvalidInput(f"value: {option} takes a text, one of {_values(by_id[option])}")
    if option == MODE:
        return values_of_mode(value, by_id[MODE])
    if option != "model" and all(choice.value != value for choice in by_id[option].choices):
        raise InvalidInput(f"value: {option} can't be {value[:60]!a}; it is one of {_values(by_id[option])}")
    return {FIELDS[option]: value}


def values_of_mode(mode: str, option: Option) -> NewValues:
    preset = PRESETS.get(mode)
    if preset is None and mode == option.value:
        return {}
    if preset is None:
        raise InvalidInput(f"there is no mode {mode[:60]!a}; there are {_values(option)}")
    return {"approval_policy": preset.approval.value, "sandbox": preset.sandbox.value}


FIELDS = {
    "model": "model",
    "thought_level": "effort",
    "agent": "agent",
    "approval": "approval_policy",
    "sandbox": "sandbox",
}


def _options(settings: Settings, offers: Offers, theirs: AgentOptions | None) -> Iterator[Option]:
    mode, now = mode_of(settings), SandboxMode(settings.sandbox.mode)
    width = max(WIDTH[offers.widest], WIDTH[now])
    presets = [
        OptionValue(key, preset.name, preset.description)
        for key, preset in PRESETS.items()
        if WIDTH[preset.sandbox] <= width
    ]
    other = [OptionValue(OTHER, "Custom", "Approval and sandbox as they were chosen.")] if mode == OTHER else []
    yield Option(MODE, "Mode", mode, (*presets, *other), "mode", "The permissions, and when a person is asked.")
    yield from _model(settings, offers, theirs)
    yield from _thought_level(settings, theirs)
    agent = settings.agent or OWN_AGENT
    agents = {**dict(offers.agents), agent: dict(offers.agents).get(agent, agent)}
    yield Option("agent", "Agent", agent, tuple(OptionValue(key, name) for key, name in agents.items()))
    approvals = tuple(OptionValue(key.value, name) for key, name in APPROVALS.items())
    yield Option("approval", "Approval", settings.approval_policy.value, approvals)
    sandboxes = tuple(OptionValue(key.value, name) for key, name in SANDBOXES.items() if WIDTH[key] <= width)
    yield Option("sandbox", "Sandbox", now.value, sandboxes)


def _model(settings: Settings, offers: Offers, theirs: AgentOptions | None) -> Iterator[Option]:
    if not settings.agent:
        names = {settings.model: settings.model, **{name: name for name in offers.models}}
        yield Option("model", "Model", settings.model, tuple(OptionValue(*pair) for pair in names.items()), "model")
        return
    offered = next((option for option in theirs.options if option.category == MODEL), None) if theirs else None
    current = model_of(settings) or (offered.value if offered else "")
    if current:  # else the agent has not named its model yet
        names_of_choices = (
            {choice.value: choice.name or choice.value for choice in offered.choices} if offered else {}
        )
        choices = {**names_of_choices, current: names_of_choices.get(current, current)}
        yield Option("model", "Model", current, tuple(OptionValue(*pair) for pair in choices.items()), "model")


def _thought_level(settings: Settings, theirs: AgentOptions | None) -> Iterator[Option]:
    """Our efforts, or those that a third-party agent offers, in its words."""
    current, choices = settings.effort.value, {effort.value: effort.value.title() for effort in EFFORTS}
    if settings.agent:
        offered = next((option for option in theirs.options if option.category == EFFORT), None) if theirs else None
        current = settings.agent_effort or (offered.value if offered else "")
        choices = {choice.value: choice.name or choice.value.title() for choice in offered.choices} if offered else {}
        choices = {**choices, current: choices.get(current, current)} if choices else {}
    if choices:
        listed_choices = tuple(OptionValue(*pair) for pair in choices.items())
        yield Option("thought_level", "Thought", current, listed_choices, "thought_level")


def _values(option: Option) -> str:
    return ", ".join(choice.value for choice in option.choices)
