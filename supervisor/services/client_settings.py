"""Settings that clients ask for: made from the config, and checked against the client's ceiling.

Blocking: looks at the disk. Called in worker threads.
"""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec.structs import fields

from actors.vocabulary.settings import SandboxMode, Settings, WorkspaceWrite
from supervisor.config.agent_definitions import definition_of
from supervisor.config.budgets_in_force import insist_on_own_budgets
from supervisor.config.ceiling import Ceiling, check_budgets, check_overrides
from supervisor.config.config_problems import without_secrets
from supervisor.config.load import LoadedConfig
from supervisor.config.new_settings import Arguments, sandbox_policy, settings_for
from supervisor.config.overrides import merge, overrides_from_json
from supervisor.config.providers import choose_provider, insist_on_a_model
from supervisor.config.setting_values import Surroundings
from supervisor.disk.pins import missing_roots
from supervisor.disk.search_paths import writable_folders
from supervisor.engine.engine import Engine
from supervisor.services.altered_settings import alter, insist_on_size, pins_for
from supervisor.services.default_sandbox import DefaultSandbox, SandboxChoice
from transports import supervisor_requests as ask
from transports.dialect import Client
from transports.supervisor_answers import SettingsMade

ARGUMENTS = tuple(field.name for field in fields(Arguments))


class ClientSettings:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._environ = dict(os.environ)  # decoded once: it is long, and each new conversation needs it
        self._noticed = False
        self._told_of_workspaces = False

    def make_settings(self, request: ask.MakeSettings, client: Client) -> SettingsMade:
        """Settings for a new conversation, with notices and warnings for its person."""
        asked, person = overrides_from_json(request.config), request.person or ask.Person()
        overrides = merge(overrides_from_json(person.config), asked)
        insist_on_own_budgets(overrides)
        loaded = self._engine.loaded_config.with_overrides(overrides, request.profile or person.profile)
        env = self.environ(client)
        unnamed = DefaultSandbox(self._home(client), self._widest_sandbox(request.person))
        settings = settings_for(loaded.config, _arguments(request, person), Path(client.cwd), env, unnamed.mode_for)
        roots = pins_for(settings, loaded.config, env)  # before the checks: a name may mean another directory later
        settings = settings.model_copy(update={"overrides": without_secrets(overrides), "roots": roots})
        unnamed.insist_on(settings)
        if request.person is not None:
            check_overrides(asked, self._engine.config.greenroom.mcp)
            self._check_new(settings, loaded, request.person, client)
            if request.model_provider is None and not settings.agent:
                insist_on_a_model(loaded.config, env, loaded.editable(env))
        if settings.agent:
            writable = writable_folders(settings.sandbox, settings.cwd, env)
            definition_of(settings.agent, loaded.config, env, writable)  # now, while a person is there to install it
        notice = None if settings.agent else self._model_notice(loaded, env, request.model_provider)
        insist_on_size(settings, loaded.config)
        self._noticed = self._noticed or notice is not None  # the daemon has one person, who gets the notice once
        left_out = tuple(missing_roots(roots, settings.sandbox, settings.cwd))
        shut, opened = self._sandbox_notices(unnamed.choice)
        notices = "; ".join(filter(None, (notice, opened))) or None
        warnings = (*loaded.warnings, *_directory_warnings(settings.cwd), *shut, *left_out)
        return SettingsMade(settings, notices, warnings)

    def _check_new(self, settings: Settings, loaded: LoadedConfig, person: ask.Person, client: Client) -> None:
        own = self._engine.loaded_config.with_overrides(overrides_from_json(person.config), person.profile)
        check_budgets(loaded.config.greenroom.budget, own.config.greenroom.budget)
        self.ceiling(person, client).check(settings)

    def _model_notice(self, loaded: LoadedConfig, env: Mapping[str, str], named: str | None) -> str | None:
        if named or loaded.config.model_provider or self._noticed:
            return None
        return choose_provider(loaded.config, env, loaded.editable(env)).notice

    def _widest_sandbox(self, person: ask.Person | None) -> SandboxMode | None:
        return None if person is None else self._engine.config.greenroom.mcp.max_sandbox

    def permit_settings(self, request: ask.PermitSettings, client: Client) -> SettingsMade:
        """Settings for an existing conversation; only those that differ from its current ones are checked."""
        settings = request.settings
        if any(getattr(settings, name) != getattr(request.current, name) for name in ("cwd", "sandbox")):
            config = self._engine.loaded_config.with_overrides(settings.overrides).config
            roots = pins_for(settings, config, self.environ(client))
            settings = settings.model_copy(update={"roots": roots}).with_known_roots(request.current)
        self._check_change(request.current, settings, request.person, client)
        return SettingsMade(settings, warnings=tuple(_directory_warnings(settings.cwd)))

    def alter_settings(self, request: ask.AlterSettings, client: Client) -> SettingsMade:
        around = self.surroundings(client, self._widest_sandbox(request.person))
        made = alter(self._engine.loaded_config, request.current, request.values, around)
        if request.person is not None:
            self._check_change(request.current, made.settings, request.person, client)
        return made

    def ceiling(self, person: ask.Person, client: Client) -> Ceiling:
        """The most that this client may ask for: the settings that the person made for it."""
        loaded = self._engine.loaded_config.with_overrides(overrides_from_json(person.config), person.profile)
        env = self.environ(client)
        own = settings_for(loaded.config, _arguments(person, person), Path(client.cwd), env)
        opened = sandbox_policy(SandboxMode.WORKSPACE_WRITE, loaded.config)
        assert isinstance(opened, WorkspaceWrite)  # noqa: S101  # the mode above
        home = self._home(client)
        tables = loaded.config.agents
        return Ceiling(
            self._engine.config.greenroom.mcp,
            own,
            opened,
            home,
            is_directory_chosen=person.cwd is not None,
            unconfined_agents=frozenset(name for name, table in tables.items() if table.confine == "none"),
        )

    def surroundings(self, client: Client, most: SandboxMode | None = None) -> Surroundings:
        env = self.environ(client)
        return Surroundings(Path(client.cwd), env, DefaultSandbox(self._home(client), most).mode_for)

    def _check_change(self, current: Settings, settings: Settings, person: ask.Person, client: Client) -> None:
        bounded = ("cwd", "sandbox", "approval_policy", "agent")
        if any(getattr(settings, name) != getattr(current, name) for name in bounded):
            self.ceiling(person, client).check(settings.with_known_roots(current))

    def _sandbox_notices(self, chosen: SandboxChoice | None) -> tuple[tuple[str, ...], str | None]:
        """Return a warning if nothing may be written, and, only once, the notice that a workspace may be written."""
        if chosen is None:
            return (), None
        if chosen.mode is SandboxMode.READ_ONLY:
            return (chosen.notice,), None
        known, self._told_of_workspaces = self._told_of_workspaces, True
        return (), None if known else chosen.notice

    def _home(self, client: Client) -> Path:
        return Path(client.env.get("HOME") or self._environ.get("HOME") or "/")

    def environ(self, client: Client) -> dict[str, str]:
        """Return the variables of the client over those of the daemon."""
        return {**self._environ, **client.env}


def _arguments(wanted: ask.MakeSettings | ask.Person, person: ask.Person) -> Arguments:
    """Arguments for the settings: the client's own values win over the person's."""
    values = {name: getattr(wanted, name, None) for name in ARGUMENTS}
    return Arguments(
        **{name: getattr(person, name, None) if value is None else value for name, value in values.items()}
    )


def _directory_warnings(cwd: Path) -> Iterator[str]:
    if not cwd.exists():
        yield f"working directory {str(cwd)!a} does not exist; commands and patches fail there until it does"
