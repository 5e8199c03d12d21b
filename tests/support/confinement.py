"""What only a sandbox can show is left out where there is none, and the run says why."""

import pytest

from supervisor.agent.sandbox import Sandbox

CONFINED = Sandbox().availability
confinable = pytest.mark.skipif(not CONFINED.ok, reason=CONFINED.reason or "available")
