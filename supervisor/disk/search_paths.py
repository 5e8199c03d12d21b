"""The search paths of the programs that we start: none is looked for in a folder that a turn may write. Any thread.

Agents, MCP servers, `notify`, logins and our own git are all found through here. Looks at the disk for links alone.
"""

import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

from actors.vocabulary.settings import SandboxPolicy, WorkspaceWrite
from supervisor.disk.workspace import projects, temporary, temporary_of

# A loader and an exec look for code in these; an empty or relative entry means the program's starting directory.
LISTS = (
    "PATH",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "LD_AUDIT",
    "DYLD_LIBRARY_PATH",
    "DYLD_INSERT_LIBRARIES",
    *("PYTHONPATH", "PERL5LIB", "PERLLIB", "RUBYLIB", "GEM_PATH", "NODE_PATH", "CLASSPATH", "LUA_PATH"),
    *("GCONV_PATH", "LOCPATH", "MANPATH", "XDG_DATA_DIRS", "XDG_CONFIG_DIRS"),
)
# One file or directory each, with which a shell or an interpreter starts.
PLACES = ("BASH_ENV", "ENV", "PYTHONHOME", "PYTHONSTARTUP", "GEM_HOME", "GIT_EXEC_PATH", "GIT_TEMPLATE_DIR")


SCRIPT, LINE = b"#!", 512  # the beginning of a script, and bytes of its first line, which names its interpreter


def open_folders(sandbox: SandboxPolicy, cwd: Path, env: Mapping[str, str]) -> tuple[Path, ...]:
    """Return the folders that turns in a directory may write, whether this one may or not: another one might have.

    Where a turn may write nothing, or anything, a directory that holds the person's home counts for none.
    """
    policy = sandbox if isinstance(sandbox, WorkspaceWrite) else WorkspaceWrite()
    home = Path(env.get("HOME") or "/")
    folders = (*projects(policy, cwd), *temporary(policy, temporary_of(env)))
    return tuple(one for one in folders if policy is sandbox or not home.is_relative_to(one))


def outside(env: Mapping[str, str], writable: Iterable[Path]) -> dict[str, str]:
    """Drop search path entries that commands of the conversation may write to, so that no program is found there."""
    closed = _really(writable)
    told = dict(env)
    for name in LISTS:
        if name in told:
            kept = os.pathsep.join(entry for entry in _entries(name, told[name]) if _trusted(entry, closed))
            if kept:
                told[name] = kept
            else:
                del told[name]
    for name in PLACES:
        if not _trusted(told.get(name, "/"), closed):
            del told[name]
    return told


def open_ones_last(env: Mapping[str, str], writable: Iterable[Path]) -> dict[str, str]:
    """Do the same, but keep such entries at the end of PATH: in a sandbox the project's tools are found there."""
    folders = tuple(writable)
    told, closed = outside(env, folders), _really(folders)
    last = [entry for entry in _entries("PATH", env.get("PATH", "")) if entry.startswith("/")]
    path = [*filter(None, (told.get("PATH"),)), *(entry for entry in last if not _trusted(entry, closed))]
    return {**told, "PATH": os.pathsep.join(path)} if path else told


def lies_open(program: str, writable: Iterable[Path]) -> bool:
    """Tell whether a program that was found lies where a turn may write, be it by a link."""
    return not _trusted(program, _really(writable))


def missing_interpreter(program: str, env: Mapping[str, str]) -> str:
    """Name the interpreter that a script has looked for on the PATH and that is not there; empty: all is well."""
    try:
        with Path(program).open("rb") as file:
            first = file.read(LINE).split(b"\n")[0]
    except OSError:
        return ""
    words = first.removeprefix(SCRIPT).decode("utf-8", "replace").split()
    if not first.startswith(SCRIPT) or len(words) < 2 or Path(words[0]).name != "env":  # env and a name
        return ""
    names = (word for word in words[1:] if not word.startswith("-") and "=" not in word)
    name = next(names, "")
    return "" if not name or shutil.which(name, path=env.get("PATH", "")) else name


def _entries(name: str, value: str) -> list[str]:
    return (value.replace(" ", os.pathsep) if name == "LD_PRELOAD" else value).split(os.pathsep)


def _really(writable: Iterable[Path]) -> tuple[Path, ...]:
    named = tuple(folder for folder in writable if folder.parent != folder)  # everything lies below `/`
    return tuple(dict.fromkeys((*named, *(Path(os.path.realpath(one)) for one in named))))


def _trusted(entry: str, closed: tuple[Path, ...]) -> bool:
    path = Path(os.path.normpath(entry)) if entry else Path()
    places = (path, Path(os.path.realpath(path)))  # a link may lead into one of them
    return path.is_absolute() and not any(place.is_relative_to(folder) for place in places for folder in closed)
