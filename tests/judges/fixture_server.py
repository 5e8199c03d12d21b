"""`greenroom mcp`: the real bridge, to a daemon that has the fixture tools besides. In a home of its own only."""

import sys

from supervisor.cli import mcp
from supervisor.daemon import launch

if __name__ == "__main__":
    launch.PROGRAM = ("-P", "-m", "tests.judges.fixture_daemon")
    sys.exit(mcp.main(sys.argv[1:]))
