"""The sandbox of this system: probes whether it works, and confines commands in it. Blocking.

The writable directories come from the conversation: its directory, its policy, its pins. A call only names the
directory in which the command starts.
"""

import contextlib
import errno
import functools
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

import structlog

from actors.vocabulary.ids import ConversationId
from actors.vocabulary.settings import DangerFullAccess, Pin, SandboxPolicy, Settings, WorkspaceWrite
from supervisor.disk.folders import lies_in, remove_tree
from supervisor.disk.pins import Pins, pins_of
from supervisor.disk.workspace import client_tmpdir, missing_directory, project_directories
from supervisor.work.reach.found_settings import setting_entry
from supervisor.work.reach.home_views import OwnPlaces
from supervisor.work.sandbox.bubblewrap import Bubblewrap
from supervisor.work.sandbox.git_view import GitView, view_of, without_maintenance
from supervisor.work.sandbox.history_repository import Repository, repository_around
from supervisor.work.sandbox.leftover_folders import desks_folder, views_folder, watches_folder
from supervisor.work.sandbox.leftovers import LeftoverLedger, clear
from supervisor.work.sandbox.order import Availability, ConfinedCommand, Order, PlacedFile
from supervisor.work.sandbox.project_watch import undo_leftovers, watch
from supervisor.work.sandbox.roots import Protection, Roots, open_roots
from supervisor.work.sandbox.seatbelt import Seatbelt
from supervisor.work.sandbox.seccomp import filter_program

log = structlog.get_logger()
TEMPORARY = Path("/tmp")  # noqa: S108 - other programs name it
NO_NETWORK: Mapping[str, str] = {"CODEX_SANDBOX_NETWORK_DISABLED": "1"}  # test suites look at it


class Implementation(Protocol):
    def probe(self) -> Availability: ...

    def confine(self, order: Order) -> contextlib.AbstractContextManager[ConfinedCommand]: ...


class Sandbox:
    """The daemon's sandbox. No command and no patch may write to `protection`: our journal, config and sockets."""

    def __init__(
        self,
        protection: Protection = Protection(),  # noqa: B008 - frozen
        ledgers: Path | None = None,
        after_probe: Callable[[], object] = lambda: None,
    ) -> None:
        """`ledgers`: the folder of ledgers of temporary files; None: if this process is killed, they stay on disk.

        `after_probe` is called after the probe, which may leave dead processes.
        """
        self.protection = protection
        self._after_probe = after_probe
        self._pins = Pins()
        self._ledgers = ledgers
        self._ledger = LeftoverLedger(ledgers)
        self._views = views_folder(ledgers) if ledgers is not None else None
        self._desks = desks_folder(ledgers) if ledgers is not None else None  # for agents' git
        self._watches = watches_folder(ledgers) if ledgers is not None else None
        self._implementation: Implementation = (
            Seatbelt() if sys.platform == "darwin" else Bubblewrap(ledger=self._ledger)
        )

    @functools.cached_property
    def availability(self) -> Availability:
        """The result of a probe, which runs only once. Ask for it at the start: it takes some 10 ms."""
        found = self._implementation.probe()
        self._after_probe()
        return found

    def begin(self) -> None:
        """Remove the files that commands of a killed daemon left on disk. Call it before the first command."""
        for folder in (self._views, self._desks):
            if folder is not None:
                remove_tree(folder)
        if self._ledgers is not None and (lives := clear(self._ledgers)):
            log.warning("sandbox.leftovers_removed", lives=lives)
        if self._watches is not None:
            undo_leftovers(self._watches)

    def end(self) -> None:
        self._ledger.close()

    @property
    def opens_history(self) -> bool:
        """Tell whether a command can be given write access to a repository's history and no other part of it."""
        linux = isinstance(self._implementation, Bubblewrap) and filter_program(os.uname().machine) is not None
        return linux and self._views is not None and self.availability.ok

    def new_desk(self) -> Path | None:
        """Return a new folder for an agent's git requests; None: history can't be opened here."""
        return self._desks / os.urandom(8).hex() if self._desks is not None and self.opens_history else None

    def repository(self, policy: WorkspaceWrite, cwd: Path, start: Path) -> Repository | None:
        """Return the repository that git would use in `start`, if its history can be opened to a command."""
        roots = tuple(Path(os.path.realpath(root)) for root in project_directories(policy, cwd))
        return repository_around(start, roots)

    @contextlib.contextmanager
    def _view(self, history: Repository | None, findings: list[str]) -> Iterator[GitView | None]:
        if history is None or self._views is None:
            yield None
            return
        scratch = self._views / os.urandom(8).hex()
        scratch.mkdir(mode=0o700, parents=True)
        try:
            with view_of(history, scratch, self._ledger) as view:
                yield view
            findings.extend(view.findings)
        finally:
            remove_tree(scratch)

    def pins(self, conversation: ConversationId, settings: Settings, env: Mapping[str, str]) -> tuple[Pin, ...]:
        """Return the conversation's roots as they were when it first named them."""
        return self._pins.pins_for(conversation, settings, client_tmpdir(env))

    def roots(
        self, policy: SandboxPolicy, cwd: Path, pins: Sequence[Pin], env: Mapping[str, str]
    ) -> contextlib.AbstractContextManager[Roots]:
        """Open the directories in which commands and patches may write now."""
        return open_roots(policy, cwd, pins, self.protection, env=env)

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
        history: Repository | None = None,
    ) -> Iterator[ConfinedCommand]:
        """Confine a command. Run the yielded argv to its end before you leave the context.

        `cwd` is the conversation's; `start` is the directory of this command, and opens nothing. Without `pins` the
        roots are taken as they are now. With `history` the command may change a repository's history. Raises OSError
        if there is no such directory or program: inside, its absence would look like a failed command.
        """
        real = _directory(start or cwd)
        if isinstance(policy, DangerFullAccess):
            yield ConfinedCommand(tuple(argv), real, env)
            return
        _find(argv[0], real, env)
        opens = policy if isinstance(policy, WorkspaceWrite) else WorkspaceWrite()
        given = env if opens.network_access else {**env, **NO_NETWORK}
        known = pins_of(policy, cwd, client_tmpdir(env)) if pins is None else pins
        findings: list[str] = []
        with self.roots(policy, cwd, known, env) as roots:
            with self._view(history, findings) as view:
                env = without_maintenance(given) if view else given
                order = Order(roots, real, argv, env, opens.network_access, opens.unix_sockets, view)
                with self._implementation.confine(order) as confined, watch(roots, self._watches, confined.aftermath):
                    yield confined
            confined.aftermath.extend(findings)

    @contextlib.contextmanager
    def watch_projects(
        self, policy: SandboxPolicy, cwd: Path, pins: Sequence[Pin], env: Mapping[str, str]
    ) -> Iterator[list[str]]:
        """Watch the projects for a turn of a program that lives longer; the list then has the undone changes."""
        undone: list[str] = []
        with self.roots(policy, cwd, pins, env) as roots, watch(roots, self._watches, undone):
            yield undone

    def closed_paths(
        self, policy: SandboxPolicy, cwd: Path, pins: Sequence[Pin], env: Mapping[str, str]
    ) -> frozenset[tuple[Path, int]]:
        """Return the paths in the roots that would be closed now, each setting with its inode."""
        with self.roots(policy, cwd, pins, env) as roots:
            return frozenset((path, _inode(path) if path in roots.obeyed_settings else 0) for path in roots.closed)

    @contextlib.contextmanager
    def confine_agent(
        self,
        policy: SandboxPolicy,
        cwd: Path,
        argv: Sequence[str],
        env: Mapping[str, str],
        *,
        start: Path,
        pins: Sequence[Pin],
        own: OwnPlaces,
        network: bool,
        placed: Sequence[PlacedFile] = (),
    ) -> Iterator[ConfinedCommand]:
        """Confine a program that lives for hours, with writable places of its own. Otherwise like `confine`.

        The meaning of paths in it is fixed at its start. If the temporary directory is closed, it gets one in memory.
        Its changes are checked for each turn: see `watched`.
        """
        real = _directory(start)
        _find(argv[0], real, env)
        sockets = policy.unix_sockets if isinstance(policy, WorkspaceWrite) else ()
        with open_roots(policy, cwd, pins, self.protection, own, env) as roots:
            homes = (view.path for view in own.views)
            needed = (real, Path(env.get("HOME", "/")), *own.places, *homes, *(Path(part) for part in argv))
            scratch, kept = _scratch(roots, needed)
            tmpdir = env.get("TMPDIR", "")
            if tmpdir and roots.innermost_root(Path(os.path.realpath(tmpdir))) is None:
                env = {**env, "TMPDIR": str(TEMPORARY)}
            given = env if network else {**env, **NO_NETWORK}
            order = Order(
                roots, real, argv, given, network, sockets, scratch=scratch, kept=kept, placed=placed, views=own.views
            )
            with self._implementation.confine(order) as confined:
                yield confined


def _inode(path: Path) -> int:
    """Return the inode of a setting; 0: none, or a placeholder. A mount ends when its file is replaced."""
    kept = setting_entry(path)
    return 0 if kept is None or kept.placeholder else kept.inode


def _scratch(roots: Roots, needed: Sequence[Path]) -> tuple[Path | None, tuple[Path, ...]]:
    """Return the temporary directory to replace by one in memory, if it is closed, and its entries that are shown."""
    if roots.innermost_root(TEMPORARY) is not None:
        return None, ()
    real = [Path(os.path.realpath(path)) for path in needed if path.is_absolute()]
    inside = [path for path in (*real, *(root.path for root in roots.writable)) if lies_in(path, TEMPORARY)]
    if TEMPORARY in inside:
        return None, ()
    return TEMPORARY, tuple(dict.fromkeys(TEMPORARY / path.relative_to(TEMPORARY).parts[0] for path in inside))


def _directory(start: Path) -> Path:
    try:
        real = start.resolve(strict=True)
    except FileNotFoundError:
        raise FileNotFoundError(missing_directory(start)) from None
    except RuntimeError:
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(start)) from None
    if not real.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(start))
    return real


def _find(program: str, cwd: Path, env: Mapping[str, str]) -> None:
    place = str(cwd / program) if os.sep in program else program
    if shutil.which(place, path=env.get("PATH", os.defpath)) is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), program)
