"""The environment of a program that is run outside of the sandbox on behalf of a conversation. Pure."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

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


def outside(env: Mapping[str, str], writable: Iterable[Path]) -> dict[str, str]:
    """Drop search path entries that commands of the conversation may write to, so that no program is found there."""
    closed = tuple(folder for folder in writable if folder.parent != folder)  # everything lies below `/`
    told = dict(env)
    for name in LISTS:
        if name in told:
            entries = told[name].replace(" ", os.pathsep) if name == "LD_PRELOAD" else told[name]
            kept = os.pathsep.join(entry for entry in entries.split(os.pathsep) if _trusted(entry, closed))
            if kept:
                told[name] = kept
            else:
                del told[name]
    for name in PLACES:
        if not _trusted(told.get(name, "/"), closed):
            del told[name]
    return told


def _trusted(entry: str, closed: tuple[Path, ...]) -> bool:
    path = Path(os.path.normpath(entry)) if entry else Path()
    return path.is_absolute() and not any(path.is_relative_to(folder) for folder in closed)
