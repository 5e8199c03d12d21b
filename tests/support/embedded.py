"""The embedded server with the control dialect: a program."""

import sys

from supervisor.daemon.embedded import serve

if __name__ == "__main__":
    sys.exit(serve({}, "control"))
