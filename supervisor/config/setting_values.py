"""New values for the settings of an existing conversation: the settings that follow, and the fields that were meant.

A value of None means the config's. Reads the file of instructions that a profile may name, and nothing else.
"""

from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import TypeAlias, TypeVar

from msgspec import Struct

from actors.vocabulary.errors import ConfigError, InvalidInput
from actors.vocabulary.setting_changes import OWN_AGENT
from actors.vocabulary.settings import ApprovalPolicy, ReasoningEffort, SandboxMode, Settings, WorkspaceWrite
from supervisor.config.agent_definitions import agent_named
from supervisor.config.config_problems import BUILT_IN_PROVIDERS, printable
from supervisor.config.new_settings import instructions_of, sandbox_policy
from supervisor.config.providers import choose_provider, default_model, provider_named
from supervisor.config.whole_config import Config

Choice = TypeVar("Choice", bound=StrEnum)
Value: TypeAlias = str | tuple[str, ...] | None

# The keys of a profile that are settings of a conversation. Its other keys belong to the whole program.
PROFILE_SETTINGS = {
    "model_provider": "provider",
    "model": "model",
    "approval_policy": "approval_policy",
    "sandbox_mode": "sandbox",
    "model_reasoning_effort": "effort",
    "model_reasoning_summary": "summary",
    "experimental_instructions_file": "base_instructions",
}


class Surroundings(Struct, frozen=True):
    """The client's directory and environment. `unnamed` chooses the sandbox of a directory if no sandbox is named."""

    base: Path
    environ: Mapping[str, str]
    default_sandbox: Callable[[Path], SandboxMode]

    def __repr__(self) -> str:
        return f"Surroundings({self.base})"  # the environment holds secrets


class AlteredSettings(Struct, frozen=True):
    """Settings, and the fields of them that were meant."""

    settings: Settings
    fields: tuple[str, ...]


def apply_values(
    current: Settings, values: Mapping[str, Value], config: Config, around: Surroundings
) -> AlteredSettings:
    """Apply all values, or raise for the first that is invalid. Relative roots are the client's."""
    altering = _Altering(current, config, around)
    profile = altering.of_profile(values["profile"]) if "profile" in values else {}
    wanted = {**profile, **{name: value for name, value in values.items() if name != "profile"}}
    for name, take in SETTERS.items():
        if name in wanted and (name in values or altering.goes_with_a_profile(name)):
            take(altering, wanted[name])
    if "provider" in wanted and "model" not in wanted:
        altering.follow_provider()
    return AlteredSettings(altering.settings, tuple(dict.fromkeys(altering.fields)))


class _Altering:
    """The settings so far, and the config that a value of None goes back to."""

    def __init__(self, current: Settings, config: Config, around: Surroundings) -> None:
        self.settings = current
        self.fields: list[str] = []
        self._before = current
        self._config = config
        self._around = around

    def of_profile(self, name: Value) -> dict[str, Value]:
        """Return the settings of the profile. None: every setting that a profile may have goes back to the config."""
        if name is None:
            return dict.fromkeys(PROFILE_SETTINGS.values())
        chosen = self._config.profiles.get(str(name))
        if chosen is None:
            known = ", ".join(self._config.profiles) or "none"
            raise ConfigError(f"profile: there is no profile {printable(str(name))!a}; the config has {known}")
        values = chosen.model_dump(mode="json", exclude_none=True)
        return {setting: values[key] for key, setting in PROFILE_SETTINGS.items() if key in values}

    def goes_with_a_profile(self, setting: str) -> bool:
        """Tell whether a profile's value counts: its model counts for our own agent only."""
        return setting != "model" or not self.settings.agent

    def take_agent(self, value: Value) -> None:
        """Take the agent. A new agent chooses its model and its effort itself, until a person names them for it."""
        name = str(value) if value is not None else self._config.agent or OWN_AGENT
        agent = agent_named(name, self._config)
        named = () if agent == self.settings.agent else ("agent_model", "agent_effort")
        self._take(agent=agent, **dict.fromkeys(named, ""))

    def take_provider(self, value: Value) -> None:
        if value is None:
            self._take(provider=choose_provider(self._config, self._around.environ).provider.id)
            return
        try:
            self._take(provider=provider_named(str(value), self._config, self._around.environ).id)
        except ConfigError as error:
            known = ", ".join((*BUILT_IN_PROVIDERS, *self._config.model_providers))
            raise ConfigError(f"provider: {error.message}; expected one of {known}", key="provider") from None

    def take_model(self, value: Value) -> None:
        if self.settings.agent:
            self._take(agent_model=str(value) if value is not None else "")
        else:
            self._take(model=str(value) if value is not None else self._own_model())

    def follow_provider(self) -> None:
        """Take the new provider's default model. A chosen model stays: many providers have it by the same name."""
        if self._before.model == default_model(self._before.provider):
            self._take(model=self._own_model())

    def _own_model(self) -> str:
        return self._config.model or default_model(self.settings.provider)

    def take_effort(self, value: Value) -> None:
        """Take the effort. A third-party agent may know more efforts than we do, and refuses others itself."""
        named = str(value) if self.settings.agent and value is not None else ""
        if named not in {"", *ReasoningEffort}:
            self._take(agent_effort=named)
            return
        effort = _member_of(ReasoningEffort, "effort", value) or self._config.model_reasoning_effort
        self._take(effort=effort, agent_effort=named)

    def take_summary(self, value: Value) -> None:
        self._take(summary=value or self._config.model_reasoning_summary)

    def take_base_instructions(self, value: Value) -> None:
        name = str(value) if value is not None else self._config.experimental_instructions_file
        self._take(base_instructions=instructions_of(name, self.settings.cwd))

    def take_approval_policy(self, value: Value) -> None:
        self._take(approval_policy=_member_of(ApprovalPolicy, "approval", value) or self._config.approval_policy)

    def take_sandbox(self, value: Value) -> None:
        """Take the mode as the config describes it; the present mode keeps its directories."""
        mode = _member_of(SandboxMode, "sandbox", value)
        same = mode is not None and mode.value == self.settings.sandbox.mode
        wanted = mode or self._config.sandbox_mode or self._around.default_sandbox(self.settings.cwd)
        self._take(sandbox=self.settings.sandbox if same else sandbox_policy(wanted, self._config))

    def take_writable_roots(self, value: Value) -> None:
        policy = self.settings.sandbox
        if not isinstance(policy, WorkspaceWrite):
            raise InvalidInput(
                f"writable_roots: the sandbox is {policy.mode}, which has none; set sandbox=workspace-write too"
            )
        roots = self._config.sandbox_workspace_write.writable_roots
        if value is not None:
            names = (value,) if isinstance(value, str) else value
            roots = tuple(dict.fromkeys(self._around.base / Path(name).expanduser() for name in names))
        self._take(sandbox=policy.model_copy(update={"writable_roots": roots}))

    def _take(self, **values: object) -> None:
        self.settings = self.settings.model_copy(update=values)
        self.fields += values


# A provider comes before its model, a mode before its directories.
SETTERS: Mapping[str, Callable[[_Altering, Value], None]] = {
    "agent": _Altering.take_agent,
    "provider": _Altering.take_provider,
    "model": _Altering.take_model,
    "effort": _Altering.take_effort,
    "approval_policy": _Altering.take_approval_policy,
    "sandbox": _Altering.take_sandbox,
    "writable_roots": _Altering.take_writable_roots,
    "summary": _Altering.take_summary,
    "base_instructions": _Altering.take_base_instructions,
}


def _member_of(choices: type[Choice], key: str, value: Value) -> Choice | None:
    if value is None:
        return None
    try:
        return choices(str(value))
    except ValueError:
        raise ConfigError(f"{key}: expected one of {', '.join(choices)}, found {value!a}", key=key) from None
