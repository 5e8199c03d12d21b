"""`python -m supervisor`: the daemon, under its own name.

Somebody else's daemon costs only what this file imports: twenty editors that start at once load one daemon.
"""

import os
import sys

from supervisor.launch import READY, READY_FD, START_S, detach
from supervisor.paths import UnsafePath, locate, private_directory, socket_path
from supervisor.single import AlreadyRunning, DaemonLock, RunsElsewhere, take_lock


def run() -> int:
    # The daemon draws nothing, and structlog would load it for tracebacks: a tenth of the time to be ready.
    sys.modules["rich"] = None  # type: ignore[assignment]  # how a module is made impossible to import
    if "GREENROOM_CRASH_AT" in os.environ:  # only the tests of what a death leaves set it
        from supervisor.crashing import arm

        arm(os.environ)
    if "--detach" not in sys.argv[1:]:
        from supervisor.daemon import main

        return main()
    detach()
    try:
        return _serve(_only_one())
    except AlreadyRunning as taken:
        return _say(READY, 0) if taken.socket else _say(f"{taken}\n".encode(), 1)
    except (RunsElsewhere, UnsafePath, OSError, ImportError) as error:
        return _say(f"greenroom: the daemon could not start: {error}\n".encode(), 1)


def _only_one() -> DaemonLock:
    paths = locate()
    private_directory(paths.state)
    private_directory(paths.run)
    return take_lock(paths.lock_file, socket_path(paths), START_S)


def _serve(lock: DaemonLock) -> int:
    from supervisor.daemon import main

    return main(sys.argv[1:], lock)


def _say(text: bytes, code: int) -> int:
    os.write(READY_FD, text)
    return code


if __name__ == "__main__":
    sys.exit(run())
