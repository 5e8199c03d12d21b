"""A command, its result, and the marks by which its processes are recognised. A leaf, no logic."""

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from actors.vocabulary.ids import ConversationId, TurnId
from supervisor.disk.umask import USUAL

INSTANCE = "GREENROOM_INSTANCE"  # the daemon's home; the same in its next life
CONVERSATION = "GREENROOM_CONVERSATION"
TURN = "GREENROOM_TURN"
COMMAND = "GREENROOM_COMMAND"  # a single run; unique across lives of the daemon
MARKS = (INSTANCE, CONVERSATION, TURN, COMMAND)


class Command(Struct, frozen=True):
    """An argv to execute, without a shell of ours.

    `env` is complete: nothing is inherited, only the marks are added. `keeper`: the first process is a sandbox's
    keeper, which does not pass signals on: TERM goes to its children instead.
    """

    argv: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str]
    conversation: ConversationId
    turn: TurnId
    timeout_s: float | None = None
    keeper: bool = False
    pass_fds: tuple[int, ...] = ()
    umask: int = USUAL


class Finished(Struct, frozen=True):
    """The end of a command. `exit_code` is 128+n after signal n, as in shells; -1 if we ended it for its timeout."""

    exit_code: int
    timed_out: bool
    duration_s: float


class NotStarted(Struct, frozen=True):
    """The command never ran: no such program, no such directory, no process or descriptor left."""

    reason: str

    def __str__(self) -> str:
        return f"execution error: {self.reason}"
