"""`python -m supervisor`, with the fixture tools in its MCP dialect."""

import sys

from supervisor import __main__ as program
from supervisor.daemon import server as daemon
from tests.judges.fixture_tools import plugged_in

if __name__ == "__main__":
    vars(daemon)["dialects"] = plugged_in
    sys.exit(program.run())
