"""`python -m supervisor`: the daemon, under its own name."""

import sys

from supervisor.daemon import main

sys.exit(main())
