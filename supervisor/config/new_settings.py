"""The settings of a new conversation, from the configuration and one request.

Blocking: the working directory is checked, and an instructions file is read.
"""

import os
import stat
from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

from msgspec import Struct

from actors.vocabulary.errors import ConfigError
from actors.vocabulary.setting_changes import OWN_AGENT
from actors.vocabulary.settings import (
    ApprovalPolicy,
    DangerFullAccess,
    ReadOnly,
    SandboxMode,
    SandboxPolicy,
    Settings,
    WorkspaceWrite,
)
from supervisor.config.agent_definitions import agent_named
from supervisor.config.providers import choose_provider, default_model, provider_named
from supervisor.config.whole_config import Config
from supervisor.disk.ordinary_files import NotReadable
from supervisor.paths import hidden_places, locate
from supervisor.work.reach.readable import Reach

INSTRUCTIONS_BYTES = 1 << 20  # a longer file would leave no room in any model's context

Choice = TypeVar("Choice", bound=StrEnum)


class Arguments(Struct, frozen=True):
    """The typed arguments of a request or a command line. They win over everything else; None: not given."""

    agent: str | None = None
    model: str | None = None
    model_provider: str | None = None
    cwd: str | None = None
    approval_policy: str | None = None
    sandbox: str | None = None
    base_instructions: str | None = None
    developer_instructions: str | None = None
    include_plan_tool: bool | None = None
    include_apply_patch_tool: bool | None = None


def read_only(_: Path) -> SandboxMode:
    return SandboxMode.READ_ONLY


def settings_for(
    config: Config,
    arguments: Arguments,
    base: Path,
    environ: Mapping[str, str],
    unnamed: Callable[[Path], SandboxMode] = read_only,
) -> Settings:
    """The settings. Relative paths and keys are the client's: `base` is its directory, `environ` its environment.

    `unnamed` chooses the sandbox of a working directory if no sandbox is named.
    """
    cwd = working_directory(arguments.cwd, base)
    if arguments.model_provider is not None:
        provider = provider_named(arguments.model_provider, config, environ).id
    else:
        provider = choose_provider(config, environ).provider.id
    mode = _member_of(SandboxMode, "sandbox", arguments.sandbox)
    sandbox = sandbox_policy(mode or config.sandbox_mode or unnamed(cwd), config)
    agent = agent_named(arguments.agent or config.agent or OWN_AGENT, config)
    named = (arguments.model or "") if agent else ""  # the config's model is for our own agent
    return Settings(
        model=("" if agent else arguments.model) or config.model or default_model(provider),
        provider=provider,
        cwd=cwd,
        approval_policy=_member_of(ApprovalPolicy, "approval policy", arguments.approval_policy)
        or config.approval_policy,
        sandbox=sandbox,
        effort=config.model_reasoning_effort,
        summary=config.model_reasoning_summary,
        base_instructions=_instructions(config, arguments, cwd),
        developer_instructions=arguments.developer_instructions or None,
        include_plan_tool=_argument_or_config(arguments.include_plan_tool, config.include_plan_tool),
        include_apply_patch_tool=_argument_or_config(
            arguments.include_apply_patch_tool, config.include_apply_patch_tool
        ),
        agent=agent,
        agent_model=named,
    )


def _argument_or_config(argument: bool | None, configured: bool) -> bool:
    return configured if argument is None else argument


def sandbox_policy(mode: SandboxMode, config: Config) -> SandboxPolicy:
    match mode:
        case SandboxMode.DANGER_FULL_ACCESS:
            return DangerFullAccess()
        case SandboxMode.READ_ONLY:
            return ReadOnly()
        case SandboxMode.WORKSPACE_WRITE:
            opened = config.sandbox_workspace_write
            return WorkspaceWrite(
                writable_roots=opened.writable_roots,
                network_access=opened.network_access,
                exclude_tmpdir_env_var=opened.exclude_tmpdir_env_var,
                exclude_slash_tmp=opened.exclude_slash_tmp,
                unix_sockets=config.greenroom.sandbox.unix_sockets,
            )


def working_directory(cwd: str | None, base: Path) -> Path:
    """The absolute path. A symbolic link keeps its name, unless `..` has to be followed through it.

    A directory that does not exist is accepted: a conversation needs it only when a command is to run there.
    """
    path = base / (cwd or "")
    if not path.is_absolute():
        raise ConfigError(
            f"working directory {str(path)!a} is relative, but the directory it is relative to is unknown", key="cwd"
        )
    try:
        path = path.resolve(strict=True) if ".." in path.parts else path
        found = path.stat()
    except FileNotFoundError:
        return path.resolve() if ".." in path.parts else path
    except (OSError, ValueError, RuntimeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise ConfigError(f"working directory {str(path)!a} can't be used: {reason}", key="cwd") from error
    if not stat.S_ISDIR(found.st_mode):
        raise ConfigError(f"working directory {str(path)!a} is not a directory", key="cwd")
    return path


def _instructions(config: Config, arguments: Arguments, cwd: Path) -> str | None:
    if arguments.base_instructions is not None:
        return arguments.base_instructions
    return instructions_of(config.experimental_instructions_file, cwd)


def instructions_of(name: str | None, cwd: Path) -> str | None:
    """Read the file of instructions that the config or a profile names.

    A relative name belongs to the project, so its links may not lead to other files of the person's.
    """
    if name is None:
        return None
    reach = Reach(cwd, hidden=tuple(map(Path, hidden_places(locate(), os.environ))))
    try:
        path = Path(name).expanduser()
        text = reach.read(str(path), INSTRUCTIONS_BYTES + 1, "" if path.is_absolute() else str(cwd)).decode()
    except (NotReadable, ValueError, RuntimeError) as error:
        reason = error.reason if isinstance(error, NotReadable) else "not UTF-8"
        raise ConfigError(f"instructions file {name!a} can't be read: {reason}", key=_INSTRUCTIONS) from error
    if len(text) > INSTRUCTIONS_BYTES or not text.strip():
        problem = "empty" if not text.strip() else f"larger than {INSTRUCTIONS_BYTES} bytes"
        raise ConfigError(f"instructions file {name!a} is {problem}", key=_INSTRUCTIONS)
    return text.strip()


_INSTRUCTIONS = "experimental_instructions_file"


def _member_of(choices: type[Choice], subject: str, word: str | None) -> Choice | None:
    if word is None:
        return None
    try:
        return choices(word)
    except ValueError:
        known = ", ".join(choices)
        raise ConfigError(f"{subject}: expected one of {known}, found {word!a}", key=subject) from None
