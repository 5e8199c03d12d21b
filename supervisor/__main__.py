"""`python -m supervisor`: the daemon, under its own name.

If another daemon already runs, only these imports are paid for: twenty editors that start at once load one daemon.
"""

import os
import sys

from supervisor.daemon.daemon_start import main
from supervisor.daemon.launch import detach


def run() -> int:
    if "--detach" in sys.argv[1:]:
        detach()
    return main()


if __name__ == "__main__":
    code = run()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # everything has stopped in order; Python would still wait for a worker that hangs on a lost disk
