"""`python -m supervisor`, with the fixture tools in its MCP dialect."""

import sys

from supervisor import __main__ as program
from supervisor.single import DaemonLock


def _serve(lock: DaemonLock) -> int:
    """Where the real one goes on after it is detached and the only one."""
    from supervisor import daemon
    from tests.judges.fixture_tools import plugged_in

    vars(daemon)["dialects"] = plugged_in
    return daemon.main(sys.argv[1:], lock)


if __name__ == "__main__":
    program._serve = _serve
    sys.exit(program.run())
