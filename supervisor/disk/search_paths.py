"""Search paths for the programs that we start, without the folders that a turn may write. Any thread.

Agents, MCP servers, `notify`, logins and our own git are all found through here. Looks at the disk for links alone.
"""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from actors.vocabulary.settings import SandboxPolicy, WorkspaceWrite
from supervisor.disk.workspace import client_tmpdir, project_directories, temporary_directories

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


def writable_folders(sandbox: SandboxPolicy, cwd: Path, env: Mapping[str, str]) -> tuple[Path, ...]:
    """Return the folders that any turn in a directory may write, even if this one may not: an earlier one might have.

    If this turn may write nothing, or anything, a directory that holds the person's home is left out.
    """
    policy = sandbox if isinstance(sandbox, WorkspaceWrite) else WorkspaceWrite()
    home = Path(env.get("HOME") or "/")
    folders = (*project_directories(policy, cwd), *temporary_directories(policy, client_tmpdir(env)))
    return tuple(folder for folder in folders if policy is sandbox or not home.is_relative_to(folder))


def drop_writable_entries(env: Mapping[str, str], writable: Iterable[Path]) -> dict[str, str]:
    """Drop entries of search paths that commands of the conversation may write, so that no program is found there."""
    closed = _with_real_paths(writable)
    cleaned = dict(env)
    for name in LISTS:
        if name in cleaned:
            kept = os.pathsep.join(entry for entry in _entries(name, cleaned[name]) if _is_trusted(entry, closed))
            if kept:
                cleaned[name] = kept
            else:
                del cleaned[name]
    for name in PLACES:
        if not _is_trusted(cleaned.get(name, "/"), closed):
            del cleaned[name]
    return cleaned


def writable_entries_last(env: Mapping[str, str], writable: Iterable[Path]) -> dict[str, str]:
    """Drop such entries, but keep those of PATH at its end: in a sandbox the project's tools are found there."""
    folders = tuple(writable)
    cleaned, closed = drop_writable_entries(env, folders), _with_real_paths(folders)
    last = [entry for entry in _entries("PATH", env.get("PATH", "")) if entry.startswith("/")]
    path = [*filter(None, (cleaned.get("PATH"),)), *(entry for entry in last if not _is_trusted(entry, closed))]
    return {**cleaned, "PATH": os.pathsep.join(path)} if path else cleaned


def lies_in_writable_folder(program: str, writable: Iterable[Path]) -> bool:
    """Tell whether a program lies where a turn may write, directly or by a link."""
    return not _is_trusted(program, _with_real_paths(writable))


def missing_interpreter(program: str, env: Mapping[str, str]) -> str:
    """Name the interpreter that a script looks for on the PATH and that is missing; empty: none is."""
    try:
        with Path(program).open("rb") as file:
            first = file.read(LINE).split(b"\n")[0]
    except OSError:
        return ""
    words = first.removeprefix(SCRIPT).decode("utf-8", "replace").split()
    if not first.startswith(SCRIPT) or len(words) < 2 or Path(words[0]).name != "env":  # env and a name
        return ""
    from shutil import which

    names = (word for word in words[1:] if not word.startswith("-") and "=" not in word)
    name = next(names, "")
    return "" if not name or which(name, path=env.get("PATH", "")) else name


def _entries(name: str, value: str) -> list[str]:
    return (value.replace(" ", os.pathsep) if name == "LD_PRELOAD" else value).split(os.pathsep)


def _with_real_paths(writable: Iterable[Path]) -> tuple[Path, ...]:
    named = tuple(folder for folder in writable if folder.parent != folder)  # everything lies below `/`
    return tuple(dict.fromkeys((*named, *(Path(os.path.realpath(folder)) for folder in named))))


def _is_trusted(entry: str, closed: tuple[Path, ...]) -> bool:
    path = Path(os.path.normpath(entry)) if entry else Path()
    places = (path, Path(os.path.realpath(path)))  # a link may lead into one of them
    return path.is_absolute() and not any(place.is_relative_to(folder) for place in places for folder in closed)
