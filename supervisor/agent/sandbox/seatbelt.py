"""The sandbox of macOS: a profile for sandbox-exec. Paths are parameters and never part of the profile's text.

Later rules win. Written to what Apple's own profiles do; the text is tested, running it needs a Mac.
"""

import contextlib
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from supervisor.agent.sandbox.confined import Availability, Confined
from supervisor.agent.sandbox.roots import Roots

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
    def __init__(self, protected: Sequence[Path], hidden: Sequence[Path]) -> None:
        self._protected = protected
        self._hidden = hidden

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
    def confine(self, roots: Roots, cwd: Path, argv: Sequence[str], *, network: bool) -> Iterator[Confined]:
        groups = {
            "WRITABLE": roots.writable,
            "READ_ONLY": (*roots.read_only, *roots.absent, *self._protected),
            "HIDDEN": tuple(self._hidden),
        }
        named = {f"{kind}_{n}": path for kind, paths in groups.items() for n, path in enumerate(paths)}
        definitions = (part for name, path in named.items() for part in ("-D", f"{name}={path}"))
        yield Confined(
            argv=(PROGRAM, *definitions, "-p", profile(named, network=network), "--", *argv),
            cwd=cwd,
            notices=roots.notices,
        )


def profile(names: Iterable[str], *, network: bool) -> str:
    rules = {
        "WRITABLE": "allow file-write*",
        "READ_ONLY": "deny file-write*",
        "HIDDEN": "deny file-read* file-write*",
    }
    text = BASE if network else f"{BASE}(deny network*)\n"
    for kind, rule in rules.items():
        text += "".join(f'({rule} (subpath (param "{name}")))\n' for name in names if name.startswith(kind))
    return text
