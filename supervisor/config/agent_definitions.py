"""The agent that a conversation uses, and what starting it needs: program, variables, its own directories.

Looks for programs on the disk, in the environment that it is given, never in the process's own: blocks meanwhile.
"""

import difflib
import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct, field

from actors.vocabulary.errors import ConfigError
from actors.vocabulary.setting_changes import OWN_AGENT
from supervisor.config.agents import AgentTable, Confine
from supervisor.config.complain import printable
from supervisor.config.known_agents import KNOWN, KnownAgent, places_of
from supervisor.config.mcp_servers import McpServer
from supervisor.config.models import Config


class AgentDefinition(Struct, frozen=True):
    """An agent that can be started here. `argv` begins with an absolute path.

    `env`: variables that it gets besides the conversation's. `cwd`: None means the conversation's. `own`: files and
    directories of its own, which it may write wherever they are; not all of them need to exist.
    `mode`, `config_options`: what a person has chosen for it in the config.
    """

    name: str
    title: str
    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: Path | None = None
    own: tuple[Path, ...] = ()
    network: bool = True
    confine: Confine = "workspace"
    mode: str | None = None
    config_options: Mapping[str, str] = field(default_factory=dict)
    mcp_servers: Mapping[str, McpServer] = field(default_factory=dict)
    start_s: float = 60.0

    def __repr__(self) -> str:
        return f"AgentDefinition({self.name!r}, {self.argv!r})"  # the variables may hold secrets


def agent_names(config: Config) -> list[str]:
    """All that can be chosen, our own first; not each needs to be installed."""
    return list(dict.fromkeys([OWN_AGENT, *config.agents, *KNOWN]))


def agent_named(name: str, config: Config) -> str:
    """Return the name as settings have it, where our own agent is the empty one."""
    if name not in agent_names(config):
        raise ConfigError(f"agent: there is no agent {printable(name)!a}{_instead(name, config)}", key="agent")
    return "" if name == OWN_AGENT else name


def table_of(name: str, config: Config) -> AgentTable:
    return config.agents.get(name) or AgentTable()


def definition_of(name: str, config: Config, environ: Mapping[str, str]) -> AgentDefinition:
    """Return the definition of an agent that is not ours, or raise with what would help.

    `environ` is the conversation's. Who trusts its PATH less than its person does leaves those directories out.
    """
    agent_named(name, config)
    known, own = KNOWN.get(name), table_of(name, config)
    return AgentDefinition(
        name=name,
        title=known.title if known else name,
        argv=_argv(name, own, known, environ),
        env=own.env,
        cwd=own.cwd,
        own=tuple(dict.fromkeys([*_places(known, environ), *own.writable])),
        network=own.network,
        confine=own.confine,
        mode=own.mode,
        config_options=own.config_options,
        mcp_servers={one: config.mcp_servers[one] for one in own.mcp_servers if one in config.mcp_servers},
        start_s=own.startup_timeout_seconds,
    )


def program_of(command: str, environ: Mapping[str, str]) -> str | None:
    """Find a program by its path, or on the PATH of this environment. One in a relative directory is not found."""
    if command.startswith("~/"):
        command = environ.get("HOME", "~") + command[1:]
    if "/" in command:
        return command if Path(command).is_absolute() and shutil.which(command) else None
    path = ":".join(each for each in environ.get("PATH", "").split(":") if each.startswith("/"))
    return shutil.which(command, path=path) if path else None


def _argv(name: str, own: AgentTable, known: KnownAgent | None, environ: Mapping[str, str]) -> tuple[str, ...]:
    """The first way to start it of which the program is there. Arguments of the person's replace the known ones."""
    for command, *usual in _starts(own, known):
        if (program := program_of(command, environ)) is not None:
            args = own.args if "args" in own.model_fields_set else usual
            return (program, *args)
    raise ConfigError(f"agent {name}: {_missing(name, own, known)}", key="agent")


def _starts(own: AgentTable, known: KnownAgent | None) -> tuple[tuple[str, ...], ...]:
    if own.command is not None:
        return ((own.command,),)
    return known.starts if known else ()


def _missing(name: str, own: AgentTable, known: KnownAgent | None) -> str:
    if own.command is not None:
        where = "no program there" if "/" in own.command else "not on the PATH"
        return f"{own.command!a} is {where}; agents.{name}.command in the config names it"
    assert known is not None  # noqa: S101  # an agent that nobody knows has a command, see agent_misfits
    names = " or ".join(known.programs)
    return f"it is not installed: {names} is not on the PATH; install it with `{known.install}`"


def _instead(name: str, config: Config) -> str:
    near = difflib.get_close_matches(name, agent_names(config), n=1)
    guess = f"; did you mean {near[0]}?" if near else ";"
    return f"{guess} `greenroom agents` lists them, [agents.NAME] in the config adds one"


def _places(known: KnownAgent | None, environ: Mapping[str, str]) -> Iterator[Path]:
    """Its own places. A variable that makes the home itself one of them opens nothing."""
    home = Path(environ.get("HOME") or "/")
    for place in (Path(os.path.normpath(one)) for one in places_of(known.places, environ)) if known else ():
        if not home.is_relative_to(place):
            yield place
