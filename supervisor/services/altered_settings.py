"""New values for the settings of an existing conversation: applied, checked, and their directories looked at.

Blocking: looks at the disk. Knows of a client only its directory and its environment.
"""

from collections.abc import Mapping
from pathlib import Path

from pydantic_core import PydanticSerializationError

from actors.vocabulary.errors import InvalidInput
from actors.vocabulary.settings import Pin, Settings, WorkspaceWrite
from supervisor.config.agent_definitions import definition_of
from supervisor.config.command_environment import command_environment
from supervisor.config.load import LoadedConfig
from supervisor.config.setting_values import Surroundings, apply_values
from supervisor.config.whole_config import Config
from supervisor.disk.pins import pins_of
from supervisor.disk.search_paths import writable_folders
from supervisor.disk.workspace import client_tmpdir
from transports.supervisor_answers import SettingsMade
from transports.supervisor_requests import NewValues


def alter(loaded: LoadedConfig, current: Settings, values: NewValues, around: Surroundings) -> SettingsMade:
    config = loaded.with_overrides(current.overrides).config
    changed = apply_values(current, values, config, around)
    settings = changed.settings
    if settings.agent and settings.agent != current.agent:
        writable = writable_folders(settings.sandbox, settings.cwd, around.environ)
        definition_of(settings.agent, config, around.environ, writable)  # now, while a person is there to install it
    if "sandbox" in changed.fields:
        settings = settings.model_copy(update={"roots": pins_for(settings, config, around.environ)})
        _insist_on_directories(current, settings)
    insist_on_size(settings, config)
    return SettingsMade(settings, fields=changed.fields)


def pins_for(settings: Settings, config: Config, environ: Mapping[str, str]) -> tuple[Pin, ...]:
    """Pin the directories that the sandbox opens, including the temporary directory of commands."""
    env: dict[str, str] = {name: environ[name] for name in ("HOME", "TMPDIR") if name in environ}
    tmpdir = client_tmpdir(command_environment(env, config.shell_environment_policy))
    return pins_of(settings.sandbox, settings.cwd, tmpdir)


def insist_on_size(settings: Settings, config: Config) -> None:
    most = config.greenroom.limits.settings_bytes
    if (size := _size(settings)) > most:
        problem = f"its settings take {size} bytes, {most} are possible (greenroom.limits.settings_bytes)"
        raise InvalidInput(f"{problem}; shorten the instructions or the overrides")


def _insist_on_directories(before: Settings, after: Settings) -> None:
    """Refuse new roots that can't be opened. A root that was missing when it was first named stays closed."""
    known = {pin.name: pin for pin in (*(after.roots or ()), *(before.roots or ()))}
    for name in _roots(after):
        if name not in _roots(before) and name in known and known[name].path is None:
            late = "; it was not there when the conversation first named it, and a fork would look again"
            problem = f"writable_roots: there is no directory {str(name)!a}"
            raise InvalidInput(problem + (late if name.is_dir() else "; make it first"))


def _roots(settings: Settings) -> tuple[Path, ...]:
    return settings.sandbox.writable_roots if isinstance(settings.sandbox, WorkspaceWrite) else ()


def _size(settings: Settings) -> int:
    try:
        return len(settings.model_dump_json().encode())
    except PydanticSerializationError:
        problem = f"the name of the working directory ({str(settings.cwd)!a}) or of $TMPDIR is not UTF-8 text"
        raise InvalidInput(f"{problem}; use another one") from None
