"""A bridge in which everything talks that could, and which fails when its client says `raise`."""

import os
import sys

from supervisor.cli import bridge_verb, mcp
from transports.bridge.daemon_link import DaemonLink


class Noisy(DaemonLink):
    def take(self, line: bytes, now: float) -> None:
        print("printed")
        os.write(1, b"written\n")
        if line == b"raise\n":
            raise RuntimeError("on purpose")
        super().take(line, now)


if __name__ == "__main__":
    vars(bridge_verb)["DaemonLink"] = Noisy
    sys.exit(mcp.main(sys.argv[1:]))
