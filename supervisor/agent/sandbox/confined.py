"""Results of the sandboxes for their users. A leaf, no logic."""

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct, field


class Availability(Struct, frozen=True):
    """The answer whether commands can be confined here; if not, why, and what the user can do about it."""

    ok: bool
    reason: str = ""
    how_to_get: str = ""


class Confined(Struct, frozen=True):
    """The argv to run in place of a command, and its surroundings."""

    argv: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str] = field(default_factory=dict)
    keeper: bool = False  # the first process is the sandbox's own and passes no signal on
    pass_fds: tuple[int, ...] = ()
    notices: tuple[str, ...] = ()
    aftermath: list[str] = field(default_factory=list)  # findings after the command; filled at the end
