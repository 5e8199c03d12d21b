"""Files that commands and patches may not change wherever their roots are: all that Greenroom itself relies on."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from supervisor.agent.sandbox.roots import Protection
from supervisor.config.load import LoadedConfig
from supervisor.paths import Paths, codex_config_file, config_files, usual_places


def protection(
    loaded: LoadedConfig, paths: Paths, environ: Mapping[str, str], given: Sequence[str] = ()
) -> Protection:
    """Every file that configuration is or could be read from, files that it names, journal, locks, sockets.

    That includes what a program reads that is started without this one's variables, as editors start theirs. `given`
    are the words of other commands that run outside of the sandbox.
    """
    usual_state, usual_files = usual_places(environ)
    config = loaded.config
    instructions = {
        config.experimental_instructions_file,
        *(profile.experimental_instructions_file for profile in config.profiles.values()),
    }
    agents = (part for one in config.agents.values() for part in (one.command or "", *one.args))
    servers = (part for one in config.mcp_servers.values() for part in (one.command or "", *one.args))
    programs = (
        part
        for part in (*(config.notify or ()), *servers, *agents, *given)
        if Path(part).is_absolute() and _is_file(part)
    )
    read = (loaded.file.path, *config_files(environ), codex_config_file(environ), *usual_files)
    files = (Path(name) for name in (*read, *programs, *map(_expanded, filter(None, instructions))) if name)
    return Protection(
        closed=tuple(dict.fromkeys(map(Path, (*paths.protected, usual_state)))),
        files=tuple(dict.fromkeys(files)),
        hidden=tuple(dict.fromkeys(map(Path, paths.hidden))),
    )


def _is_file(name: str) -> bool:
    """Tell a program, or a script that it runs, from a directory that a server is to work in, which stays open."""
    try:
        return not Path(name).is_dir()
    except (OSError, ValueError):
        return False


def _expanded(name: str) -> str:
    try:
        return str(Path(name).expanduser())
    except RuntimeError:  # no such user: it can't be read either
        return name
