"""The check whether a git work tree begins at a folder. A leaf; standard library alone, for short processes.

An empty `.git` does not count, as for git: sandboxes put one where no repository may be made, even above the
workspace.
"""

# ruff: noqa: PTH112, PTH113, PTH118, PTH202 # pathlib takes a quarter of the start of a search

import os
from collections.abc import Callable

GIT = ".git"
HEAD, COMMON, STORES = "HEAD", "commondir", ("objects", "refs")


def makes_repository(there: Callable[[str], bool]) -> bool:
    """Tell whether a folder is a repository; `there` tells whether it has a name. Stores need not be folders."""
    return there(HEAD) and (there(COMMON) or all(map(there, STORES)))


def is_work_tree(folder: str) -> bool:
    """Tell whether a work tree begins here. A `.git` file belongs to a linked work tree or a submodule."""
    git = os.path.join(folder, GIT)
    if os.path.isdir(git):
        return makes_repository(lambda name: os.path.lexists(os.path.join(git, name)))
    return os.path.isfile(git) and os.path.getsize(git) > 0
