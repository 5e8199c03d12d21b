"""The sandbox of Linux: mounts and namespaces by bubblewrap, and a filter for system calls that they don't cover.

bubblewrap itself gets nothing of the client's: neither its environment, which may name libraries to load, nor its
search path, nor its directory. Its arguments go through a descriptor, because every user may read an argv.
"""

import contextlib
import functools
import os
import shutil
import stat
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from supervisor.disk.folders import PASS, open_below, open_folder
from supervisor.disk.ordinary_files import read_ordinary
from supervisor.work.processes.command import MARKS
from supervisor.work.reach.home_views import COPY_BYTES, HomeView
from supervisor.work.sandbox.git_view import Mount
from supervisor.work.sandbox.leftovers import LeftoverLedger
from supervisor.work.sandbox.mounts import Mounts, mounts_of
from supervisor.work.sandbox.order import Availability, ConfinedCommand, Order
from supervisor.work.sandbox.placeholders import Placeholders
from supervisor.work.sandbox.roots import Roots
from supervisor.work.sandbox.seccomp import filter_program
from supervisor.work.sandbox.sockets import sockets_to_cover

PROBE_TIMEOUT_S = 5.0  # takes 10 ms; only a broken mount makes it slow
SYSTEM = ("/usr/bin", "/bin", "/usr/local/bin", "/run/wrappers/bin", "/run/current-system/sw/bin")
BARE: Mapping[str, str] = {"PATH": "/usr/bin:/bin"}
SCRATCH_BYTES = 1 << 30  # of memory, in place of a temporary directory
HOME_BYTES = 256 << 20  # of memory for files that a program makes in its home and does not keep
MOST_VARIABLES = 2_500  # bubblewrap takes 9,000 arguments, and each variable takes three
INSTALL = "install bubblewrap: `apt install bubblewrap`, `dnf install bubblewrap` or `pacman -S bubblewrap`"
ALLOW = (
    "allow user namespaces: `sysctl kernel.unprivileged_userns_clone=1`, on Ubuntu an AppArmor profile for bwrap or "
    "`sysctl kernel.apparmor_restrict_unprivileged_userns=0`, in a container the right to create them"
)
ISOLATED = (
    # The keeper dies with us and takes the namespace with it; without a terminal a command can't type into ours.
    *("--die-with-parent", "--new-session", "--unshare-user-try", "--unshare-pid", "--unshare-ipc"),
    *("--cap-drop", "ALL"),  # else a daemon that runs as root would pass on the right to undo the mounts
)


class Bubblewrap:
    def __init__(self, search: Sequence[str] = SYSTEM, ledger: LeftoverLedger | None = None) -> None:
        """`search`: the directories that are searched before the daemon's own search path."""
        self._search = search
        self._placeholders = Placeholders(ledger)

    @functools.cached_property
    def _program(self) -> str | None:
        """Find bwrap, first in the system's directories: the daemon's search path may have a project's."""
        users = (entry for entry in os.get_exec_path() if Path(entry).is_absolute())
        return shutil.which("bwrap", path=os.pathsep.join((*self._search, *users)))

    @functools.cached_property
    def _by_descriptor(self) -> bool:
        """Tell whether this version takes descriptors; older ones take names only."""
        usage = subprocess.run(  # noqa: S603 - the program that we are going to run
            (self._program or "bwrap", "--help"), env=BARE, capture_output=True, timeout=PROBE_TIMEOUT_S, check=False
        )
        return b"--ro-bind-fd" in usage.stdout + usage.stderr

    def probe(self) -> Availability:
        if self._program is None:
            return Availability(ok=False, reason="bwrap is not installed", how_to_get=INSTALL)
        try:
            with self.confine(Order(Roots(), Path("/"), ("true",), {}, network=False)) as confined:
                result = subprocess.run(  # noqa: S603 - our own probe
                    confined.argv,
                    env=confined.env,
                    pass_fds=confined.pass_fds,
                    capture_output=True,
                    timeout=PROBE_TIMEOUT_S,
                    check=False,
                )
        except (OSError, subprocess.TimeoutExpired) as error:
            return Availability(ok=False, reason=f"bwrap does not run: {error}", how_to_get=ALLOW)
        if result.returncode != 0:
            reason = result.stderr.decode("utf-8", "replace").strip() or f"bwrap ended with {result.returncode}"
            return Availability(ok=False, reason=reason, how_to_get=ALLOW)
        return Availability(ok=True)

    @contextlib.contextmanager
    def confine(self, order: Order) -> Iterator[ConfinedCommand]:
        env, sockets = order.env, order.sockets
        if len(env) > MOST_VARIABLES:
            raise OSError(f"{len(env)} environment variables are more than the {MOST_VARIABLES} a sandbox is given")
        with contextlib.ExitStack() as stack:
            mounts = mounts_of(order.roots, self._placeholders, stack)
            named = tuple(_checked_socket(path, stack) for path in sockets)
            over = order.history.mounts if order.history else ()
            copies = dict(_copies_in_memory(order.views, stack))
            syscall_filter = filter_program(
                os.uname().machine, unix_sockets=bool(sockets), links=order.history is None
            )
            fds = () if syscall_filter is None else (_memory_file(syscall_filter, stack),)
            arguments = (
                *ISOLATED,
                *(() if order.network else ("--unshare-net",)),
                *self._mount_arguments(order, mounts, over, copies),
                *_placed_arguments(order),
                *_socket_arguments(named),
                *(part for fd in fds for part in ("--seccomp", str(fd))),
                *_environment_arguments(env),
                *("--chdir", str(order.start)),
            )
            arguments_fd = _memory_file(_join(arguments), stack)
            sources = (*mounts.descriptors, *(mount.descriptor for mount in over))
            source_fds = sources if self._by_descriptor else ()
            yield ConfinedCommand(
                argv=(self._program or "bwrap", "--args", str(arguments_fd), "--", *order.argv),
                cwd=Path("/"),
                env=BARE,
                keeper=True,
                pass_fds=(arguments_fd, *fds, *copies.values(), *source_fds),
                notices=order.roots.notices,
            )

    def _mount_arguments(
        self, order: Order, mounts: Mounts, over: Sequence[Mount], copies: Mapping[Path, int]
    ) -> Iterator[str]:
        """Yield the mounts. Later mounts win: a closed path in a root stays closed, however the roots are nested."""
        yield from ("--ro-bind", "/", "/")
        if order.scratch is not None:
            yield from ("--size", str(SCRATCH_BYTES), "--tmpfs", str(order.scratch))
            for path in order.kept:
                yield from ("--ro-bind", str(path), str(path))
        for option, group in (("--bind", mounts.writable), ("--ro-bind", mounts.closed)):
            for path, fd in group.items():
                source = (f"{option}-fd", str(fd)) if self._by_descriptor else (option, str(path))
                yield from (*source, str(path))
        for view in order.views:
            yield from _view_arguments(view, copies)
        for mount in over:
            option = "--bind" if mount.writable else "--ro-bind"
            source = (f"{option}-fd", str(mount.descriptor)) if self._by_descriptor else (option, str(mount.source))
            yield from (*source, str(mount.path))
        # A private /proc, without the host's processes; read-only, because root could write the host's /proc/sys.
        # It comes after the mounts that a repository names: a `.git` may link anywhere, and would bring the host's
        # /proc back.
        yield from ("--dev", "/dev", "--proc", "/proc", "--remount-ro", "/proc")
        for path in mounts.hidden:
            yield from ("--tmpfs", str(path), "--remount-ro", str(path))


def _copies_in_memory(views: Sequence[HomeView], stack: contextlib.ExitStack) -> Iterator[tuple[Path, int]]:
    for path in (path for view in views for path in view.copies):
        with contextlib.suppress(OSError):
            yield path, _memory_file(read_ordinary(path, COPY_BYTES), stack)


def _view_arguments(view: HomeView, copies: Mapping[Path, int]) -> Iterator[str]:
    """Yield the mounts of a folder in memory over a home, with the shown entries of the real one that still exist."""
    yield from ("--size", str(HOME_BYTES), "--tmpfs", str(view.path))
    for path in view.folders:
        yield from ("--dir", str(path))
    for path, target in view.links:
        yield from ("--symlink", target, str(path))
    for path in view.copies:
        if path in copies:
            yield from ("--file", str(copies[path]), str(path))
    for option, paths in (("--bind-try", view.kept), ("--ro-bind-try", view.shown)):
        for path in paths:
            yield from (option, str(path), str(path))
    for path in view.memory:
        yield from ("--size", str(HOME_BYTES), "--tmpfs", str(path))


def _placed_arguments(order: Order) -> Iterator[str]:
    for placed in order.placed:
        yield from ("--bind" if placed.writable else "--ro-bind", str(placed.source), str(placed.path))


def _environment_arguments(env: Mapping[str, str]) -> Iterator[str]:
    """Yield the command's environment, which replaces the bare one. A client's marks are left out: we set them."""
    if "PATH" not in env:
        yield from ("--unsetenv", "PATH")
    for name, value in env.items():
        if name not in MARKS and name and "=" not in name:  # bwrap would refuse these
            yield from ("--setenv", name, value)


def _socket_arguments(named: Sequence[Path]) -> Iterator[str]:
    """Yield mounts that cover all sockets but the named, as the filter sees no names; folders cover later sockets."""
    if not named:
        return
    folders, files = sockets_to_cover(frozenset(named))
    for folder in folders:
        yield from ("--tmpfs", str(folder))
    for path in named:
        yield from ("--ro-bind", str(path), str(path))
    for folder in folders:
        yield from ("--remount-ro", str(folder))
    for path in files:
        yield from ("--ro-bind", "/dev/null", str(path))


def _checked_socket(path: Path, stack: contextlib.ExitStack) -> Path:
    """Return the path if it is a socket and has no links in it, which could redirect it."""
    found = open_below(open_folder(path.parent), (path.name,), PASS)
    stack.callback(os.close, found)
    if not stat.S_ISSOCK(os.fstat(found).st_mode):
        raise OSError(f"{path} is no socket, and only by its real path can one be opened to commands")
    return path


def _join(arguments: Sequence[str]) -> bytes:
    """Join arguments for `--args`, which ends each at a NUL. A NUL inside would begin another argument."""
    if any("\0" in part for part in arguments):  # the value is not shown: it may be a secret
        raise OSError("a variable of the environment, or a path, has a NUL in it, and can't be given to a command")
    return b"".join(os.fsencode(part) + b"\0" for part in arguments)


def _memory_file(data: bytes, stack: contextlib.ExitStack) -> int:
    fd = os.memfd_create("greenroom")
    stack.callback(os.close, fd)
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]
    os.lseek(fd, 0, os.SEEK_SET)
    return fd
