"""What is seen to when a command is over: a root that was made a repository by what lies in it is none then."""

import os
from collections.abc import Iterator, Sequence

import structlog

from supervisor.agent.repositories import HEAD, SET_ASIDE, is_repository
from supervisor.agent.sandbox.roots import Root

log = structlog.get_logger()


def set_aside(plain: Sequence[Root]) -> Iterator[str]:
    """Git would take the folder for a repository, and run what its configuration names."""
    for root in plain:
        if is_repository(root.path):
            os.rename(HEAD, SET_ASIDE, src_dir_fd=root.folder, dst_dir_fd=root.folder)
            log.warning("sandbox.repository_set_aside", path=str(root.path))
            yield (
                f"{root.path} was made a repository by what was in it after a command, and its configuration could "
                f"run programs outside of the sandbox; its {HEAD} is now {SET_ASIDE}"
            )
