"""The files that Greenroom itself relies on, which no command and no patch may change. Blocking: follows links."""

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from supervisor.config.load import LoadedConfig
from supervisor.paths import Paths, codex_config_file, config_files, hidden_places, usual_places
from supervisor.work.sandbox.roots import Protection


def protection(
    loaded: LoadedConfig, paths: Paths, environ: Mapping[str, str], given: Sequence[str] = ()
) -> Protection:
    """Every file that configuration is or could be read from, the files that it names, journal, locks, sockets.

    Those of a daemon without this one's variables count too, as editors start it. `given`: the words of other
    commands that run outside of the sandbox.
    """
    usual_state, usual_files = usual_places(environ)
    config = loaded.config
    instructions = {
        config.experimental_instructions_file,
        *(profile.experimental_instructions_file for profile in config.profiles.values()),
    }
    agents = ((agent.command or "", *agent.args) for agent in config.agents.values())
    servers = ((server.command or "", *server.args) for server in config.mcp_servers.values())
    started = (*agents, *servers, tuple(config.notify or ()), tuple(given))
    programs = (word for argv in started for word in argv if Path(word).is_absolute() and _is_file(word))
    by_name = (argv[0] for argv in started if argv)
    read = (loaded.file.path, *config_files(environ), codex_config_file(environ), *usual_files)
    named = (*programs, *_link_targets(by_name, environ), *map(_expand_home, filter(None, instructions)))
    files = (Path(name) for name in (*read, *named) if name)
    return Protection(
        closed=tuple(dict.fromkeys(map(Path, (*paths.protected_directories, usual_state)))),
        files=tuple(dict.fromkeys(files)),
        hidden=tuple(map(Path, hidden_places(paths, environ))),
    )


def _link_targets(names: Iterable[str], environ: Mapping[str, str]) -> Iterator[str]:
    """Yield the targets of programs on the search path that are links: `npm link` makes links into a project."""
    for name in names:
        found = shutil.which(name, path=environ.get("PATH", os.defpath)) if name and os.sep not in name else None
        if found is not None and (real := os.path.realpath(found)) != found:
            yield real


def _is_file(name: str) -> bool:
    """Whether this may be a program or a script. A directory that a server works in is none, and stays open."""
    try:
        return not Path(name).is_dir()
    except (OSError, ValueError):
        return False


def _expand_home(name: str) -> str:
    try:
        return str(Path(name).expanduser())
    except RuntimeError:  # no such user: it can't be read either
        return name
