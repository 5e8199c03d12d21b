"""Skips tests that need a sandbox where there is none, and says why."""

import pytest

from supervisor.work.sandbox.sandbox import Sandbox

CONFINED = Sandbox().availability
confinable = pytest.mark.skipif(not CONFINED.ok, reason=CONFINED.reason or "available")
