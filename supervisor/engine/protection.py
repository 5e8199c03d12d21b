"""Files that commands and patches may not change wherever their roots are: all that Greenroom itself relies on."""

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
    agents = ((one.command or "", *one.args) for one in config.agents.values())
    servers = ((one.command or "", *one.args) for one in config.mcp_servers.values())
    started = (*agents, *servers, tuple(config.notify or ()), tuple(given))
    programs = (word for argv in started for word in argv if Path(word).is_absolute() and _is_file(word))
    by_name = (argv[0] for argv in started if argv)
    read = (loaded.file.path, *config_files(environ), codex_config_file(environ), *usual_files)
    named = (*programs, *_led_to(by_name, environ), *map(_expanded, filter(None, instructions)))
    files = (Path(name) for name in (*read, *named) if name)
    return Protection(
        closed=tuple(dict.fromkeys(map(Path, (*paths.protected, usual_state)))),
        files=tuple(dict.fromkeys(files)),
        hidden=tuple(map(Path, hidden_places(paths, environ))),
    )


def _led_to(names: Iterable[str], environ: Mapping[str, str]) -> Iterator[str]:
    """Yield the files that programs on the search path are links to: `npm link` and its like lead into a project."""
    for name in names:
        found = shutil.which(name, path=environ.get("PATH", os.defpath)) if name and os.sep not in name else None
        if found is not None and (real := os.path.realpath(found)) != found:
            yield real


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
