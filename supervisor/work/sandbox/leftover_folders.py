"""Tells whether an earlier life of the daemon left files of its commands on disk. Blocking.

Imports nothing heavy, as each start asks.
"""

import os
from pathlib import Path


def views_folder(ledgers: Path) -> Path:
    """Return the folder of the views of repositories, one for each running command."""
    return ledgers.parent / "views"


def desks_folder(ledgers: Path) -> Path:
    """Return the folder of the desks at which agents' git is served, one for each running agent."""
    return ledgers.parent / "desks"


def watches_folder(ledgers: Path) -> Path:
    """Return the folder of the records of projects, a file for each watched command or turn."""
    return ledgers.parent / "watches"


def is_anything_left(ledgers: Path) -> bool:
    beside = (views_folder(ledgers), desks_folder(ledgers), watches_folder(ledgers))
    return any(_holds_something(folder) for folder in (ledgers, *beside))


def _holds_something(folder: Path) -> bool:
    try:
        with os.scandir(folder) as inside:
            return any(True for _ in inside)
    except FileNotFoundError:
        return False
    except OSError:
        return True  # the sandbox reports it
