"""The order to a sandbox, and its result. A leaf, no logic."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct, field

from actors.vocabulary.ids import ConversationId, TurnId
from supervisor.work.processes.command import Command
from supervisor.work.reach.home_views import HomeView
from supervisor.work.sandbox.git_view import GitView
from supervisor.work.sandbox.roots import Roots


class Availability(Struct, frozen=True):
    """The answer whether commands can be confined here; if not, the reason, and how the user can change that."""

    ok: bool
    reason: str = ""
    how_to_get: str = ""


class PlacedFile(Struct, frozen=True):
    """A file or folder of Greenroom's that a sandbox shows at a path."""

    source: Path
    path: Path
    writable: bool = False


class Order(Struct, frozen=True):
    """A command to confine, with the paths that it may reach, its directory and its environment."""

    roots: Roots
    start: Path
    argv: Sequence[str]
    env: Mapping[str, str]
    network: bool
    sockets: Sequence[Path] = ()
    history: GitView | None = None  # the view of a repository's folder
    scratch: Path | None = None  # replaced by an empty directory in memory
    kept: Sequence[Path] = ()  # entries of that directory that are shown all the same
    placed: Sequence[PlacedFile] = ()
    views: Sequence[HomeView] = ()  # the program's own homes, mounted over all roots


class ConfinedCommand(Struct, frozen=True):
    """The argv to run in place of a command, and its surroundings."""

    argv: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str] = field(default_factory=dict)
    keeper: bool = False  # the first process is the sandbox's own and passes no signal on
    pass_fds: tuple[int, ...] = ()
    notices: tuple[str, ...] = ()
    aftermath: list[str] = field(default_factory=list)  # findings after the command; filled at the end

    def command(self, conversation: ConversationId, turn: TurnId, timeout_s: float | None, umask: int) -> Command:
        return Command(
            self.argv, self.cwd, self.env, conversation, turn, timeout_s, self.keeper, self.pass_fds, umask
        )
