"""The agent that a conversation uses, ready to be started: its program, variables and own directories.

Looks for programs on the disk, by the environment that is passed in, never by the process's own. Blocking.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct, field

from actors.vocabulary.errors import ConfigError
from actors.vocabulary.setting_changes import OWN_AGENT
from supervisor.config.agent_variables import AgentVariables, variables_for_agent
from supervisor.config.agents import AgentTable, Confine
from supervisor.config.config_problems import printable
from supervisor.config.mcp_servers import McpServer
from supervisor.config.whole_config import Config
from supervisor.disk.search_paths import drop_writable_entries, lies_in_writable_folder, missing_interpreter
from supervisor.work.reach.known_agents import KNOWN_AGENTS, KnownAgent, places_of

PROGRAM_FOUND = "its program was found"  # begins the message about an agent that is not started


class AgentDefinition(Struct, frozen=True):
    """An agent that can be started here. `argv` begins with an absolute path.

    `env`: variables that it gets besides the conversation's. `cwd`: None means the conversation's. `own`: files and
    directories of its own, which it may write wherever they are; not all of them need to exist.
    `mode`, `config_options`: a person's choices for it in the config. `wanted`: the conversation's variables that it
    gets besides those that commands get.
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
    variables: AgentVariables = AgentVariables()

    def __repr__(self) -> str:
        return f"AgentDefinition({self.name!r}, {self.argv!r})"  # the variables may hold secrets


def agent_names(config: Config) -> list[str]:
    """The agents that can be chosen, our own first; not all of them need to be installed."""
    return list(dict.fromkeys([OWN_AGENT, *config.agents, *KNOWN_AGENTS]))


def agent_named(name: str, config: Config) -> str:
    """Return the name as settings have it: "" stands for our own agent."""
    if name not in agent_names(config):
        raise ConfigError(f"agent: there is no agent {printable(name)!a}{_suggestion(name, config)}", key="agent")
    return "" if name == OWN_AGENT else name


def table_of(name: str, config: Config) -> AgentTable:
    return config.agents.get(name) or AgentTable()


def definition_of(
    name: str, config: Config, environ: Mapping[str, str], open_to_turns: Sequence[Path] = ()
) -> AgentDefinition:
    """Return the definition of a third-party agent, or raise an error that says how to get it.

    `environ` is the conversation's. Its program is not looked for in folders that are `open_to_turns`.
    """
    agent_named(name, config)
    known, own = KNOWN_AGENTS.get(name), table_of(name, config)
    argv = _argv(name, own, known, environ, open_to_turns)
    return AgentDefinition(
        name=name,
        title=known.title if known else name,
        argv=argv,
        env=own.variables,
        cwd=own.cwd,
        own=tuple(dict.fromkeys([*_places(known, {**environ, **own.variables}), *own.writable])),
        network=own.network,
        confine=own.confine,
        mode=own.mode,
        config_options=own.config_options,
        mcp_servers={
            server: config.mcp_servers[server] for server in own.mcp_servers if server in config.mcp_servers
        },
        start_s=own.startup_timeout_seconds,
        variables=variables_for_agent(kind_named(name, argv), {**environ, **own.variables}, own.env_vars)._replace(
            inherits_all=own.inherits
        ),
    )


def kind_named(name: str, argv: Sequence[str]) -> str:
    """Return the known agent that this is, by its name or its program; "" if it is none of them."""
    if name in KNOWN_AGENTS:
        return name
    words = {part for word in argv[:2] for path in (Path(word),) for part in (*path.parts[-4:], path.stem)}
    return next((kind for kind, known in KNOWN_AGENTS.items() if words.intersection(known.programs)), "")


def program_of(command: str, environ: Mapping[str, str]) -> str | None:
    """Find a program by its path, or on the PATH of this environment. Relative directories are left out."""
    from shutil import which  # with three ways of compression, for which an idle daemon has no use

    if command.startswith("~/"):
        command = environ.get("HOME", "~") + command[1:]
    if "/" in command:
        return command if Path(command).is_absolute() and which(command) else None
    path = ":".join(each for each in environ.get("PATH", "").split(":") if each.startswith("/"))
    return which(command, path=path) if path else None


def _argv(
    name: str,
    own: AgentTable,
    known: KnownAgent | None,
    environ: Mapping[str, str],
    open_to_turns: Sequence[Path],
) -> tuple[str, ...]:
    """The first way to start the agent whose program is here. The person's arguments replace the known ones."""
    trusted, passed_over = drop_writable_entries(environ, open_to_turns), ""
    for command, *usual in _starts(own, known):
        program = program_of(command, trusted)
        if program is not None and (_is_path(command) or not lies_in_writable_folder(program, open_to_turns)):
            args = own.args if "args" in own.model_fields_set else usual
            if wants := missing_interpreter(program, trusted):
                raise ConfigError(f"agent {name}: {_no_interpreter(program, wants, environ)}", key="agent")
            return (program, *args)
        passed_over = passed_over or program or program_of(command, environ) or ""
    why = _writable_by_turns(name, passed_over) if passed_over else _missing(name, own, known, environ)
    raise ConfigError(f"agent {name}: {why}", key="agent")


def _is_path(command: str) -> bool:
    return "/" in command  # then a person has chosen this very program


def _writable_by_turns(name: str, program: str) -> str:
    return (
        f"{PROGRAM_FOUND} only at {program}, where turns may write, so it is not started; install it "
        f"elsewhere, or name it by its whole path as agents.{name}.command in the config"
    )


def _no_interpreter(program: str, wants: str, environ: Mapping[str, str]) -> str:
    from shutil import which

    open_place = which(wants, path=environ.get("PATH", ""))
    where = f"only at {open_place}, where turns may write" if open_place else "nowhere on the PATH"
    return f"{program} is run by {wants}, which is {where}; install {wants} in a directory of the PATH that is yours"


def _starts(own: AgentTable, known: KnownAgent | None) -> tuple[tuple[str, ...], ...]:
    if own.command is not None:
        return ((own.command,),)
    return known.starts if known else ()


def _missing(name: str, own: AgentTable, known: KnownAgent | None, environ: Mapping[str, str]) -> str:
    if own.command is not None:
        where = "no program there" if "/" in own.command else "not on the PATH"
        return f"{own.command!a} is {where}; agents.{name}.command in the config names it"
    assert known is not None  # noqa: S101  # an unknown agent has a command, see agent_misfits
    names = " or ".join(known.programs)
    if program := _itself(known, environ):
        return (
            f"{known.title} is here ({program}), but not its adapter: {names} is not on the PATH; install it with "
            f"`{known.install}`"
        )
    return f"it is not installed: {names} is not on the PATH; install it with `{known.install}`"


def itself_without_adapter(name: str, config: Config, environ: Mapping[str, str]) -> str:
    """Return the agent's everyday program, if it is installed and only its adapter is missing; else ""."""
    known = KNOWN_AGENTS.get(name)
    return _itself(known, environ) if known is not None and table_of(name, config).command is None else ""


def _itself(known: KnownAgent, environ: Mapping[str, str]) -> str:
    return (known.itself and program_of(known.itself, environ)) or ""


def _suggestion(name: str, config: Config) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, agent_names(config), n=1)
    guess = f"; did you mean {near[0]}?" if near else ";"
    return f"{guess} `greenroom agents` lists them, [agents.NAME] in the config adds one"


def _places(known: KnownAgent | None, environ: Mapping[str, str]) -> Iterator[Path]:
    """The agent's own places. A variable that names the home itself, or a folder above it, opens nothing."""
    home = Path(environ.get("HOME") or "/")
    for place in (Path(os.path.normpath(path)) for path in places_of(known.places, environ)) if known else ():
        if not home.is_relative_to(place):
            yield place
