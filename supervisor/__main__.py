"""`python -m supervisor`: the daemon, under its own name."""

import os
import sys

from supervisor.crashing import arm
from supervisor.daemon import main

arm(os.environ)
sys.exit(main())
