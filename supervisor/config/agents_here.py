"""The agents of this machine, for a client's variables: installed or not, logged in or not, and the next step.

Looks at the disk and starts nothing; blocking. Signs of a login are cheap and may be wrong, or unknown.
"""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from msgspec.structs import replace

from actors.vocabulary.errors import ConfigError
from actors.vocabulary.setting_changes import OWN_AGENT
from actors.vocabulary.settings import ReadOnly
from supervisor.config.agent_definitions import (
    PROGRAM_FOUND,
    AgentDefinition,
    agent_names,
    definition_of,
    itself_without_adapter,
    table_of,
)
from supervisor.config.agent_variables import named_by_settings
from supervisor.config.whole_config import Config
from supervisor.disk.search_paths import writable_folders
from supervisor.work.reach.known_agents import KNOWN_AGENTS, KnownAgent, places_of, roads_to_a_login
from transports.supervisor_answers import Agent

Login = Literal["yes", "no", "unknown"]


def next_step(agent: Agent) -> str:
    """Return the next step for a person who wants to use the agent; "" if nothing is known to be missing."""
    if agent.state == "missing":
        if agent.itself:
            return f"{agent.title} is here, its adapter is not: {agent.install}"
        return agent.wrong if agent.wrong.startswith(PROGRAM_FOUND) else agent.install or agent.wrong
    if agent.state == "no login":
        return f"log in: {roads_to_a_login(agent.name)}" if agent.log_in else "log in with its own program"
    return ""


def agents_here(config: Config, environ: Mapping[str, str], cwd: Path) -> list[Agent]:
    """Return all agents as conversations in `cwd` see them: our own, then those of the config, then the known."""
    return [_ours(config), *(agent_here(name, config, environ, cwd) for name in agent_names(config)[1:])]


def agent_here(name: str, config: Config, environ: Mapping[str, str], cwd: Path) -> Agent:
    known, table = KNOWN_AGENTS.get(name), table_of(name, config)
    definition, wrong = _definition(name, config, environ, cwd)
    login, sign = _login(name, known, {**environ, **table.variables})
    state = "missing" if definition is None else {"yes": "ready", "no": "no login", "unknown": "installed"}[login]
    agent = Agent(
        name=name,
        title=known.title if known else name,
        default=config.agent == name,
        state=state,  # type: ignore[arg-type]  # of the four above
        start=definition.argv if definition else (),
        login=login,
        sign=sign,
        wrong=wrong,
        install=known.install if known and table.command is None else "",
        log_in=known.login if known else "",
        confine=table.confine,
        network=table.network,
        own=tuple(map(str, definition.own)) if definition else (),
        itself=itself_without_adapter(name, config, environ) if definition is None else "",
    )
    return replace(agent, next=next_step(agent))


def _ours(config: Config) -> Agent:
    default = config.agent in {None, OWN_AGENT}
    return Agent(OWN_AGENT, "Greenroom's own", default, "ready", login="yes", sign="its model provider")


def _definition(
    name: str, config: Config, environ: Mapping[str, str], cwd: Path
) -> tuple[AgentDefinition | None, str]:
    try:
        return definition_of(name, config, environ, writable_folders(ReadOnly(), cwd, environ)), ""
    except ConfigError as error:
        return None, error.message.removeprefix(f"agent {name}: ")


def _login(name: str, known: KnownAgent | None, environ: Mapping[str, str]) -> tuple[Login, str]:
    if known is None:
        return "unknown", ""
    named = tuple(named_by_settings(name, environ))  # keys of other providers, as its own settings have them
    for key in (*known.keys, *named):
        if environ.get(key, "").strip():
            return "yes", key
    for sign in places_of(known.signs, environ):
        try:
            if sign.stat().st_size:
                return "yes", str(sign)
        except OSError:
            continue
    # If only some of the signs are known, or a keychain can't be read, the missing sign proves nothing.
    certain = known.keys and known.signs and not (known.may_log_in_elsewhere or named) and sys.platform != "darwin"
    return ("no" if certain else "unknown"), ""
