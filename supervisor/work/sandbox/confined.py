"""The order to a sandbox, and its result."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct, field

from actors.vocabulary.ids import ConversationId, TurnId
from supervisor.work.processes.command import Command
from supervisor.work.reach.home_views import HomeView
from supervisor.work.sandbox.git_view import GitView
from supervisor.work.sandbox.roots import Roots


class Availability(Struct, frozen=True):
    """The answer whether commands can be confined here; if not, why, and what the user can do about it."""

    ok: bool
    reason: str = ""
    how_to_get: str = ""


class Placed(Struct, frozen=True):
    """Something of ours that a sandbox shows in a place."""

    source: Path
    path: Path
    writable: bool = False


class Order(Struct, frozen=True):
    """A command to be confined: what it may reach, and where and with what it starts."""

    roots: Roots
    start: Path
    argv: Sequence[str]
    env: Mapping[str, str]
    network: bool
    sockets: Sequence[Path] = ()
    history: GitView | None = None  # a repository's folder as the command is to see it
    scratch: Path | None = None  # gets an empty directory of its own in this place, in memory
    kept: Sequence[Path] = ()  # what of that place is shown all the same
    placed: Sequence[Placed] = ()
    views: Sequence[HomeView] = ()  # homes of the program's own, which lie over all roots


class Confined(Struct, frozen=True):
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
