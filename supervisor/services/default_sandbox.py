"""The sandbox of a conversation if no sandbox is named: writable if the directory is plainly a workspace.

`choice` decides, and is pure; `ground_of` looks at the disk, and blocks. The person is told of the decision.
"""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from actors.vocabulary.errors import NotAllowed
from actors.vocabulary.settings import SandboxMode, Settings
from supervisor.disk.folders import lies_in
from supervisor.disk.work_tree import is_work_tree

# Folders of programs and their configuration. A person who keeps a repository there names the sandbox.
SYSTEM = tuple(
    map(
        Path,
        (
            *("/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/proc", "/run", "/sbin", "/sys", "/usr"),
            *("/var", "/System", "/Library", "/Applications", "/private/etc"),
        ),
    )
)
OTHERS_WRITE = stat.S_IWOTH


class DirectoryFacts(Struct, frozen=True):
    """The facts about a directory that the rule needs. Real paths; `path` is None if there is no such directory."""

    path: Path | None
    home: Path
    is_owned: bool = False  # by the daemon's user
    is_shared: bool = False  # every user of the machine may write in it
    repository: Path | None = None  # the folder whose `.git` git would use


class SandboxChoice(Struct, frozen=True):
    mode: SandboxMode
    reason: str

    @property
    def notice(self) -> str:
        """The words for a person, with the other choice at the end."""
        if self.mode is SandboxMode.WORKSPACE_WRITE:
            return f"the agent may write in this directory: {self.reason}; `--sandbox read-only` forbids it"
        return (
            f"the agent may write nothing without asking, because {self.reason}; "
            "`--sandbox workspace-write` lets it write there"
        )


def choose(ground: DirectoryFacts) -> SandboxChoice:
    """Decide. Reasons against writing come first, so a repository does not outweigh them."""
    for reason in _reasons_against(ground):
        return SandboxChoice(SandboxMode.READ_ONLY, reason)
    if ground.repository is not None:
        return SandboxChoice(SandboxMode.WORKSPACE_WRITE, "it is a repository of yours")
    return SandboxChoice(SandboxMode.WORKSPACE_WRITE, "it is a directory of yours")


def _reasons_against(ground: DirectoryFacts) -> Iterator[str]:
    path, home = ground.path, ground.home
    if path is None:
        yield "the directory does not exist"
        return
    if path == home:
        yield "it is your home directory"
    if lies_in(home, path):
        yield f"{path} holds your home directory" if path != Path("/") else "/ holds the whole system"
    below_home = lies_in(path, home) and path != home
    if not below_home and any(lies_in(path, place) for place in SYSTEM):
        yield f"{path} belongs to the system"
    if not ground.is_owned:
        yield f"{path} is another user's"
    if ground.is_shared:
        yield f"every user of this machine may write in {path}"
    if ground.repository is not None:
        return
    if not below_home:
        yield f"{path} is neither a repository nor below your home directory"
    elif path.relative_to(home).parts[0].startswith("."):
        yield f"{path} holds settings of programs"


def look_at(cwd: Path, home: Path) -> DirectoryFacts:
    """Look at a directory. A directory that can't be looked at counts as missing."""
    real_home = Path(os.path.realpath(home))
    try:
        path = cwd.resolve(strict=True)
        found = path.stat()
    except (OSError, RuntimeError, ValueError):
        return DirectoryFacts(None, real_home)
    return DirectoryFacts(
        path,
        real_home,
        is_owned=_is_ours(found),
        is_shared=bool(found.st_mode & OTHERS_WRITE),
        repository=_repository(path, real_home),
    )


def _repository(path: Path, home: Path) -> Path | None:
    """Return the folder of the user's own repository around a directory. A repository that holds the home is none."""
    for folder in (path, *path.parents):
        if lies_in(home, folder):
            return None  # a home under version control does not make a workspace of every folder in it
        try:
            if _is_ours(folder.stat()) and is_work_tree(str(folder)):
                return folder
        except OSError:
            return None
    return None


def _is_ours(found: os.stat_result) -> bool:
    return found.st_uid == os.getuid()


class DefaultSandbox:
    """The rule for one request. `most`: the widest sandbox of clients in the config; None: no ceiling."""

    def __init__(self, home: Path, most: SandboxMode | None = None) -> None:
        self._home = home
        self._most = most
        self.choice: SandboxChoice | None = None  # None: a sandbox was named
        self._judged: Path | None = None

    def mode_for(self, cwd: Path) -> SandboxMode:
        ground = look_at(cwd, self._home)
        self._judged, self.choice = ground.path, choose(ground)
        if self._most is SandboxMode.READ_ONLY and self.choice.mode is not SandboxMode.READ_ONLY:
            self.choice = SandboxChoice(SandboxMode.READ_ONLY, "greenroom.mcp.max_sandbox says so")
        return self.choice.mode

    def insist_on(self, settings: Settings) -> None:
        """Refuse settings that would open another directory than the one that was judged."""
        opened = next((pin.path for pin in settings.roots or () if pin.name == settings.cwd), self._judged)
        if self.choice is not None and opened != self._judged:
            raise NotAllowed(
                f"{settings.cwd} became another directory while it was looked at; look at it, and try again"
            )
