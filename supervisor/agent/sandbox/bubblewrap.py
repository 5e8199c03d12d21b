"""The sandbox of Linux: mounts and namespaces by bubblewrap, and a filter for what namespaces don't separate."""

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from supervisor.agent.sandbox.confined import Availability, Confined
from supervisor.agent.sandbox.placeholders import Placeholders
from supervisor.agent.sandbox.roots import Roots
from supervisor.agent.sandbox.seccomp import no_outside_sockets

PROBE_TIMEOUT_S = 5.0  # takes 10 ms; only a broken mount makes it slow
INSTALL = "install bubblewrap: `apt install bubblewrap`, `dnf install bubblewrap` or `pacman -S bubblewrap`"
ALLOW = (
    "allow user namespaces: `sysctl kernel.unprivileged_userns_clone=1`, on Ubuntu an AppArmor profile for bwrap or "
    "`sysctl kernel.apparmor_restrict_unprivileged_userns=0`, in a container the right to create them"
)
ISOLATED = (
    # The keeper dies with us and takes the namespace with it; no terminal to type into from within.
    *("--die-with-parent", "--new-session", "--unshare-user-try", "--unshare-pid", "--unshare-ipc"),
    *("--cap-drop", "ALL"),  # a daemon of root's would otherwise hand over the right to undo the mounts
)


class Bubblewrap:
    def __init__(self, protected: Sequence[Path], hidden: Sequence[Path]) -> None:
        self._program = shutil.which("bwrap")
        self._protected = protected
        self._hidden = hidden
        self._placeholders = Placeholders()

    def probe(self) -> Availability:
        if self._program is None:
            return Availability(ok=False, reason="bwrap is not installed", how_to_get=INSTALL)
        with self.confine(Roots(), Path("/"), ("true",), network=False) as confined:
            try:
                tried = subprocess.run(  # noqa: S603 - our own probe
                    confined.argv,
                    pass_fds=confined.pass_fds,
                    capture_output=True,
                    timeout=PROBE_TIMEOUT_S,
                    check=False,
                )
            except (OSError, subprocess.TimeoutExpired) as error:
                return Availability(ok=False, reason=f"bwrap does not run: {error}", how_to_get=ALLOW)
        if tried.returncode != 0:
            reason = tried.stderr.decode("utf-8", "replace").strip() or f"bwrap ended with {tried.returncode}"
            return Availability(ok=False, reason=reason, how_to_get=ALLOW)
        return Availability(ok=True)

    @contextlib.contextmanager
    def confine(self, roots: Roots, cwd: Path, argv: Sequence[str], *, network: bool) -> Iterator[Confined]:
        with contextlib.ExitStack() as stack:
            absent = stack.enter_context(self._placeholders.held(roots.absent))
            fds = () if network else stack.enter_context(_filter())
            yield Confined(
                argv=(
                    *(self._program or "bwrap", *ISOLATED),
                    *(() if network else ("--unshare-net",)),
                    *self._mounts(roots, absent),
                    *(part for fd in fds for part in ("--seccomp", str(fd))),
                    *("--chdir", str(cwd), "--", *argv),
                ),
                cwd=cwd,
                keeper=True,
                pass_fds=fds,
                notices=roots.notices,
            )

    def _mounts(self, roots: Roots, absent: Sequence[Path]) -> Iterator[str]:
        """Later ones win: what is closed inside a writable root is closed, however the roots lie in each other."""
        yield from ("--ro-bind", "/", "/")
        for path in roots.writable:
            yield from ("--bind", str(path), str(path))
        for path in (*roots.read_only, *absent):
            yield from ("--ro-bind", str(path), str(path))
        # A /proc of its own, without the host's processes; read-only, for root could write the host's /proc/sys.
        # Behind what a repository names: a `.git` may be a link to anywhere, and would bring the host's own back.
        yield from ("--dev", "/dev", "--proc", "/proc", "--remount-ro", "/proc")
        for path in _real(self._protected):
            yield from ("--ro-bind", str(path), str(path))
        for path in _real(self._hidden):
            yield from ("--tmpfs", str(path), "--remount-ro", str(path))


def _real(paths: Sequence[Path]) -> list[Path]:
    return [path.resolve() for path in paths if path.exists()]


@contextlib.contextmanager
def _filter() -> Iterator[tuple[int, ...]]:
    """The descriptor that bubblewrap reads the filter from; none where we have no filter for this processor."""
    program = no_outside_sockets(os.uname().machine)
    if program is None:
        yield ()
        return
    fd = os.memfd_create("seccomp")
    try:
        os.write(fd, program)
        os.lseek(fd, 0, os.SEEK_SET)
        yield (fd,)
    finally:
        os.close(fd)
