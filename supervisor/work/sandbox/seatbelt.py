"""The sandbox of macOS: a profile for sandbox-exec. Paths are parameters and never part of the profile's text.

Later rules win. Modelled on Apple's own profiles; the text is tested, running it needs a Mac.
"""

import contextlib
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

from supervisor.work.sandbox.order import Availability, ConfinedCommand, Order
from supervisor.work.sandbox.roots import Roots

PROGRAM = "/usr/bin/sandbox-exec"
PROBE_TIMEOUT_S = 5.0  # takes 10 ms
BASE = """\
(version 1)
(allow default)
(deny file-write*)
(allow file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (subpath "/dev/fd"))
(deny signal)
(allow signal (target same-sandbox))
"""


class Seatbelt:
    def probe(self) -> Availability:
        try:
            subprocess.run(  # noqa: S603 - our own probe
                (PROGRAM, "-p", BASE, "/usr/bin/true"), capture_output=True, timeout=PROBE_TIMEOUT_S, check=True
            )
        except (OSError, subprocess.SubprocessError) as error:
            reason = f"sandbox-exec does not run: {error}"
            return Availability(ok=False, reason=reason, how_to_get="it is part of macOS, at /usr/bin/sandbox-exec")
        return Availability(ok=True)

    @contextlib.contextmanager
    def confine(self, order: Order) -> Iterator[ConfinedCommand]:
        roots = order.roots
        groups = {
            "WRITABLE": tuple(root.path for root in roots.writable),
            # A folder on the way to a closed path can't be renamed or removed, only its content.
            "ANCHOR": tuple(dict.fromkeys(_anchors(roots))),
            "READ_ONLY": roots.closed,
            # macOS has no homes in memory: the kept entries of a home are opened again, and all others stay shut.
            "KEPT": tuple(path for view in order.views for path in view.kept),
            "SHUT": tuple(path for view in order.views for path in (*view.shown, *view.memory)),
            "HIDDEN": roots.hidden,
            "SOCKET": tuple(order.sockets),
        }
        named = {f"{kind}_{n}": path for kind, paths in groups.items() for n, path in enumerate(paths)}
        definitions = (part for name, path in named.items() for part in ("-D", f"{name}={path}"))
        yield ConfinedCommand(
            argv=(PROGRAM, *definitions, "-p", profile(named, network=order.network), "--", *order.argv),
            cwd=order.start,
            env=order.env,
            notices=roots.notices,
        )


def _anchors(roots: Roots) -> Iterator[Path]:
    for path in (*roots.closed, *roots.hidden, *(root.path for root in roots.writable)):
        outer = roots.innermost_root(path.parent)
        if outer is not None:
            yield from (
                folder for folder in path.parents if folder != outer.path and folder.is_relative_to(outer.path)
            )


def profile(names: Iterable[str], *, network: bool) -> str:
    """Compose the profile. Unix sockets stay shut even with network access, but for those opened by name."""
    rules = {
        "WRITABLE": '(allow file-write* (subpath (param "{}")))',
        "ANCHOR": '(deny file-write-unlink (literal (param "{}")))',
        "READ_ONLY": '(deny file-write* (subpath (param "{}")))',
        "KEPT": '(allow file-write* (subpath (param "{}")))',
        "SHUT": '(deny file-write* (subpath (param "{}")))',
        "HIDDEN": '(deny file-read* file-write* (subpath (param "{}")))',
        "SOCKET": '(allow network-outbound (remote unix-socket (path-literal (param "{}"))))',
    }
    sockets = "(deny network-outbound (remote unix-socket))" if network else "(deny network*)"
    text = f"{BASE}{sockets}\n"
    for kind, rule in rules.items():
        text += "".join(f"{rule.format(name)}\n" for name in names if name.startswith(kind))
    return text
