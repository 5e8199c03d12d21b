"""The sandbox of this system: whether it works, and how a command is put into it.

The writable directories come from the conversation: its directory, its policy, its pins. A call only says where it
starts.
"""

import contextlib
import errno
import functools
import os
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from actors.vocabulary.ids import ConversationId
from actors.vocabulary.settings import DangerFullAccess, Pin, SandboxPolicy, Settings, WorkspaceWrite
from supervisor.agent.pins import Pins, pins_of
from supervisor.agent.sandbox.aftermath import seen_to
from supervisor.agent.sandbox.bubblewrap import Bubblewrap
from supervisor.agent.sandbox.confined import Availability, Confined, Order
from supervisor.agent.sandbox.roots import Protection, Roots, opened
from supervisor.agent.sandbox.seatbelt import Seatbelt
from supervisor.agent.workspace import missing, temporary_of

NO_NETWORK: Mapping[str, str] = {"CODEX_SANDBOX_NETWORK_DISABLED": "1"}  # test suites look at it


class Implementation(Protocol):
    def probe(self) -> Availability: ...

    def confine(self, order: Order) -> contextlib.AbstractContextManager[Confined]: ...


class Sandbox:
    """The daemon's sandbox. No command and no patch may write to `protection`: our journal, config and sockets."""

    def __init__(self, protection: Protection = Protection()) -> None:  # noqa: B008 - frozen
        self.protection = protection
        self._pins = Pins()
        self._implementation: Implementation = Seatbelt() if sys.platform == "darwin" else Bubblewrap()

    @functools.cached_property
    def availability(self) -> Availability:
        """The result of a probe, which is run once. Ask for it at the start: it takes some 10 ms."""
        return self._implementation.probe()

    def pins(self, conversation: ConversationId, settings: Settings, env: Mapping[str, str]) -> tuple[Pin, ...]:
        """Return the conversation's roots as they were when it first named them. Blocking."""
        return self._pins.of(conversation, settings, temporary_of(env))

    def roots(
        self, policy: SandboxPolicy, cwd: Path, pins: Sequence[Pin]
    ) -> contextlib.AbstractContextManager[Roots]:
        """Open the directories in which commands and patches may write now. Blocking."""
        return opened(policy, cwd, pins, self.protection)

    @contextlib.contextmanager
    def confine(
        self,
        policy: SandboxPolicy,
        cwd: Path,
        argv: Sequence[str],
        env: Mapping[str, str],
        *,
        start: Path | None = None,
        pins: Sequence[Pin] | None = None,
    ) -> Iterator[Confined]:
        """Confine a command. Blocking up to the yield; run the yielded argv to its end before you leave the context.

        `cwd` is the conversation's; `start` is where this command starts, and opens nothing. Without `pins` the roots
        are taken as they are now. OSError if there is no such directory or program: inside, its absence would look
        like a failed command.
        """
        real = _directory(start or cwd)
        if isinstance(policy, DangerFullAccess):
            yield Confined(tuple(argv), real, env)
            return
        _find(argv[0], real, env)
        opens = policy if isinstance(policy, WorkspaceWrite) else WorkspaceWrite()
        given = env if opens.network_access else {**env, **NO_NETWORK}
        known = pins_of(policy, cwd, temporary_of(env)) if pins is None else pins
        with (
            self.roots(policy, cwd, known) as roots,
            self._implementation.confine(
                Order(roots, real, argv, given, opens.network_access, opens.unix_sockets)
            ) as confined,
        ):
            try:
                yield confined
            finally:
                confined.aftermath.extend(seen_to(roots))


def _directory(start: Path) -> Path:
    try:
        real = start.resolve(strict=True)
    except FileNotFoundError:
        raise FileNotFoundError(missing(start)) from None
    except RuntimeError:
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(start)) from None
    if not real.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(start))
    return real


def _find(program: str, cwd: Path, env: Mapping[str, str]) -> None:
    place = str(cwd / program) if os.sep in program else program
    if shutil.which(place, path=env.get("PATH", os.defpath)) is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), program)
