"""Tell whether an earlier life left something of its commands on disk. Loads nothing: each start asks. Blocking."""

import os
from pathlib import Path


def views_beside(ledgers: Path) -> Path:
    """Return the folder of the views of repositories, one for each command that runs."""
    return ledgers.parent / "views"


def desks_beside(ledgers: Path) -> Path:
    """Return the folder of the desks at which agents' git is served, one for each agent that runs."""
    return ledgers.parent / "desks"


def watches_beside(ledgers: Path) -> Path:
    """Return the folder of what was known of projects, a file for each command or turn that is watched."""
    return ledgers.parent / "watches"


def is_anything_left(ledgers: Path) -> bool:
    beside = (views_beside(ledgers), desks_beside(ledgers), watches_beside(ledgers))
    return any(_holds_something(folder) for folder in (ledgers, *beside))


def _holds_something(folder: Path) -> bool:
    try:
        with os.scandir(folder) as inside:
            return any(True for _ in inside)
    except FileNotFoundError:
        return False
    except OSError:
        return True  # the sandbox has words for it
