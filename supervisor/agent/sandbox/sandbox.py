"""Which sandbox this system has, whether it works, and how a command is put into it."""

import contextlib
import errno
import functools
import os
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from actors.settings import DangerFullAccess, ReadOnly, WorkspaceWrite
from supervisor.agent.sandbox.bubblewrap import Bubblewrap
from supervisor.agent.sandbox.confined import Availability, Confined
from supervisor.agent.sandbox.roots import Roots, roots_of
from supervisor.agent.sandbox.seatbelt import Seatbelt

NO_NETWORK: Mapping[str, str] = {"CODEX_SANDBOX_NETWORK_DISABLED": "1"}  # test suites look at it


class Implementation(Protocol):
    def probe(self) -> Availability: ...

    def confine(
        self, roots: Roots, cwd: Path, argv: Sequence[str], *, network: bool
    ) -> contextlib.AbstractContextManager[Confined]: ...


class Sandbox:
    """`protected` is never writable for a command and `hidden` not even seen: our journal, config and sockets."""

    def __init__(self, protected: Sequence[Path] = (), hidden: Sequence[Path] = ()) -> None:
        kind = Seatbelt if sys.platform == "darwin" else Bubblewrap
        self._implementation: Implementation = kind(protected, hidden)

    @functools.cached_property
    def availability(self) -> Availability:
        """Found out by trying, once: ask for it at the start, for it takes some 10 ms."""
        return self._implementation.probe()

    @contextlib.contextmanager
    def confine(
        self,
        policy: DangerFullAccess | ReadOnly | WorkspaceWrite,
        cwd: Path,
        argv: Sequence[str],
        env: Mapping[str, str],
    ) -> Iterator[Confined]:
        """Run what it yields, to its end, before you leave it.

        OSError if there is no such directory or program: inside, its absence would look like a failed command.
        """
        real = cwd.resolve(strict=True)
        if isinstance(policy, DangerFullAccess):
            yield Confined(tuple(argv), real, env)
            return
        _find(argv[0], real, env)
        network = isinstance(policy, WorkspaceWrite) and policy.network_access
        tmpdir = Path(env["TMPDIR"]) if env.get("TMPDIR") else None
        with self._implementation.confine(roots_of(policy, real, tmpdir), real, argv, network=network) as confined:
            yield replace(confined, env=env if network else {**env, **NO_NETWORK})


def _find(program: str, cwd: Path, env: Mapping[str, str]) -> None:
    place = str(cwd / program) if os.sep in program else program
    if shutil.which(place, path=env.get("PATH", os.defpath)) is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), program)
